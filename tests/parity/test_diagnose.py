"""diagnose takes torch's own Functions, and says the same of them."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad
from minigrad.course.check.engines import engine_of

torch = pytest.importorskip("torch")


def functions(engine: Any) -> tuple[Any, Any]:
    """The same two Functions in either engine: one right, one with a wrong sign."""

    class Right(engine.autograd.Function):
        @staticmethod
        def forward(ctx, x, c):
            ctx.save_for_backward(x)
            ctx.c = c
            return x.sin() * c

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x.cos() * ctx.c, None

    class Wrong(Right):
        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            ctx.kept = x
            return -g * x.cos() * ctx.c, None

    return Right, Wrong


def test_findings_are_the_same_in_both_engines() -> None:
    values = [[0.5, -1.0], [2.0, 0.25]]
    for mine, theirs in zip(functions(minigrad), functions(torch), strict=True):
        ours = minigrad.diagnose(mine, minigrad.tensor(values), 2.5)
        seen = minigrad.diagnose(theirs, torch.tensor(values), 2.5)
        assert ours.mistakes == seen.mistakes
        assert ours.message == seen.message
    assert ours.mistakes == ("L01",)


def test_engine_is_found_from_the_class() -> None:
    right, _ = functions(torch)
    assert engine_of(right).module is torch
    assert engine_of(functions(minigrad)[0]).module is minigrad
    assert engine_of(dict) is engine_of(3) is None
