"""Answers to 01.4, and what other rows use."""

from typing import Any, ClassVar

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class StoreOnTheClass(Function):
    store: ClassVar[dict[int, object]] = {}

    @staticmethod
    def forward(ctx, x, y):
        StoreOnTheClass.store[id(ctx)] = (x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = StoreOnTheClass.store[id(ctx)]
        return g * y, g * x


STORE: dict[int, object] = {}


LAST: dict[str, Any] = {}


BUFFERS: dict[tuple[Any, ...], Any] = {}


def buffer(like, key):
    return BUFFERS.setdefault((like.shape, like.dtype, key), mg.zeros_like(like))


class SetupContext(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return y * g, x * g


class OtherOrder(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(b, a)
        return b * a

    @staticmethod
    def backward(ctx, g):
        b, a = ctx.saved_tensors
        first = b
        first = first * g
        return first, a.clone() * g


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y


class Indexed(Saves):
    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[1] * g, ctx.saved_tensors[0] * g


class OnlyWhatIsAsked(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx = g * y if ctx.needs_input_grad[0] else None
        gy = g * x if ctx.needs_input_grad[1] else None
        return gx, gy


class TrailingNone(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x, None


class Vjp(Saves):
    @staticmethod
    def vjp(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


def times(a, b):
    return a * b


class WithHelpers(Saves):
    @staticmethod
    def both(ctx, g):
        x, y = ctx.saved_tensors
        return times(g, y), times(g, x)

    @staticmethod
    def backward(ctx, g):
        return WithHelpers.both(ctx, g)


class ThroughNumpy(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = (t.numpy() for t in ctx.saved_tensors)
        return mg.tensor(g.numpy() * y), mg.tensor(g.numpy() * x)


class SavesWhatItDoesNotNeed(Function):
    @staticmethod
    def forward(ctx, x, y):
        out = x * y
        ctx.calls = 1
        ctx.save_for_backward(x, y, out)
        return out

    @staticmethod
    def backward(ctx, g):
        x, y, _ = ctx.saved_tensors
        return g * y, g * x


class InPlaceOnItsOwn(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        first, second = g.clone(), g.clone()
        first.mul_(y)
        second.mul_(x)
        return first, second


class CounterOnTheClass(Saves):
    calls = 0

    @staticmethod
    def backward(ctx, g):
        CounterOnTheClass.calls += 1
        x, y = ctx.saved_tensors
        return g * y, g * x


class AsksForItsCtxClass(Saves):
    @staticmethod
    def backward(ctx, g):
        assert isinstance(ctx, AsksForItsCtxClass._backward_cls)
        assert type(ctx).__name__ == "AsksForItsCtxClassBackward"
        x, y = ctx.saved_tensors
        return g * y, g * x


class NotStatic(Function):
    def forward(self, x, y):
        self.save_for_backward(x, y)
        return x * y

    def backward(self, g):
        x, y = self.saved_tensors
        return g * y, g * x


class TensorsAsAttributes(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.x, ctx.y = x, y
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y, g * ctx.x


class ArraysThatShareMemory(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.x, ctx.y = x.numpy(), y.numpy()
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g * mg.tensor(ctx.y), g * mg.tensor(ctx.x)


class CopiesOfArrays(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.x, ctx.y = x.numpy().copy(), y.numpy().copy()
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g * mg.tensor(ctx.y), g * mg.tensor(ctx.x)


class SavesTwiceTheSame(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


class AlwaysDouble(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = (t.to(mg.float64) for t in ctx.saved_tensors)
        return g.to(mg.float64) * y, g.to(mg.float64) * x


class UpstreamThroughNumpy(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        g = mg.tensor(g.detach().numpy())
        return g * y, g * x


class SaysThatItIsDifferentiableOnce(Saves):
    @staticmethod
    @mg.autograd.function.once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


class LogsOnTheClass(Saves):
    log: ClassVar[list[object]] = []

    @staticmethod
    def backward(ctx, g):
        LogsOnTheClass.log.append(g)
        x, y = ctx.saved_tensors
        return g * y, g * x
