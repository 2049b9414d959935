"""Answers to gym.Embedding, right and wrong, as strangers write them."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class Embedding(Function):
    @staticmethod
    def forward(ctx, weight, idx):
        ctx.save_for_backward(idx)
        ctx.shape = weight.shape
        return weight[idx]

    @staticmethod
    def backward(ctx, grad_output):
        (idx,) = ctx.saved_tensors
        rows = grad_output.reshape(-1, ctx.shape[1])
        grad_weight = mg.zeros(ctx.shape, dtype=grad_output.dtype)
        for i, row in zip(idx.reshape(-1), rows, strict=True):
            grad_weight[i] += row
        return grad_weight, None


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, weight, idx):
        ctx.save_for_backward(weight, idx)
        return weight[idx]


@right()
class WithIndexAdd(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        gw.index_add_(0, idx.reshape(-1), g.reshape(-1, weight.shape[1]))
        return gw, None


@right()
class WithOneHot(Function):
    @staticmethod
    def forward(weight, idx):
        return weight[idx]

    @staticmethod
    def setup_context(ctx, inputs, output):
        weight, idx = inputs
        ctx.save_for_backward(idx)
        ctx.rows = weight.shape[0]

    @staticmethod
    def backward(ctx, g):
        (idx,) = ctx.saved_tensors
        flat = idx.reshape(-1)
        onehot = (flat.unsqueeze(-1) == mg.arange(ctx.rows)).to(g.dtype)
        return onehot.t() @ g.reshape(flat.shape[0], -1), None


@right()
class RowsOfTheTable(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        for v in range(weight.shape[0]):
            gw[v] = g[idx == v].sum(0)
        return gw, None


@right()
class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, weight, idx):
        ctx.shape, ctx.idx = weight.shape, idx.numpy().copy()
        return weight[idx]

    @staticmethod
    def backward(ctx, g):
        up = g.numpy()
        gw = np.zeros(ctx.shape, up.dtype)
        np.add.at(gw, ctx.idx, up)
        return mg.tensor(gw), None


@right()
class AccumulatingPut(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        if not ctx.needs_input_grad[0]:
            return None, None
        return mg.zeros_like(weight).index_put_((idx,), g, accumulate=True), None


@wrong("R10")
class Assigns(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        gw[idx] = g
        return gw, None


@wrong("R10")
class AddsWithFancyIndex(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        gw[idx] += g
        return gw, None


@wrong("R10")
class AssignsInALoop(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        rows = g.reshape(-1, weight.shape[1])
        for k, i in enumerate(idx.reshape(-1)):
            gw[i] = rows[k]
        return gw, None


@wrong("R10", "R08")
class AddsOneIndexRowAtATime(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        for k in range(idx.shape[0]):
            gw[idx[k]] += g[k]
        return gw, None


@wrong("R08")
class IndicesWithOneAxisOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        for k in range(idx.shape[0]):
            gw[int(idx[k])] += g[k]
        return gw, None


@wrong("R04")
class MeanOfTheContributions(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        flat = idx.reshape(-1)
        onehot = (flat.unsqueeze(-1) == mg.arange(weight.shape[0])).to(g.dtype)
        total = onehot.t() @ g.reshape(flat.shape[0], -1)
        return total / onehot.sum(0).clamp(min=1.0).unsqueeze(-1), None


@wrong("R04", "R06")
class DividesByTheIndices(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        gw.index_add_(0, idx.reshape(-1), g.reshape(-1, weight.shape[1]))
        return gw / idx.numel(), None


@wrong("R14")
class OneIndexOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        gw[idx.reshape(-1)[0]] = g.reshape(-1, weight.shape[1])[0]
        return gw, None


@wrong("R11")
class SumOfEveryRow(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        flat = idx.reshape(-1)
        rows = g.reshape(-1, weight.shape[1]).sum(-1, keepdim=True)
        gw.index_add_(0, flat, rows.expand(flat.shape[0], weight.shape[1]))
        return gw, None


@wrong("C01")
class CountsOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        flat = idx.reshape(-1)
        ones = mg.ones(flat.shape[0], weight.shape[1], dtype=weight.dtype)
        return gw.index_add_(0, flat, ones), None


@wrong("C07")
class TimesTheTable(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        rows = (g * weight[idx]).reshape(-1, weight.shape[1])
        return gw.index_add_(0, idx.reshape(-1), rows), None


@wrong("A02")
class GradientForTheIndices(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        gw.index_add_(0, idx.reshape(-1), g.reshape(-1, weight.shape[1]))
        return gw, mg.zeros(idx.shape, dtype=g.dtype)


@wrong("A01")
class NothingForTheIndices(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        gw.index_add_(0, idx.reshape(-1), g.reshape(-1, weight.shape[1]))
        return gw


@wrong("A03")
class InTheIndicesSlot(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros_like(weight)
        gw.index_add_(0, idx.reshape(-1), g.reshape(-1, weight.shape[1]))
        return None, gw


@wrong("S06")
class IndicesOnCtx(Function):
    @staticmethod
    def forward(ctx, weight, idx):
        ctx.idx = idx
        ctx.rows = weight.shape[0]
        return weight[idx]

    @staticmethod
    def backward(ctx, g):
        flat = ctx.idx.reshape(-1)
        gw = mg.zeros(ctx.rows, g.shape[-1], dtype=g.dtype)
        return gw.index_add_(0, flat, g.reshape(-1, g.shape[-1])), None


@wrong("S08")
class IndicesAsSharedArray(Function):
    @staticmethod
    def forward(ctx, weight, idx):
        ctx.idx = idx.numpy()
        ctx.shape = weight.shape
        return weight[idx]

    @staticmethod
    def backward(ctx, g):
        gw = np.zeros(ctx.shape, g.numpy().dtype)
        np.add.at(gw, ctx.idx, g.numpy())
        return mg.tensor(gw), None


@wrong("T01")
class SinglePrecisionTable(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        gw = mg.zeros(weight.shape)
        for i, row in zip(idx.reshape(-1), g.reshape(-1, weight.shape[1]), strict=True):
            gw[i] += row
        return gw, None


@wrong("A14")
class SavesTheShape(Function):
    @staticmethod
    def forward(ctx, weight, idx):
        ctx.save_for_backward(idx, weight.shape)
        return weight[idx]

    @staticmethod
    def backward(ctx, g):
        idx, shape = ctx.saved_tensors
        gw = mg.zeros(shape, dtype=g.dtype)
        gw.index_add_(0, idx.reshape(-1), g.reshape(-1, shape[1]))
        return gw, None


@wrong("C03")
class HandsItOn(Saves):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("L06")
class OneHotNotTurned(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        flat = idx.reshape(-1)
        onehot = (flat.unsqueeze(-1) == mg.arange(weight.shape[0])).to(g.dtype)
        return onehot @ g.reshape(flat.shape[0], -1), None


@wrong("R08")
class IndexNotMadeFlat(Saves):
    @staticmethod
    def backward(ctx, g):
        weight, idx = ctx.saved_tensors
        return mg.zeros_like(weight).index_add_(0, idx, g), None
