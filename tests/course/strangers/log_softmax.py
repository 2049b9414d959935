"""Wrong answers to gym.LogSoftmax."""

from minigrad.autograd import Function
from tests.course.answers.kit import wrong


def log_soft(x, axis):
    m = x.amax(axis, keepdim=True)
    return x - m - (x - m).exp().sum(axis, keepdim=True).log()


class Base(Function):
    @staticmethod
    def forward(ctx, x, axis):
        y = log_soft(x, axis)
        ctx.axis = axis
        ctx.save_for_backward(y)
        return y


@wrong("L09")
class SumOneAssumed(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y.exp(), None


@wrong("L09", "L07")
class GTimesP(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - g * y.exp(), None


@wrong("L09")
class WeightedSum(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        p = y.exp()
        return g - p * (g * p).sum(ctx.axis, keepdim=True), None


@wrong("L09", "L08", "C03")
class NoSecondTerm(Base):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("L05", "S01")
class OutputAsP(Base):
    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return g - p * g.sum(ctx.axis, keepdim=True), None


@wrong("R08")
class AxisLast(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y.exp() * g.sum(-1, keepdim=True), None


@wrong("R11")
class SumAll(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y.exp() * g.sum(), None


@wrong("L20")
class LogOfSoftmax(Function):
    @staticmethod
    def forward(ctx, x, axis):
        m = x.amax(axis, keepdim=True)
        e = (x - m).exp()
        y = (e / e.sum(axis, keepdim=True)).log()
        ctx.axis = axis
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y.exp() * g.sum(ctx.axis, keepdim=True), None


@wrong("L01")
class PlusP(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g + y.exp() * g.sum(ctx.axis, keepdim=True), None


@wrong("R04", "L09")
class MeanOfG(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g - y.exp() * g.mean(ctx.axis, keepdim=True), None


@wrong("M01")
class IntoG(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        total = g.sum(ctx.axis, keepdim=True)
        g -= y.exp() * total
        return g, None


@wrong("M05")
class ExpInPlace(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        p = y.exp_()
        return g - p * g.sum(ctx.axis, keepdim=True), None


def logsoft(x, axis):
    s = x - x.amax(axis, keepdim=True)
    return s - s.exp().sum(axis, keepdim=True).log()


@wrong("L09")
class LogSoftmaxCountsEntries(Function):
    @staticmethod
    def forward(ctx, x, axis):
        y = logsoft(x, axis)
        ctx.axis = axis
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        gx = g.clone()
        gx -= y.shape[ctx.axis] * y.exp()
        return gx, None


def log_probabilities(x, axis):
    s = x - x.amax(axis, keepdim=True)
    return s - s.exp().sum(axis, keepdim=True).log()


@wrong("R07")
class LogSoftmaxLostAxis(Function):
    @staticmethod
    def forward(ctx, x, axis):
        y = log_probabilities(x, axis)
        ctx.save_for_backward(y)
        ctx.axis = axis
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        total = g.sum(ctx.axis)
        p = y.exp()
        return g - total * p, None


@wrong("S01", "L05")
class ShiftedLogitsKept(Function):
    @staticmethod
    def forward(ctx, x, axis):
        z = x - x.amax(axis, keepdim=True)
        ctx.save_for_backward(z)
        ctx.axis = axis
        return z - z.exp().sum(axis, keepdim=True).log()

    @staticmethod
    def backward(ctx, g):
        (logp,) = ctx.saved_tensors
        return g - logp.exp() * g.sum(ctx.axis, keepdim=True), None
