"""Answers to 03.3."""

import gc
import weakref

from minigrad.autograd import Function


class Weakly(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.kept = weakref.ref(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.kept()


class InAList(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.kept = [result]
        return result

    @staticmethod
    def backward(ctx, grad_output):
        gc.collect()
        return grad_output * ctx.kept[0]


class CollectsInForward(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.kept = x.exp()
        gc.collect()
        return ctx.kept

    @staticmethod
    def backward(ctx, grad_output):
        gc.collect()
        return grad_output * ctx.kept


class CollectsInBackward(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        gc.collect()
        return grad_output * ctx.saved_tensors[0]


class Shared:
    """State that all calls share."""


class OnTheClass(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        Shared.kept = result.detach()
        return result

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * Shared.kept
