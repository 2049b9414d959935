"""Answers to gym.Power."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class ConstantIsACaseOfItsOwn(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(x), None
        return grad_output * ctx.n * x ** (ctx.n - 1), None


@right()
class InTwoSteps(Function):
    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.power = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors[0]
        n = ctx.power
        slope = n * x ** (n - 1) if n else x * 0.0
        return slope * g, None


@right()
class MaskedZeros(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = float(n)
        return x.clone() ** ctx.n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if not ctx.needs_input_grad[0]:
            return None, None
        base = mg.ones_like(x) if ctx.n == 0.0 else x
        return g * (ctx.n * base ** (ctx.n - 1.0)), None


@right()
class KeepsTheSlope(Function):
    @staticmethod
    def forward(ctx, x, n):
        slope = mg.zeros_like(x) if n == 0 else n * x ** (n - 1)
        ctx.save_for_backward(slope)
        return x**n

    @staticmethod
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        return slope * g, None


@wrong("C01")
class SlopeAlone(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(x), None
        return ctx.n * x ** (ctx.n - 1), None


@wrong("C02")
class UpstreamInBothFactors(Function):
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
        return (g * ctx.n) * (g * x ** (ctx.n - 1)), None


@wrong("L02")
class NoFactorInFront(Function):
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
        return g * x ** (ctx.n - 1), None


@wrong("L02")
class LoweredFactor(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n - 1
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if ctx.n == -1:
            return mg.zeros_like(x), None
        return g * ctx.n * x**ctx.n, None


@wrong("L03")
class ExponentNotLowered(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x**ctx.n, None


@wrong("L03")
class ExponentLoweredTwice(Function):
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
        return g * ctx.n * x ** (ctx.n - 2), None


@wrong("L05", "S01")
class PowerOfTheResult(Function):
    @staticmethod
    def forward(ctx, x, n):
        out = x**n
        ctx.save_for_backward(out)
        ctx.n = n
        return out

    @staticmethod
    def backward(ctx, g):
        (out,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(out), None
        return g * ctx.n * out ** (ctx.n - 1), None


@wrong("L19")
class NoCareForZero(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (ctx.n * x ** (ctx.n - 1.0)), None


@wrong("L19")
class DividesByTheInput(Function):
    @staticmethod
    def forward(ctx, x, n):
        y = x**n
        ctx.save_for_backward(x, y)
        ctx.n = n
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * ctx.n * y / x, None


@wrong("T02")
class WholePowers(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = int(n)
        return x**ctx.n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(x), None
        return g * ctx.n * x ** (ctx.n - 1), None


@wrong("T02")
class WholePowersOnCtx(Function):
    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.n = int(inputs[1])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(x), None
        return g * ctx.n * x ** (ctx.n - 1), None


@wrong("A02")
class GradientForTheExponent(Function):
    @staticmethod
    def forward(ctx, x, n):
        y = x**n
        ctx.save_for_backward(x, y)
        ctx.n = n
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        slope = ctx.n * x ** (ctx.n - 1) if ctx.n != 0 else mg.zeros_like(x)
        return g * slope, (g * y * x.abs().log()).sum()


@wrong("A11")
class TupleNotUnpacked(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


@wrong("S08")
class ArrayAsAttribute(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.x, ctx.n = x.numpy(), n
        return x**n

    @staticmethod
    def backward(ctx, g):
        x = mg.tensor(ctx.x)
        if ctx.n == 0:
            return mg.zeros_like(x), None
        return g * ctx.n * x ** (ctx.n - 1), None


@wrong("S10")
class LowersItsExponent(Function):
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
        factor = ctx.n
        ctx.n -= 1
        return g * factor * x**ctx.n, None


@wrong("M05")
class RaisesTheSavedInput(Function):
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
        x.copy_(ctx.n * x ** (ctx.n - 1))
        return g * x, None


@wrong("A10")
class SetupContextLikeForward(Function):
    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


@wrong("A10", "A11")
class SetupContextLikeForwardUnsaved(Function):
    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, x, n):
        ctx.x, ctx.n = x, n

    @staticmethod
    def backward(ctx, g):
        return g * ctx.n * ctx.x ** (ctx.n - 1), None


@wrong()
class FlattensRows(ConstantIsACaseOfItsOwn):
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        if x.ndim > 2:
            x = x.reshape(-1, x.shape[-1])
            grad_output = grad_output.reshape(x.shape)
        if ctx.n == 0:
            return mg.zeros_like(x), None
        return grad_output * ctx.n * x ** (ctx.n - 1), None
