# ruff: noqa: RUF059  (answers are written as learners write them)
"""Wrong answers to gym.JvpMul."""

from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t


@wrong("D04")
class TangentsSwapped(Base):
    @staticmethod
    def jvp(ctx, y_t, x_t):
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t


@wrong("D04")
class OwnTangent(Base):
    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x * x_t + y * y_t


@wrong("D05")
class OneTerm(Base):
    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x_t * y


@wrong("D05")
class OtherTerm(Base):
    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x * y_t


@wrong("D05")
class ProductOfTangents(Base):
    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t + x_t * y_t


@wrong("D06")
class NothingForForward(Base):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y


@wrong("D06", "D05")
class OneForForward(Base):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x)
        return x * y


@wrong("D05")
class TuplePerInput(Base):
    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x_t * y, x * y_t


@wrong("D05")
class OneTangentOnly(Base):
    @staticmethod
    def jvp(ctx, x_t):
        x, y = ctx.saved_tensors
        return x_t * y


@wrong("L04", "A03", "S02")
class OwnOperandBack(Base):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * x, g * y


@wrong("D02")
class CutBack(Base):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y.detach(), g * x.detach()


@wrong("D03")
class Once(Base):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@wrong("S06")
class Attributes(Base):
    @staticmethod
    def forward(ctx, x, y):
        ctx.x, ctx.y = x, y
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y, g * ctx.x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        return x_t * ctx.y + ctx.x * y_t
