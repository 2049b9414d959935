"""How much memory a chain of Functions takes; no answer is needed to find out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad
from minigrad.course.check.lifetimes import traced_peak
from minigrad.lint import teaching


class Damped(minigrad.autograd.Function):
    """x times e to the power -x; both factors are saved."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        decay = (-x).exp()
        ctx.save_for_backward(x, decay)
        return x * decay

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, decay = ctx.saved_tensors
        return grad_output * decay * (1 - x)


def chain(n: int, size: int) -> Callable[[], None]:
    """A function that runs n of them forward and back."""
    x = minigrad.ones(size, dtype=minigrad.float64, requires_grad=True)

    def run() -> None:
        y = x
        for _ in range(n):
            y = Damped.apply(y)
        y.sum().backward()

    return run


def peaks_of_chains(lengths: tuple[int, ...], size: int) -> tuple[int, ...]:
    """The most bytes that are alive while chains of these lengths run."""
    with teaching(False):
        chain(2, size)()  # what the first call looks up for good is not meant
        return tuple([traced_peak(chain(n, size)) for n in lengths])
