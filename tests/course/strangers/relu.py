"""Wrong answers to gym.ReLU."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)


@wrong("L10")
class OneAtZero(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x >= 0)


@wrong("L10")
class HalfAtZero(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        half = mg.where(x == 0, mg.tensor(0.5, dtype=x.dtype), mg.zeros_like(x))
        return g * ((x > 0) + half)


@wrong("L11")
class MaskOfG(Base):
    @staticmethod
    def backward(ctx, g):
        return g.clamp(min=0)


@wrong("L11")
class MaskOfBoth(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0) * (g > 0)


@wrong("C03")
class NoMask(Base):
    @staticmethod
    def backward(ctx, g):
        return g


@wrong("C01")
class MaskAlone(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (x > 0).to(x.dtype)


@wrong("M01")
class ZeroesInG(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g[x <= 0] = 0
        return g


@wrong("L01")
class OtherHalf(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -g * (x > 0)


@wrong("M02")
class ClampsX(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        x.clamp_(min=0)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0)


@wrong("S08")
class ArrayMask(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x.numpy()
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g * mg.tensor(ctx.x > 0)


@wrong("S06")
class MaskOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mask = x > 0
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.mask


@wrong("S08")
class ArrayHandleKept(Function):
    @staticmethod
    def forward(x):
        return x.clamp(min=0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.handle = memoryview(inputs[0].detach().numpy())

    @staticmethod
    def backward(ctx, g):
        alive = np.asarray(ctx.handle) > 0
        return g * mg.tensor(alive).to(g.dtype)
