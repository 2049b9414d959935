"""Wrong answers to gym.CubeDoubleBackward."""

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3


@wrong("D01")
class SavesTheSquare(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x * x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (square,) = ctx.saved_tensors
        return 3 * square * g


@wrong("D02")
class DetachesX(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        x = x.detach()
        return 3 * x * x * g


@wrong("D02")
class DetachesAll(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (3 * x * x * g).detach()


@wrong("D03")
class Once(Base):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


@wrong("L02")
class WithoutThree(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return x * x * g


@wrong("L03")
class Linear(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * g


@wrong("L03")
class Cubed(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**3 * g


@wrong("D02")
class ThroughNumpy(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * mg.tensor(3 * x.detach().numpy() ** 2)


@wrong("C02")
class GSquared(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g * g


@wrong("S06")
class Attribute(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x**3

    @staticmethod
    def backward(ctx, g):
        return 3 * ctx.x * ctx.x * g
