"""Known answers to gym.BroadcastMul."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class Model(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def sum_to(g, shape):
        while g.ndim > len(shape):
            g = g.sum(0)
        for axis, length in enumerate(shape):
            if length == 1:
                g = g.sum(axis, keepdim=True)
        return g

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        for_a = Model.sum_to(grad_output * b, a.shape)
        for_b = Model.sum_to(grad_output * a, b.shape)
        return for_a, for_b


def unbroadcast(g, shape):
    extra = g.ndim - len(shape)
    if extra:
        g = g.sum(dim=tuple(range(extra)))
    axes = [i for i, n in enumerate(shape) if n == 1]
    return g.sum(dim=axes, keepdim=True) if axes else g


@right()
class OnlyWhatIsAsked(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        ga = unbroadcast(g * b, a.shape) if ctx.needs_input_grad[0] else None
        gb = unbroadcast(g * a, b.shape) if ctx.needs_input_grad[1] else None
        return ga, gb


@right()
class InTwoParts(Function):
    @staticmethod
    def forward(a, b):
        return a * b

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        result = []
        for own, other in ((a, b), (b, a)):
            part = g * other
            for _ in range(part.ndim - own.ndim):
                part = part.sum(0)
            for axis in range(own.ndim):
                if own.shape[axis] == 1 and part.shape[axis] != 1:
                    part = part.sum(axis).unsqueeze(axis)
            result.append(part)
        return tuple(result)


@right()
class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return mg.tensor(a.numpy() * b.numpy())

    @staticmethod
    def backward(ctx, g):
        a, b = [t.detach().numpy() for t in ctx.saved_tensors]

        def reduce(array, shape):
            axes = tuple(
                i
                for i in range(array.ndim)
                if i < array.ndim - len(shape)
                or shape[i - array.ndim + len(shape)] == 1
            )
            return mg.tensor(array.sum(axes).reshape(shape), dtype=g.dtype)

        grad = g.numpy()
        return reduce(grad * b, a.shape), reduce(grad * a, b.shape)


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b


@wrong("R01")
class NotSummed(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


@wrong("L04")
class OwnOperands(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return unbroadcast(g * a, a.shape), unbroadcast(g * b, b.shape)


@wrong("L04")
class OwnOperandForTheSecond(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return unbroadcast(g * b, a.shape), unbroadcast(g * b, b.shape)


def average(g, shape):
    extra = g.ndim - len(shape)
    if extra:
        g = g.mean(dim=tuple(range(extra)))
    axes = [i for i, n in enumerate(shape) if n == 1]
    return g.mean(dim=axes, keepdim=True) if axes else g


@wrong("R04")
class Averaged(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return average(g * b, a.shape), average(g * a, b.shape)


@wrong("R12")
class SummedFirst(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return unbroadcast(g, a.shape) * b, unbroadcast(g, b.shape) * a


@wrong("R12")
class SummedBeforeAndAfter(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        ga = unbroadcast(unbroadcast(g, a.shape) * b, a.shape)
        gb = unbroadcast(unbroadcast(g, b.shape) * a, b.shape)
        return ga, gb


@wrong("R09", "R01")
class OnlyNewAxes(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        ga, gb = g * b, g * a
        while ga.ndim > a.ndim:
            ga = ga.sum(0)
        while gb.ndim > b.ndim:
            gb = gb.sum(0)
        return ga, gb


def keep_new_axes(g, shape):
    new = g.ndim - len(shape)
    for i, n in enumerate(shape):
        if n == 1:
            g = g.sum(new + i, keepdim=True)
    return g


@wrong("R09", "R01")
class OnlyAxesOfSizeOne(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return keep_new_axes(g * b, a.shape), keep_new_axes(g * a, b.shape)


def squeezed(g, shape):
    new = g.ndim - len(shape)
    g = g.sum(tuple(range(new))) if new else g
    for i in reversed(range(len(shape))):
        if shape[i] == 1:
            g = g.sum(i)
    return g


@wrong("R03")
class KeepdimForgotten(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return squeezed(g * b, a.shape), squeezed(g * a, b.shape)


@wrong("R02")
class NewAxesAtTheEnd(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors

        def shrink(part, like):
            while part.ndim > like.ndim:
                part = part.sum(part.ndim - 1)
            return unbroadcast(part, like.shape)

        return shrink(g * b, a), shrink(g * a, b)


@wrong("R11")
class SumsEverything(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        ga, gb = g * b, g * a
        if a.shape != g.shape:
            ga = ga.sum().expand(a.shape)
        if b.shape != g.shape:
            gb = gb.sum().expand(b.shape)
        return ga, gb


@wrong("C01")
class NoUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        ones = mg.ones_like(g)
        return unbroadcast(ones * b, a.shape), unbroadcast(ones * a, b.shape)


@wrong("C02")
class UpstreamSquared(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return unbroadcast(g * g * b, a.shape), unbroadcast(g**2 * a, b.shape)


@wrong("C03")
class AsForASum(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return unbroadcast(g, a.shape), unbroadcast(g, b.shape)


@wrong("C04")
class SummedUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        s = g.sum() * mg.ones_like(g)
        return unbroadcast(s * b, a.shape), unbroadcast(s * a, b.shape)


@wrong("C05")
class OutputForUpstream(Function):
    @staticmethod
    def forward(ctx, a, b):
        out = a * b
        ctx.save_for_backward(a, b, out)
        return out

    @staticmethod
    def backward(ctx, g):
        a, b, out = ctx.saved_tensors
        return unbroadcast(out * b, a.shape), unbroadcast(out * a, b.shape)


@wrong("L05", "S01")
class OutputForTheOther(Function):
    @staticmethod
    def forward(ctx, a, b):
        out = a * b
        ctx.save_for_backward(out)
        ctx.shapes = a.shape, b.shape
        return out

    @staticmethod
    def backward(ctx, g):
        (out,) = ctx.saved_tensors
        first, second = ctx.shapes
        return unbroadcast(g * out, first), unbroadcast(g * out, second)


@wrong("L01")
class MinusForTheSecond(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return unbroadcast(g * b, a.shape), -unbroadcast(g * a, b.shape)


@wrong("A03")
class ExchangedSlots(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return unbroadcast(g * a, b.shape), unbroadcast(g * b, a.shape)


@wrong("S02", "A03", "L04")
class ReadInOtherOrder(Saves):
    @staticmethod
    def backward(ctx, g):
        b, a = ctx.saved_tensors
        return unbroadcast(g * b, a.shape), unbroadcast(g * a, b.shape)


@wrong("S06")
class OperandsAsAttributes(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.a, ctx.b = a, b
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.a, ctx.b
        return unbroadcast(g * b, a.shape), unbroadcast(g * a, b.shape)


@wrong("M05")
class WritesIntoSaved(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        ga = unbroadcast(g * b, a.shape)
        gb = unbroadcast(g * a, b.shape)
        a.mul_(0.0)
        return ga, gb


@wrong("T01")
class SinglePrecision(Saves):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        ga = unbroadcast(g.to(mg.float32) * b.to(mg.float32), a.shape)
        gb = unbroadcast(g.to(mg.float32) * a.to(mg.float32), b.shape)
        return ga.to(a.dtype), gb.to(b.dtype)
