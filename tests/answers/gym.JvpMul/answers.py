"""Answers to gym.JvpMul, and what other rows use."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class InTwoParts(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        first = dx * y
        return first + dy * x


class WithAbsentTangents(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(y, x)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx = g * y if ctx.needs_input_grad[0] else None
        gy = g * x if ctx.needs_input_grad[1] else None
        return gx, gy

    @staticmethod
    def jvp(ctx, dx, dy):
        y, x = ctx.saved_tensors
        out = mg.zeros_like(x)
        if dx is not None:
            out = out + dx * y
        if dy is not None:
            out = out + dy * x
        return out


class Saves(Function):
    """forward, backward and jvp as they should be; each answer below changes one."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        return dx * y + dy * x


class FromAFreshTensor(Saves):
    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        out = dx.clone().mul(y)
        return out.add(x.mul(dy))
