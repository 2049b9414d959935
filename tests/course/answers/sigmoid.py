"""Answers to gym.Sigmoid."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import right, wrong


def stable(x):
    """The sigmoid of a tensor, with no large power in it."""
    small = (-x.abs()).exp()
    return mg.where(x >= 0, 1 / (1 + small), small / (1 + small))


@right()
class FromTheResult(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = 1 / (1 + (-x).exp())
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (s,) = ctx.saved_tensors
        return grad_output * s * (1 - s)


@right()
class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return stable(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        s = ctx.saved_tensors[0]
        slope = s - s * s
        return (g * slope,)


@right()
class ComputesAgain(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1.0 / ((-x).exp() + 1.0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = 1.0 / ((-(x.clamp(-500.0, 500.0))).exp() + 1.0)
        return s * (1.0 - s) * g


@right()
class ForwardWithNumpy(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy()
        small = np.exp(-abs(a))
        out = np.where(a >= 0, 1 / (1 + small), small / (1 + small))
        s = mg.tensor(out, dtype=x.dtype)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        gs = g * s
        return gs - gs * s


@wrong("C01")
class SlopeAlone(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return s * (1 - s)


@wrong("C07")
class SecondFactorMissing(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s


@wrong("C07")
class FirstFactorMissing(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * (1 - s)


@wrong("L01")
class OtherWayRound(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * (s - 1)


@wrong("L03")
class SquaredAsForTanh(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * (1 - s**2)


@wrong("L05", "S01")
class FormulaOnTheInput(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return stable(x)

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * (1 - s)


@wrong("L05", "S01")
class SigmoidOfTheResult(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = stable(x)
        return g * s * (1 - s)


@wrong("L20")
class PowerAboveAndBelow(Function):
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
class PowerInBackward(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + (-x).exp())

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        power = (-x).exp()
        return g * power / (1 + power) ** 2


@wrong("A04")
class ListOfOne(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return [g * s * (1 - s)]


@wrong("A08")
class BackwardWithoutDecorator(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * (1 - s)


@wrong("S07")
class ResultAsAttribute(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.s = s
        return s

    @staticmethod
    def backward(ctx, g):
        return g * ctx.s * (1 - ctx.s)


@wrong("S05")
class ResultInAGlobal(Function):
    @staticmethod
    def forward(ctx, x):
        global last_result
        last_result = stable(x)
        return last_result

    @staticmethod
    def backward(ctx, g):
        return g * last_result * (1 - last_result)


last_result = None


@wrong("S10")
class UsesUpWhatItKept(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        ctx.first = True
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        scale = 1.0 if ctx.first else 0.5
        ctx.first = False
        return g * s * (1 - s) * scale


@wrong("D01", "D02")
class SavesTheSlope(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s * (1 - s))
        return s

    @staticmethod
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        return g * slope


@wrong("D02")
class SavedThenDetached(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        s = ctx.saved_tensors[0].detach()
        return g * s * (1 - s)


@wrong("D03")
class OnceOnly(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * (1 - s)


@wrong("L20")
class SecondDerivativeOverflows(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + (-x).exp())

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / (1 + (-x).exp()) / (1 + x.exp())


@wrong()
class SlopeOfTheFirstRow(Function):
    @staticmethod
    def forward(ctx, x):
        s = stable(x)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        if s.ndim == 3:
            s = s[:, :1]
        return g * s * (1 - s)
