"""Known answers to gym.Softmax."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class Model(Function):
    @staticmethod
    def forward(ctx, x, axis):
        powers = (x - x.amax(axis, keepdim=True)).exp()
        y = powers / powers.sum(axis, keepdim=True)
        ctx.save_for_backward(y)
        ctx.axis = axis
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        coupling = (grad_output * y).sum(ctx.axis, keepdim=True)
        return y * (grad_output - coupling), None


def stable(x, axis):
    e = (x - x.amax(dim=axis, keepdim=True)).exp()
    return e / e.sum(dim=axis, keepdim=True)


@right()
class RecomputesFromTheInput(Function):
    @staticmethod
    def forward(x, axis):
        return stable(x, axis)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.axis = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        y = stable(x, ctx.axis)
        return g * y - y * (g * y).sum(dim=ctx.axis, keepdim=True), None


@right()
class SetupSavesTheOutput(Function):
    @staticmethod
    def forward(x, axis):
        return mg.softmax(x, axis)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.axis = inputs[1]
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        inner = mg.sum(g * s, ctx.axis, keepdim=True)
        return (g - inner) * s, None


@right()
class WithTheWholeJacobian(Function):
    @staticmethod
    def forward(ctx, x, axis):
        y = stable(x, axis)
        ctx.save_for_backward(y)
        ctx.axis = axis
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        last = y.ndim - 1
        p, q = y.transpose(ctx.axis, last), g.transpose(ctx.axis, last)
        eye = mg.tensor(np.eye(p.shape[-1]), dtype=y.dtype)
        jacobian = p.unsqueeze(-1) * eye - p.unsqueeze(-1) * p.unsqueeze(-2)
        result = (jacobian * q.unsqueeze(-2)).sum(-1)
        return result.transpose(ctx.axis, last), None


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, axis):
        y = stable(x, axis)
        ctx.save_for_backward(y)
        ctx.axis = axis
        return y


@wrong("L07")
class DiagonalOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * (1 - y), None


@wrong("L08")
class CouplingMissing(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y, None


@wrong("L08")
class CouplingWithoutY(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - g.sum(ctx.axis, keepdim=True)), None


@wrong("C07", "L08")
class OuterFactorMissing(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - (g * y).sum(ctx.axis, keepdim=True), None


@wrong("L01")
class CouplingAdded(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g + (g * y).sum(ctx.axis, keepdim=True)), None


@wrong("L01")
class Negative(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * ((g * y).sum(ctx.axis, keepdim=True) - g), None


@wrong("L05", "S01")
class SavesTheInput(Function):
    @staticmethod
    def forward(ctx, x, axis):
        ctx.save_for_backward(x)
        ctx.axis = axis
        return stable(x, axis)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(ctx.axis, keepdim=True)), None


@wrong("L05", "S01")
class SoftmaxOfTheOutput(Saves):
    @staticmethod
    def backward(ctx, g):
        y = stable(ctx.saved_tensors[0], ctx.axis)
        return y * (g - (g * y).sum(ctx.axis, keepdim=True)), None


@wrong("R08")
class AlwaysTheLastAxis(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(-1, keepdim=True)), None


@wrong("R08")
class AlwaysTheFirstAxis(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(0, keepdim=True)), None


@wrong("R11", "R08")
class SumOverEverything(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum()), None


@wrong("R03", "R07")
class KeepdimForgotten(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(ctx.axis)), None


@wrong("R04")
class MeanForSum(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).mean(ctx.axis, keepdim=True)), None


@wrong("L20")
class NoMaximumTaken(Function):
    @staticmethod
    def forward(ctx, x, axis):
        e = x.exp()
        y = e / e.sum(axis, keepdim=True)
        ctx.save_for_backward(y)
        ctx.axis = axis
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(ctx.axis, keepdim=True)), None


@wrong("L20")
class UnstableInBackward(Function):
    @staticmethod
    def forward(ctx, x, axis):
        ctx.save_for_backward(x)
        ctx.axis = axis
        return stable(x, axis)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        y = x.exp() / x.exp().sum(ctx.axis, keepdim=True)
        return y * (g - (g * y).sum(ctx.axis, keepdim=True)), None


@wrong("C01", "C04")
class NoUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        g = mg.ones_like(g)
        return y * (g - (g * y).sum(ctx.axis, keepdim=True)), None


@wrong("C02")
class UpstreamTwice(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * (g - (g * y).sum(ctx.axis, keepdim=True)), None


@wrong("C03")
class HandsOn(Saves):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("A01")
class OneGradient(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(ctx.axis, keepdim=True))


@wrong("S07")
class OutputAsAttribute(Function):
    @staticmethod
    def forward(ctx, x, axis):
        ctx.y = stable(x, axis)
        ctx.axis = axis
        return ctx.y

    @staticmethod
    def backward(ctx, g):
        y = ctx.y
        return y * (g - (g * y).sum(ctx.axis, keepdim=True)), None


@wrong("M05")
class WritesIntoSaved(Saves):
    @staticmethod
    def backward(ctx, g):
        y = ctx.saved_tensors[0].detach()
        coupling = (g * y).sum(ctx.axis, keepdim=True)
        y.mul_(g - coupling)
        return y, None
