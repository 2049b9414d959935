"""Answers to 02.3."""

from minigrad.autograd import Function


class Shared:
    """State that all calls share."""


class OnAClass(Function):
    @staticmethod
    def forward(ctx, x, lo, hi):
        ctx.save_for_backward(x)
        Shared.lo, Shared.hi = lo, hi
        return x.clamp(lo, hi)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ((x >= Shared.lo) & (x <= Shared.hi)), None, None
