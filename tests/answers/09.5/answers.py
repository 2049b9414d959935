"""Answers to 09.5."""

from minigrad.autograd import Function


class FromTheInputAlone(Function):
    @staticmethod
    def forward(x):
        e = (-(x**2)).exp()
        return x * e, e

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g_y, g_e):
        (x,) = ctx.saved_tensors
        e = (-(x**2)).exp()
        return g_y * e - 2 * x * e * (g_y * x + g_e)


class FirstStyle(Function):
    @staticmethod
    def forward(ctx, x):
        e = (-x * x).exp()
        ctx.save_for_backward(x, e)
        return x * e, e

    @staticmethod
    def backward(ctx, g_y, g_e):
        x, e = ctx.saved_tensors
        return (g_y * (1 - 2 * x * x) - g_e * 2 * x) * e
