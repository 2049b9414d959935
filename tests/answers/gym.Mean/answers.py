"""Answers to gym.Mean, and what other rows use."""

import numpy as np

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class InTwoParts(Function):
    @staticmethod
    def forward(x, axis, keepdim):
        return x.sum(dim=axis, keepdim=keepdim) / x.shape[axis]

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, axis, keepdim = inputs
        ctx.save_for_backward(x)
        ctx.axis = axis if axis >= 0 else axis + x.ndim
        ctx.keepdim = keepdim

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = g if ctx.keepdim else g.unsqueeze(ctx.axis)
        return mg.ones_like(x) * g / x.shape[ctx.axis], None, None


class WithReshape(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        shape = list(x.shape)
        ctx.full = tuple(shape)
        ctx.n = shape[axis]
        shape[axis] = 1
        ctx.kept = tuple(shape)
        return x.mean(dim=axis, keepdim=keepdim)

    @staticmethod
    def backward(ctx, g):
        if not ctx.needs_input_grad[0]:
            return None, None, None
        g = g.reshape(ctx.kept) * (1.0 / ctx.n)
        return g.expand(ctx.full), None, None


class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        ctx.axis, ctx.keepdim, ctx.shape = axis, keepdim, x.shape
        return mg.tensor(np.asarray(x.numpy().mean(axis=axis, keepdims=keepdim)))

    @staticmethod
    def backward(ctx, g):
        array = g.numpy()
        if not ctx.keepdim:
            array = np.expand_dims(array, ctx.axis)
        n = ctx.shape[ctx.axis]
        spread = np.repeat(array, n, axis=ctx.axis) / n
        return mg.tensor(spread, dtype=g.dtype), None, None


class Keeps(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, axis, keepdim):
        ctx.save_for_backward(x)
        ctx.axis, ctx.keepdim = axis, keepdim
        return x.mean(axis, keepdim=keepdim)

    @staticmethod
    def spread(ctx, g):
        (x,) = ctx.saved_tensors
        if not ctx.keepdim:
            g = g.unsqueeze(ctx.axis)
        return g.expand(x.shape)


def kept(ctx, g):
    return g if ctx.keepdim else g.unsqueeze(ctx.axis)
