"""Wrong answers to gym.Sigmoid."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


def stable(x):
    e = (-x.abs()).exp()
    return mg.where(x >= 0, 1 / (1 + e), e / (1 + e))


class Base(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s


@wrong("C07")
class NoOneMinus(Base):
    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s


@wrong("C07")
class OnlyOneMinus(Base):
    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * (1 - s)


@wrong("L20")
class Textbook(Function):
    @staticmethod
    def forward(ctx, x):
        s = x.exp() / (1 + x.exp())
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * (1 - s)


@wrong("L20")
class UnstableBackward(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return stable(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.exp() / (1 + x.exp()) ** 2


@wrong("L05", "S01")
class FormulaOfX(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return stable(x)

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * (1 - s)


@wrong("L01")
class WrongSign(Base):
    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * (s - 1)


@wrong("C01")
class NoUpstream(Base):
    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return s * (1 - s)


@wrong("C02")
class GInBoth(Base):
    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return (g * s) * (g * (1 - s))


@wrong("S06")
class TwoAttributes(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.other = 1 - s
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * ctx.other


@wrong("D01")
class SlopeSaved(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s * (1 - s))
        return s

    @staticmethod
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        return g * slope


@wrong("L05", "S01")
class SigmoidTwice(Base):
    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        s = stable(s)
        return g * s * (1 - s)
