"""Answers to gym.ReLU, and what other rows use."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return mg.where(x > 0, x, mg.zeros_like(x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return (mg.where(y > 0, g, mg.zeros_like(g)),)


class SavesTheMask(Function):
    @staticmethod
    def forward(ctx, x):
        mask = x > 0
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return mask.to(g.dtype) * g


class BooleanIndex(Function):
    @staticmethod
    def forward(ctx, x):
        out = x.clone()
        out[x < 0] = 0
        ctx.save_for_backward(x)
        return out

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        gx = g.clone()
        gx[x <= 0] = 0
        return gx


class MaskAsArray(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy()
        ctx.mask = a > 0
        return mg.tensor(np.maximum(a, 0))

    @staticmethod
    def backward(ctx, g):
        return g * mg.tensor(ctx.mask)


MASKS = []


class InputsOnTheClassByCall(Function):
    kept = {}  # noqa: RUF012

    @staticmethod
    def forward(ctx, x):
        ctx.number = len(InputsOnTheClassByCall.kept)
        InputsOnTheClassByCall.kept[ctx.number] = x.clone()
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g * (InputsOnTheClassByCall.kept[ctx.number] > 0)


inputs_by_call = []
