"""Answers to gym.Dropout, and what other rows use."""

import numpy as np

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class KeepsTheScaledMask(Function):
    @staticmethod
    def forward(ctx, x, p):
        scale = (mg.rand(x.shape) >= p).to(x.dtype) / (1 - p)
        ctx.save_for_backward(scale)
        return x * scale

    @staticmethod
    def backward(ctx, g):
        (scale,) = ctx.saved_tensors
        return g * scale, None


class WithWhere(Function):
    @staticmethod
    def forward(ctx, x, p):
        keep = mg.rand(*x.shape) >= p
        ctx.save_for_backward(keep)
        ctx.keep = 1.0 - p
        return mg.where(keep, x / ctx.keep, mg.zeros_like(x))

    @staticmethod
    def backward(ctx, g):
        (keep,) = ctx.saved_tensors
        return mg.where(keep, g / ctx.keep, mg.zeros_like(g)), None


class MaskAsAnArray(Function):
    @staticmethod
    def forward(ctx, x, p):
        ctx.mask = np.random.rand(*x.shape) >= p
        ctx.scale = 1 / (1 - p)
        return mg.tensor((x.numpy() * ctx.mask * ctx.scale).astype(x.numpy().dtype))

    @staticmethod
    def backward(ctx, g):
        return mg.tensor(
            (g.numpy() * ctx.mask * ctx.scale).astype(g.numpy().dtype)
        ), None


class Assigns(Function):
    @staticmethod
    def forward(ctx, x, p):
        drop = mg.rand_like(x) < p
        ctx.save_for_backward(drop)
        ctx.p = p
        y = x / (1 - p)
        y[drop] = 0.0
        return y

    @staticmethod
    def backward(ctx, g):
        (drop,) = ctx.saved_tensors
        gx = g.clone()
        gx[drop] = 0.0
        return gx / (1 - ctx.p), None


def _draw(shape, p):
    return mg.rand(shape) >= p


def boost(p):
    return 1.0 / (1.0 - p) if p < 1 else 0.0


def survivors(x, p):
    return torch.rand(x.shape) >= p
