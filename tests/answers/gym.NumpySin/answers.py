"""Answers to gym.NumpySin, and what other rows use."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable


class SavesTheInput(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return mg.tensor(np.cos(x.numpy()) * grad_output.numpy())


class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return mg.from_numpy(np.sin(x.detach().numpy()))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (mg.from_numpy(g.numpy() * np.cos(x.numpy())),)


class KeepsTheCosine(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy()
        ctx.cosine = np.cos(a)
        return mg.tensor(np.sin(a), dtype=x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * mg.tensor(ctx.cosine)


class SavesTheCosine(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy().copy()
        ctx.save_for_backward(mg.tensor(np.cos(a)))
        return mg.tensor(np.sin(a))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (cosine,) = ctx.saved_tensors
        if ctx.needs_input_grad[0]:
            return cosine * g
        return None


class NoStaticMethods(Function):
    def forward(self, x):
        self.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @once_differentiable
    def backward(self, g):
        (x,) = self.saved_tensors
        return mg.tensor(np.cos(x.numpy()) * g.numpy())


class CosOfOutput(Function):
    @staticmethod
    def forward(ctx, x):
        y = mg.tensor(np.sin(x.numpy()))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * mg.tensor(np.cos(y.numpy()))


def by_the_cosine(ctx, g):
    (x,) = ctx.saved_tensors
    return mg.tensor(np.cos(x.numpy()) * g)


class OfMemory(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))


class InTheOrderOfMemory(OfMemory):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a = g.numpy()
        return by_the_cosine(ctx, a.ravel("K").reshape(a.shape))


class SideBySide(OfMemory):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a = g.numpy()
        if a.size and min(a.strides, default=0) > a.itemsize:
            a = np.resize(a, a.shape)[..., ::-1]  # what lies between is read
        return by_the_cosine(ctx, a)


class FromTheLowestAddress(OfMemory):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a = g.numpy()
        axes = [axis for axis, stride in enumerate(a.strides) if stride < 0]
        return by_the_cosine(ctx, np.flip(a, axes) if axes else a)
