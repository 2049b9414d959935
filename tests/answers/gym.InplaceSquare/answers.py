"""Answers to gym.InplaceSquare, and what other rows use."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class CopiesOver(Function):
    @staticmethod
    def forward(ctx, x):
        old = x.clone()
        ctx.mark_dirty(x)
        ctx.save_for_backward(old)
        x.copy_(old * old)
        return x

    @staticmethod
    def backward(ctx, g):
        (old,) = ctx.saved_tensors
        return g * (old + old)


class WithTheOperator(Function):
    @staticmethod
    def forward(ctx, x):
        before = x.detach().clone()
        ctx.save_for_backward(before)
        x **= 2
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (before,) = ctx.saved_tensors
        gx = g.clone()
        gx.mul_(before).mul_(2.0)
        return (gx,)


class KeepsHalfOfTheWork(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(2.0 * x)
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        return slope * g


class CopyAsAnArray(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.before = x.numpy().copy()
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        return mg.tensor(2 * ctx.before * g.numpy())
