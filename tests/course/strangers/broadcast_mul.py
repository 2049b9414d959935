"""Wrong answers to gym.BroadcastMul."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


def total(g, shape):
    while g.ndim > len(shape):
        g = g.sum(0)
    for i, n in enumerate(shape):
        if n == 1:
            g = g.sum(i, keepdim=True)
    return g


class Base(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b


@wrong("R12")
class SumsFirst(Base):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        ga = total(g, a.shape) * total(mg.ones_like(g) * b, a.shape)
        gb = total(g, b.shape) * total(mg.ones_like(g) * a, b.shape)
        return ga, gb


@wrong("R01")
class Unsummed(Base):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


@wrong("R01")
class OnlyBSummed(Base):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, total(g * a, b.shape)


@wrong("R04")
class Averages(Base):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors

        def down(g, shape):
            while g.ndim > len(shape):
                g = g.mean(0)
            for i, n in enumerate(shape):
                if n == 1:
                    g = g.mean(i, keepdim=True)
            return g

        return down(g * b, a.shape), down(g * a, b.shape)


@wrong("R03")
class Flat(Base):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors

        def down(g, shape):
            while g.ndim > len(shape):
                g = g.sum(0)
            for i in reversed(range(len(shape))):
                if shape[i] == 1 and g.shape[i] != 1:
                    g = g.sum(i)
            return g

        return down(g * b, a.shape), down(g * a, b.shape)


@wrong("L04", "A03", "S02")
class OwnOperand(Base):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return total(g * a, a.shape), total(g * b, b.shape)


@wrong("S02", "L04", "A03")
class OtherOrder(Base):
    @staticmethod
    def backward(ctx, g):
        b, a = ctx.saved_tensors
        return total(g * b, b.shape), total(g * a, a.shape)


@wrong("C03")
class NoFactor(Base):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return total(g, a.shape), total(g, b.shape)


@wrong("C02")
class GTwice(Base):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return total(g * g * b, a.shape), total(g * g * a, b.shape)


@wrong("A06")
class Inverted(Base):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        need_b, need_a = ctx.needs_input_grad
        return (
            total(g * b, a.shape) if need_a else None,
            total(g * a, b.shape) if need_b else None,
        )


@wrong("R09")
class OnlyLeading(Base):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors

        def down(g, shape):
            return (
                g.sum(tuple(range(g.ndim - len(shape)))) if g.ndim > len(shape) else g
            )

        return down(g * b, a.shape), down(g * a, b.shape)


@wrong("S06")
class OnCtx(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.a, ctx.b = a, b
        return a * b

    @staticmethod
    def backward(ctx, g):
        return total(g * ctx.b, ctx.a.shape), total(g * ctx.a, ctx.b.shape)


@wrong("A03")
class SlotsExchanged(Base):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return total(g * a, b.shape), total(g * b, a.shape)


def unbroadcast(t, shape):
    extra = t.ndim - len(shape)
    for _ in range(extra):
        t = t.sum(0)
    for i in range(len(shape)):
        if shape[i] == 1:
            t = t.sum(i, keepdim=True)
    return t


@wrong("L19")
class MulProductOverOperand(Function):
    @staticmethod
    def forward(ctx, a, b):
        p = a * b
        ctx.save_for_backward(a, b, p)
        return p

    @staticmethod
    def backward(ctx, g):
        a, b, p = ctx.saved_tensors
        gp = g * p
        return unbroadcast(gp / a, a.shape), unbroadcast(gp / b, b.shape)


def sum_like(v, target):
    """The gradient of stretching target to the shape of v."""
    extra = v.ndim - target.ndim
    if extra:
        v = v.sum(tuple(range(extra)))
    thin = tuple(i for i, n in enumerate(target.shape) if n == 1)
    if thin:
        v = v.sum(thin, keepdim=True)
    return v


@wrong("R04")
class MulMeansOverCopies(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors

        def mean_like(v, t):
            count = 1
            for n in v.shape:
                count *= n
            for n in t.shape:
                count //= n
            return sum_like(v, t) / count

        return mean_like(g * b, a), mean_like(g * a, b)


def collapse(t, like):
    """Sum over every axis along which like was repeated."""
    shape = tuple(like.shape)
    t = (
        t.reshape((-1, *tuple(t.shape[t.ndim - len(shape) :]))).sum(0)
        if t.ndim > len(shape)
        else t
    )
    for d in range(len(shape)):
        if shape[d] == 1:
            t = t.sum(d, keepdim=True)
    return t


@wrong("R12")
class MulDropsLeadingAxesEarly(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors

        def pull(mine, other):
            other = other.expand(g.shape)
            if mine.ndim == g.ndim:
                return collapse(g * other, mine)
            up = g
            while up.ndim > mine.ndim:
                up, other = up.sum(0), other.sum(0)
            return collapse(up * other, mine)

        return pull(x, y), pull(y, x)


@wrong("A06")
class MulFlagsByOperandUsed(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        pair = ctx.saved_tensors
        out = [None, None]
        for i in (0, 1):
            if ctx.needs_input_grad[1 - i]:
                out[i] = collapse(g * pair[1 - i], pair[i])
        return tuple(out)
