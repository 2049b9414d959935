# ruff: noqa: RUF059  (answers unpack what they save, as learners do)
"""Answers to gym.Conv1d, right and wrong, as strangers write them."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class Conv1d(Function):
    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.save_for_backward(x, w)
        ctx.padding = padding
        signal = padded(x, padding)
        steps = signal.shape[-1] - w.shape[-1] + 1
        return sum(
            mg.einsum("bct,oc->bot", signal[:, :, k : k + steps], w[:, :, k])
            for k in range(w.shape[-1])
        )

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        signal = padded(x, ctx.padding)
        steps = grad_output.shape[-1]
        grad_signal, grad_w = mg.zeros_like(signal), mg.zeros_like(w)
        for k in range(w.shape[-1]):
            seen = slice(k, k + steps)
            grad_signal[:, :, seen] += mg.einsum("bot,oc->bct", grad_output, w[:, :, k])
            grad_w[:, :, k] = mg.einsum("bot,bct->oc", grad_output, signal[:, :, seen])
        inside = slice(ctx.padding, ctx.padding + x.shape[-1])
        return grad_signal[:, :, inside], grad_w, None


def padded(x, padding):
    wide = mg.zeros(*x.shape[:-1], x.shape[-1] + 2 * padding, dtype=x.dtype)
    wide[:, :, padding : padding + x.shape[-1]] = x
    return wide


def windows(x, K):
    """x as (B, C, T, K)."""
    T = x.shape[-1] - K + 1
    return mg.stack([x[:, :, k : k + T] for k in range(K)], -1)


def for_signal(g, w):
    T, K = g.shape[-1], w.shape[-1]
    out = mg.zeros(g.shape[0], w.shape[1], T + K - 1, dtype=g.dtype)
    for k in range(K):
        out[:, :, k : k + T] += mg.einsum("bot,oc->bct", g, w[:, :, k])
    return out


def for_x(g, w, p):
    wide = for_signal(g, w)
    return wide[:, :, p : wide.shape[-1] - p]


def for_w(g, x, K, p):
    return mg.einsum("bctk,bot->ock", windows(padded(x, p), K), g)


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.save_for_backward(x, w)
        ctx.p = padding
        return mg.einsum("bctk,ock->bot", windows(padded(x, padding), w.shape[-1]), w)


@right()
class WindowsAndEinsum(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        cols = windows(padded(x, ctx.p), w.shape[-1])
        gw = mg.einsum("bctk,bot->ock", cols, g)
        gcols = mg.einsum("bot,ock->bctk", g, w)
        gx = mg.zeros_like(padded(x, ctx.p))
        for k in range(w.shape[-1]):
            gx[:, :, k : k + g.shape[-1]] += gcols[:, :, :, k]
        return gx[:, :, ctx.p : ctx.p + x.shape[-1]], gw, None


@right()
class FlippedKernel(Saves):
    """The gradient for x is a convolution with the flipped kernel."""

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        K = w.shape[-1]
        turned = w.flip(-1)
        wide = windows(padded(g, K - 1), K)
        gx = mg.einsum("botk,ock->bct", wide, turned)
        gx = gx[..., ctx.p :][..., : x.shape[-1]]
        return gx, for_w(g, x, K, ctx.p), None


@right()
class LoopsEverywhere(Function):
    @staticmethod
    def forward(x, w, padding):
        B, Ci, L = x.shape
        Co, _, K = w.shape
        T = L + 2 * padding - K + 1
        xp = padded(x, padding)
        y = mg.zeros(B, Co, T, dtype=x.dtype)
        for t in range(T):
            for o in range(Co):
                y[:, o, t] = (xp[:, :, t : t + K] * w[o]).sum((1, 2))
        return y

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, w, ctx.padding = inputs
        ctx.save_for_backward(x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        p, K = ctx.padding, w.shape[-1]
        xp = padded(x, p)
        gxp, gw = mg.zeros_like(xp), mg.zeros_like(w)
        for t in range(g.shape[-1]):
            for o in range(w.shape[0]):
                up = g[:, o, t].reshape(-1, 1, 1)
                gxp[:, :, t : t + K] += up * w[o]
                gw[o] += (up * xp[:, :, t : t + K]).sum(0)
        return (gxp[:, :, p:-p] if p else gxp), gw, None


@right()
class ThroughNumpy(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = (t.numpy() for t in ctx.saved_tensors)
        up, p = g.numpy(), ctx.p
        xp = np.pad(x, ((0, 0), (0, 0), (p, p)))
        cols = sliding_window_view(xp, w.shape[-1], axis=-1)
        gw = np.einsum("bctk,bot->ock", cols, up)
        gxp = np.zeros_like(xp)
        for t in range(up.shape[-1]):
            gxp[..., t : t + w.shape[-1]] += np.einsum("bo,ock->bck", up[..., t], w)
        return mg.tensor(gxp[..., p : p + x.shape[-1]].copy()), mg.tensor(gw), None


@right()
class OnlyWhatIsNeeded(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gx = gw = None
        if ctx.needs_input_grad[0]:
            gx = for_x(g, w, ctx.p)
        if ctx.needs_input_grad[1]:
            gw = for_w(g, x, w.shape[-1], ctx.p)
        return gx, gw, None


@wrong("L16")
class KernelNotFlipped(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        K = w.shape[-1]
        gx = mg.einsum("botk,ock->bct", windows(padded(g, K - 1), K), w)
        gx = gx[..., ctx.p :][..., : x.shape[-1]]
        return gx, for_w(g, x, K, ctx.p), None


@wrong("L16")
class KernelGradientReversed(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gw = for_w(g, x, w.shape[-1], ctx.p).flip(-1)
        return for_x(g, w, ctx.p), gw, None


@wrong("L16")
class TrueConvolution(Function):
    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.save_for_backward(x, w)
        ctx.p = padding
        cols = windows(padded(x, padding), w.shape[-1])
        return mg.einsum("bctk,ock->bot", cols, w.flip(-1))

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gw = for_w(g, x, w.shape[-1], ctx.p).flip(-1)
        return for_x(g, w.flip(-1), ctx.p), gw, None


@wrong("L17")
class NotCropped(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return for_signal(g, w), for_w(g, x, w.shape[-1], ctx.p), None


@wrong("L17")
class CroppedOnTheRightOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gx = for_signal(g, w)[..., : x.shape[-1]]
        return gx, for_w(g, x, w.shape[-1], ctx.p), None


@wrong("L17")
class CroppedOnTheLeftOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gx = for_signal(g, w)[..., ctx.p :]
        return gx, for_w(g, x, w.shape[-1], ctx.p), None


@wrong("L17")
class PaddedOnOneSideForTheKernel(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        p, K = ctx.p, w.shape[-1]
        end = mg.zeros(*x.shape[:-1], 2 * p, dtype=x.dtype)
        gw = mg.einsum("bctk,bot->ock", windows(mg.cat([x, end], -1), K), g)
        return for_x(g, w, p), gw, None


@wrong("R08")
class PaddingIgnored(Function):
    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.save_for_backward(x, w)
        return mg.einsum("bctk,ock->bot", windows(x, w.shape[-1]), w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return for_signal(g, w), for_w(g, x, w.shape[-1], 0), None


@wrong("L06")
class ChannelsExchanged(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gx = for_x(g, w.transpose(0, 1), ctx.p)
        return gx, for_w(g, x, w.shape[-1], ctx.p), None


@wrong("L06")
class KernelGradientTransposed(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gw = for_w(g, x, w.shape[-1], ctx.p).transpose(0, 1)
        return for_x(g, w, ctx.p), gw, None


@wrong("R14")
class FirstOfTheBatchOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gw = for_w(g[:1], x[:1], w.shape[-1], ctx.p)
        return for_x(g, w, ctx.p), gw, None


@wrong("R04", "R06")
class MeanOverTheBatch(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gw = for_w(g, x, w.shape[-1], ctx.p) / x.shape[0]
        return for_x(g, w, ctx.p), gw, None


@wrong("R12")
class SumsBeforeItMultiplies(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        total = mg.einsum("o,c->oc", g.sum((0, 2)), x.sum((0, 2)))
        gw = total.unsqueeze(-1).expand(w.shape)
        return for_x(g, w, ctx.p), gw, None


@wrong("C01")
class KernelWithoutUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gw = for_w(mg.ones_like(g), x, w.shape[-1], ctx.p)
        return for_x(g, w, ctx.p), gw, None


@wrong("C02")
class UpstreamTwice(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return for_x(g * g, w, ctx.p), for_w(g * g, x, w.shape[-1], ctx.p), None


@wrong("A03")
class SlotsExchanged(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return for_w(g, x, w.shape[-1], ctx.p), for_x(g, w, ctx.p), None


@wrong("A01")
class NothingForPadding(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return for_x(g, w, ctx.p), for_w(g, x, w.shape[-1], ctx.p)


@wrong("A05")
class NoneForTheKernel(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return for_x(g, w, ctx.p), None, None


@wrong("S06")
class PaddedSignalOnCtx(Function):
    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.cols = windows(padded(x, padding), w.shape[-1])
        ctx.p = padding
        ctx.save_for_backward(w)
        return mg.einsum("bctk,ock->bot", ctx.cols, w)

    @staticmethod
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return for_x(g, w, ctx.p), mg.einsum("bctk,bot->ock", ctx.cols, g), None


@wrong("T01")
class SinglePrecisionBuffer(Function):
    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.save_for_backward(x, w)
        ctx.p = padding
        wide = mg.zeros(*x.shape[:-1], x.shape[-1] + 2 * padding)
        wide[:, :, padding : padding + x.shape[-1]] = x
        cols = windows(wide.to(x.dtype), w.shape[-1])
        return mg.einsum("bctk,ock->bot", cols, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return for_x(g, w, ctx.p), for_w(g, x, w.shape[-1], ctx.p), None


@wrong("R10")
class StepsOverwriteEachOther(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gx = mg.zeros_like(padded(x, ctx.p))
        for t in range(g.shape[-1]):
            part = mg.einsum("bo,ock->bck", g[:, :, t], w)
            gx[:, :, t : t + w.shape[-1]] = part
        gx = gx[:, :, ctx.p : ctx.p + x.shape[-1]]
        return gx, for_w(g, x, w.shape[-1], ctx.p), None


@wrong("L17")
class KernelSeesTheInsideOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        K, p = w.shape[-1], ctx.p
        inner = g[:, :, p : g.shape[-1] - p]
        gw = mg.einsum("bctk,bot->ock", windows(x, K), inner)
        return for_x(g, w, p), gw, None


@wrong("R08", "L17")
class KernelWithoutPadding(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gw = mg.einsum("bctk,bot->ock", windows(x, w.shape[-1]), g)
        return for_x(g, w, ctx.p), gw, None
