"""Answers to gym.Exp, and what other rows use."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return mg.exp(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        return (ctx.saved_tensors[0] * g,)


class ComputesAgain(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.exp()


class SavesBoth(Function):
    @staticmethod
    def forward(ctx, a):
        out = mg.exp(a)
        ctx.save_for_backward(a, out)
        return out

    @staticmethod
    def backward(ctx, g):
        _a, out = ctx.saved_tensors
        if not ctx.needs_input_grad[0]:
            return None
        return out * g


STORE = {}
