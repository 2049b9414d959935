"""Answers to gym.MulConstant, and what other rows use."""

import math

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class InTwoSteps(mg.autograd.Function):
    @staticmethod
    def forward(tensor, constant):
        return tensor * constant

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, constant = inputs
        ctx.constant = constant

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.constant, None


class OnlyIfAsked(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.factor = float(c)
        return c * x

    @staticmethod
    def backward(ctx, g):
        gx = None
        if ctx.needs_input_grad[0]:
            gx = ctx.factor * g
        return gx, None


class ConstantAsTensor(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(mg.tensor(c, dtype=x.dtype))
        return x * c

    @staticmethod
    def backward(ctx, g):
        (c,) = ctx.saved_tensors
        return g * c, None


class InPlaceOnACopy(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        out = x.clone()
        out.mul_(c)
        return out

    @staticmethod
    def backward(ctx, g):
        out = g.clone()
        out = out * ctx.c
        return (out, None)


class ConstantOnTheClass(mg.autograd.Function):
    c = 1.0

    @staticmethod
    def forward(ctx, x, c):
        ConstantOnTheClass.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * ConstantOnTheClass.c, None


class ClassRemembersUntilBackward(mg.autograd.Function):
    c = None

    @staticmethod
    def forward(ctx, x, c):
        cls = ClassRemembersUntilBackward
        cls.c = c if cls.c is None else cls.c
        return x * c

    @staticmethod
    def backward(ctx, g):
        c, ClassRemembersUntilBackward.c = ClassRemembersUntilBackward.c, None
        return g * c, None


class NoStaticMethod(Function):
    def forward(self, x, c):
        self.c = c
        return x * c

    def backward(self, g):
        return g * self.c, None


FACTOR = [1.0]


CONSTANTS = {}


class StoreByTheTensor(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.key = id(x)
        CONSTANTS[id(x)] = c
        return x * c

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * CONSTANTS[ctx.key], None
