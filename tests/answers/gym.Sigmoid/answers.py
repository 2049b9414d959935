"""Answers to gym.Sigmoid, and what other rows use."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


def stable(x):
    """The sigmoid of a tensor, with no large power in it."""
    small = (-x.abs()).exp()
    return mg.where(x >= 0, 1 / (1 + small), small / (1 + small))


class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return stable(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        s = ctx.saved_tensors[0]
        slope = s - s * s
        return (g * slope,)


class ComputesAgain(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1.0 / ((-x).exp() + 1.0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = 1.0 / ((-(x.clamp(-500.0, 500.0))).exp() + 1.0)
        return s * (1.0 - s) * g


class ForwardWithNumpy(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy()
        small = np.exp(-abs(a))
        out = np.where(a >= 0, 1 / (1 + small), small / (1 + small))
        s = mg.tensor(out, dtype=x.dtype)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        gs = g * s
        return gs - gs * s


class BackwardWithoutDecorator(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * (1 - s)


last_result = None


def stable_too(x):
    e = (-x.abs()).exp()
    return mg.where(x >= 0, 1 / (1 + e), e / (1 + e))
