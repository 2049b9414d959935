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


def stats(x, eps):
    c = x - x.mean(-1, keepdim=True)
    inv = 1 / ((c * c).mean(-1, keepdim=True) + eps).sqrt()
    return c * inv, inv


def norm(x, w, b, eps):
    return stats(x, eps)[0] * w + b


def avg(t):
    return t.mean(-1, keepdim=True)


def over_rows(t):
    return t.reshape(-1, t.shape[-1]).sum(0)


@wrong("L04")
class LayerNormGainTimesItself(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        ctx.eps = eps
        ctx.save_for_backward(x, w)
        return norm(x, w, b, eps)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        h, inv = stats(x, ctx.eps)
        gw_full = g * w
        gx = inv * (gw_full - avg(gw_full) - h * avg(gw_full * h))
        return gx, over_rows(gw_full), over_rows(g), None


def standardize(x, eps):
    """(normalised x, 1/std), biased variance over the last axis."""
    centred = x - x.mean(-1, keepdim=True)
    var = (centred * centred).mean(-1, keepdim=True)
    inv = 1 / (var + eps).sqrt()
    return centred * inv, inv


def input_gradient(g, w, xhat, inv):
    gh = g * w
    along = (gh * xhat).mean(-1, keepdim=True)
    return inv * (gh - gh.mean(-1, keepdim=True) - xhat * along)


@wrong("R02")
class LayerNormParamsAcross(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        xhat, inv = standardize(x, eps)
        ctx.save_for_backward(xhat, inv, w)
        return xhat * w + b

    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        rows = g.reshape(-1, g.shape[-1])
        hats = xhat.reshape(-1, g.shape[-1])
        return input_gradient(g, w, xhat, inv), (rows * hats).sum(1), rows.sum(1), None


def to_params(v):
    """Sum over every axis but the last."""
    return v.reshape(-1, v.shape[-1]).sum(0)


@wrong("R05")
class LayerNormClosedForm(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        xhat, inv = standardize(x, eps)
        ctx.save_for_backward(xhat, inv, w)
        return xhat * w + b

    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        n = w.shape[0]
        gh = g * w
        s1 = gh.sum(-1, keepdim=True)
        s2 = (gh * xhat).sum(-1, keepdim=True)
        gx = (n * gh - s1 - xhat * s2) * inv
        return gx, to_params(g * xhat), to_params(g), None


@wrong("R06")
class LayerNormCountsRows(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        xhat, inv = standardize(x, eps)
        ctx.save_for_backward(xhat, inv, w)
        return xhat * w + b

    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        n, rows = g.shape[-1], g.shape[0]
        gh = g * w
        s1 = gh.sum(-1, keepdim=True)
        s2 = (gh * xhat).sum(-1, keepdim=True)
        gx = inv / rows * (n * gh - s1 - xhat * s2)
        return (
            gx,
            to_params(g * xhat),
            to_params(g),
            None,
        )


@wrong("R07")
class LayerNormFlatMeans(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        xhat, inv = standardize(x, eps)
        ctx.save_for_backward(xhat, inv, w)
        return xhat * w + b

    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        gh = g * w
        m1 = gh.mean(-1)
        m2 = (gh * xhat).mean(-1)
        gx = inv * (gh - m1 - xhat * m2)
        return (
            gx,
            to_params(g * xhat),
            to_params(g),
            None,
        )


def _stats(x, eps):
    mu = x.mean(-1, keepdim=True)
    xc = x - mu
    rstd = 1 / ((xc * xc).mean(-1, keepdim=True) + eps).sqrt()
    return xc, rstd


def _rows(t):
    return t.reshape(-1, t.shape[-1])


def _grads(g, xhat, rstd, w):
    h = g * w
    gx = rstd * (
        h - h.mean(-1, keepdim=True) - xhat * (h * xhat).mean(-1, keepdim=True)
    )
    return gx, _rows(g * xhat).sum(0), _rows(g).sum(0), None


@wrong("S01")
class LayerNormSavesCentred(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        xc, rstd = _stats(x, eps)
        xhat = xc * rstd
        ctx.save_for_backward(xc, rstd, w)
        return xhat * w + b

    @staticmethod
    def backward(ctx, g):
        xhat, rstd, w = ctx.saved_tensors
        return _grads(g, xhat, rstd, w)


def stats_of_norm_couples_rows(x, eps):
    centred = x - x.mean(-1, keepdim=True)
    var = (centred * centred).mean(-1, keepdim=True)
    rstd = 1 / (var + eps).sqrt()
    return centred * rstd, rstd


def flat_sum(t):
    n = t.shape[-1]
    return t.reshape(-1, n).sum(0)


@wrong("R02")
class NormCouplesRows(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        xhat, rstd = stats_of_norm_couples_rows(x, eps)
        ctx.save_for_backward(xhat, rstd, w)
        return xhat * w + b

    @staticmethod
    def backward(ctx, g):
        xhat, rstd, w = ctx.saved_tensors
        h = g * w
        axis = 0
        drift = h.mean(axis, keepdim=True)
        pull = (h * xhat).mean(axis, keepdim=True)
        gx = (h - drift - xhat * pull) * rstd
        return gx, flat_sum(g * xhat), flat_sum(g), None


def standardise(x, eps):
    d = x - x.mean(-1, keepdim=True)
    inv = 1 / ((d * d).mean(-1, keepdim=True) + eps).sqrt()
    return d * inv, inv


def pull(gh, h, inv):
    return inv * (gh - gh.mean(-1, keepdim=True) - h * (gh * h).mean(-1, keepdim=True))


class _Bag:
    pass


@wrong("S06")
class StatisticsInBag(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        ctx.save_for_backward(x, w)
        ctx.eps = eps
        h, inv = standardise(x, eps)
        ctx.bag = _Bag()
        ctx.bag.h = h
        return h * w + b

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        _, inv = standardise(x, ctx.eps)
        h = ctx.bag.h
        return pull(g * w, h, inv), over_rows(g * h), over_rows(g), None
