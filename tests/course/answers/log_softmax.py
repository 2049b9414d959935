"""Known answers to gym.LogSoftmax."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class Model(Function):
    @staticmethod
    def forward(ctx, x, axis):
        shifted = x - x.amax(axis, keepdim=True)
        y = shifted - shifted.exp().sum(axis, keepdim=True).log()
        ctx.save_for_backward(y)
        ctx.axis = axis
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        total = grad_output.sum(ctx.axis, keepdim=True)
        return grad_output - y.exp() * total, None


def stable(x, axis):
    m = x.amax(dim=axis, keepdim=True)
    return x - m - (x - m).exp().sum(dim=axis, keepdim=True).log()


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
        e = (x - x.amax(ctx.axis, keepdim=True)).exp()
        p = e / e.sum(ctx.axis, keepdim=True)
        return g - p * g.sum(ctx.axis, keepdim=True), None


@right()
class SavesTheProbabilities(Function):
    @staticmethod
    def forward(ctx, x, axis):
        y = stable(x, axis)
        ctx.save_for_backward(y.exp())
        ctx.axis = axis
        return y

    @staticmethod
    def backward(ctx, g):
        p = ctx.saved_tensors[0]
        return g.sub(p.mul(g.sum(ctx.axis, keepdim=True))), None


@right()
class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, x, axis):
        a = x.numpy()
        a = a - a.max(axis=axis, keepdims=True)
        out = a - np.log(np.exp(a).sum(axis=axis, keepdims=True))
        ctx.p = np.exp(out)
        ctx.axis = axis
        return mg.tensor(out)

    @staticmethod
    def backward(ctx, g):
        a = g.numpy()
        return mg.tensor(a - ctx.p * a.sum(axis=ctx.axis, keepdims=True)), None


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, axis):
        y = stable(x, axis)
        ctx.save_for_backward(y)
        ctx.axis = axis
        return y


@wrong("L09")
class SumOfUpstreamMissing(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y.exp(), None


@wrong("L09")
class WeightedSum(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        p = y.exp()
        return g - p * (g * p).sum(ctx.axis, keepdim=True), None


@wrong("L07", "L09")
class DiagonalOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y.exp()), None


@wrong("L09", "L08")
class SumWithoutProbabilities(Saves):
    @staticmethod
    def backward(ctx, g):
        return g - g.sum(ctx.axis, keepdim=True), None


@wrong("L09", "R04")
class MeanOfUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y.exp() * g.mean(ctx.axis, keepdim=True), None


@wrong("L08", "C03")
class NoCoupling(Saves):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("L01")
class CouplingAdded(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g + y.exp() * g.sum(ctx.axis, keepdim=True), None


@wrong("L01")
class Negative(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y.exp() * g.sum(ctx.axis, keepdim=True) - g, None


@wrong("L05", "S01")
class ExpForgotten(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y * g.sum(ctx.axis, keepdim=True), None


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
        return g - y.exp() * g.sum(ctx.axis, keepdim=True), None


@wrong("L05", "S01")
class GradientOfSoftmax(Saves):
    @staticmethod
    def backward(ctx, g):
        p = ctx.saved_tensors[0].exp()
        return p * (g - (g * p).sum(ctx.axis, keepdim=True)), None


@wrong("R08")
class AlwaysTheLastAxis(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y.exp() * g.sum(-1, keepdim=True), None


@wrong("R11", "R08")
class SumOverEverything(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y.exp() * g.sum(), None


@wrong("R03", "R07")
class KeepdimForgotten(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y.exp() * g.sum(ctx.axis), None


@wrong("L20")
class LogOfSoftmax(Function):
    @staticmethod
    def forward(ctx, x, axis):
        e = x.exp()
        p = e / e.sum(axis, keepdim=True)
        ctx.save_for_backward(p)
        ctx.axis = axis
        return p.log()

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return g - p * g.sum(ctx.axis, keepdim=True), None


@wrong("L20")
class LogOfStableSoftmax(Function):
    @staticmethod
    def forward(ctx, x, axis):
        p = x.softmax(axis)
        ctx.save_for_backward(p)
        ctx.axis = axis
        return p.log()

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return g - p * g.sum(ctx.axis, keepdim=True), None


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
        p = x.exp() / x.exp().sum(ctx.axis, keepdim=True)
        return g - p * g.sum(ctx.axis, keepdim=True), None


@wrong("C01")
class NoUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return 1 - y.exp() * y.shape[ctx.axis], None


@wrong("C02")
class UpstreamTwice(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (g - y.exp() * g.sum(ctx.axis, keepdim=True)), None


@wrong("C05")
class OutputForUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y - y.exp() * y.sum(ctx.axis, keepdim=True), None


@wrong("A01")
class OneGradient(Saves):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y.exp() * g.sum(ctx.axis, keepdim=True)


@wrong("S04")
class AxisOnTheClass(Function):
    @staticmethod
    def forward(ctx, x, axis):
        y = stable(x, axis)
        AxisOnTheClass.axis, AxisOnTheClass.y = axis, y
        return y

    @staticmethod
    def backward(ctx, g):
        y, axis = AxisOnTheClass.y, AxisOnTheClass.axis
        return g - y.exp() * g.sum(axis, keepdim=True), None


@wrong("S07")
class OutputAsAttribute(Function):
    @staticmethod
    def forward(ctx, x, axis):
        out = stable(x, axis)
        ctx.out, ctx.axis = out, axis
        return out

    @staticmethod
    def backward(ctx, g):
        return g - ctx.out.exp() * g.sum(ctx.axis, keepdim=True), None
