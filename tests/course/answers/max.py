# ruff: noqa: RUF059  (answers unpack what they save, as learners do)
"""Answers to gym.Max, right and wrong, as strangers write them."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class Max(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.amax(-1)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        wins = (x == x.amax(-1, keepdim=True)).to(x.dtype)
        share = wins / wins.sum(-1, keepdim=True)
        return grad_output.unsqueeze(-1) * share


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x):
        y = x.amax(dim=-1)
        ctx.save_for_backward(x, y)
        return y


@right()
class KeepsTheOutput(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = x == y.unsqueeze(-1)
        count = mask.sum(dim=-1, keepdim=True)
        zero = mg.zeros_like(x)
        return mg.where(mask, (g.unsqueeze(-1) / count).expand(x.shape), zero)


@right()
class KeepsTheMask(Function):
    @staticmethod
    def forward(ctx, x):
        y, _ = x.max(dim=-1, keepdim=True)
        ctx.save_for_backward(x == y)
        return y.squeeze(-1)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        mask = mask.to(g.dtype)
        return (g[..., None] * mask / mask.sum(-1)[..., None],)


@right()
class InTheOtherStyle(Function):
    @staticmethod
    def forward(x):
        return x.max(-1).values

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.reshape(*y.shape, 1)).to(g.dtype)
        scale = g / mask.sum(-1)
        return mask * scale.reshape(*y.shape, 1)


@right()
class RowByRow(Saves):
    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        flat = x.reshape(-1, x.shape[-1])
        gx = mg.zeros_like(flat)
        for i, up in enumerate(g.reshape(-1)):
            best = flat[i] == flat[i].amax(-1)
            gx[i, best] = up / best.sum()
        return gx.reshape(x.shape)


@right()
class ThroughNumpy(Saves):
    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        a, up = x.numpy(), g.numpy()
        best = a == a.max(-1, keepdims=True)
        gx = np.where(best, up[..., None] / best.sum(-1, keepdims=True), 0)
        return mg.tensor(gx.astype(a.dtype))


@wrong("L10")
class TiesInFull(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.unsqueeze(-1) * (x == y.unsqueeze(-1))


@wrong("L10")
class FirstWinner(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        first = x.argmax(-1).unsqueeze(-1)
        return mg.zeros_like(x).scatter(-1, first, g.unsqueeze(-1))


@wrong("L10")
class LastWinner(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        n = x.shape[-1]
        last = (n - 1 - x.flip(-1).argmax(-1)).unsqueeze(-1)
        return (mg.arange(n) == last).to(x.dtype) * g.unsqueeze(-1)


@wrong("L10")
class HalfAtTies(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = x == y.unsqueeze(-1)
        tied = mask.sum(-1, keepdim=True) > 1
        half = mg.where(tied, 0.5, 1.0).to(x.dtype)
        return g.unsqueeze(-1) * mask * half


@wrong("L11")
class MaximumOfAll(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == x.amax()).to(x.dtype)
        return g.unsqueeze(-1) * mask / mask.sum()


@wrong("L11")
class WherePositive(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.unsqueeze(-1) * (x > 0)


@wrong("R06")
class SharesOverAllRows(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return g.unsqueeze(-1) * mask / mask.sum()


@wrong("R07")
class ReturnsTheReducedShape(Saves):
    @staticmethod
    def backward(ctx, g):
        return g


@wrong("R07")
class AxisNotPutBack(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return g * mask / mask.sum(-1, keepdim=True)


@wrong("R07")
class AxisPutBackInFront(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return g.unsqueeze(0) * mask / mask.sum(-1, keepdim=True)


@wrong("R13")
class AllRowsAtTheWinners(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx = mg.zeros_like(x)
        gx[..., x.argmax(-1).reshape(-1)] = g.unsqueeze(-1).expand(
            *g.shape, max(g.numel(), 1)
        )
        return gx


@wrong("C03")
class EverybodyGetsIt(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.unsqueeze(-1).expand(x.shape)


@wrong("C01")
class WithoutUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return mask / mask.sum(-1, keepdim=True)


@wrong("C04")
class OneUpstreamForAll(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return mask / mask.sum(-1, keepdim=True) * g.sum()


@wrong("R05")
class SharedAmongLosersToo(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return mask / x.shape[-1] * g.unsqueeze(-1)


@wrong("S06")
class MaskOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.amax(-1)
        ctx.mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return y

    @staticmethod
    def backward(ctx, g):
        return g.unsqueeze(-1) * ctx.mask / ctx.mask.sum(-1, keepdim=True)


@wrong("A17")
class ForwardReturnsArray(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.numpy().max(axis=-1)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        mask = (x == x.amax(-1, keepdim=True)).to(x.dtype)
        return g.unsqueeze(-1) * mask / mask.sum(-1, keepdim=True)


@wrong("M01")
class WritesIntoUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        g /= mask.sum(-1)
        return g.unsqueeze(-1) * mask


@wrong("R07")
class CountsAlongTheWrongAxis(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y.unsqueeze(-1)).to(x.dtype)
        return g.unsqueeze(-1) * mask / mask.sum(-1)


@wrong("R07")
class ComparesWithoutTheAxis(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mask = (x == y).to(x.dtype)
        return g.unsqueeze(-1) * mask / mask.sum(-1, keepdim=True).clamp(min=1.0)
