"""Wrong answers to gym.NumpySin."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))


@wrong("D02")
class NotOnce(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * mg.tensor(np.cos(x.detach().numpy()))


@wrong("A12")
class ArrayBack(Base):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g.numpy() * np.cos(x.numpy())


@wrong("L01")
class MinusCos(Base):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -g * mg.tensor(np.cos(x.numpy()))


@wrong("C01")
class CosAlone(Base):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.tensor(np.cos(x.numpy()))


@wrong("A17")
class ArrayForward(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.sin(x.numpy())

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * mg.tensor(np.cos(x.numpy()))


@wrong("T03")
class DoubleGradient(Base):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.tensor(g.numpy().astype("float64") * np.cos(x.numpy()))


@wrong("T01")
class SingleCos(Base):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        slope = np.cos(x.numpy().astype(np.float32))
        return g * mg.tensor(slope).to(g.dtype)


@wrong("S08")
class KeepsTheArray(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.array = x.numpy()
        return mg.tensor(np.sin(ctx.array))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * mg.tensor(np.cos(ctx.array))


@wrong("L05", "S01")
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


@wrong("A14")
class SavesArray(Function):
    @staticmethod
    def forward(ctx, x):
        array = x.numpy()
        ctx.save_for_backward(array)
        return mg.tensor(np.sin(array))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (array,) = ctx.saved_tensors
        return g * mg.tensor(np.cos(array))
