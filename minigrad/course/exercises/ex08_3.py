"""08.3: a Function that saves its input, and then squares it in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from minigrad.course.check import Array, Arrays
from minigrad.course.exercises.gym import inplace_square

CONTRACT = replace(inplace_square.CONTRACT, name="Square_", bytes_a_number=8)

SHIPPED = """\
class Square_(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x
"""
"""The class as the notebook ships it: not tried. A test compares the two."""

reference = inplace_square.reference
gradients = inplace_square.gradients
cases = inplace_square.cases


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    yield from inplace_square.wrong_gradients(g, x)
