"""Wrong answers to gym.Conv1d."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


def pad(x, p):
    if not p:
        return x
    side = mg.zeros(x.shape[0], x.shape[1], p, dtype=x.dtype)
    return mg.cat([side, x, side], 2)


class Base(Function):
    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.save_for_backward(x, w)
        ctx.padding = padding
        x = pad(x, padding)
        length = x.shape[2] - w.shape[2] + 1
        return sum(
            mg.einsum("bil,oi->bol", x[:, :, k : k + length], w[:, :, k])
            for k in range(w.shape[2])
        )


def gradients(ctx, g, flip_x=False, flip_w=False):
    x, w = ctx.saved_tensors
    x = pad(x, ctx.padding)
    K, T = w.shape[2], g.shape[2]
    gx, gw = mg.zeros_like(x), mg.zeros_like(w)
    for k in range(K):
        gx[:, :, k : k + T] += mg.einsum(
            "bol,oi->bil", g, w[:, :, K - 1 - k if flip_x else k]
        )
        gw[:, :, K - 1 - k if flip_w else k] = mg.einsum(
            "bol,bil->oi", g, x[:, :, k : k + T]
        )
    return gx, gw


def crop(ctx, gx):
    p = ctx.padding
    return gx[:, :, p : gx.shape[2] - p]


@wrong("L16")
class FlippedForX(Base):
    @staticmethod
    def backward(ctx, g):
        gx, gw = gradients(ctx, g, flip_x=True)
        return crop(ctx, gx), gw, None


@wrong("L16")
class FlippedForW(Base):
    @staticmethod
    def backward(ctx, g):
        gx, gw = gradients(ctx, g, flip_w=True)
        return crop(ctx, gx), gw, None


@wrong("L17")
class NotCropped(Base):
    @staticmethod
    def backward(ctx, g):
        gx, gw = gradients(ctx, g)
        return gx, gw, None


@wrong("L17")
class CroppedLeft(Base):
    @staticmethod
    def backward(ctx, g):
        gx, gw = gradients(ctx, g)
        return gx[:, :, ctx.padding :], gw, None


@wrong("L17")
class CroppedRight(Base):
    @staticmethod
    def backward(ctx, g):
        gx, gw = gradients(ctx, g)
        x, _ = ctx.saved_tensors
        return gx[:, :, : x.shape[2]], gw, None


@wrong("R14")
class FirstExample(Base):
    @staticmethod
    def backward(ctx, g):
        gx, _ = gradients(ctx, g)
        x, w = ctx.saved_tensors
        x = pad(x, ctx.padding)
        gw = mg.stack(
            [
                mg.einsum("ol,il->oi", g[0], x[0, :, k : k + g.shape[2]])
                for k in range(w.shape[2])
            ],
            2,
        )
        return crop(ctx, gx), gw, None


@wrong("R04", "R06")
class MeanOverBatch(Base):
    @staticmethod
    def backward(ctx, g):
        gx, gw = gradients(ctx, g)
        return crop(ctx, gx), gw / g.shape[0], None


@wrong("A01")
class TwoOnly(Base):
    @staticmethod
    def backward(ctx, g):
        gx, gw = gradients(ctx, g)
        return crop(ctx, gx), gw


@wrong("L01")
class Minus(Base):
    @staticmethod
    def backward(ctx, g):
        gx, gw = gradients(ctx, g)
        return crop(ctx, gx), -gw, None


@wrong("C01")
class OnesForG(Base):
    @staticmethod
    def backward(ctx, g):
        gx, gw = gradients(ctx, mg.ones_like(g))
        return crop(ctx, gx), gw, None


@wrong("S06")
class PaddedOnCtx(Function):
    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.x = x
        return Base.forward(ctx, x, w, padding)

    @staticmethod
    def backward(ctx, g):
        gx, gw = gradients(ctx, g)
        return crop(ctx, gx), gw, None


def pad_ends(x, p):
    if p == 0:
        return x
    wide = mg.zeros((x.shape[0], x.shape[1], x.shape[2] + 2 * p), dtype=x.dtype)
    wide[:, :, p : p + x.shape[2]] = x
    return wide


def correlate(x, w, p):
    xp = pad_ends(x, p)
    k = w.shape[2]
    lo = xp.shape[2] - k + 1
    return sum(
        mg.einsum("bil,oi->bol", xp[:, :, j : j + lo], w[:, :, j]) for j in range(k)
    )


def grad_signal(g, w, p, length):
    k, lo = w.shape[2], g.shape[2]
    full = mg.zeros((g.shape[0], w.shape[1], length + 2 * p), dtype=g.dtype)
    for j in range(k):
        full[:, :, j : j + lo] += mg.einsum("bol,oi->bil", g, w[:, :, j])
    return full[:, :, p : p + length]


def grad_kernel(g, x, k, p):
    xp = pad_ends(x, p)
    lo = g.shape[2]
    gw = mg.zeros((g.shape[1], x.shape[1], k), dtype=g.dtype)
    for j in range(k):
        gw[:, :, j] = mg.einsum("bol,bil->oi", g, xp[:, :, j : j + lo])
    return gw


@wrong("R12")
class ConvKernelSummedBatch(Function):
    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.save_for_backward(x, w)
        ctx.p = padding
        return correlate(x, w, padding)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        g_all = g.sum(0, keepdim=True)
        x_all = x.sum(0, keepdim=True)
        gw = grad_kernel(g_all, x_all, w.shape[2], ctx.p)
        return grad_signal(g, w, ctx.p, x.shape[2]), gw, None


def pad_of_conv_kernel_channels_pooled(x, p):
    if not p:
        return x
    B, C, L = x.shape
    out = mg.zeros((B, C, L + 2 * p), dtype=x.dtype)
    out[:, :, p : p + L] = x
    return out


def correlate_of_conv_kernel_channels_pooled(x, W, p):
    xp = pad_of_conv_kernel_channels_pooled(x, p)
    K = W.shape[2]
    T = xp.shape[2] - K + 1
    total = None
    for k in range(K):
        term = mg.einsum("bct,oc->bot", xp[:, :, k : k + T], W[:, :, k])
        total = term if total is None else total + term
    return total


def grad_input(g, W, p, shape):
    B, C, L = shape
    T, K = g.shape[2], W.shape[2]
    gp = mg.zeros((B, C, L + 2 * p), dtype=g.dtype)
    for k in range(K):
        gp[:, :, k : k + T] += mg.einsum("bot,oc->bct", g, W[:, :, k])
    return gp[:, :, p : p + L].clone()


@wrong("R11")
class ConvKernelChannelsPooled(Function):
    @staticmethod
    def forward(ctx, x, W, padding):
        ctx.save_for_backward(x, W)
        ctx.p = padding
        return correlate_of_conv_kernel_channels_pooled(x, W, padding)

    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        xp, T = pad_of_conv_kernel_channels_pooled(x, ctx.p), g.shape[2]
        gW = mg.zeros_like(W)
        for k in range(W.shape[2]):
            tap = mg.einsum("bot,bct->o", g, xp[:, :, k : k + T])
            gW[:, :, k] = tap.unsqueeze(1)
        return grad_input(g, W, ctx.p, x.shape), gW, None


def widen(x, p):
    B, C, L = x.shape
    out = mg.zeros(B, C, L + 2 * p, dtype=x.dtype)
    out[:, :, p : p + L] = x
    return out


def slide(xp, w):
    T = xp.shape[2] - w.shape[2] + 1
    y = None
    for k in range(w.shape[2]):
        term = mg.einsum("bcl,oc->bol", xp[:, :, k : k + T], w[:, :, k])
        y = term if y is None else y + term
    return y


def pull_x(g, w, L, p):
    T = g.shape[2]
    gxp = mg.zeros(g.shape[0], w.shape[1], L + 2 * p, dtype=g.dtype)
    for k in range(w.shape[2]):
        gxp[:, :, k : k + T] = gxp[:, :, k : k + T] + mg.einsum(
            "bol,oc->bcl", g, w[:, :, k]
        )
    return gxp[:, :, p : p + L].clone()


def pull_w(g, xp, K):
    T = g.shape[2]
    gw = mg.zeros(g.shape[1], xp.shape[1], K, dtype=g.dtype)
    for k in range(K):
        gw[:, :, k] = mg.einsum("bol,bcl->oc", g, xp[:, :, k : k + T])
    return gw


@wrong("S02", "L04")
class KernelAndSignalSwappedOnUnpack(Function):
    @staticmethod
    def forward(x, w, padding):
        return slide(widen(x, padding), w)

    @staticmethod
    def setup_context(ctx, inputs, output):
        *tensors, ctx.p = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx, g):
        kernel, signal = ctx.saved_tensors
        gx = pull_x(g, kernel, signal.shape[2], ctx.p)
        gw = pull_w(g, widen(signal, ctx.p), kernel.shape[2])
        return gx, gw, None


@wrong("T04")
class WindowsByAssumedStrides(Function):
    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.save_for_backward(x, w)
        ctx.p = padding
        a = x.numpy()
        if padding:
            a = np.pad(a, ((0, 0), (0, 0), (padding, padding)))
        B, C, N = a.shape
        K = w.shape[2]
        s = a.itemsize
        win = np.lib.stride_tricks.as_strided(
            a, (B, C, N - K + 1, K), (C * N * s, N * s, s, s)
        )
        return mg.tensor(np.einsum("bclk,ock->bol", win, w.numpy()))

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return (
            pull_x(g, w, x.shape[2], ctx.p),
            pull_w(g, widen(x, ctx.p), w.shape[2]),
            None,
        )
