"""Answers to 04.2."""

import minigrad as mg
from minigrad.autograd import Function


class Saves(Function):
    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        return x @ w.T + b


class ByEinsum(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        needed = ctx.needs_input_grad
        for_x = mg.einsum("bo,oi->bi", g, w) if needed[0] else None
        for_w = g.t().mm(x) if needed[1] else None
        return for_x, for_w, g.sum(0) if needed[2] else None


class ComputesAllAndHidesIt(Saves):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        found = g @ w, g.T @ x, g.sum(0)
        pairs = zip(found, ctx.needs_input_grad, strict=True)
        return tuple(value if needed else None for value, needed in pairs)
