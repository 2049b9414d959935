# ruff: noqa: RUF059  (answers unpack what they save, and write W)
"""Known answers to gym.Linear."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class Model(Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.t() + b

    @staticmethod
    def backward(ctx, grad_output):
        x, W = ctx.saved_tensors
        grad_x = grad_W = grad_b = None
        if ctx.needs_input_grad[0]:
            grad_x = grad_output @ W
        if ctx.needs_input_grad[1]:
            grad_W = grad_output.t() @ x
        if ctx.needs_input_grad[2]:
            grad_b = grad_output.sum(0)
        return grad_x, grad_W, grad_b


@right()
class WithEinsum(Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight, bias)
        return mg.einsum("bi,oi->bo", x, weight) + bias

    @staticmethod
    def backward(ctx, g):
        x, weight, bias = ctx.saved_tensors
        for_x, for_weight, for_bias = ctx.needs_input_grad
        return (
            mg.einsum("bo,oi->bi", g, weight) if for_x else None,
            mg.einsum("bo,bi->oi", g, x) if for_weight else None,
            mg.einsum("bo->o", g) if for_bias else None,
        )


@right()
class InTwoParts(Function):
    @staticmethod
    def forward(x, W, b):
        return x @ W.T + b

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, W, _ = inputs
        ctx.save_for_backward(x, W)

    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        needs = ctx.needs_input_grad
        gx = g @ W if needs[0] else None
        gW = (x.T @ g).T if needs[1] else None
        gb = (g * mg.ones_like(g)).sum(dim=0) if needs[2] else None
        return gx, gW, gb


@right()
class SavesWhatIsNeeded(Function):
    @staticmethod
    def forward(ctx, x, W, b):
        keep_x = x if ctx.needs_input_grad[1] else None
        keep_W = W if ctx.needs_input_grad[0] else None
        ctx.save_for_backward(keep_x, keep_W)
        return x @ W.transpose(0, 1) + b.unsqueeze(0)

    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        grads = [None, None, None]
        if ctx.needs_input_grad[0]:
            grads[0] = g @ W
        if ctx.needs_input_grad[1]:
            grads[1] = g.t() @ x
        if ctx.needs_input_grad[2]:
            grads[2] = g.sum(0)
        return tuple(grads)


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W, b)
        return x @ W.t() + b


def asked(ctx, *makers):
    needs = ctx.needs_input_grad
    return tuple(make() if n else None for make, n in zip(makers, needs, strict=True))


@wrong("A07")
class AlwaysAllThree(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return g @ W, g.t() @ x, g.sum(0)


@wrong("A07")
class BiasWithoutAsking(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        gx = g @ W if ctx.needs_input_grad[0] else None
        gW = g.t() @ x if ctx.needs_input_grad[1] else None
        return gx, gW, g.sum(0)


@wrong("A06")
class FlagsExchanged(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        gx = g @ W if ctx.needs_input_grad[1] else None
        gW = g.t() @ x if ctx.needs_input_grad[0] else None
        gb = g.sum(0) if ctx.needs_input_grad[2] else None
        return gx, gW, gb


@wrong("A06")
class FlagOfTheWeightForTheBias(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        gx = gW = gb = None
        if ctx.needs_input_grad[0]:
            gx = g @ W
        if ctx.needs_input_grad[1]:
            gW = g.t() @ x
            gb = g.sum(0)
        return gx, gW, gb


@wrong("L06")
class WeightTransposedForX(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: g @ W.t(), lambda: g.t() @ x, lambda: g.sum(0))


@wrong("L06")
class FactorsExchangedForW(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: g @ W, lambda: x.t() @ g, lambda: g.sum(0))


@wrong("L06")
class UpstreamNotTransposed(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: g @ W, lambda: g @ x, lambda: g.sum(0))


@wrong("L06")
class BothTransposed(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: (g @ W).t(), lambda: g.t() @ x, lambda: g.sum(0))


@wrong("L06")
class WeightFirst(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: W @ g, lambda: g.t() @ x, lambda: g.sum(0))


@wrong("R01")
class BiasNotSummed(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g)


@wrong("R04")
class BiasAveraged(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.mean(0))


@wrong("R04")
class WeightAveraged(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        batch = x.shape[0]
        return asked(
            ctx, lambda: g @ W, lambda: g.t() @ x / batch, lambda: g.sum(0) / batch
        )


@wrong("R02")
class BiasOverOutputs(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.sum(1))


@wrong("R11")
class BiasOverEverything(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        total = g.sum()
        return asked(
            ctx, lambda: g @ W, lambda: g.t() @ x, lambda: total * mg.ones_like(b)
        )


@wrong("R14")
class FirstRowForTheBias(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g[0])


@wrong("R14")
class FirstRowForTheWeight(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(
            ctx,
            lambda: g @ W,
            lambda: g[0].unsqueeze(1) @ x[0].unsqueeze(0),
            lambda: g.sum(0),
        )


@wrong("C01")
class BiasOfOnes(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: mg.ones_like(b))


@wrong("C01")
class NoUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        g = mg.ones_like(g)
        return asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.sum(0))


@wrong("C02")
class UpstreamSquared(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        g = g * g
        return asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.sum(0))


@wrong("A03")
class BiasFirst(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        gx, gW, gb = asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.sum(0))
        return gb, gW, gx


@wrong("A03")
class WeightBeforeX(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        gx, gW, gb = asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.sum(0))
        return gW, gx, gb


@wrong("A01")
class BiasForgotten(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.sum(0))[:2]


@wrong("A05")
class NothingForTheBias(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = ctx.saved_tensors
        return asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: None)


@wrong("S02")
class ReadInOtherOrder(Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.t() + b

    @staticmethod
    def backward(ctx, g):
        W, x = ctx.saved_tensors
        return asked(ctx, lambda: g @ W, lambda: g.t() @ x, lambda: g.sum(0))


@wrong("S06")
class WeightAsAttribute(Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x)
        ctx.W = W
        return x @ W.t() + b

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return asked(ctx, lambda: g @ ctx.W, lambda: g.t() @ x, lambda: g.sum(0))


@wrong("S08")
class ArraysAsAttributes(Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.x, ctx.W = x.numpy(), W.numpy()
        return mg.tensor(ctx.x @ ctx.W.T + b.numpy())

    @staticmethod
    def backward(ctx, g):
        g = g.numpy()
        return asked(
            ctx,
            lambda: mg.tensor(g @ ctx.W),
            lambda: mg.tensor(g.T @ ctx.x),
            lambda: mg.tensor(g.sum(0)),
        )


@wrong("T01")
class SinglePrecision(Saves):
    @staticmethod
    def backward(ctx, g):
        x, W, b = (t.to(mg.float32) for t in ctx.saved_tensors)
        g = g.to(mg.float32)
        return asked(
            ctx,
            lambda: (g @ W).to(mg.float64),
            lambda: (g.t() @ x).to(mg.float64),
            lambda: g.sum(0).to(mg.float64),
        )
