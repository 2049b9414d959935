"""Answers to gym.BroadcastMul, and what other rows use."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


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


def average(g, shape):
    extra = g.ndim - len(shape)
    if extra:
        g = g.mean(dim=tuple(range(extra)))
    axes = [i for i, n in enumerate(shape) if n == 1]
    return g.mean(dim=axes, keepdim=True) if axes else g


def keep_new_axes(g, shape):
    new = g.ndim - len(shape)
    for i, n in enumerate(shape):
        if n == 1:
            g = g.sum(new + i, keepdim=True)
    return g


def squeezed(g, shape):
    new = g.ndim - len(shape)
    g = g.sum(tuple(range(new))) if new else g
    for i in reversed(range(len(shape))):
        if shape[i] == 1:
            g = g.sum(i)
    return g


def total(g, shape):
    while g.ndim > len(shape):
        g = g.sum(0)
    for i, n in enumerate(shape):
        if n == 1:
            g = g.sum(i, keepdim=True)
    return g


def unbroadcast_too(t, shape):
    extra = t.ndim - len(shape)
    for _ in range(extra):
        t = t.sum(0)
    for i in range(len(shape)):
        if shape[i] == 1:
            t = t.sum(i, keepdim=True)
    return t


def sum_like(v, target):
    """The gradient of stretching target to the shape of v."""
    extra = v.ndim - target.ndim
    if extra:
        v = v.sum(tuple(range(extra)))
    thin = tuple(i for i, n in enumerate(target.shape) if n == 1)
    if thin:
        v = v.sum(thin, keepdim=True)
    return v


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
