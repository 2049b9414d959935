"""Wrong answers to gym.Square."""

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x


@wrong("L02")
class HalfOfIt(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


@wrong("L03")
class StillSquared(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x * x


@wrong("C01")
class Slope(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x


@wrong("C02")
class Squared(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g**2


@wrong("C03")
class Through(Base):
    @staticmethod
    def backward(ctx, g):
        return g.clone()


@wrong("C04")
class SumOfG(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g.sum()


@wrong("L01")
class Negative(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -2 * x * g


@wrong("S07")
class OutputOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x * x
        ctx.y = y
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("S01", "L05")
class SavesTheSquare(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("D01")
class SavesTheSlope(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(2 * x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        return slope * g


@wrong("D02")
class ByNumpy(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * mg.tensor(x.detach().numpy()) * g


@wrong("D02")
class WithNoGrad(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with mg.no_grad():
            return 2 * x * g


@wrong("D03")
class Once(Base):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("A12")
class ReturnsAnArray(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (2 * x * g).detach().numpy()


@wrong("A17")
class ForwardReturnsArray(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.numpy() ** 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("A17")
class ForwardReturnsList(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return [x * x]

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("A15")
class SavesTwice(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x * x
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("M05")
class DoublesTheSaved(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        x.mul_(2)
        return x * g


@wrong("S03", "L05")
class ChangesAfterSaving(Function):
    @staticmethod
    def forward(ctx, x):
        buffer = x.clone()
        ctx.save_for_backward(buffer)
        buffer.mul_(x)
        return buffer.clone()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("A16")
class Prints(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        print(2 * x * g)


@wrong("T03")
class AlwaysDouble(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (2 * x * g).to(mg.float64)


@wrong("L01")
class SquareMirroredSlope(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x.abs()
