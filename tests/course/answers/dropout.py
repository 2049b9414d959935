# ruff: noqa: RUF059  (answers unpack what they save, as learners do)
"""Answers to gym.Dropout, right and wrong, as strangers write them."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class Dropout(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = mg.rand(x.shape) >= p
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask / (1 - p)

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output * mask / (1 - ctx.p), None


@right()
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


@right()
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


@right()
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


@right()
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


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, p):
        mask = (mg.rand(x.shape) >= p).to(x.dtype)
        ctx.save_for_backward(x, mask)
        ctx.p = p
        return x * mask / (1 - p)


@wrong("L18")
class NoScaleInBackward(Saves):
    @staticmethod
    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        return g * mask, None


@wrong("L18")
class TimesTheScale(Saves):
    @staticmethod
    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        return g * mask * (1 - ctx.p), None


@wrong("L18")
class DividesByP(Saves):
    @staticmethod
    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        return g * mask / ctx.p, None


@wrong("L18")
class ScaledTwice(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = (mg.rand(x.shape) >= p).to(x.dtype) / (1 - p)
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask / (1 - ctx.p), None


@wrong("L18")
class NoScaleAtAll(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = mg.rand(x.shape) >= p
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask, None


@wrong("L18")
class ScaledByTheWrongShare(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = mg.rand(x.shape) >= p
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask * (1 - p)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask * (1 - ctx.p), None


@wrong("S09")
class DrawsAgain(Saves):
    @staticmethod
    def backward(ctx, g):
        mask = (mg.rand(g.shape) >= ctx.p).to(g.dtype)
        return g * mask / (1 - ctx.p), None


@wrong("C07", "C03")
class MaskForgotten(Saves):
    @staticmethod
    def backward(ctx, g):
        return g / (1 - ctx.p), None


@wrong("C03")
class HandsItOn(Saves):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("C01")
class WithoutUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        return mask / (1 - ctx.p), None


@wrong("L11")
class MaskFromTheOutput(Function):
    @staticmethod
    def forward(ctx, x, p):
        y = x * (mg.rand(x.shape) >= p) / (1 - p)
        ctx.save_for_backward(y)
        ctx.p = p
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (y != 0) / (1 - ctx.p), None


@wrong("L11")
class MaskFromTheInput(Saves):
    @staticmethod
    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        return g * (x > 0) / (1 - ctx.p), None


@wrong("L01")
class DroppedOnesGetIt(Saves):
    @staticmethod
    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        return g * (1 - mask) / (1 - ctx.p), None


@wrong("L04")
class TimesTheInput(Saves):
    @staticmethod
    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        return g * x * mask / (1 - ctx.p), None


@wrong("A01")
class NothingForP(Saves):
    @staticmethod
    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        return g * mask / (1 - ctx.p)


@wrong("A02")
class GradientForP(Saves):
    @staticmethod
    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        return g * mask / (1 - ctx.p), mg.zeros(1)


@wrong("S06")
class MaskOnCtx(Function):
    @staticmethod
    def forward(ctx, x, p):
        ctx.mask = (mg.rand(x.shape) >= p).to(x.dtype) / (1 - p)
        return x * ctx.mask

    @staticmethod
    def backward(ctx, g):
        return g * ctx.mask, None


@wrong("S04")
class MaskOnTheClass(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = (np.random.rand(*x.shape) >= p) / (1 - p)
        MaskOnTheClass.mask = mask.astype(x.numpy().dtype)
        return x * mg.tensor(MaskOnTheClass.mask)

    @staticmethod
    def backward(ctx, g):
        return g * mg.tensor(MaskOnTheClass.mask), None


@wrong("T01")
class ScaleInSingle(Function):
    @staticmethod
    def forward(ctx, x, p):
        scale = (mg.rand(x.shape) >= p) / (1 - p)
        ctx.save_for_backward(scale)
        return x * scale

    @staticmethod
    def backward(ctx, g):
        (scale,) = ctx.saved_tensors
        return g * scale, None


@wrong()
class KeepsThoseBelowP(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = mg.rand(x.shape) < p
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask / (1 - p)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask / (1 - ctx.p), None


@wrong()
class OneDrawForARow(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = (mg.rand(*x.shape[:-1], 1) >= p).to(x.dtype).expand(x.shape)
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask / (1 - p)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask / (1 - ctx.p), None


@wrong()
class OneDrawForAll(OneDrawForARow):
    @staticmethod
    def forward(ctx, x, p):
        mask = (mg.rand(1) >= p).to(x.dtype).expand(x.shape)
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask / (1 - p)


@wrong()
class OneMaskForAllRows(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = (mg.rand(x.shape[-1]) >= p).to(x.dtype).expand(x.shape)
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask / (1 - p)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask / (1 - ctx.p), None


@wrong()
class OneMaskForAllMatrices(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = (mg.rand(x.shape[-2:]) >= p).to(x.dtype).expand(x.shape)
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask / (1 - p)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask / (1 - ctx.p), None


@wrong()
class OneMaskForAllOfTheMiddle(Function):
    @staticmethod
    def forward(ctx, x, p):
        shape = (len(x), 1, x.shape[-1]) if x.ndim == 3 else x.shape
        mask = (mg.rand(shape) >= p).to(x.dtype).expand(x.shape)
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask / (1 - p)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask / (1 - ctx.p), None


@wrong()
class HalfWhateverTheChance(Function):
    @staticmethod
    def forward(ctx, x, p):
        mask = mg.rand(x.shape) >= (0.5 if p else 0.0)
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask / (1 - p)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask / (1 - ctx.p), None
