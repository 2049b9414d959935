"""Wrong answers to gym.SortWithIndices."""

import numpy as np

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x):
        values, indices = x.sort(-1)
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(indices)
        return values, indices


@wrong("L21")
class ForwardAgain(Base):
    @staticmethod
    def backward(ctx, g, _):
        (i,) = ctx.saved_tensors
        return g.gather(-1, i)


@wrong("C03")
class NotMoved(Base):
    @staticmethod
    def backward(ctx, g, _):
        return g


@wrong("N05")
class NotMarked(Function):
    @staticmethod
    def forward(ctx, x):
        values, indices = x.sort(-1)
        ctx.save_for_backward(indices)
        return values, indices

    @staticmethod
    def backward(ctx, g, _):
        (i,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, i, g)


@wrong("N05")
class FloatIndices(Function):
    @staticmethod
    def forward(ctx, x):
        values, indices = x.sort(-1)
        ctx.save_for_backward(indices)
        return values, indices.to(x.dtype)

    @staticmethod
    def backward(ctx, g, _):
        (i,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, i, g)


@wrong("N08")
class ValuesMarked(Function):
    @staticmethod
    def forward(ctx, x):
        values, indices = x.sort(-1)
        ctx.mark_non_differentiable(values)
        ctx.save_for_backward(indices)
        return values, indices

    @staticmethod
    def backward(ctx, g, _):
        (i,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, i, g)


@wrong("N08")
class BothMarked(Function):
    @staticmethod
    def forward(ctx, x):
        values, indices = x.sort(-1)
        ctx.mark_non_differentiable(values, indices)
        ctx.save_for_backward(indices)
        return values, indices

    @staticmethod
    def backward(ctx, g, _):
        (i,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, i, g)


@wrong("A13")
class OneUpstream(Base):
    @staticmethod
    def backward(ctx, g):
        (i,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, i, g)


@wrong("C05")
class ValuesForG(Function):
    @staticmethod
    def forward(ctx, x):
        values, indices = x.sort(-1)
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(values, indices)
        return values, indices

    @staticmethod
    def backward(ctx, g, _):
        values, i = ctx.saved_tensors
        return mg.zeros_like(values).scatter(-1, i, values)


@wrong("A17")
class ReturnsList(Function):
    @staticmethod
    def forward(ctx, x):
        values, indices = x.sort(-1)
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(indices)
        return [values, indices]

    @staticmethod
    def backward(ctx, g, _):
        (i,) = ctx.saved_tensors
        return mg.zeros_like(g).scatter(-1, i, g)


@wrong("S06", "S07")
class IndicesOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        values, ctx.indices = x.sort(-1)
        ctx.mark_non_differentiable(ctx.indices)
        return values, ctx.indices

    @staticmethod
    def backward(ctx, g, _):
        return mg.zeros_like(g).scatter(-1, ctx.indices, g)


def _unsort(g, order):
    back = mg.sort(order, -1)[1]
    return g.gather(-1, back)


@wrong("N04")
class SortUpstreamsReversed(Function):
    @staticmethod
    def forward(ctx, x):
        v, i = mg.sort(x, -1)
        ctx.save_for_backward(i)
        ctx.mark_non_differentiable(i)
        return v, i

    @staticmethod
    def backward(ctx, g_indices, g_values):
        (i,) = ctx.saved_tensors
        return _unsort(g_values, i).to(g_indices.dtype)


def ordered(x):
    values, order = torch.sort(x, dim=-1)
    return values, order


@wrong("L07")
class SortStayersOnly(Function):
    @staticmethod
    def forward(ctx, x):
        values, order = ordered(x)
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(order)
        return values, order

    @staticmethod
    def backward(ctx, g, _):
        (order,) = ctx.saved_tensors
        place = torch.tensor(list(range(order.shape[-1])))
        return g * (order == place).to(g.dtype)


@wrong("R13")
class SortColumnsEverywhere(Function):
    @staticmethod
    def forward(ctx, x):
        v, i = mg.sort(x, -1)
        ctx.mark_non_differentiable(i)
        ctx.save_for_backward(i)
        return v, i

    @staticmethod
    def backward(ctx, gv, gi):
        (idx,) = ctx.saved_tensors
        n = gv.shape[-1]
        rows, order = gv.reshape(-1, n), idx.reshape(-1, n)
        out = mg.zeros_like(rows)
        for k in range(n):
            out[:, order[:, k]] = rows[:, k].unsqueeze(1).expand(len(rows), len(rows))
        return out.reshape(gv.shape)


def unsort(g, order):
    back = mg.tensor(np.argsort(order.numpy(), axis=-1))
    return mg.tensor(np.take_along_axis(g.detach().numpy(), back.numpy(), -1))


@wrong("N02")
class AddsIndexUpstream(Function):
    @staticmethod
    def forward(ctx, x):
        values, order = mg.sort(x, -1)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(order)
        return values, order

    @staticmethod
    def backward(ctx, g, g_order):
        (order,) = ctx.saved_tensors
        return unsort(g + g_order * 0, order)
