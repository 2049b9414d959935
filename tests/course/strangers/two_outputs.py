"""Wrong answers to gym.TwoOutputs."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.sin(), x * x


@wrong("N01")
class FirstOnly(Base):
    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        return None if a is None else a * x.cos()


@wrong("N01")
class SecondOnly(Base):
    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        return None if b is None else 2 * x * b


@wrong("N02")
class NotNoneSafe(Base):
    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        return a * x.cos() + 2 * x * b


@wrong("N02")
class SafeForOne(Base):
    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        grad = a * x.cos()
        if b is not None:
            grad = grad + 2 * x * b
        return grad


@wrong("N03")
class Materialised(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x * x

    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        return a * x.cos() + 2 * x * b


@wrong("N03")
class SetToTrue(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(True)
        ctx.save_for_backward(x)
        return x.sin(), x * x

    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        grad = 0
        if a is not None:
            grad = grad + a * x.cos()
        if b is not None:
            grad = grad + 2 * x * b
        return grad


@wrong("N04")
class Exchanged(Base):
    @staticmethod
    def backward(ctx, b, a):
        (x,) = ctx.saved_tensors
        grad = None
        if a is not None:
            grad = a * x.cos()
        if b is not None:
            grad = 2 * x * b if grad is None else grad + 2 * x * b
        return grad


@wrong("N06")
class GivesUp(Base):
    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        if a is None or b is None:
            return None
        return a * x.cos() + 2 * x * b


@wrong("N06")
class GivesUpOnFirst(Base):
    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        if a is None:
            return None
        grad = a * x.cos()
        return grad if b is None else grad + 2 * x * b


@wrong("N07")
class NoneAsOnes(Base):
    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        a = mg.ones_like(x) if a is None else a
        b = mg.ones_like(x) if b is None else b
        return a * x.cos() + 2 * x * b


def both(x, a, b, sin=None, square=None):
    terms = []
    if a is not None:
        terms.append(a * (x.cos() if sin is None else sin))
    if b is not None:
        terms.append(b * (2 * x if square is None else square))
    return sum(terms[1:], terms[0])


@wrong("L01")
class MinusCos(Base):
    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        return both(x, a, b, sin=-x.cos())


@wrong("L02")
class NoTwo(Base):
    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        return both(x, a, b, square=x)


@wrong("A13")
class OneUpstream(Base):
    @staticmethod
    def backward(ctx, a):
        (x,) = ctx.saved_tensors
        return a * x.cos()


@wrong("A17")
class ListOfOutputs(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return [x.sin(), x * x]

    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        return both(x, a, b)


def add(a, b):
    if a is None:
        return b
    if b is None:
        return a
    return a + b


@wrong("C05")
class TwoOutputsValuesFlow(Function):
    @staticmethod
    def forward(ctx, x):
        s, q = x.sin(), x * x
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, s, q)
        return s, q

    @staticmethod
    def backward(ctx, g1, g2):
        x, s, q = ctx.saved_tensors
        a = s * x.cos() if g1 is not None else None
        b = q * 2 * x if g2 is not None else None
        return add(a, b)


@wrong("A11")
class PairSavedAsPair(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.sin(), x * x

    @staticmethod
    def backward(ctx, g_sin, g_square):
        x = ctx.saved_tensors
        grad = None
        if g_sin is not None:
            grad = g_sin * mg.cos(x)
        if g_square is not None:
            other = g_square * 2 * x
            grad = other if grad is None else grad + other
        return grad


@wrong("N03")
class AskedForVectorsOnly(Function):
    @staticmethod
    def forward(ctx, x):
        if x.ndim < 2:
            ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.sin(), x * x

    @staticmethod
    def backward(ctx, *ups):
        (x,) = ctx.saved_tensors
        parts = [
            u * d for u, d in zip(ups, (x.cos(), 2 * x), strict=False) if u is not None
        ]
        return sum(parts, mg.zeros_like(x))
