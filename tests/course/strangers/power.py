"""Wrong answers to gym.Power."""

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n


@wrong("L03")
class SameExponent(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x**ctx.n, None


@wrong("L03")
class TwoLess(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 2), None


@wrong("L02", "C07")
class NoFactorN(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(x), None
        return g * x ** (ctx.n - 1), None


@wrong("L19")
class NanAtZero(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x**ctx.n / x, None


@wrong("L19")
class PowerByLog(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


@wrong("T02")
class IntExponent(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = int(n)
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(x), None
        return g * ctx.n * x ** (ctx.n - 1), None


@wrong("C01")
class NoG(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(x), None
        return ctx.n * x ** (ctx.n - 1), None


@wrong("C05", "L05", "S01")
class UsesOutput(Function):
    @staticmethod
    def forward(ctx, x, n):
        y = x**n
        ctx.save_for_backward(y)
        ctx.n = n
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(y), None
        return g * ctx.n * y ** (ctx.n - 1), None


@wrong("S06")
class KeepsXOnCtx(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.x, ctx.n = x, n
        return x**n

    @staticmethod
    def backward(ctx, g):
        if ctx.n == 0:
            return mg.zeros_like(ctx.x), None
        return g * ctx.n * ctx.x ** (ctx.n - 1), None


@wrong("S08")
class KeepsAnArray(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.array, ctx.n = x.numpy(), n
        return x**n

    @staticmethod
    def backward(ctx, g):
        if ctx.n == 0:
            return mg.zeros_like(g), None
        return g * mg.tensor(ctx.n * ctx.array ** (ctx.n - 1)), None


@wrong("A11")
class TakesTheTuple(Base):
    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


@wrong("A13")
class ExtraArgument(Base):
    @staticmethod
    def backward(ctx, g, n):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


@wrong("A05", "A16")
class NoneForX(Base):
    @staticmethod
    def backward(ctx, g):
        return None, None


@wrong("C06", "L02")
class AddsItTwice(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(x), None
        slope = ctx.n * x ** (ctx.n - 1)
        return g * slope + slope * g, None


@wrong("L02")
class PowerBringsDownTwice(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        n = ctx.n
        if n == 0:
            return g * 0.0, None
        return g * n * (n * x ** (n - 1)), None


@wrong("T02")
class FloorDivisionCoefficient(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(x), None
        return ctx.n // 1 * g * x ** (ctx.n - 1), None


@wrong("T02")
class RoundedExponentForSlope(Function):
    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, n = inputs
        ctx.save_for_backward(x)
        ctx.exact = n
        ctx.count = round(n)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        n = ctx.count
        if ctx.exact == 0:
            return g * 0, None
        return g * ctx.exact * x ** (n - 1), None


@wrong("T02")
class LoweredWithInt(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return torch.zeros_like(x), None
        lower = int(ctx.n - 1)
        return g * ctx.n * x**lower, None
