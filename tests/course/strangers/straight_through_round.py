"""Wrong answers to gym.StraightThroughRound."""

import numpy as np

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()


@wrong("L12")
class TrueDerivative(Base):
    @staticmethod
    def backward(ctx, g):
        return mg.zeros_like(g)


@wrong("L12")
class TimesZero(Base):
    @staticmethod
    def backward(ctx, g):
        return g * 0


@wrong("L13")
class Window(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 1)


@wrong("C01")
class Ones(Base):
    @staticmethod
    def backward(ctx, g):
        return mg.ones_like(g)


@wrong("C05")
class Output(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.round()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y


@wrong("C06", "L02")
class Double(Base):
    @staticmethod
    def backward(ctx, g):
        return g + g


@wrong("L01")
class Reverse(Base):
    @staticmethod
    def backward(ctx, g):
        return -g


@wrong("M02")
class InPlace(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round_().clone()

    @staticmethod
    def backward(ctx, g):
        return g


@wrong("A13")
class TwoUpstreams(Base):
    @staticmethod
    def backward(ctx, g, x):
        return g


@wrong("A16")
class Nothing(Base):
    @staticmethod
    def backward(ctx, g):
        g.clone()


@wrong("L13")
class RoundTriangle(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.round(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 - x.abs()).clamp(min=0)


@wrong("L12")
class RoundSymmetricQuotient(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        h = 1e-4
        return g * ((x + h).round() - (x - h).round()) / (2 * h)


@wrong("M03")
class MarksTheCopy(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        y.round_()
        ctx.mark_dirty(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * 1


@wrong("T04")
class ElementLoopInMemoryOrder(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy()
        out = np.fromiter(
            (np.rint(v) for v in np.nditer(a)), dtype=a.dtype, count=a.size
        )
        return mg.tensor(out.reshape(a.shape))

    @staticmethod
    def backward(ctx, g):
        return g


@wrong("A09")
class RoundWithSwappedCtx(Function):
    @staticmethod
    def forward(x, ctx):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g
