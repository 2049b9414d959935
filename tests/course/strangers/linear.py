"""Wrong answers to gym.Linear."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.t() + b


@wrong("A07")
class AlwaysAll(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return g @ W, g.t() @ x, g.sum(0)


@wrong("A07")
class SkipsOnlyX(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        gx = g @ W if ctx.needs_input_grad[0] else None
        return gx, g.t() @ x, g.sum(0)


def skipping(ctx, *rules):
    return tuple(
        rule() if need else None
        for rule, need in zip(rules, ctx.needs_input_grad, strict=True)
    )


@wrong("L06")
class WeightTransposed(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return skipping(ctx, lambda: g @ W, lambda: x.t() @ g, lambda: g.sum(0))


@wrong("L06")
class WTwice(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return skipping(ctx, lambda: g @ W.t(), lambda: g.t() @ x, lambda: g.sum(0))


@wrong("R04", "R06")
class MeanForBias(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return skipping(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.mean(0))


@wrong("R02")
class OtherAxis(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return skipping(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.sum(1))


@wrong("R14")
class FirstRowOnly(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return skipping(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g[0])


@wrong("R01")
class BiasUnsummed(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return skipping(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g)


@wrong("A06")
class FlagsInWrongOrder(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        gx = g @ W if ctx.needs_input_grad[1] else None
        gW = g.t() @ x if ctx.needs_input_grad[0] else None
        gb = g.sum(0) if ctx.needs_input_grad[2] else None
        return gx, gW, gb


@wrong("A06")
class InvertedFlags(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        gx = None if not ctx.needs_input_grad[2] else g @ W
        gW = None if not ctx.needs_input_grad[1] else g.t() @ x
        gb = None if not ctx.needs_input_grad[0] else g.sum(0)
        return gx, gW, gb


@wrong("S02")
class Unpacked(Base):
    @staticmethod
    def backward(ctx, g):
        W, x = ctx.saved_tensors
        return skipping(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.sum(0))


@wrong("A01")
class TwoGradients(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return skipping(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: None)[:2]


@wrong("A05")
class NoBias(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return skipping(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: None)


@wrong("R03")
class BiasAsRow(Base):
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return skipping(
            ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.sum(0, keepdim=True)
        )


@wrong("L04")
class LinearWeightMeetsWeight(Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(W)
        return x @ W.t() + b

    @staticmethod
    def backward(ctx, g):
        (W,) = ctx.saved_tensors
        need = ctx.needs_input_grad
        gx = g @ W if need[0] else None
        gW = g.sum(0).unsqueeze(1) * W if need[1] else None
        gb = g.sum(0) if need[2] else None
        return gx, gW, gb


def affine(x, w, b):
    return x @ w.t() + b


@wrong("R14")
class LinearLoopOverwrites(Function):
    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        return affine(x, w, b)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        want_x, want_w, want_b = ctx.needs_input_grad
        gx = gw = gb = None
        if want_w:
            for row, sample in zip(g, x, strict=True):
                gw = mg.einsum("o,i->oi", row, sample)
        if want_x:
            gx = mg.einsum("bo,oi->bi", g, w)
        if want_b:
            gb = g.sum(0)
        return gx, gw, gb


@wrong("A03")
class LinearWeightFirst(Function):
    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        return affine(x, w, b)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        need_x, need_w, need_b = ctx.needs_input_grad
        gw = g.t() @ x if need_w else None
        gb = g.sum(0) if need_b else None
        gx = g @ w if need_x else None
        return gw, gx, gb


@wrong("L06")
class LinearReshapedWeight(Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return (W @ x.t()).t() + b

    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        dx = (W.t() @ g.t()).t() if ctx.needs_input_grad[0] else None
        dW = None
        if ctx.needs_input_grad[1]:
            dW = (x.t() @ g).reshape(W.shape)
        db = g.sum(0) if ctx.needs_input_grad[2] else None
        return dx, dW, db
