"""Answers to 14.5."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.utils import jit


@jit
def only_inside(x, w, padding, y):
    for b in range(x.shape[0]):
        for o in range(w.shape[0]):
            for k in range(w.shape[2]):
                first = max(0, padding - k)
                last = min(y.shape[2], x.shape[2] + padding - k)
                for c in range(w.shape[1]):
                    for t in range(first, last):
                        y[b, o, t] += x[b, c, t + k - padding] * w[o, c, k]


@jit
def for_x(g, w, padding, grad):
    for b in range(grad.shape[0]):
        for c in range(grad.shape[1]):
            for s in range(grad.shape[2]):
                for o in range(g.shape[1]):
                    for k in range(w.shape[2]):
                        t = s - k + padding
                        if t >= 0 and t < g.shape[2]:
                            grad[b, c, s] += g[b, o, t] * w[o, c, k]


@jit
def for_w(g, x, padding, grad):
    for k in range(grad.shape[2]):
        for t in range(g.shape[2]):
            s = t + k - padding
            if s in range(x.shape[2]):
                for b in range(g.shape[0]):
                    for o in range(grad.shape[0]):
                        for c in range(grad.shape[1]):
                            grad[o, c, k] += g[b, o, t] * x[b, c, s]


class ThreeKernels(Function):
    @staticmethod
    def forward(x, w, padding):
        y = mg.zeros(
            x.shape[0],
            w.shape[0],
            x.shape[2] + 2 * padding - w.shape[2] + 1,
            dtype=x.dtype,
        )
        only_inside(x.detach().numpy(), w.detach().numpy(), padding, y.numpy())
        return y

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, w, ctx.padding = inputs
        ctx.save_for_backward(x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        g, a, b = g.detach().numpy(), x.detach().numpy(), w.detach().numpy()
        grad_x, grad_w = np.zeros_like(a), np.zeros_like(b)
        for_x(g, b, ctx.padding, grad_x)
        for_w(g, a, ctx.padding, grad_w)
        return mg.from_numpy(grad_x), mg.from_numpy(grad_w), None


class Unfolds(ThreeKernels):
    @staticmethod
    def forward(x, w, padding):
        wide = np.pad(x.detach().numpy(), ((0, 0), (0, 0), (padding, padding)))
        steps = wide.shape[2] - w.shape[2] + 1
        windows = [wide[:, :, k : k + steps] for k in range(w.shape[2])]
        unfolded = np.stack(windows, -1)
        y = np.einsum("bctk,ock->bot", unfolded, w.detach().numpy())
        return mg.tensor(y, dtype=x.dtype)
