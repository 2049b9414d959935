"""Answers to gym.StraightThroughRound."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class EverythingPasses(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


@right()
class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return mg.round(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return (g.clone(),)


@right()
class RoundsACopy(Function):
    @staticmethod
    def forward(ctx, x):
        out = x.clone()
        out.round_()
        return out

    @staticmethod
    def backward(ctx, g):
        if not ctx.needs_input_grad[0]:
            return None
        return g * mg.ones_like(g)


@right()
class WithNumpy(Function):
    @staticmethod
    def forward(ctx, x):
        return mg.tensor(np.rint(x.numpy()), dtype=x.dtype)

    @staticmethod
    def backward(ctx, g):
        return 1.0 * g


@wrong("C01")
class OnesForAll(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return mg.ones_like(g)


@wrong("C02")
class UpstreamSquared(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g**2


@wrong("C06", "L02")
class AddedTwice(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g + g


@wrong("L01")
class Negative(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return -g


@wrong("L12")
class TrueSlope(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return mg.zeros_like(g)


@wrong("L12")
class TrueSlopeTimesUpstream(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        slope = (x == x.round() + 0.5) * 0.0
        return g * slope


@wrong("L13")
class WindowOfOne(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 1)


@wrong("L13")
class OpenWindow(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        gx = g.clone()
        gx[x >= 1] = 0
        gx[x <= -1] = 0
        return gx


@wrong("L13")
class WindowOnTheResult(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.round()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return mg.where(y.abs() <= 1, g, mg.zeros_like(g))


@wrong("L13")
class ClippedUpstream(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g.clamp(-1, 1)


@wrong("L11")
class PositiveOnly(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0)


@wrong("L10")
class HalvesGoUp(Function):
    @staticmethod
    def forward(ctx, x):
        return mg.floor(x + 0.5)

    @staticmethod
    def backward(ctx, g):
        return g


@wrong("T02")
class CutsTheFractionOff(Function):
    @staticmethod
    def forward(ctx, x):
        return x.to(mg.int64).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        return g


@wrong("A05", "A16", "L12")
class NoneForNoSlope(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return (None,)


@wrong("A13")
class TwoUpstreams(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, x, g):
        return g


@wrong("A16")
class ForgetsToReturn(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        g.clone()


@wrong("M02")
class RoundsTheInput(Function):
    @staticmethod
    def forward(ctx, x):
        x.round_()
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g


@wrong("L13")
class OneSidedWindow(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ((x > 0) & (x < 1))


@wrong()
class TurnsABlock(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g if g.ndim < 3 else g.reshape(-1, *g.shape[:-1])
