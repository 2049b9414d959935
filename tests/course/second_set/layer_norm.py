# ruff: noqa: RUF059  (answers are written as learners write them)
"""Wrong answers to gym.LayerNorm."""

from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        ctx.save_for_backward(x, w)
        ctx.eps = eps
        mean = x.mean(-1, keepdim=True)
        var = ((x - mean) ** 2).mean(-1, keepdim=True)
        return (x - mean) / (var + eps).sqrt() * w + b


def normal(ctx, eps=None, unbiased=False):
    x, w = ctx.saved_tensors
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    if unbiased:
        var = var * x.shape[-1] / max(x.shape[-1] - 1, 1)
    s = 1 / (var + (ctx.eps if eps is None else eps)).sqrt()
    return x, w, (x - mean) * s, s


def rows(g, n):
    return g.reshape(-1, n).sum(0)


def gradient(h, xh, s):
    mean = h.mean(-1, keepdim=True)
    return s * (h - mean - xh * (h * xh).mean(-1, keepdim=True))


@wrong("L08")
class NoCoupling(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx)
        n = x.shape[-1]
        return g * w * s, rows(g * xh, n), rows(g, n), None


@wrong("L08")
class MeanTermOnly(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx)
        n, h = x.shape[-1], g * w
        gx = s * (h - h.mean(-1, keepdim=True))
        return gx, rows(g * xh, n), rows(g, n), None


@wrong("L08")
class VarianceTermOnly(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx)
        n, h = x.shape[-1], g * w
        gx = s * (h - xh * (h * xh).mean(-1, keepdim=True))
        return gx, rows(g * xh, n), rows(g, n), None


@wrong("L14")
class NoEps(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx, eps=0.0)
        n = x.shape[-1]
        return gradient(g * w, xh, s), rows(g * xh, n), rows(g, n), None


@wrong("L14")
class Unbiased(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx, unbiased=True)
        n = x.shape[-1]
        return gradient(g * w, xh, s), rows(g * xh, n), rows(g, n), None


@wrong("C07")
class WithoutW(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx)
        n = x.shape[-1]
        return gradient(g, xh, s), rows(g * xh, n), rows(g, n), None


@wrong("C07")
class WithoutScale(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx)
        n = x.shape[-1]
        return gradient(g * w, xh, 1), rows(g * xh, n), rows(g, n), None


@wrong("R01")
class Unsummed(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx)
        return gradient(g * w, xh, s), g * xh, g, None


@wrong("L05", "S01")
class WFromX(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx)
        n = x.shape[-1]
        return gradient(g * w, xh, s), rows(g * x, n), rows(g, n), None


@wrong("R04", "R06")
class MeanForBias(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx)
        n = x.shape[-1]
        gb = g.reshape(-1, n).mean(0)
        return gradient(g * w, xh, s), rows(g * xh, n), gb, None


@wrong("A03")
class WAndBExchanged(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx)
        n = x.shape[-1]
        return gradient(g * w, xh, s), rows(g, n), rows(g * xh, n), None


@wrong("A01")
class NoNone(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx)
        n = x.shape[-1]
        return gradient(g * w, xh, s), rows(g * xh, n), rows(g, n)


@wrong("R14")
class FirstRow(Base):
    @staticmethod
    def backward(ctx, g):
        x, w, xh, s = normal(ctx)
        n = x.shape[-1]
        first = g.reshape(-1, n)[0]
        return gradient(g * w, xh, s), rows(g * xh, n), first, None
