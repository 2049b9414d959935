"""Answers to gym.Square."""

from types import SimpleNamespace

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import right, wrong


@right()
class TwiceTheInput(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output


@right()
class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors[0]
        return (g * (x + x),)


@right()
class SumOfBothSides(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, x)
        return x.clone() * x

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b + a * g


@right()
class ForwardWithNumpy(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(x.numpy() ** 2, dtype=x.dtype)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2.0 * x


@wrong("C01")
class SlopeAlone(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x


@wrong("C04")
class MeanOfUpstream(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        scale = g.mean() if g.numel() else 0.0
        return 2 * x * scale


@wrong("C05")
class OutputInsteadOfUpstream(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, g = ctx.saved_tensors
        return 2 * x * g


@wrong("C06", "L02")
class DoubledOnceMore(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        left = 2 * x * g
        right = 2 * x * g
        return left + right


@wrong("L02")
class OneSideOnly(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


@wrong("L03")
class ConstantSlope(Function):
    @staticmethod
    def forward(ctx, x):
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g


@wrong("L03", "L05")
class ExponentNotLowered(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x**2 * g


@wrong("L05", "S01", "L03")
class SavesTheResult(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("A11")
class TupleTakenForTensor(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors
        return g * 2 * x


@wrong("A05")
class NoneReturned(Function):
    @staticmethod
    def forward(ctx, x):
        return x * x

    @staticmethod
    def backward(ctx, g):
        return (None,)


@wrong("S05")
class InputInAList(Function):
    kept = None

    @staticmethod
    def forward(ctx, x):
        STACK[:] = [x]
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * STACK[0] * g


STACK = []


@wrong("M05")
class WritesIntoSaved(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        x *= 2
        return x * g


@wrong("M02")
class SquaresTheInput(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        x.mul_(x)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("S03", "L05")
class ChangesWhatItSaved(Function):
    @staticmethod
    def forward(ctx, x):
        out = x.clone()
        ctx.save_for_backward(out)
        out.mul_(out)
        return out

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("D01", "D02")
class SavesTheSlope(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(2 * x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        return slope * g


@wrong("D02")
class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.tensor(2 * x.detach().numpy() * g.detach().numpy())


@wrong("D03")
class OnceOnly(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong()
class RowsAndColumnsOnly(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if x.ndim < 2:
            return 2 * x * g
        rows, columns = x.shape
        return (2 * x * g).reshape(rows, columns)


@wrong("S06")
class InputInAnObjectOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.kept = SimpleNamespace(x=x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.kept.x * g


@wrong("S06")
class InputInAClosureOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.slope = lambda: 2 * x
        return x * x

    @staticmethod
    def backward(ctx, g):
        return ctx.slope() * g


@wrong("C01")
class ThreeTimesTheSlope(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 6 * x


@wrong("L03")
class SquareOfTheKeptArray(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x.numpy().copy()
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * mg.tensor(ctx.x**2) * g
