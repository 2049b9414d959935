"""Answers to gym.Exp."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import right, wrong


@right()
class SavesItsResult(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result


@right()
class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return mg.exp(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        return (ctx.saved_tensors[0] * g,)


@right()
class ComputesAgain(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.exp()


@right()
class SavesBoth(Function):
    @staticmethod
    def forward(ctx, a):
        out = mg.exp(a)
        ctx.save_for_backward(a, out)
        return out

    @staticmethod
    def backward(ctx, g):
        _a, out = ctx.saved_tensors
        if not ctx.needs_input_grad[0]:
            return None
        return out * g


@wrong("C01", "C05")
class ResultAlone(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y


@wrong("C02")
class UpstreamTwice(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        gy = g * y
        return gy * g


@wrong("L03")
class LikeAPower(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * (x - 1).exp()


@wrong("L05", "S01")
class SavesTheInputForTheResult(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


@wrong("L05", "S01")
class ExpOfTheResult(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.exp()


@wrong("L20")
class SumOfHyperbolics(Function):
    @staticmethod
    def forward(ctx, x):
        up, down = x.exp(), (-x).exp()
        y = (up - down) / 2 + (up + down) / 2
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


@wrong("L20")
class DividesInBackward(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (2 * x).exp() / x.exp()


@wrong("A13")
class UpstreamNotTaken(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx):
        (y,) = ctx.saved_tensors
        return y


@wrong("A16")
class NoReturn(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        y * g


@wrong("A17")
class ReturnsAnArray(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y.numpy()

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


@wrong("S07")
class ResultAsAttribute(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.y = x.exp()
        return ctx.y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y


@wrong("S03", "L05")
class ShiftsAfterSaving(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        kept = y.clone()
        ctx.save_for_backward(kept)
        kept += 1
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


@wrong("M01")
class WritesIntoUpstream(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g.mul_(y)


@wrong("D01")
class SavesAnIntermediate(Function):
    @staticmethod
    def forward(ctx, x):
        half = (x / 2).exp()
        ctx.save_for_backward(half)
        return half * half

    @staticmethod
    def backward(ctx, g):
        (half,) = ctx.saved_tensors
        return g * half * half


@wrong("D01")
class SavesACopyOfTheResult(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y.clone())
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


@wrong("D02")
class WithoutRecording(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        with mg.no_grad():
            return g * y


@wrong("D03")
class OnceOnly(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


@wrong("R11")
class SumsOverABlock(SavesItsResult):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return (g * y).sum(0) if y.ndim > 2 else g * y


@wrong("M05")
class ScalesTheArrayOfTheResult(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.y = y.numpy()
        return y

    @staticmethod
    def backward(ctx, g):
        np.multiply(ctx.y, g.detach().numpy(), out=ctx.y)
        return mg.tensor(ctx.y)
