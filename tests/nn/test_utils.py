"""Gradients made smaller; tests/parity runs these programs with torch."""

import math
import warnings
from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import raises


def with_gradients(torch: Any, *gradients: Any) -> list[Any]:
    """A parameter for each gradient; None is none."""
    found = []
    for values in gradients:
        parameter = torch.nn.Parameter(torch.zeros(2))
        if values is not None:
            parameter.grad = torch.tensor(values)
        found.append(parameter)
    return found


def test_gradients_are_scaled_together(torch: Any) -> None:
    a, b, none = with_gradients(torch, [3.0, 0.0], [0.0, -4.0], None)
    norm = torch.nn.utils.clip_grad_norm_([a, b, none], 1.0)
    assert norm.item() == 5.0
    assert a.grad.tolist() == pytest.approx([0.6, 0.0])
    assert b.grad.tolist() == pytest.approx([0.0, -0.8])
    assert none.grad is None


def test_small_gradients_stay_to_the_bit(torch: Any) -> None:
    (a,) = with_gradients(torch, [0.1, 0.2])
    kept, before = a.grad, a.grad.tolist()
    torch.nn.utils.clip_grad_norm_(a, 5.0)
    assert a.grad is kept
    assert a.grad.tolist() == before
    assert kept._version == 1


@pytest.mark.parametrize(
    ("order", "norm"), [(1.0, 7.0), (2, 5.0), (math.inf, 4.0), ("inf", 4.0)]
)
def test_norms_of_any_order(torch: Any, order: Any, norm: float) -> None:
    a, b = with_gradients(torch, [3.0, 0.0], [0.0, -4.0])
    got = torch.nn.utils.clip_grad_norm_([a, b], 1.0, order)
    assert got.item() == norm
    assert a.grad[0].item() == pytest.approx(3.0 / norm, rel=1e-5)


def test_total_norm_and_its_use_apart(torch: Any) -> None:
    a, b = with_gradients(torch, [3.0, 0.0], [0.0, -4.0])
    norm = torch.nn.utils.get_total_norm([a.grad, b.grad])
    torch.nn.utils.clip_grads_with_norm_([a, b], 2.5, norm * 2)
    assert a.grad.tolist() == pytest.approx([0.75, 0.0])


def test_norm_of_nothing_is_zero(torch: Any) -> None:
    clip = torch.nn.utils.clip_grad_norm_
    assert clip([], 1.0).item() == 0.0
    assert clip(with_gradients(torch, None), 1.0).item() == 0.0
    with pytest.warns(UserWarning, match="`parameters` is an empty generator"):
        clip((one for one in []), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clip(iter(with_gradients(torch, None)), 1.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_norm_that_is_no_number(torch: Any, bad: float) -> None:
    (a,) = with_gradients(torch, [bad, 1.0])
    says = "for gradients from `parameters` is non-finite, so it cannot be clipped."
    with raises(torch, errors.OperandError, says):
        torch.nn.utils.clip_grad_norm_([a], 1.0, error_if_nonfinite=True)
    assert a.grad[1].item() == 1.0
    norm = torch.nn.utils.clip_grad_norm_([a], 1.0)
    assert not math.isfinite(norm.item())


def test_each_element_is_brought_within_a_bound(torch: Any) -> None:
    a, b = with_gradients(torch, [3.0, 0.5], None)
    kept = a.grad
    assert torch.nn.utils.clip_grad_value_([a, b], 1) is None
    assert a.grad is kept
    assert kept.tolist() == [1.0, 0.5]
    torch.nn.utils.clip_grad_value_(a, 0.25)
    assert kept.tolist() == [0.25, 0.25]
