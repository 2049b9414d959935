"""Answers to 07.2."""

import minigrad as mg
from minigrad.autograd import Function


class KeepsPlaces(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.argmin(), x.argmax())
        ctx.shape, ctx.dtype = x.shape, x.dtype
        return x.min(), x.max()


class ByPlaces(KeepsPlaces):
    @staticmethod
    def backward(ctx, g_low, g_high):
        low, high = ctx.saved_tensors
        flat = mg.zeros(ctx.shape.numel(), dtype=ctx.dtype)
        flat[low] += g_low
        flat[high] += g_high
        return flat.reshape(ctx.shape)


class Assigns(KeepsPlaces):
    @staticmethod
    def backward(ctx, g_low, g_high):
        low, high = ctx.saved_tensors
        flat = mg.zeros(ctx.shape.numel(), dtype=ctx.dtype)
        flat[low] = g_low
        flat[high] = g_high
        return flat.reshape(ctx.shape)


class ExpectsNone(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        low, high = x.min(), x.max()
        ctx.save_for_backward(x, low, high)
        return low, high

    @staticmethod
    def backward(ctx, g_low, g_high):
        x, low, high = ctx.saved_tensors
        terms = [(g_low, x == low), (g_high, x == high)]
        found = [g * is_it for g, is_it in terms if g is not None]
        return sum(found) if found else None
