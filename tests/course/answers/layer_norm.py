# ruff: noqa: RUF059  (answers unpack what they save, as learners do)
"""Answers to gym.LayerNorm, right and wrong, as strangers write them."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
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


class SavesInputs(Function):
    """forward that keeps x, w and eps, for a backward that computes the rest anew."""

    @staticmethod
    def forward(ctx, x, w, b, eps):
        ctx.save_for_backward(x, w)
        ctx.eps = eps
        mu = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, unbiased=False)
        return (x - mu) / (var + eps).sqrt() * w + b


def summed(t):
    return t.reshape(-1, t.shape[-1]).sum(0)


def for_x(gy, xhat, inv):
    n = gy.shape[-1]
    a = gy.sum(-1, keepdim=True)
    b = (gy * xhat).sum(-1, keepdim=True)
    return inv / n * (n * gy - a - xhat * b)


@right()
class KeepsNormalised(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        gy = g * w
        return for_x(gy, xhat, inv), summed(g * xhat), summed(g), None


@right()
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


@right()
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


@right()
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


@wrong("L08", "L07")
class MeanAndVarianceHeld(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return g * w * inv, summed(g * xhat), summed(g), None


@wrong("L08")
class VarianceHeld(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        gy = g * w
        gx = inv * (gy - gy.mean(-1, keepdim=True))
        return gx, summed(g * xhat), summed(g), None


@wrong("L08")
class MeanHeld(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        gy = g * w
        gx = inv * (gy - xhat * (gy * xhat).mean(-1, keepdim=True))
        return gx, summed(g * xhat), summed(g), None


@wrong("L07")
class DiagonalOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        n = xhat.shape[-1]
        slope = inv * (1 - 1 / n - xhat * xhat / n)
        return g * w * slope, summed(g * xhat), summed(g), None


@wrong("C07")
class ForgetsTheWeight(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return for_x(g, xhat, inv), summed(g * xhat), summed(g), None


@wrong("C07")
class ForgetsTheScale(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        gy = g * w
        gx = gy - gy.mean(-1, keepdim=True)
        gx = gx - xhat * (gy * xhat).mean(-1, keepdim=True)
        return gx, summed(g * xhat), summed(g), None


@wrong("L14")
class NoEpsInBackward(SavesInputs):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        mu = x.mean(-1, keepdim=True)
        inv = 1 / x.var(-1, keepdim=True, unbiased=False).sqrt()
        xhat = (x - mu) * inv
        return for_x(g * w, xhat, inv), summed(g * xhat), summed(g), None


@wrong("L14")
class OtherEpsInBackward(SavesInputs):
    @staticmethod
    def backward(ctx, g, eps=1e-5):
        x, w = ctx.saved_tensors
        mu = x.mean(-1, keepdim=True)
        inv = 1 / (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
        xhat = (x - mu) * inv
        return for_x(g * w, xhat, inv), summed(g * xhat), summed(g), None


@wrong("L14")
class UnbiasedInBackward(SavesInputs):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        mu = x.mean(-1, keepdim=True)
        inv = 1 / (x.var(-1, keepdim=True) + ctx.eps).sqrt()
        xhat = (x - mu) * inv
        return for_x(g * w, xhat, inv), summed(g * xhat), summed(g), None


@wrong("L01")
class AddsTheCoupling(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        gy = g * w
        along = (gy * xhat).mean(-1, keepdim=True)
        gx = inv * (gy - gy.mean(-1, keepdim=True) + xhat * along)
        return gx, summed(g * xhat), summed(g), None


@wrong("R05")
class SumsForMeans(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        gy = g * w
        along = (gy * xhat).sum(-1, keepdim=True)
        gx = inv * (gy - gy.sum(-1, keepdim=True) - xhat * along)
        return gx, summed(g * xhat), summed(g), None


@wrong("R06")
class DividesByTheRows(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        n = xhat.shape[0]
        gy = g * w
        a = gy.sum(-1, keepdim=True) / n
        b = (gy * xhat).sum(-1, keepdim=True) / n
        return inv * (gy - a - xhat * b), summed(g * xhat), summed(g), None


@wrong("R01")
class NotSummedOverRows(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return for_x(g * w, xhat, inv), g * xhat, g, None


@wrong("R01", "R09")
class FirstAxisOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return for_x(g * w, xhat, inv), (g * xhat).sum(0), g.sum(0), None


@wrong("R04")
class MeanOverRows(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        axes = tuple(range(g.ndim - 1))
        return for_x(g * w, xhat, inv), (g * xhat).mean(axes), g.mean(axes), None


@wrong("R14")
class OneRowOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        rows = g.reshape(-1, g.shape[-1])
        gw = (g * xhat).reshape(-1, g.shape[-1])[0]
        return for_x(g * w, xhat, inv), gw, rows[0], None


@wrong("R12")
class SumsBeforeItMultiplies(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return for_x(g * w, xhat, inv), summed(g) * summed(xhat), summed(g), None


@wrong("L05", "S01")
class WeightSeesTheInput(SavesInputs):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        mu = x.mean(-1, keepdim=True)
        inv = 1 / (x.var(-1, keepdim=True, unbiased=False) + ctx.eps).sqrt()
        gx = for_x(g * w, (x - mu) * inv, inv)
        return gx, summed(g * x), summed(g), None


@wrong("C01")
class BiasWithoutUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        gb = summed(mg.ones_like(g))
        return for_x(g * w, xhat, inv), summed(g * xhat), gb, None


@wrong("A03")
class WeightAndBiasExchanged(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return for_x(g * w, xhat, inv), summed(g), summed(g * xhat), None


@wrong("A01")
class ForgetsEps(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return for_x(g * w, xhat, inv), summed(g * xhat), summed(g)


@wrong("A02")
class GradientForEps(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return for_x(g * w, xhat, inv), summed(g * xhat), summed(g), mg.zeros(1)


@wrong("A14")
class SavesEps(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        mu = x.mean(-1, keepdim=True)
        inv = 1 / (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
        ctx.save_for_backward(x, w, eps)
        return (x - mu) * inv * w + b

    @staticmethod
    def backward(ctx, g):
        x, w, eps = ctx.saved_tensors
        mu = x.mean(-1, keepdim=True)
        inv = 1 / (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
        xhat = (x - mu) * inv
        return for_x(g * w, xhat, inv), summed(g * xhat), summed(g), None


@wrong("S06")
class TensorsOnCtx(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        mu = x.mean(-1, keepdim=True)
        ctx.inv = 1 / (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
        ctx.xhat = (x - mu) * ctx.inv
        ctx.w = w
        return ctx.xhat * w + b

    @staticmethod
    def backward(ctx, g):
        gx = for_x(g * ctx.w, ctx.xhat, ctx.inv)
        return gx, summed(g * ctx.xhat), summed(g), None


@wrong("T01")
class StatisticsInSingle(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        mu = x.mean(-1, keepdim=True)
        var = x.to(mg.float32).var(-1, keepdim=True, unbiased=False)
        inv = (1 / (var + eps).sqrt()).to(x.dtype)
        xhat = (x - mu) * inv
        ctx.save_for_backward(xhat, inv, w)
        return xhat * w + b

    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return for_x(g * w, xhat, inv), summed(g * xhat), summed(g), None


@wrong("R06")
class UnbiasedEverywhere(Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        mu = x.mean(-1, keepdim=True)
        inv = 1 / (x.var(-1, keepdim=True) + eps).sqrt()
        xhat = (x - mu) * inv
        ctx.save_for_backward(xhat, inv, w)
        return xhat * w + b

    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return for_x(g * w, xhat, inv), summed(g * xhat), summed(g), None


@wrong("R12")
class WeightAfterTheMeans(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return w * for_x(g, xhat, inv), summed(g * xhat), summed(g), None


@wrong("L02")
class HalfForgotten(SavesInputs):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        n = x.shape[-1]
        mu = x.mean(-1, keepdim=True)
        spread = x.var(-1, keepdim=True, unbiased=False) + ctx.eps
        dxhat = g * w
        dvar = -(dxhat * (x - mu) * spread**-1.5).sum(-1, keepdim=True)
        dmu = -(dxhat / spread.sqrt()).sum(-1, keepdim=True)
        dx = dxhat / spread.sqrt() + dvar * 2 * (x - mu) / n + dmu / n
        return dx, summed(g * (x - mu) / spread.sqrt()), summed(g), None


@wrong("L03")
class ExponentOfTheVariance(SavesInputs):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        n = x.shape[-1]
        mu = x.mean(-1, keepdim=True)
        spread = x.var(-1, keepdim=True, unbiased=False) + ctx.eps
        dxhat = g * w
        dvar = (dxhat * (x - mu) * -0.5 * spread**-0.5).sum(-1, keepdim=True)
        dmu = -(dxhat / spread.sqrt()).sum(-1, keepdim=True)
        dx = dxhat / spread.sqrt() + dvar * 2 * (x - mu) / n + dmu / n
        return dx, summed(g * (x - mu) / spread.sqrt()), summed(g), None


@wrong("R11")
class SumsOverEverything(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        gb = g.sum().expand(w.shape)
        return for_x(g * w, xhat, inv), summed(g * xhat), gb, None


@wrong("R02")
class SumsOverTheRow(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        return for_x(g * w, xhat, inv), (g * xhat).sum(-1), g.sum(-1), None


@wrong("R03")
class KeepsTheAxis(Saves):
    @staticmethod
    def backward(ctx, g):
        xhat, inv, w = ctx.saved_tensors
        rows = (-1, g.shape[-1])
        gw = (g * xhat).reshape(rows).sum(0, keepdim=True)
        return for_x(g * w, xhat, inv), gw, g.reshape(rows).sum(0, keepdim=True), None
