"""How gradients travel: as arrays, or as Tensors when that is needed or asked for."""

from typing import Any

import pytest

import minigrad
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.gradients import roots_of, target_of, traverse
from minigrad.transforms import forward_ad_levels
from minigrad.transforms.forward_ad_interpreter import enter_level
from minigrad.transforms.forward_ad_levels import exit_level


def gradient_of(output: Any, leaf: Any, as_tensors: bool) -> Any:
    """What arrives at ``leaf``, as the traversal carries it."""
    target = target_of(leaf, 0)
    roots = roots_of(output, None, "test")
    task = traverse(roots, True, False, [target], as_tensors=as_tensors)
    return task.captured[target]


def test_gradients_travel_as_tensors_if_asked_and_nothing_is_recorded() -> None:
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    y = (x.exp() * x).sum()
    plain = gradient_of(y, x, as_tensors=False)
    carried = gradient_of(y, x, as_tensors=True)
    assert not isinstance(plain, Tensor)
    assert isinstance(carried, Tensor)
    assert not carried.requires_grad
    assert carried.tolist() == plain.tolist()


def test_open_level_makes_gradients_travel_as_tensors() -> None:
    x = minigrad.tensor(3.0, requires_grad=True)
    y = x * x
    level = enter_level()
    try:
        assert isinstance(gradient_of(y, x, as_tensors=False), Tensor)
        y.backward(retain_graph=True)
        y.backward()
    finally:
        exit_level(level)
    assert x.grad is not None
    assert x.grad.item() == 12.0
    assert forward_ad_levels.open_levels() == ()


@pytest.mark.parametrize("as_tensors", [False, True])
def test_rules_of_an_inner_traversal_see_what_it_carries(as_tensors: bool) -> None:
    class Inner(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 3

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            with minigrad.enable_grad():
                a = ctx.saved_tensors[0].detach().requires_grad_()
                b = a * a
            return minigrad.autograd.grad(b, a, create_graph=as_tensors)[0] * grad

    x = minigrad.tensor(2.0, requires_grad=True)
    y = Inner.apply(x * x)
    assert gradient_of(y, x, as_tensors).item() == 32.0
