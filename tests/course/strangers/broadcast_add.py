"""Wrong answers to gym.BroadcastAdd."""

from typing import ClassVar

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
        ctx.a, ctx.b = tuple(a.shape), tuple(b.shape)
        return a + b


@wrong("R01")
class NotSummed(Base):
    @staticmethod
    def backward(ctx, g):
        return g, g


@wrong("R03")
class DimensionLost(Base):
    @staticmethod
    def backward(ctx, g):
        def down(g, shape):
            while g.ndim > len(shape):
                g = g.sum(0)
            for i in reversed(range(len(shape))):
                if shape[i] == 1 and g.shape[i] != 1:
                    g = g.sum(i)
            return g

        return down(g, ctx.a), down(g, ctx.b)


@wrong("R04")
class MeanOfCopies(Base):
    @staticmethod
    def backward(ctx, g):
        def down(g, shape):
            while g.ndim > len(shape):
                g = g.mean(0)
            for i, n in enumerate(shape):
                if n == 1:
                    g = g.mean(i, keepdim=True)
            return g

        return down(g, ctx.a), down(g, ctx.b)


@wrong("R09")
class LeadingOnly(Base):
    @staticmethod
    def backward(ctx, g):
        def down(g, shape):
            while g.ndim > len(shape):
                g = g.sum(0)
            return g

        return down(g, ctx.a), down(g, ctx.b)


@wrong("R09")
class SizeOneOnly(Base):
    @staticmethod
    def backward(ctx, g):
        def down(g, shape):
            if g.ndim == len(shape):
                for i, n in enumerate(shape):
                    if n == 1:
                        g = g.sum(i, keepdim=True)
            return g

        return down(g, ctx.a), down(g, ctx.b)


@wrong("R11")
class SumsEverything(Base):
    @staticmethod
    def backward(ctx, g):
        return g.sum().expand(*ctx.a), g.sum().expand(*ctx.b)


@wrong("C01")
class Counts(Base):
    @staticmethod
    def backward(ctx, g):
        return total(mg.ones_like(g), ctx.a), total(mg.ones_like(g), ctx.b)


@wrong("A05")
class OnlyA(Base):
    @staticmethod
    def backward(ctx, g):
        return total(g, ctx.a), None


@wrong("A03")
class Exchanged(Base):
    @staticmethod
    def backward(ctx, g):
        return total(g, ctx.b), total(g, ctx.a)


@wrong("A06")
class WrongFlag(Base):
    @staticmethod
    def backward(ctx, g):
        ga = total(g, ctx.a) if ctx.needs_input_grad[1] else None
        gb = total(g, ctx.b) if ctx.needs_input_grad[0] else None
        return ga, gb


@wrong("L01")
class MinusB(Base):
    @staticmethod
    def backward(ctx, g):
        return total(g, ctx.a), -total(g, ctx.b)


@wrong("R02")
class LastAxis(Base):
    @staticmethod
    def backward(ctx, g):
        def down(g, shape):
            while g.ndim > len(shape):
                g = g.sum(-1)
            for i, n in enumerate(shape):
                if n == 1:
                    g = g.sum(i, keepdim=True)
            return g

        return down(g, ctx.a), down(g, ctx.b)


@wrong("A04")
class Listed(Base):
    @staticmethod
    def backward(ctx, g):
        return [total(g, ctx.a), total(g, ctx.b)]


def _fold(g, shape):
    extra = g.ndim - len(shape)
    for _ in range(extra):
        g = g.sum(0)
    for axis, size in enumerate(shape):
        if size == 1 and g.shape[axis] != 1:
            g = g.sum(axis, keepdim=True)
    return g


@wrong("S04")
class AddShapesOnClass(Function):
    shapes: ClassVar[dict] = {}

    @staticmethod
    def forward(ctx, a, b):
        AddShapesOnClass.shapes["a"] = a.shape
        AddShapesOnClass.shapes["b"] = b.shape
        return a + b

    @staticmethod
    def backward(ctx, g):
        s = AddShapesOnClass.shapes
        return _fold(g, s["a"]), _fold(g, s["b"])


@wrong("R10")
class AddScattersByPosition(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.shapes = (tuple(a.shape), tuple(b.shape))
        return a + b

    @staticmethod
    def backward(ctx, g):
        def scatter(shape):
            n = 1
            for s in shape:
                n *= s
            place = mg.tensor(list(range(n))).reshape(shape).expand(g.shape).reshape(-1)
            flat = mg.zeros(n, dtype=g.dtype)
            flat[place] = g.reshape(-1)
            return flat.reshape(shape)

        return scatter(ctx.shapes[0]), scatter(ctx.shapes[1])


def fit(t, shape):
    """Sum t down to shape."""
    lead = t.ndim - len(shape)
    for _ in range(lead):
        t = t.sum(0)
    for d, n in enumerate(shape):
        if n == 1 and t.shape[d] != 1:
            t = t.sum(d, keepdim=True)
    return t


@wrong("A05")
class AddSmallOneIsConstant(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.shapes = (tuple(a.shape), tuple(b.shape))
        return a + b

    @staticmethod
    def backward(ctx, g):
        return tuple(fit(g, s) if len(s) == g.ndim else None for s in ctx.shapes)
