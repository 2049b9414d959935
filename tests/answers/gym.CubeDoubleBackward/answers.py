"""Answers to gym.CubeDoubleBackward, and what other rows use."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return x * x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        square = x * x
        return (g * (square + square + square),)


class ForwardWithNumpy(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(x.numpy() ** 3, dtype=x.dtype)

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors[0]
        if ctx.needs_input_grad[0]:
            return g * 3.0 * x * x
        return None


class CubeSlope(Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return 3 * g * x * x

    @staticmethod
    def backward(ctx, gg):
        g, x = ctx.saved_tensors
        return 3 * gg * x * x, 6 * gg * g * x


class OneFunctionForEachOrder(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return CubeSlope.apply(g, x)
