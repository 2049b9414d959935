"""Answers to gym.Power, and what other rows use."""

import numpy as np

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class InTwoSteps(Function):
    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.power = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors[0]
        n = ctx.power
        slope = n * x ** (n - 1) if n else x * 0.0
        return slope * g, None


class MaskedZeros(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = float(n)
        return x.clone() ** ctx.n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if not ctx.needs_input_grad[0]:
            return None, None
        base = mg.ones_like(x) if ctx.n == 0.0 else x
        return g * (ctx.n * base ** (ctx.n - 1.0)), None


class KeepsTheSlope(Function):
    @staticmethod
    def forward(ctx, x, n):
        slope = mg.zeros_like(x) if n == 0 else n * x ** (n - 1)
        ctx.save_for_backward(slope)
        return x**n

    @staticmethod
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        return slope * g, None


class PowerOfTheResult(Function):
    @staticmethod
    def forward(ctx, x, n):
        out = x**n
        ctx.save_for_backward(out)
        ctx.n = n
        return out

    @staticmethod
    def backward(ctx, g):
        (out,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(out), None
        return g * ctx.n * out ** (ctx.n - 1), None


class UsesOutput(Function):
    @staticmethod
    def forward(ctx, x, n):
        y = x**n
        ctx.save_for_backward(y)
        ctx.n = n
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(y), None
        return g * ctx.n * y ** (ctx.n - 1), None
