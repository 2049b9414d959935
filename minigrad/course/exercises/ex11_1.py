"""11.1: how many passes of each mode a Jacobian takes, counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad import allclose, arange, eye, func, ones, sin


def columns(f: Callable[[Any], Any], x: Any) -> list[Any]:
    """The Jacobian by forward passes, one for each input."""
    return [func.jvp(f, (x,), (v,))[1] for v in eye(x.numel())]


def rows(f: Callable[[Any], Any], x: Any) -> list[Any]:
    """The Jacobian by reverse passes, one for each output."""
    result, pull_back = func.vjp(f, x)
    return [pull_back(g.reshape(result.shape)) for g in eye(result.numel())]


def truth() -> dict[str, str]:
    """The passes are run and counted."""

    def tall(x: Any) -> Any:
        return ones(1000, 3) @ x

    def loss(x: Any) -> Any:
        return (x * x).sum()

    along = func.jvp(lambda x: ones(50, 100) @ x, (ones(100),), (ones(100),))[1]
    x = arange(8.0)
    slopes = func.jvp(sin, (x,), (ones(8),))[1]
    return {
        "a": str(len(columns(tall, ones(3)))),
        "b": str(len(rows(tall, ones(3)))),
        "c": str(len(columns(loss, ones(1000)))),
        "d": str(len(rows(loss, ones(1000)))),
        "e": "1" if along.shape == (50,) else "50",
        "f": "1" if allclose(slopes, x.cos()) else "1000",
    }
