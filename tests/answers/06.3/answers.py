"""Answers to 06.3."""

from minigrad.autograd import Function


def from_the_right(g, shape):
    lengths = (1,) * (g.ndim - len(shape)) + tuple(shape)
    for axis in range(g.ndim):
        if lengths[axis] != g.shape[axis]:
            g = g.sum(axis, keepdim=True)
    return g.reshape(shape)


class FromTheRight(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.shapes = a.shape, b.shape
        return a + b

    @staticmethod
    def backward(ctx, g):
        return tuple(from_the_right(g, shape) for shape in ctx.shapes)
