"""Answers to gym.BroadcastAdd, and what other rows use."""

from typing import ClassVar

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class Model(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.shapes = a.shape, b.shape
        return a + b

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
        for_a, for_b = ctx.shapes
        return Model.sum_to(grad_output, for_a), Model.sum_to(grad_output, for_b)


def unbroadcast(g, shape):
    extra = g.ndim - len(shape)
    if extra > 0:
        g = g.sum(tuple(range(extra)))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    if axes:
        g = g.sum(axes, keepdim=True)
    return g


class WithAHelper(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.a_shape, ctx.b_shape = a.shape, b.shape
        return a + b

    @staticmethod
    def backward(ctx, g):
        ga = gb = None
        if ctx.needs_input_grad[0]:
            ga = unbroadcast(g, ctx.a_shape)
        if ctx.needs_input_grad[1]:
            gb = unbroadcast(g, ctx.b_shape)
        return ga, gb


class InTwoParts(Function):
    @staticmethod
    def forward(a, b):
        return a + b

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b = inputs
        ctx.shapes = (tuple(a.shape), tuple(b.shape))

    @staticmethod
    def backward(ctx, g):
        found = []
        for shape in ctx.shapes:
            padded = (1,) * (g.ndim - len(shape)) + shape
            axes = [i for i in range(g.ndim) if padded[i] == 1 and g.shape[i] > 1]
            part = g.sum(axes, keepdim=True) if axes else g.clone()
            found.append(part.reshape(shape))
        return tuple(found)


class SavesTheOperands(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a + b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return unbroadcast(g, a.shape), unbroadcast(g, b.shape)


class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.a_shape, ctx.b_shape = a.shape, b.shape
        return mg.tensor(a.numpy() + b.numpy())

    @staticmethod
    def backward(ctx, g):
        def reduce(array, shape):
            array = array.sum(axis=tuple(range(array.ndim - len(shape))))
            ones = tuple(i for i, n in enumerate(shape) if n == 1)
            return mg.tensor(array.sum(axis=ones, keepdims=True), dtype=g.dtype)

        return reduce(g.numpy(), ctx.a_shape), reduce(g.numpy(), ctx.b_shape)


def average(g, shape):
    while g.ndim > len(shape):
        g = g.mean(0)
    for i, n in enumerate(shape):
        if n == 1 and g.shape[i] > 1:
            g = g.mean(i, keepdim=True)
    return g


def without_ones(g, shape):
    while g.ndim > len(shape):
        g = g.sum(dim=0)
    return g


def without_new_axes(g, shape):
    if g.ndim == len(shape):
        for i, n in enumerate(shape):
            if n == 1:
                g = g.sum(i, keepdim=True)
    return g


def first_axis(g, shape):
    return g if g.shape == shape else g.sum(0)


def last_axes(g, shape):
    while g.ndim > len(shape):
        g = g.sum(-1)
    for i, n in enumerate(shape):
        if n == 1:
            g = g.sum(i, keepdim=True)
    return g


def squeezed(g, shape):
    extra = g.ndim - len(shape)
    copied = [*range(extra)]
    copied += [extra + i for i, n in enumerate(shape) if n == 1]
    return g.sum(tuple(copied)) if copied else g


def everything(g, shape):
    return g if g.shape == shape else g.sum().expand(shape)


def one_row(g, shape):
    while g.ndim > len(shape):
        g = g[0]
    for i, n in enumerate(shape):
        if n == 1:
            g = g.transpose(0, i)[:1].transpose(0, i)
    return g


def total(g, shape):
    while g.ndim > len(shape):
        g = g.sum(0)
    for i, n in enumerate(shape):
        if n == 1:
            g = g.sum(i, keepdim=True)
    return g


def _fold(g, shape):
    extra = g.ndim - len(shape)
    for _ in range(extra):
        g = g.sum(0)
    for axis, size in enumerate(shape):
        if size == 1 and g.shape[axis] != 1:
            g = g.sum(axis, keepdim=True)
    return g


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


def fit(t, shape):
    """Sum t down to shape."""
    lead = t.ndim - len(shape)
    for _ in range(lead):
        t = t.sum(0)
    for d, n in enumerate(shape):
        if n == 1 and t.shape[d] != 1:
            t = t.sum(d, keepdim=True)
    return t
