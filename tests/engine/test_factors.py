"""Sums with a factor, as a step of gradient descent writes them."""

from typing import Any

from tests.engine.support import leaf


def test_factor_of_a_sum(torch: Any) -> None:
    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    z = torch.add(x, y, alpha=2)
    assert z.tolist() == [7.0, 10.0]
    assert z.grad_fn.name() == "AddBackward0"
    w = x.sub(y, alpha=3)
    assert w.tolist() == [-8.0, -10.0]
    assert w.grad_fn.name() == "SubBackward0"
    (z.sum() + w.sum()).backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([2.0, 2.0], [-1.0, -1.0])


def test_step_of_gradient_descent_in_place(torch: Any) -> None:
    weight = leaf(torch, 1.0, 2.0)
    (weight * weight).sum().backward()
    with torch.no_grad():
        weight.add_(weight.grad, alpha=-0.25)
    assert weight.tolist() == [0.5, 1.0]
    with torch.no_grad():
        weight.sub_(weight.grad, alpha=0.25).addcmul_(weight, weight, value=2.0)
    assert weight.tolist() == [0.0, 0.0]


def test_sum_with_a_factor_in_place_is_recorded(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    y.add_(x, alpha=3)
    assert y.grad_fn.name() == "AddBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]
