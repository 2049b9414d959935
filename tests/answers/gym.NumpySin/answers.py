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
