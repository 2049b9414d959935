"""Answers to gym.Conv1d, and what other rows use."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


def padded(x, padding):
    wide = mg.zeros(*x.shape[:-1], x.shape[-1] + 2 * padding, dtype=x.dtype)
    wide[:, :, padding : padding + x.shape[-1]] = x
    return wide


def windows(x, K):
    """x as (B, C, T, K)."""
    T = x.shape[-1] - K + 1
    return mg.stack([x[:, :, k : k + T] for k in range(K)], -1)


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.save_for_backward(x, w)
        ctx.p = padding
        return mg.einsum("bctk,ock->bot", windows(padded(x, padding), w.shape[-1]), w)


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


def for_w(g, x, K, p):
    return mg.einsum("bctk,bot->ock", windows(padded(x, p), K), g)


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


def for_signal(g, w):
    T, K = g.shape[-1], w.shape[-1]
    out = mg.zeros(g.shape[0], w.shape[1], T + K - 1, dtype=g.dtype)
    for k in range(K):
        out[:, :, k : k + T] += mg.einsum("bot,oc->bct", g, w[:, :, k])
    return out


def for_x(g, w, p):
    wide = for_signal(g, w)
    return wide[:, :, p : wide.shape[-1] - p]


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


def crop(ctx, gx):
    p = ctx.padding
    return gx[:, :, p : gx.shape[2] - p]


def pad(x, p):
    if not p:
        return x
    side = mg.zeros(x.shape[0], x.shape[1], p, dtype=x.dtype)
    return mg.cat([side, x, side], 2)


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


def grad_kernel(g, x, k, p):
    xp = pad_ends(x, p)
    lo = g.shape[2]
    gw = mg.zeros((g.shape[1], x.shape[1], k), dtype=g.dtype)
    for j in range(k):
        gw[:, :, j] = mg.einsum("bol,bil->oi", g, xp[:, :, j : j + lo])
    return gw


def grad_signal(g, w, p, length):
    k, lo = w.shape[2], g.shape[2]
    full = mg.zeros((g.shape[0], w.shape[1], length + 2 * p), dtype=g.dtype)
    for j in range(k):
        full[:, :, j : j + lo] += mg.einsum("bol,oi->bil", g, w[:, :, j])
    return full[:, :, p : p + length]


def grad_input(g, W, p, shape):
    B, C, L = shape
    T, K = g.shape[2], W.shape[2]
    gp = mg.zeros((B, C, L + 2 * p), dtype=g.dtype)
    for k in range(K):
        gp[:, :, k : k + T] += mg.einsum("bot,oc->bct", g, W[:, :, k])
    return gp[:, :, p : p + L].clone()


def pad_of_conv_kernel_channels_pooled(x, p):
    if not p:
        return x
    B, C, L = x.shape
    out = mg.zeros((B, C, L + 2 * p), dtype=x.dtype)
    out[:, :, p : p + L] = x
    return out


def pull_w(g, xp, K):
    T = g.shape[2]
    gw = mg.zeros(g.shape[1], xp.shape[1], K, dtype=g.dtype)
    for k in range(K):
        gw[:, :, k] = mg.einsum("bol,bcl->oc", g, xp[:, :, k : k + T])
    return gw


def pull_x(g, w, L, p):
    T = g.shape[2]
    gxp = mg.zeros(g.shape[0], w.shape[1], L + 2 * p, dtype=g.dtype)
    for k in range(w.shape[2]):
        gxp[:, :, k : k + T] = gxp[:, :, k : k + T] + mg.einsum(
            "bol,oc->bcl", g, w[:, :, k]
        )
    return gxp[:, :, p : p + L].clone()


def widen(x, p):
    B, C, L = x.shape
    out = mg.zeros(B, C, L + 2 * p, dtype=x.dtype)
    out[:, :, p : p + L] = x
    return out
