"""Wrong answers to gym.Mean."""

import numpy as np

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        ctx.shape, ctx.axis, ctx.keepdim = tuple(x.shape), axis, keepdim
        return x.mean(axis, keepdim=keepdim)


def kept(ctx, g):
    return g if ctx.keepdim else g.unsqueeze(ctx.axis)


@wrong("R05")
class NoN(Base):
    @staticmethod
    def backward(ctx, g):
        return kept(ctx, g).expand(*ctx.shape), None, None


@wrong("R06")
class AllElements(Base):
    @staticmethod
    def backward(ctx, g):
        n = int(np.prod(ctx.shape))
        return kept(ctx, g).expand(*ctx.shape) / n, None, None


@wrong("R06")
class FirstSize(Base):
    @staticmethod
    def backward(ctx, g):
        return kept(ctx, g).expand(*ctx.shape) / ctx.shape[0], None, None


@wrong("R07")
class NotExpanded(Base):
    @staticmethod
    def backward(ctx, g):
        return g / ctx.shape[ctx.axis], None, None


@wrong("R08")
class IgnoresKeepdim(Base):
    @staticmethod
    def backward(ctx, g):
        g = g.unsqueeze(ctx.axis)
        return g.expand(*ctx.shape) / ctx.shape[ctx.axis], None, None


@wrong("R08")
class AlwaysLast(Base):
    @staticmethod
    def backward(ctx, g):
        g = g if ctx.keepdim else g.unsqueeze(-1)
        return (g + mg.zeros(*ctx.shape, dtype=g.dtype)) / ctx.shape[-1], None, None


@wrong("R08", "R07")
class AlwaysFirst(Base):
    @staticmethod
    def backward(ctx, g):
        g = g if ctx.keepdim else g.unsqueeze(0)
        g = g.expand(*ctx.shape)
        return g / ctx.shape[ctx.axis], None, None


@wrong("A01")
class OneOnly(Base):
    @staticmethod
    def backward(ctx, g):
        return kept(ctx, g).expand(*ctx.shape) / ctx.shape[ctx.axis]


@wrong("C01")
class OneOverN(Base):
    @staticmethod
    def backward(ctx, g):
        n = ctx.shape[ctx.axis]
        return mg.ones(*ctx.shape, dtype=g.dtype) / n, None, None


@wrong("C04")
class MeanG(Base):
    @staticmethod
    def backward(ctx, g):
        n = ctx.shape[ctx.axis]
        return g.mean().expand(*ctx.shape) / n, None, None


@wrong("T02")
class Floor(Base):
    @staticmethod
    def backward(ctx, g):
        n = ctx.shape[ctx.axis]
        return kept(ctx, g).expand(*ctx.shape) * (1 // n), None, None


@wrong("A04")
class ReturnsList(Base):
    @staticmethod
    def backward(ctx, g):
        n = ctx.shape[ctx.axis]
        return [kept(ctx, g).expand(*ctx.shape) / n, None, None]


@wrong("S04")
class AxisOnClass(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        cls = AxisOnClass
        cls.shape, cls.axis, cls.keepdim = tuple(x.shape), axis, keepdim
        return x.mean(axis, keepdim=keepdim)

    @staticmethod
    def backward(ctx, g):
        cls = AxisOnClass
        g = kept(cls, g)
        return g.expand(*cls.shape) / cls.shape[cls.axis], None, None


@wrong("R08")
class MeanAlwaysReinserts(Function):
    @staticmethod
    def forward(x, axis, keepdim):
        return x.mean(axis, keepdim=keepdim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, axis, _ = inputs
        ctx.axis = axis
        ctx.repeats = x.shape

    @staticmethod
    def backward(ctx, g):
        weights = torch.ones(ctx.repeats, dtype=g.dtype) / ctx.repeats[ctx.axis]
        return weights * g.unsqueeze(ctx.axis), None, None


def _spread(g, shape, axis):
    lifted = list(shape)
    lifted[axis] = 1
    return g.reshape(lifted).expand(shape)


@wrong("T04")
class MeanAssumedStrides(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        ctx.shape, ctx.axis = tuple(x.shape), axis
        strides, step = [], 1
        for size in reversed(ctx.shape):
            strides.insert(0, step)
            step *= size
        rows = x.as_strided(ctx.shape, tuple(strides))
        return rows.mean(axis, keepdim=keepdim)

    @staticmethod
    def backward(ctx, g):
        return _spread(g, ctx.shape, ctx.axis) / ctx.shape[ctx.axis], None, None


@wrong("R05", "R08")
class MeanWeightsOnlyWhenSqueezed(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        ctx.axis, ctx.keepdim = axis, keepdim
        ctx.save_for_backward(x)
        return x.sum(axis, keepdim=keepdim) / x.shape[axis]

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        full = mg.ones_like(x)
        if ctx.keepdim:
            return full * g, None, None
        return full * g.unsqueeze(ctx.axis) / x.shape[ctx.axis], None, None
