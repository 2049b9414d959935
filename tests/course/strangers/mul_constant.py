# ruff: noqa: RUF059, F841  (answers are written as learners write them)
"""Wrong answers to gym.MulConstant."""

import math

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c


@wrong("C01")
class ReturnsTheFactorOnly(Base):
    @staticmethod
    def backward(ctx, g):
        return mg.ones_like(g) * ctx.c, None


@wrong("C02")
class SquaresTheGradient(Base):
    @staticmethod
    def backward(ctx, g):
        return g * g * ctx.c, None


@wrong("C03", "C07", "L02")
class HandsItOn(Base):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("C04")
class MeanOfG(Base):
    @staticmethod
    def backward(ctx, g):
        return g.mean() * ctx.c * mg.ones_like(g), None


@wrong("C05")
class ReturnsTheOutput(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        y = x * c
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * ctx.c, None


@wrong("C06", "L02")
class Twice(Base):
    @staticmethod
    def backward(ctx, g):
        grad = g * ctx.c
        grad = grad + g * ctx.c
        return grad, None


@wrong("L01")
class Minus(Base):
    @staticmethod
    def backward(ctx, g):
        return -ctx.c * g, None


@wrong("T02")
class IntFactor(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = int(c)
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("A01")
class OneGradientOnly(Base):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.c


@wrong("A02")
class GradientForTheFactor(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        ctx.save_for_backward(x)
        return x * c

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.c, (g * x).sum()


@wrong("A04")
class ListOfTwo(Base):
    @staticmethod
    def backward(ctx, g):
        return [g * ctx.c, None]


@wrong("A10")
class SwappedSetup(Function):
    @staticmethod
    def forward(x, c):
        return x * c

    @staticmethod
    def setup_context(ctx, x, c):
        ctx.c = c

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("A09")
class BothStyles(Function):
    @staticmethod
    def forward(ctx, x, c):
        return x * c

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.c = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("A14")
class SavesTheNumber(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(x, c)
        return x * c

    @staticmethod
    def backward(ctx, g):
        x, c = ctx.saved_tensors
        return g * c, None


@wrong("A08")
class NoStaticMethod(Function):
    def forward(self, x, c):
        self.c = c
        return x * c

    def backward(self, g):
        return g * self.c, None


@wrong("A16")
class ForgetsReturn(Base):
    @staticmethod
    def backward(ctx, g):
        grad = g * ctx.c


@wrong("S04")
class OnTheClass(Function):
    @staticmethod
    def forward(ctx, x, c):
        OnTheClass.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * OnTheClass.c, None


FACTOR = [1.0]


@wrong("S05")
class InAGlobalList(Function):
    @staticmethod
    def forward(ctx, x, c):
        FACTOR[0] = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * FACTOR[0], None


@wrong("M01")
class ScalesG(Base):
    @staticmethod
    def backward(ctx, g):
        g.mul_(ctx.c)
        return g, None


@wrong("T01")
class FloatInside(Base):
    @staticmethod
    def backward(ctx, g):
        return (g.to(mg.float32) * ctx.c).to(g.dtype), None


@wrong("D02")
class CutsTheGraph(Base):
    @staticmethod
    def backward(ctx, g):
        return g.detach() * ctx.c, None


@wrong("D03")
class Once(Base):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("M02")
class WritesIntoX(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        x.mul_(c)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("S10")
class DeletesItsState(Base):
    @staticmethod
    def backward(ctx, g):
        grad = g * ctx.c
        ctx.c = 1.0
        return grad, None


@wrong("L19")
class MulConstantRatio(Function):
    @staticmethod
    def forward(ctx, x, c):
        out = x * c
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx, g):
        x, out = ctx.saved_tensors
        return g * (out / x), None


@wrong("T02")
class WholeFactor(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = math.floor(c)
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("T04")
class FlattenedScale(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        flat = x.view(-1)
        return (flat * c).view(x.shape)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None
