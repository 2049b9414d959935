"""Levels inside one another, as ``func.jvp`` opens them; and what they leave behind."""

import gc
import sys
import threading
import weakref
from typing import Any

import pytest

import minigrad
from minigrad import errors
from minigrad.autograd import forward_ad as fwAD
from minigrad.engine.builtin import Builtin
from minigrad.transforms import forward_ad_levels
from tests.engine.test_interrupts import Cube


def derivative(function: Any, x: Any) -> Any:
    """The derivative of a function of one number: one level more."""
    return minigrad.func.jvp(function, (x,), (minigrad.ones_like(x.detach()),))[1]


@pytest.mark.parametrize("cube", [lambda x: x * x * x, lambda x: x**3, Cube.apply])
def test_levels_nest_to_higher_derivatives(cube: Any) -> None:
    # Of Cube meant otherwise than in torch 2.13, which takes the saved x for a
    # constant there: 0, not 6x.
    def first(x: Any) -> Any:
        return derivative(cube, x)

    def second(x: Any) -> Any:
        return derivative(first, x)

    x = minigrad.tensor(2.0)
    assert first(x).item() == 12.0
    assert second(x).item() == 12.0
    assert derivative(second, x).item() == 6.0
    assert forward_ad_levels.open_levels() == ()


def test_saved_output_is_dual_at_the_outer_level_while_the_inner_jvp_runs() -> None:
    def first(x: Any) -> Any:
        return derivative(lambda y: (y * 2).exp(), x)

    assert derivative(first, minigrad.tensor(0.0)).item() == 4.0


def test_product_with_itself_in_place_has_the_right_tangent() -> None:
    # torch changes the tangent in two steps, and reads the changed one in the second.
    with fwAD.dual_level():
        x = fwAD.make_dual(minigrad.tensor(5.0), minigrad.tensor(3.0))
        x.mul_(x)
        tangent = fwAD.unpack_dual(x).tangent
        assert tangent is not None
        assert tangent.item() == 30.0


def test_closed_level_keeps_nothing_alive() -> None:
    with fwAD.dual_level():
        t = minigrad.tensor(1.0)
        x = fwAD.make_dual(minigrad.tensor(2.0), t)
        y = x * x
        tangent = weakref.ref(t)
        del t
        assert tangent() is not None
    assert tangent() is None
    assert y._tangents is None
    gc.collect()
    assert gc.collect() == 0


def test_level_does_not_keep_its_duals_alive() -> None:
    gc.disable()
    with fwAD.dual_level():
        x = fwAD.make_dual(minigrad.tensor(2.0), minigrad.tensor(1.0))
        (level,) = forward_ad_levels.open_levels()
        for _ in range(10):
            y = x * x
        assert set(level.duals.values()) == {x, y}
    gc.enable()


def test_threads_open_levels_without_disturbing_each_other() -> None:
    found: list[float] = []
    usual = sys.getswitchinterval()
    start = threading.Barrier(4)

    def work(number: float) -> None:
        start.wait()
        for _ in range(50):
            x = minigrad.tensor(number)
            second = derivative(lambda y: derivative(Cube.apply, y), x).item()
            if second != 6 * number:
                found.append(second)

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(4)]
    sys.setswitchinterval(1e-6)  # a thread may be left between any two steps
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(usual)
    assert found == []
    assert forward_ad_levels.open_levels() == ()


@pytest.mark.rule("L28")
def test_operation_without_a_forward_rule_says_so() -> None:
    class Odd(Builtin):
        @staticmethod
        def forward(input: Any) -> Any:
            return input * 3

    says = "Trying to use forward AD with odd that does not support it"
    with fwAD.dual_level():
        assert Odd.apply(minigrad.tensor(1.0)).item() == 3.0
        x = fwAD.make_dual(minigrad.tensor(2.0), minigrad.tensor(3.0))
        with pytest.raises(errors.JvpMissingError, match=says) as caught:
            Odd.apply(x)
        assert isinstance(caught.value, NotImplementedError)
        assert (x * 2)._tangents is not None
