"""Wrong answers to gym.GradientReversal."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.clone()


@wrong("L15")
class ReversesForward(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return -x

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


@wrong("L01")
class NoMinus(Base):
    @staticmethod
    def backward(ctx, g):
        return ctx.lam * g, None


@wrong("C07", "L02")
class NoLambda(Base):
    @staticmethod
    def backward(ctx, g):
        return -g, None


@wrong("C03")
class Through(Base):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("T02")
class IntLambda(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = int(lam)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


@wrong("A01")
class One(Base):
    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g


@wrong("A02")
class GradientOfLambda(Base):
    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, -g.sum()


@wrong("S04")
class ClassLambda(Function):
    lam = 1.0

    @staticmethod
    def forward(ctx, x, lam):
        ClassLambda.lam = lam
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return -ClassLambda.lam * g, None


@wrong("M01")
class InG(Base):
    @staticmethod
    def backward(ctx, g):
        return g.neg_().mul_(ctx.lam), None


@wrong("C04")
class Mean(Base):
    @staticmethod
    def backward(ctx, g):
        return mg.ones_like(g) * (-ctx.lam * g.mean()), None


@wrong("A03")
class OtherOrder(Base):
    @staticmethod
    def backward(ctx, g):
        return None, -ctx.lam * g


@wrong("T03")
class ReverseThroughLists(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        values = (g.detach().numpy() * -ctx.lam).tolist()
        return mg.tensor(values, dtype=mg.float64), None
