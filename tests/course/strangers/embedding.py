"""Wrong answers to gym.Embedding."""

import numpy as np

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, weight, idx):
        ctx.save_for_backward(idx)
        ctx.shape = tuple(weight.shape)
        return weight[idx]


def zeros(ctx, g):
    return mg.zeros(*ctx.shape, dtype=g.dtype)


@wrong("R10")
class Assigns(Base):
    @staticmethod
    def backward(ctx, g):
        (idx,) = ctx.saved_tensors
        out = zeros(ctx, g)
        out[idx] = g
        return out, None


@wrong("R10")
class AugmentedAssign(Base):
    @staticmethod
    def backward(ctx, g):
        (idx,) = ctx.saved_tensors
        out = np.zeros(ctx.shape)
        out[idx.numpy()] += g.detach().numpy()
        return mg.tensor(out).to(g.dtype), None


def added(ctx, g):
    (idx,) = ctx.saved_tensors
    out = zeros(ctx, g)
    out.index_add_(0, idx.reshape(-1), g.reshape(-1, ctx.shape[1]))
    return out


@wrong("A01")
class OneOnly(Base):
    @staticmethod
    def backward(ctx, g):
        return added(ctx, g)


@wrong("A02")
class ForTheIndex(Base):
    @staticmethod
    def backward(ctx, g):
        (idx,) = ctx.saved_tensors
        return added(ctx, g), mg.zeros_like(idx)


@wrong("R08")
class OneAxisOnly(Base):
    @staticmethod
    def backward(ctx, g):
        (idx,) = ctx.saved_tensors
        out = zeros(ctx, g)
        out.index_add_(0, idx, g)
        return out, None


@wrong("C01")
class Counts(Base):
    @staticmethod
    def backward(ctx, g):
        return added(ctx, mg.ones_like(g)), None


@wrong("A03")
class Slots(Base):
    @staticmethod
    def backward(ctx, g):
        return None, added(ctx, g)


@wrong("R07", "C03")
class GItself(Base):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("R04")
class Averages(Base):
    @staticmethod
    def backward(ctx, g):
        count = added(ctx, mg.ones_like(g)).clamp(min=1)
        return added(ctx, g) / count, None


@wrong("C06", "L02")
class Twice(Base):
    @staticmethod
    def backward(ctx, g):
        return added(ctx, g) + added(ctx, g), None


@wrong("S06")
class IndexOnCtx(Function):
    @staticmethod
    def forward(ctx, weight, idx):
        ctx.idx, ctx.shape = idx, tuple(weight.shape)
        return weight[idx]

    @staticmethod
    def backward(ctx, g):
        out = zeros(ctx, g)
        out.index_add_(0, ctx.idx.reshape(-1), g.reshape(-1, ctx.shape[1]))
        return out, None


@wrong("T03")
class DoubleZeros(Base):
    @staticmethod
    def backward(ctx, g):
        (idx,) = ctx.saved_tensors
        out = mg.zeros(*ctx.shape, dtype=mg.float64)
        g = g.to(mg.float64)
        out.index_add_(0, idx.reshape(-1), g.reshape(-1, ctx.shape[1]))
        return out, None


def onehot(idx, v, dtype):
    """(N, V) matrix with a one per looked-up row."""
    flat = idx.reshape(-1)
    flat = torch.where(flat < 0, flat + v, flat)
    return (flat.unsqueeze(-1) == torch.tensor(np.arange(v))).to(dtype)


@wrong("L06")
class EmbeddingOneHotOrder(Function):
    @staticmethod
    def forward(ctx, weight, idx):
        ctx.shape = tuple(weight.shape)
        ctx.save_for_backward(idx)
        return weight[idx]

    @staticmethod
    def backward(ctx, g):
        (idx,) = ctx.saved_tensors
        v, d = ctx.shape
        hot = onehot(idx, v, g.dtype)
        return g.reshape(-1, d).t() @ hot, None


def rows_of(g, idx):
    d = g.shape[-1]
    return zip([int(k) for k in idx.reshape(-1)], g.reshape(-1, d), strict=False)


@wrong("R14")
class EmbeddingFirstSentence(Function):
    @staticmethod
    def forward(ctx, weight, idx):
        ctx.save_for_backward(weight, idx)
        return weight[idx]

    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        while idx.ndim > 1:
            idx, g = idx[0], g[0]
        out = torch.zeros_like(weight)
        for k, row in rows_of(g, idx):
            out[k] = out[k] + row
        return out, None
