"""Answers to gym.LayerNorm, and what other rows use."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class LayerNorm(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        centred = x - x.mean(-1, keepdim=True)
        variance = (centred * centred).mean(-1, keepdim=True)
        ctx.save_for_backward(x, w)
        ctx.eps = eps
        return centred / (variance + eps).sqrt() * w + b

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        centred = x - x.mean(-1, keepdim=True)
        variance = (centred * centred).mean(-1, keepdim=True)
        scale = 1 / (variance + ctx.eps).sqrt()
        normal = centred * scale

        rows = tuple(range(x.ndim - 1))
        rows = (-1, x.shape[-1])
        grad_w = (grad_output * normal).reshape(rows).sum(0)
        grad_b = grad_output.reshape(rows).sum(0)

        h = grad_output * w
        mean = h.mean(-1, keepdim=True)
        along = (h * normal).mean(-1, keepdim=True)
        grad_x = scale * (h - mean - normal * along)
        return grad_x, grad_w, grad_b, None


class Saves(Function):
    """forward as many write it: it keeps the normalised rows and their scale."""

    @staticmethod
    def forward(ctx, x, w, b, eps):
        mu = x.mean(dim=-1, keepdim=True)
        var = ((x - mu) ** 2).mean(dim=-1, keepdim=True)
        inv = 1.0 / (var + eps).sqrt()
        xhat = (x - mu) * inv
        ctx.save_for_backward(xhat, inv, w)
        return xhat * w + b


def for_x(gy, xhat, inv):
    n = gy.shape[-1]
    a = gy.sum(-1, keepdim=True)
    b = (gy * xhat).sum(-1, keepdim=True)
    return inv / n * (n * gy - a - xhat * b)


def summed(t):
    return t.reshape(-1, t.shape[-1]).sum(0)


class KeepsNormalised(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        gy = g * w
        return for_x(gy, xhat, inv), summed(g * xhat), summed(g), None


class SavesInputs(Function):
    """forward that keeps x, w and eps, for a backward that computes the rest anew."""

    @staticmethod
    def forward(ctx, x, w, b, eps):
        ctx.save_for_backward(x, w)
        ctx.eps = eps
        mu = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, unbiased=False)
        return (x - mu) / (var + eps).sqrt() * w + b


class ThroughVariance(SavesInputs):
    """The way by hand: var, mu and x one after the other."""

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        n = x.shape[-1]
        mu = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, unbiased=False)
        dxhat = g * w
        dvar = (dxhat * (x - mu) * -0.5 * (var + ctx.eps) ** -1.5).sum(-1, keepdim=True)
        dmu = -(dxhat / (var + ctx.eps).sqrt()).sum(-1, keepdim=True)
        dmu = dmu + dvar * (-2.0 * (x - mu)).sum(-1, keepdim=True) / n
        dx = dxhat / (var + ctx.eps).sqrt() + dvar * 2.0 * (x - mu) / n + dmu / n
        axes = list(range(g.ndim - 1))
        xhat = (x - mu) / (var + ctx.eps).sqrt()
        return dx, (g * xhat).sum(dim=axes), g.sum(dim=axes), None


class InTheOtherStyle(Function):
    @staticmethod
    def forward(x, w, b, eps):
        c = x - x.mean(-1, keepdim=True)
        return c * ((c**2).mean(-1, keepdim=True) + eps) ** -0.5 * w + b

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, w, _, ctx.eps = inputs
        ctx.save_for_backward(x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        c = x - x.mean(-1, keepdim=True)
        inv = ((c**2).mean(-1, keepdim=True) + ctx.eps) ** -0.5
        gx = gw = gb = None
        if ctx.needs_input_grad[0]:
            gx = for_x(g * w, c * inv, inv)
        if ctx.needs_input_grad[1]:
            gw = summed(g * c * inv)
        if ctx.needs_input_grad[2]:
            gb = summed(g)
        return gx, gw, gb, None


class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        a = x.numpy()
        inv = 1 / np.sqrt(a.var(-1, keepdims=True) + eps)
        xhat = (a - a.mean(-1, keepdims=True)) * inv
        ctx.xhat, ctx.inv = xhat, inv
        ctx.save_for_backward(w)
        return mg.tensor((xhat * w.numpy() + b.numpy()).astype(a.dtype))

    @staticmethod
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        g = g.numpy()
        h = g * w.numpy()
        mean = h.mean(-1, keepdims=True)
        gx = (h - mean - ctx.xhat * (h * ctx.xhat).mean(-1, keepdims=True)) * ctx.inv
        rows = (-1, g.shape[-1])
        gw = (g * ctx.xhat).reshape(rows).sum(0)
        return mg.tensor(gx), mg.tensor(gw), mg.tensor(g.reshape(rows).sum(0)), None


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


def avg(t):
    return t.mean(-1, keepdim=True)


def over_rows(t):
    return t.reshape(-1, t.shape[-1]).sum(0)


def stats(x, eps):
    c = x - x.mean(-1, keepdim=True)
    inv = 1 / ((c * c).mean(-1, keepdim=True) + eps).sqrt()
    return c * inv, inv


def input_gradient(g, w, xhat, inv):
    gh = g * w
    along = (gh * xhat).mean(-1, keepdim=True)
    return inv * (gh - gh.mean(-1, keepdim=True) - xhat * along)


def to_params(v):
    """Sum over every axis but the last."""
    return v.reshape(-1, v.shape[-1]).sum(0)


def _stats(x, eps):
    mu = x.mean(-1, keepdim=True)
    xc = x - mu
    rstd = 1 / ((xc * xc).mean(-1, keepdim=True) + eps).sqrt()
    return xc, rstd


def flat_sum(t):
    n = t.shape[-1]
    return t.reshape(-1, n).sum(0)


def pull(gh, h, inv):
    return inv * (gh - gh.mean(-1, keepdim=True) - h * (gh * h).mean(-1, keepdim=True))


class _Bag:
    pass


def standardise(x, eps):
    d = x - x.mean(-1, keepdim=True)
    inv = 1 / ((d * d).mean(-1, keepdim=True) + eps).sqrt()
    return d * inv, inv
