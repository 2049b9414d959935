# ruff: noqa: RUF059  (answers are written as learners write them)
"""Wrong answers to gym.Max."""

import numpy as np

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.amax(-1)
        ctx.save_for_backward(x, y)
        return y


@wrong("L10")
class AllTies(Base):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return mask * g.unsqueeze(-1)


@wrong("L10")
class FirstWinner(Base):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        out = mg.zeros_like(x)
        index = x.argmax(-1, keepdim=True)
        return out.scatter(-1, index, g.unsqueeze(-1))


@wrong("L11")
class GlobalMaximum(Base):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == x.amax()).to(x.dtype)
        return mask / mask.sum(-1, keepdim=True).clamp(min=1) * g.unsqueeze(-1)


@wrong("R07")
class NotSpread(Base):
    @staticmethod
    def backward(ctx, g):
        return g


@wrong("C01")
class MaskAlone(Base):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return mask / mask.sum(-1, keepdim=True)


@wrong("C04")
class SumOfG(Base):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return mask / mask.sum(-1, keepdim=True) * g.sum()


@wrong("C05")
class OutputForG(Base):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return mask / mask.sum(-1, keepdim=True) * y.unsqueeze(-1)


@wrong("L01")
class Smallest(Base):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return -mask / mask.sum(-1, keepdim=True) * g.unsqueeze(-1)


@wrong("R07", "C03")
class Everybody(Base):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.unsqueeze(-1).expand(*x.shape)


@wrong("R05", "L10")
class SharedByN(Base):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return mask / x.shape[-1] * g.unsqueeze(-1)


@wrong("S07")
class OutputOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.y = x.amax(-1)
        return ctx.y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        mask = (x == ctx.y.unsqueeze(-1)).to(x.dtype)
        return mask / mask.sum(-1, keepdim=True) * g.unsqueeze(-1)


def winners(x, best):
    return (x == best.unsqueeze(-1)).to(x.dtype)


@wrong("R02")
class MaxTiesPerColumn(Function):
    @staticmethod
    def forward(ctx, x):
        best = x.amax(-1)
        ctx.save_for_backward(x, best)
        return best

    @staticmethod
    def backward(ctx, g):
        x, best = ctx.saved_tensors
        hit = winners(x, best)
        count = hit.sum(0, keepdim=True).clamp(min=1)
        return hit / count * g.unsqueeze(-1)


@wrong("R13")
class MaxColumnsOfWinners(Function):
    @staticmethod
    def forward(ctx, x):
        best = x.amax(-1)
        ctx.save_for_backward(x, best)
        return best

    @staticmethod
    def backward(ctx, g):
        x, best = ctx.saved_tensors
        width = x.shape[-1]
        hit = winners(x, best).reshape(-1, width)
        share = (g.unsqueeze(-1) / winners(x, best).sum(-1, keepdim=True)).reshape(-1)
        row, col = np.nonzero(hit.numpy())
        row, col = mg.tensor(row), mg.tensor(col)
        grad = mg.zeros_like(hit)
        grad[:, col] = share[row]
        return grad.reshape(x.shape)


@wrong("R13")
class MaxGridOfWinners(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.amax(-1)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        rows = x.reshape(-1, x.shape[-1])
        best = rows.amax(-1, keepdim=True)
        hit = (rows == best).to(g.dtype)
        hit = hit / hit.sum(-1, keepdim=True)
        cols = [j for j in range(rows.shape[1]) if bool((hit[:, j] > 0).sum() > 0)]
        out = torch.zeros_like(rows)
        out[:, torch.tensor(cols)] = g.reshape(-1, 1).expand(len(rows), len(cols)) * 1.0
        ties = hit.amax(-1, keepdim=True)
        return (out * ties).reshape(x.shape)


@wrong("T04")
class FlatWinnersByMemory(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.amax(-1)
        hit = np.empty_like(x.numpy(), dtype=bool)
        np.equal(x.numpy(), y.numpy()[..., None], out=hit)
        ctx.flat = np.flatnonzero(hit.ravel(order="K"))
        ctx.counts = hit.sum(-1, keepdims=True)
        ctx.shape = tuple(x.shape)
        return y

    @staticmethod
    def backward(ctx, g):
        each = np.broadcast_to(
            g.detach().numpy()[..., None] / ctx.counts, ctx.shape
        ).reshape(-1)
        out = np.zeros(each.shape, dtype=g.detach().numpy().dtype)
        out[ctx.flat] = each[ctx.flat]
        return mg.tensor(out.reshape(ctx.shape))
