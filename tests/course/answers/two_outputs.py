"""Answers to gym.TwoOutputs, right and wrong, as strangers write them."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class TwoOutputs(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.sin(), x * x

    @staticmethod
    def backward(ctx, grad_sine, grad_square):
        (x,) = ctx.saved_tensors
        grad_x = None
        if grad_sine is not None:
            grad_x = grad_sine * x.cos()
        if grad_square is not None:
            by_square = grad_square * 2 * x
            grad_x = by_square if grad_x is None else grad_x + by_square
        return grad_x


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.set_materialize_grads(False)
        return mg.sin(x), x**2


@right()
class StartsWithZeros(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        gx = mg.zeros_like(x)
        if g1 is not None:
            gx = gx + g1 * x.cos()
        if g2 is not None:
            gx = gx + 2 * x * g2
        return gx


@right()
class AddsWhatIsThere(Saves):
    @staticmethod
    def backward(ctx, *gs):
        (x,) = ctx.saved_tensors
        slopes = (lambda: mg.cos(x)), (lambda: 2.0 * x)
        terms = [g * s() for g, s in zip(gs, slopes, strict=True) if g is not None]
        return sum(terms) if terms else None


@right()
class ZerosForNone(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        if g1 is None and g2 is None:
            return None
        g1 = mg.zeros_like(x) if g1 is None else g1
        g2 = mg.zeros_like(x) if g2 is None else g2
        return (g1 * x.cos() + g2 * x * 2,)


@right()
class InTheOtherStyle(Function):
    @staticmethod
    def forward(x):
        return x.sin(), x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        if g1 is None:
            return None if g2 is None else 2 * x * g2
        return x.cos() * g1 if g2 is None else x.cos() * g1 + 2 * x * g2


@wrong("N01")
class OnlyTheSine(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        return None if g1 is None else g1 * x.cos()


@wrong("N01")
class OnlyTheSquare(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        return mg.zeros_like(x) if g2 is None else g2 * x * 2


@wrong("N02")
class NoneNotExpected(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        return g1 * x.cos() + g2 * 2 * x


@wrong("N03")
class DoesNotAskForNone(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x * x

    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        return g1 * x.cos() + g2 * 2 * x


@wrong("N03")
class ChecksButDoesNotAsk(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x * x

    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        gx = mg.zeros_like(x)
        if g1 is not None:
            gx = gx + g1 * x.cos()
        if g2 is not None:
            gx = gx + g2 * 2 * x
        return gx


@wrong("N04")
class UpstreamsExchanged(Saves):
    @staticmethod
    def backward(ctx, g2, g1):
        (x,) = ctx.saved_tensors
        gx = mg.zeros_like(x)
        if g1 is not None:
            gx = gx + g1 * x.cos()
        if g2 is not None:
            gx = gx + g2 * 2 * x
        return gx


@wrong("N06")
class GivesUpWithoutBoth(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        if g1 is None or g2 is None:
            return None
        return g1 * x.cos() + g2 * 2 * x


@wrong("N06")
class GivesUpWithoutTheSine(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        if g1 is None:
            return None
        gx = g1 * x.cos()
        return gx if g2 is None else gx + 2 * x * g2


@wrong("N07")
class NoneAsOnes(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        g1 = mg.ones_like(x) if g1 is None else g1
        g2 = mg.ones_like(x) if g2 is None else g2
        return g1 * x.cos() + g2 * 2 * x


@wrong("L01")
class CosineNegative(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        gx = mg.zeros_like(x)
        if g1 is not None:
            gx = gx - g1 * x.cos()
        if g2 is not None:
            gx = gx + g2 * 2 * x
        return gx


@wrong("L02")
class WithoutTheTwo(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        gx = mg.zeros_like(x)
        if g1 is not None:
            gx = gx + g1 * x.cos()
        if g2 is not None:
            gx = gx + g2 * x
        return gx


@wrong("L05", "S01")
class SavesTheOutputs(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        sine, square = x.sin(), x * x
        ctx.save_for_backward(sine, square)
        return sine, square

    @staticmethod
    def backward(ctx, g1, g2):
        sine, square = ctx.saved_tensors
        gx = mg.zeros_like(sine)
        if g1 is not None:
            gx = gx + g1 * sine.cos()
        if g2 is not None:
            gx = gx + g2 * 2 * square
        return gx


@wrong("C01")
class WithoutUpstreams(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        gx = mg.zeros_like(x)
        if g1 is not None:
            gx = gx + x.cos()
        if g2 is not None:
            gx = gx + 2 * x
        return gx


@wrong("C02")
class UpstreamsTwice(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        gx = mg.zeros_like(x)
        if g1 is not None:
            gx = gx + g1 * g1 * x.cos()
        if g2 is not None:
            gx = gx + g2 * g2 * 2 * x
        return gx


@wrong("C03")
class AddsTheUpstreams(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        gx = mg.zeros_like(x)
        for g in (g1, g2):
            if g is not None:
                gx = gx + g
        return gx


@wrong("A13")
class OneUpstreamOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos() + g * 2 * x


@wrong()
class OneGradientForEachOutput(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        first = mg.zeros_like(x) if g1 is None else g1 * x.cos()
        second = mg.zeros_like(x) if g2 is None else g2 * 2 * x
        return first, second


@wrong("A17")
class ReturnsAList(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return [x.sin(), x * x]

    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        gx = mg.zeros_like(x)
        if g1 is not None:
            gx = gx + g1 * x.cos()
        if g2 is not None:
            gx = gx + g2 * 2 * x
        return gx


@wrong("S06")
class InputOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.x = x
        return x.sin(), x * x

    @staticmethod
    def backward(ctx, g1, g2):
        gx = mg.zeros_like(ctx.x)
        if g1 is not None:
            gx = gx + g1 * ctx.x.cos()
        if g2 is not None:
            gx = gx + g2 * 2 * ctx.x
        return gx


@wrong("M01")
class AddsInPlace(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        if g1 is None:
            return None if g2 is None else g2 * 2 * x
        g1.mul_(x.cos())
        return g1 if g2 is None else g1.add_(g2 * 2 * x)


@wrong()
class SineOfABlockForgotten(Saves):
    @staticmethod
    def backward(ctx, g1, g2):
        (x,) = ctx.saved_tensors
        gx = mg.zeros_like(x)
        if g1 is not None and x.ndim < 3:
            gx = gx + g1 * x.cos()
        if g2 is not None:
            gx = gx + g2 * 2 * x
        return gx


@wrong("A17")
class ArrayAmongTheOutputs(Saves):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.sin(), x.numpy() ** 2
