"""Answers to gym.InplaceScale, right and wrong, as strangers write them."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class InplaceScale(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        ctx.mark_dirty(x)
        x.mul_(c)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.c, None


class Scales(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, c):
        x.mul_(c)
        ctx.mark_dirty(x)
        ctx.c = c
        return x


@right()
class ReturnsTheCall(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.mark_dirty(x)
        ctx.scale = c
        return x.mul_(c)

    @staticmethod
    def backward(ctx, g):
        return (g.clone().mul_(ctx.scale), None)


@right()
class WithTheOperator(Function):
    @staticmethod
    def forward(ctx, x, c):
        x *= c
        ctx.mark_dirty(x)
        ctx.c = c
        return x

    @staticmethod
    def backward(ctx, g):
        gx = ctx.c * g if ctx.needs_input_grad[0] else None
        return gx, None


@right()
class CopiesOver(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        x.copy_(x * c)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@right()
class InTheOtherStyle(Function):
    @staticmethod
    def forward(x, c):
        return x.mul_(c)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.c = inputs
        ctx.mark_dirty(x)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("M02")
class NotMarked(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        x.mul_(c)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("M02")
class ReturnsACopy(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        x.mul_(c)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("M03")
class MarksAndReturnsACopy(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        x.mul_(c)
        ctx.mark_dirty(x)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("M03")
class MarksTheResult(Function):
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
class MarksButDoesNotChange(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        ctx.mark_dirty(x)
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("M03")
class NotInPlace(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("C03", "C07")
class HandsItOn(Scales):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("C07", "L02")
class FactorTwice(Scales):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.c * ctx.c, None


@wrong("C07", "L02")
class Divides(Scales):
    @staticmethod
    def backward(ctx, g):
        return g / ctx.c, None


@wrong("C01")
class WithoutUpstream(Scales):
    @staticmethod
    def backward(ctx, g):
        return mg.ones_like(g) * ctx.c, None


@wrong("C02")
class UpstreamTwice(Scales):
    @staticmethod
    def backward(ctx, g):
        return g * g * ctx.c, None


@wrong("C06", "L02")
class AddedTwice(Scales):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.c + ctx.c * g, None


@wrong("L01")
class Negative(Scales):
    @staticmethod
    def backward(ctx, g):
        return -ctx.c * g, None


@wrong("L04")
class TimesTheInput(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(x.clone())
        ctx.mark_dirty(x)
        return x.mul_(c)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x, None


@wrong("T02")
class WholeFactor(Scales):
    @staticmethod
    def backward(ctx, g):
        return g * int(ctx.c), None


@wrong("T02")
class WholeFactorFromTheStart(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = int(c)
        ctx.mark_dirty(x)
        return x.mul_(ctx.c)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("M01")
class WritesIntoUpstream(Scales):
    @staticmethod
    def backward(ctx, g):
        return g.mul_(ctx.c), None


@wrong("A01")
class NothingForTheFactor(Scales):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.c


@wrong("A02")
class GradientForTheFactor(Scales):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, g.sum()


@wrong("A04")
class ReturnsAList(Scales):
    @staticmethod
    def backward(ctx, g):
        return [g * ctx.c, None]


@wrong("A14")
class SavesTheFactor(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(c)
        ctx.mark_dirty(x)
        return x.mul_(c)

    @staticmethod
    def backward(ctx, g):
        (c,) = ctx.saved_tensors
        return g * c, None


@wrong("S04")
class FactorOnTheClass(Function):
    @staticmethod
    def forward(ctx, x, c):
        FactorOnTheClass.c = c
        ctx.mark_dirty(x)
        return x.mul_(c)

    @staticmethod
    def backward(ctx, g):
        return g * FactorOnTheClass.c, None


@wrong()
class OneMatrixOfABlock(Scales):
    @staticmethod
    def backward(ctx, g):
        if g.ndim == 3:
            g = g[0]
        return g * ctx.c, None
