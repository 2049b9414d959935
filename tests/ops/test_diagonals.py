"""Diagonals, and functions that came with them: what the laws do not say."""

import math

import pytest

import minigrad
from minigrad import errors


def test_diagonal_that_is_copied_is_no_view() -> None:
    x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    minigrad.diag(x).zero_()
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_trace_of_integers_is_wide() -> None:
    x = minigrad.ones(2, 3, dtype=minigrad.int32)
    assert (x.trace().item(), x.trace().dtype) == (2, minigrad.int64)


def test_other_dimensions_are_refused() -> None:
    with pytest.raises(errors.ShapeError, match="expected a matrix, but got tensor wi"):
        minigrad.ones(2).trace()
    with pytest.raises(errors.ShapeError, match=r"Supports 1D or 2D tensors. Got 3D"):
        minigrad.ones(2, 2, 2).diag()


def test_angle_at_the_origin_has_slope_zero() -> None:
    y = minigrad.zeros(1, requires_grad=True)
    x = minigrad.zeros(1, requires_grad=True)
    minigrad.atan2(y, x).sum().backward()
    assert (y.grad.item(), x.grad.item()) == (0.0, 0.0)
    with pytest.raises(
        TypeError, match=r"argument 'other' .* must be Tensor, not float"
    ):
        minigrad.atan2(y, 2.0)


def test_erfc_is_exact_where_erf_has_reached_one() -> None:
    x = minigrad.tensor([6.0], dtype=minigrad.float64)
    assert minigrad.erf(x).item() == 1.0
    assert minigrad.erfc(x).item() == pytest.approx(math.erfc(6.0), rel=1e-12)


def test_product_along_the_way_has_a_slope_beside_zeros() -> None:
    x = minigrad.tensor([1.0, 0.0, 3.0], requires_grad=True)
    x.cumprod(0).sum().backward()
    assert x.grad.tolist() == [1.0, 4.0, 0.0]
