"""Wrong answers to gym.Dropout."""

import numpy as np

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = (mg.rand(*x.shape) >= p).to(x.dtype)
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask / (1 - p)


@wrong("L18")
class NoScale(Base):
    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask, None


@wrong("L18")
class ScaledByP(Base):
    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask / ctx.p, None


@wrong("L18")
class TimesKeep(Base):
    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask * (1 - ctx.p), None


@wrong("S09")
class DrawsAgain(Base):
    @staticmethod
    def backward(ctx, g):
        mask = (mg.rand(*g.shape) >= ctx.p).to(g.dtype)
        return g * mask / (1 - ctx.p), None


@wrong("S09")
class NumpyDrawsAgain(Function):
    @staticmethod
    def forward(ctx, x, p):
        ctx.p = p
        mask = mg.tensor(np.random.rand(*x.shape) >= p).to(x.dtype)
        return x * mask / (1 - p)

    @staticmethod
    def backward(ctx, g):
        mask = mg.tensor(np.random.rand(*g.shape) >= ctx.p).to(g.dtype)
        return g * mask / (1 - ctx.p), None


@wrong("C03", "L11")
class NoMask(Base):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("C07", "L11")
class ScaleOnly(Base):
    @staticmethod
    def backward(ctx, g):
        return g / (1 - ctx.p), None


@wrong("S04")
class MaskOnClass(Function):
    @staticmethod
    def forward(ctx, x, p):
        MaskOnClass.mask = (mg.rand(*x.shape) >= p).to(x.dtype) / (1 - p)
        return x * MaskOnClass.mask

    @staticmethod
    def backward(ctx, g):
        return g * MaskOnClass.mask, None


@wrong("S06")
class MaskOnCtx(Function):
    @staticmethod
    def forward(ctx, x, p):
        ctx.mask = (mg.rand(*x.shape) >= p).to(x.dtype) / (1 - p)
        return x * ctx.mask

    @staticmethod
    def backward(ctx, g):
        return g * ctx.mask, None


@wrong("A01")
class OneOnly(Base):
    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask / (1 - ctx.p)


@wrong("C01")
class MaskItself(Base):
    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return mask / (1 - ctx.p), None


@wrong("L11")
class MaskFromG(Base):
    @staticmethod
    def backward(ctx, g):
        return g * (g > 0) / (1 - ctx.p), None


@wrong("S09")
class DropoutDrawInSetup(Function):
    @staticmethod
    def forward(x, p):
        scale = (mg.rand(x.shape) >= p).to(x.dtype) / (1 - p)
        return x * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, p = inputs
        ctx.save_for_backward((mg.rand(x.shape) >= p).to(x.dtype) / (1 - p))

    @staticmethod
    def backward(ctx, g):
        (scale,) = ctx.saved_tensors
        return g * scale, None


def _draw(shape, p):
    return mg.rand(shape) >= p


@wrong("S01")
class DropoutKeepsInput(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = _draw(x.shape, p).to(x.dtype) / (1 - p)
        ctx.save_for_backward(x)
        return x * mask

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask, None


@wrong("S03")
class DropoutScalesMask(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = _draw(x.shape, p).to(x.dtype)
        ctx.save_for_backward(mask)
        ctx.p = p
        mask.mul_(1 / (1 - p))
        return x * mask

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask / (1 - ctx.p), None


def survivors(x, p):
    return torch.rand(x.shape) >= p


def boost(p):
    return 1.0 / (1.0 - p) if p < 1 else 0.0


@wrong("L11")
class DropoutThresholdOnInput(Function):
    @staticmethod
    def forward(ctx, x, p):
        ctx.p = p
        ctx.save_for_backward(x)
        return x * survivors(x, p).to(x.dtype) * boost(p)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        alive = (x >= ctx.p).to(g.dtype)
        return g * alive * boost(ctx.p), None


@wrong("L18")
class DropoutDropRate(Function):
    @staticmethod
    def forward(ctx, x, p):
        keep = survivors(x, p).to(x.dtype)
        ctx.save_for_backward(keep)
        ctx.rate = p
        return x * keep * boost(p)

    @staticmethod
    def backward(ctx, g):
        (keep,) = ctx.saved_tensors
        if ctx.rate == 0:
            return g * keep, None
        return g * keep / ctx.rate, None


@wrong("T02", "L18")
class ScaleAsWholeNumber(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = (mg.rand(*x.shape) >= p).to(x.dtype)
        ctx.save_for_backward(mask)
        ctx.keep = 1 - p
        return x * mask / (1 - p)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask * (1 // ctx.keep), None
