"""Ctrl-C at every place where Python looks for it leaves an engine that works."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

import minigrad
from minigrad.engine.grad_mode import this_mode
from tests.engine.support import leaf


def interrupted(program: Callable[[], Any], place: int) -> bool:
    """Run ``program`` with Ctrl-C at the place of this number; was there one?

    Python looks for it when a function begins and when a built-in one has returned:
    where a profile function is called. Callbacks of weak references do not count: what
    is raised in there goes nowhere.
    """
    left = place
    aside = {interrupted.__name__, "remove"}

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal left
        if event in ("call", "c_return") and frame.f_code.co_name not in aside:
            left -= 1
            if left < 0:
                raise KeyboardInterrupt

    try:
        sys.setprofile(profile)
        program()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


class Scale(minigrad.autograd.Function):
    """x * by, and by is changed in place."""

    @staticmethod
    def forward(ctx: Any, x: Any, by: Any) -> Any:
        ctx.save_for_backward(x)
        by.add_(1)
        ctx.mark_dirty(by)
        return x * by, by

    @staticmethod
    def backward(ctx: Any, grad: Any, grad_of_by: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 3, (grad * x).sum() + grad_of_by


class Cube(minigrad.autograd.Function):
    """x**3, with its tangent."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x * x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x

    @staticmethod
    def jvp(ctx: Any, tangent: Any) -> Any:
        (x,) = ctx.saved_tensors
        return tangent * 3 * x * x


def first_order(x: Any) -> None:
    y, by = Scale.apply(x, minigrad.tensor(2.0, dtype=x.dtype))
    (Cube.apply(y).sum() + by).backward()


def second_order(x: Any) -> None:
    (slope,) = minigrad.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    slope.sum().backward()


def state() -> tuple[Any, ...]:
    """Everything that could be left switched on or off."""
    mode = this_mode()
    return (
        mode.grad_enabled,
        mode.forward_limit,
        mode.inference_enabled,
        mode.rules_see_tensors,
        mode.task,
        mode.saved_tensors_hooks,
        mode.stops,
        mode.interpreters,
    )


@pytest.mark.parametrize(
    ("program", "slopes"),
    [(first_order, [81.0, 324.0]), (second_order, [6.0, 12.0])],
)
def test_interrupt_anywhere_leaves_modes_versions_and_graph(
    program: Callable[[Any], None], slopes: list[float]
) -> None:
    before = state()
    place = 0
    x = leaf(minigrad, 1.0, 2.0)
    while interrupted(lambda: program(x), place):
        assert state() == before, place
        assert (x._version, x.grad_fn) == (0, None)
        fresh = leaf(minigrad, 1.0, 2.0)
        program(fresh)
        assert fresh.grad.tolist() == slopes, place
        x.grad = None
        place += 1
    assert place > 100
    assert x.grad.tolist() == slopes


def test_interrupt_anywhere_at_a_level_leaves_tangents_to_come() -> None:
    fwAD = minigrad.autograd.forward_ad

    def program(x: Any, direction: Any) -> Any:
        return fwAD.unpack_dual(Cube.apply(fwAD.make_dual(x, direction)) * x).tangent

    x = minigrad.tensor([1.0, 2.0], dtype=minigrad.float64)
    place, before = 0, state()
    with fwAD.dual_level():
        while interrupted(lambda: program(x, x), place):
            assert state() == before, place
            assert program(x.clone(), x).tolist() == [3.0, 48.0], place
            place += 1
    assert place > 50
    assert fwAD.unpack_dual(x).tangent is None
