"""03.1: six weak references, looked at after each step."""

from __future__ import annotations

import gc
from typing import Any

import minigrad
from minigrad.course.check import watch
from minigrad.course.exercises.ex02_1 import Exp
from minigrad.course.exercises.rules import function_of

Square = function_of({"forward": "x * x", "backward": "2 * g * x"})


class SquareByAttribute(minigrad.autograd.Function):
    """x times x; the input is an attribute."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 2 * grad * ctx.x


class ExpByAttribute(minigrad.autograd.Function):
    """e to the power x; the result is an attribute."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.result = x.exp()
        return ctx.result


def truth() -> dict[str, str]:
    """What is alive at each moment."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        with minigrad.teaching(False):
            return found()
    finally:
        if was_on:
            gc.enable()
        gc.collect()


def found() -> dict[str, str]:
    """The same, with the collector off."""
    x = minigrad.ones(10, requires_grad=True)
    moments: dict[str, bool] = {}
    squares: list[tuple[Any, str]] = [(Square, "ab"), (SquareByAttribute, " cd")]
    for function, names in squares:
        z = x * 2
        numbers = watch(z=z)
        y = function.apply(z)
        del z
        moments[names[0]] = numbers.alive()["z"]
        y.sum().backward()
        moments[names[1]] = numbers.alive()["z"]
        del y
        moments[names[2:]] = numbers.alive()["z"]
    exps: list[tuple[Any, str]] = [(ExpByAttribute, "e"), (Exp, "f")]
    for function, name in exps:
        y = function.apply(x)
        numbers = watch(y=y)
        del y
        moments[name] = numbers.alive()["y"]
    return {name: "alive" if moments[name] else "gone" for name in "abcdef"}
