"""Answers to 06.3; those to 06.2 are here, too."""

from functools import partial

from minigrad.autograd import Function


class FromTheRight(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.shapes = a.shape, b.shape
        return a + b

    @staticmethod
    def backward(ctx, g):
        return tuple(from_the_right(g, shape) for shape in ctx.shapes)
