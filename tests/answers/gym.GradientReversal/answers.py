"""Answers to gym.GradientReversal, and what other rows use."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class AsAView(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.lam, None


class InTwoParts(Function):
    @staticmethod
    def forward(x, lam):
        return x.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.lam = inputs

    @staticmethod
    def backward(ctx, g):
        return g * (-ctx.lam), None


class ReturnsTheInput(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.factor = -lam
        return x

    @staticmethod
    def backward(ctx, g):
        gx = None
        if ctx.needs_input_grad[0]:
            gx = ctx.factor * g
        return gx, None


class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return mg.tensor(x.numpy().copy())

    @staticmethod
    def backward(ctx, g):
        return mg.tensor(-ctx.lam * g.numpy(), dtype=g.dtype), None


class Keeps(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.clone()


class OnAClone(Keeps):
    @staticmethod
    def backward(ctx, g):
        turned = g.clone()
        turned.mul_(-ctx.lam)
        return turned, None


class LamOnTheClass(Function):
    lam = 1.0

    @staticmethod
    def forward(ctx, x, lam):
        LamOnTheClass.lam = lam
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return -LamOnTheClass.lam * g, None


settings = {}


class NotStatic(Function):
    def forward(self, x, lam):
        self.lam = lam
        return x.clone()

    def backward(self, g):
        return -self.lam * g, None


class Scratch:
    """Memory that is used again and again."""

    def __init__(self):
        self.tensors = {}

    def like(self, g):
        return self.tensors.setdefault((g.dtype, *g.shape), mg.zeros_like(g))


scratch = Scratch()


class ClassLambda(Function):
    lam = 1.0

    @staticmethod
    def forward(ctx, x, lam):
        ClassLambda.lam = lam
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return -ClassLambda.lam * g, None
