"""Answers to gym.SortWithIndices, right and wrong, as strangers write them."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class SortWithIndices(Function):
    @staticmethod
    def forward(ctx, x):
        values, indices = mg.sort(x, dim=-1)
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(indices)
        return values, indices

    @staticmethod
    def backward(ctx, grad_values, grad_indices):
        (indices,) = ctx.saved_tensors
        return mg.zeros_like(grad_values).scatter(-1, indices, grad_values)


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x):
        values, idx = x.sort(dim=-1)
        ctx.mark_non_differentiable(idx)
        ctx.save_for_backward(idx)
        return values, idx


@right()
class TakesByTheInverse(Saves):
    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        return g.gather(-1, idx.argsort(dim=-1))


@right()
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


@right()
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


@right()
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


@right()
class WithAMatrix(Saves):
    """Each row is multiplied by its permutation matrix, transposed."""

    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        places = (idx.unsqueeze(-1) == mg.arange(idx.shape[-1])).to(g.dtype)
        return mg.einsum("...k,...ki->...i", g, places)


@wrong("L21")
class TakesInsteadOfPutting(Saves):
    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        return g.gather(-1, idx)


@wrong("L21")
class InverseOfTheInverse(Saves):
    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        back = idx.argsort(-1).argsort(-1)
        return g.gather(-1, back)


@wrong("C03")
class HandsItOn(Saves):
    @staticmethod
    def backward(ctx, g, _):
        return g


@wrong("C01")
class Ones(Saves):
    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, idx, mg.ones_like(g))


@wrong("L11")
class SortsTheGradient(Saves):
    @staticmethod
    def backward(ctx, g, _):
        return g.sort(dim=-1)[0]


@wrong("R13")
class OuterIndex(Saves):
    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        out = mg.zeros_like(g)
        out[..., idx] = g
        return out


@wrong("R08", "R07")
class AlongTheFirstAxis(Saves):
    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(0, idx, g)


@wrong("N05")
class DoesNotMark(Function):
    @staticmethod
    def forward(ctx, x):
        values, idx = x.sort(dim=-1)
        ctx.save_for_backward(idx)
        return values, idx

    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, idx, g)


@wrong("N08")
class MarksTheValues(Function):
    @staticmethod
    def forward(ctx, x):
        values, idx = x.sort(dim=-1)
        ctx.mark_non_differentiable(values)
        ctx.save_for_backward(idx)
        return values, idx

    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, idx, g)


@wrong("N08")
class MarksBoth(Function):
    @staticmethod
    def forward(ctx, x):
        values, idx = x.sort(dim=-1)
        ctx.mark_non_differentiable(values, idx)
        ctx.save_for_backward(idx)
        return values, idx

    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, idx, g)


@wrong("A13")
class OneUpstreamOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        (idx,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, idx, g)


@wrong("S07", "S06")
class OutputOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        values, idx = x.sort(dim=-1)
        ctx.idx = idx
        ctx.mark_non_differentiable(idx)
        return values, idx

    @staticmethod
    def backward(ctx, g, _):
        return mg.zeros_like(g).scatter(-1, ctx.idx, g)


@wrong("A17")
class ReturnsAList(Function):
    @staticmethod
    def forward(ctx, x):
        values, idx = x.sort(dim=-1)
        ctx.save_for_backward(idx)
        ctx.mark_non_differentiable(idx)
        return [values, idx]

    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, idx, g)


@wrong()
class GradientForTheIndicesToo(Saves):
    @staticmethod
    def backward(ctx, g, g_idx):
        (idx,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, idx, g), g_idx


@wrong("T03")
class GradientInSingle(Saves):
    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        out = mg.zeros(g.shape, dtype=mg.float64)
        return out.scatter(-1, idx, g.to(mg.float64))


@wrong("S04")
class IndicesOnTheClass(Function):
    @staticmethod
    def forward(ctx, x):
        values, idx = x.sort(dim=-1)
        ctx.mark_non_differentiable(idx)
        IndicesOnTheClass.order = idx.numpy().copy()
        return values, idx

    @staticmethod
    def backward(ctx, g, _):
        idx = mg.tensor(IndicesOnTheClass.order)
        return mg.zeros_like(g).scatter(-1, idx, g)


@wrong("R13", "R08")
class OneRowForAll(Saves):
    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        out = mg.zeros(g.numel(), dtype=g.dtype)
        out[idx.reshape(-1)] = g.reshape(-1)
        return out.reshape(g.shape)


@wrong("R13", "R08")
class IndicesAsWholeRows(Saves):
    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        out = mg.zeros_like(g)
        out[idx] = g
        return out
