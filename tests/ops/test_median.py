"""The median: which element it is, and who gets the gradient."""

import math

import pytest

import minigrad
from minigrad import errors


def test_median_of_an_even_number_is_the_lower_one() -> None:
    assert minigrad.tensor([4.0, 1.0, 3.0, 2.0]).median().item() == 2.0
    assert minigrad.tensor([[2, 1, 1, 3]]).median(1).values.tolist() == [1]


def test_equals_share_the_gradient_of_the_median() -> None:
    x = minigrad.tensor([1.0, 1.0, 3.0, 2.0], requires_grad=True)
    x.median().backward()
    assert x.grad.tolist() == [0.5, 0.5, 0.0, 0.0]


def test_median_is_nan_where_there_is_one() -> None:
    x = minigrad.tensor([[1.0, math.nan, 2.0], [5.0, 3.0, 4.0]])
    values, indices = x.median(dim=1)
    assert math.isnan(x.median().item())
    assert math.isnan(values[0].item())
    assert (values[1].item(), indices.tolist()) == (4.0, [1, 2])


def test_median_of_nothing_and_of_bools() -> None:
    assert math.isnan(minigrad.tensor([]).median().item())
    with pytest.raises(IndexError, match="Expected reduction dim"):
        minigrad.empty(2, 0).median(1)
    with pytest.raises(errors.UnsupportedOptionError, match="not implemented for 'Bo"):
        minigrad.tensor([True]).median()
