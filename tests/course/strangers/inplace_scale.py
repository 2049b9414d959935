"""Wrong answers to gym.InplaceScale."""

from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        ctx.mark_dirty(x)
        return x.mul_(c)


@wrong("M02")
class NotMarked(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x.mul_(c)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("M03")
class MarkedNotReturned(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        ctx.mark_dirty(x)
        x.mul_(c)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("M03")
class MarksTheCopy(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        y = x * c
        ctx.mark_dirty(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("M03")
class NewTensor(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("C03", "C07", "L02")
class ThroughUnchanged(Base):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("M01")
class ScalesG(Base):
    @staticmethod
    def backward(ctx, g):
        return g.mul_(ctx.c), None


@wrong("A01")
class OneOnly(Base):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.c


@wrong("T02")
class IntC(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = int(c)
        ctx.mark_dirty(x)
        return x.mul_(c)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("L01")
class Minus(Base):
    @staticmethod
    def backward(ctx, g):
        return g * -ctx.c, None


@wrong("A17", "M03")
class ReturnsNothing(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        ctx.mark_dirty(x)
        x.mul_(c)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("S10")
class PopsItsFactor(Base):
    @staticmethod
    def backward(ctx, g):
        c = ctx.c
        del ctx.c
        return g * c, None
