"""Wrong answers to gym.Softmax."""

from typing import ClassVar

from minigrad.autograd import Function
from tests.course.answers.kit import wrong


def soft(x, axis):
    e = (x - x.amax(axis, keepdim=True)).exp()
    return e / e.sum(axis, keepdim=True)


class Base(Function):
    @staticmethod
    def forward(ctx, x, axis):
        p = soft(x, axis)
        ctx.axis = axis
        ctx.save_for_backward(p)
        return p


@wrong("L07")
class Diagonal(Base):
    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return g * p * (1 - p), None


@wrong("L08")
class NoCoupling(Base):
    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return g * p, None


@wrong("R08")
class LastAxis(Base):
    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(-1, keepdim=True)), None


@wrong("R11", "L08")
class SumOfAll(Base):
    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum()), None


@wrong("L20")
class NoMaximum(Function):
    @staticmethod
    def forward(ctx, x, axis):
        e = x.exp()
        p = e / e.sum(axis, keepdim=True)
        ctx.axis = axis
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(ctx.axis, keepdim=True)), None


@wrong("L01")
class Sign(Base):
    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * ((g * p).sum(ctx.axis, keepdim=True) - g), None


@wrong("L01", "L08")
class PlusInTheMiddle(Base):
    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g + (g * p).sum(ctx.axis, keepdim=True)), None


@wrong("L05", "S01")
class InputSaved(Function):
    @staticmethod
    def forward(ctx, x, axis):
        ctx.axis = axis
        ctx.save_for_backward(x)
        return soft(x, axis)

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(ctx.axis, keepdim=True)), None


@wrong("C02")
class GAgain(Base):
    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return g * p * (g - (g * p).sum(ctx.axis, keepdim=True)), None


@wrong("S07")
class OutputOnCtx(Function):
    @staticmethod
    def forward(ctx, x, axis):
        ctx.axis = axis
        ctx.p = soft(x, axis)
        return ctx.p

    @staticmethod
    def backward(ctx, g):
        p = ctx.p
        return p * (g - (g * p).sum(ctx.axis, keepdim=True)), None


@wrong("C03")
class PassesOn(Base):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("L08")
class MeanOfG(Base):
    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - g.mean(ctx.axis, keepdim=True)), None


def probabilities(x, axis):
    e = (x - x.amax(axis, keepdim=True)).exp()
    return e / e.sum(axis, keepdim=True)


@wrong("R07")
class SoftmaxFlatInner(Function):
    @staticmethod
    def forward(x, axis):
        return probabilities(x, axis)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.axis = inputs
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        inner = (g * p).sum(ctx.axis)
        return p * (g - inner), None


def _pullback(p, g, axis):
    return p * (g - (p * g).sum(axis, keepdim=True))


@wrong("S01")
class SoftmaxSavesNumerator(Function):
    @staticmethod
    def forward(ctx, x, axis):
        e = (x - x.amax(axis, keepdim=True)).exp()
        ctx.save_for_backward(e)
        ctx.axis = axis
        return e / e.sum(axis, keepdim=True)

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return _pullback(p, g, ctx.axis), None


def _normalise(x, axis):
    e = (x - x.amax(axis, keepdim=True)).exp()
    return e / e.sum(axis, keepdim=True)


@wrong("S04")
class SoftmaxAxisClass(Function):
    cfg: ClassVar[dict] = {}

    @staticmethod
    def forward(x, axis):
        return _normalise(x, axis)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        SoftmaxAxisClass.cfg["axis"] = inputs[1]

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return _pullback(p, g, SoftmaxAxisClass.cfg["axis"]), None


@wrong("L09")
class SoftmaxThroughLog(Function):
    @staticmethod
    def forward(ctx, x, axis):
        s = x - x.amax(dim=axis, keepdim=True)
        logp = s - s.exp().sum(axis, keepdim=True).log()
        ctx.save_for_backward(logp)
        ctx.axis = axis
        return logp.exp()

    @staticmethod
    def backward(ctx, g):
        (logp,) = ctx.saved_tensors
        p = logp.exp()
        glog = g * p
        return glog - p * (glog * p).sum(ctx.axis, keepdim=True), None


@wrong("L20")
class SoftmaxOneShiftForAll(Function):
    @staticmethod
    def forward(ctx, x, axis):
        e = (x - x.reshape(-1).amax(dim=0)).exp()
        y = e / e.sum(axis, keepdim=True)
        ctx.save_for_backward(y)
        ctx.axis = axis
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(ctx.axis, keepdim=True)), None


def probs(x, axis):
    e = (x - x.amax(axis, keepdim=True)).exp()
    return e / e.sum(axis, keepdim=True)


@wrong("R12")
class SoftmaxTotalThenWeight(Function):
    @staticmethod
    def forward(x, axis):
        return probs(x, axis)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.axis = inputs
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        total = g.sum(ctx.axis, keepdim=True)
        inner = total * s
        return s * (g - inner), None
