"""Answers to gym.SortWithIndices, and what other rows use."""

import numpy as np

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x):
        values, idx = x.sort(dim=-1)
        ctx.mark_non_differentiable(idx)
        ctx.save_for_backward(idx)
        return values, idx


class TakesByTheInverse(Saves):
    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        return g.gather(-1, idx.argsort(dim=-1))


class RowByRow(Saves):
    @staticmethod
    def backward(ctx, g, g_idx):
        (idx,) = ctx.saved_tensors
        n = idx.shape[-1]
        out = mg.zeros(idx.numel() // n, n, dtype=g.dtype)
        for row, (i, up) in enumerate(
            zip(idx.reshape(-1, n), g.reshape(-1, n), strict=True)
        ):
            out[row, i] = up
        return out.reshape(g.shape)


class InTheOtherStyle(Function):
    @staticmethod
    def forward(x):
        order = x.argsort(-1)
        return x.gather(-1, order), order

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, order = output
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(order)

    @staticmethod
    def backward(ctx, g, _):
        (order,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter_(-1, order, g)


class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy()
        order = np.argsort(a, axis=-1, kind="stable")
        ctx.order = order.copy()
        idx = mg.tensor(order)
        ctx.mark_non_differentiable(idx)
        return mg.tensor(np.take_along_axis(a, order, -1)), idx

    @staticmethod
    def backward(ctx, g, _):
        out = np.empty_like(g.numpy())
        np.put_along_axis(out, ctx.order, g.numpy(), -1)
        return mg.tensor(out)


class WithAMatrix(Saves):
    """Each row is multiplied by its permutation matrix, transposed."""

    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        places = (idx.unsqueeze(-1) == mg.arange(idx.shape[-1])).to(g.dtype)
        return mg.einsum("...k,...ki->...i", g, places)


def _unsort(g, order):
    back = mg.sort(order, -1)[1]
    return g.gather(-1, back)


def unsort(g, order):
    back = mg.tensor(np.argsort(order.numpy(), axis=-1))
    return mg.tensor(np.take_along_axis(g.detach().numpy(), back.numpy(), -1))
