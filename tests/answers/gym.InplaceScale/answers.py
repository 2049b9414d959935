"""Answers to gym.InplaceScale, and what other rows use."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class ReturnsTheCall(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.mark_dirty(x)
        ctx.scale = c
        return x.mul_(c)

    @staticmethod
    def backward(ctx, g):
        return (g.clone().mul_(ctx.scale), None)


class WithTheOperator(Function):
    @staticmethod
    def forward(ctx, x, c):
        x *= c
        ctx.mark_dirty(x)
        ctx.c = c
        return x

    @staticmethod
    def backward(ctx, g):
        gx = ctx.c * g if ctx.needs_input_grad[0] else None
        return gx, None


class CopiesOver(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        x.copy_(x * c)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


class InTheOtherStyle(Function):
    @staticmethod
    def forward(x, c):
        return x.mul_(c)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.c = inputs
        ctx.mark_dirty(x)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None
