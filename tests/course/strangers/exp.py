"""Wrong answers to gym.Exp."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y


@wrong("C01", "C05")
class JustY(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y


@wrong("L05", "S01")
class ExpOfY(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y.exp()


@wrong("L05", "S01", "L03")
class SavedInputAsY(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


@wrong("S07")
class OutputKept(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.y = x.exp()
        return ctx.y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y


@wrong("C03")
class Identity(Base):
    @staticmethod
    def backward(ctx, g):
        return g


@wrong("C04")
class MeanG(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * g.mean()


@wrong("L01")
class Minus(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return -(g * y)


@wrong("M01")
class IntoG(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        g *= y
        return g


@wrong("M05")
class IntoY(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        y.mul_(g)
        return y


@wrong("D01")
class Detached(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y.clone())
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


@wrong("T01")
class Single(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y.to(mg.float32).to(g.dtype)


@wrong("S05")
class Closure(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        STORE["y"] = y
        return y

    @staticmethod
    def backward(ctx, g):
        return g * STORE["y"]


STORE = {}


@wrong("S04")
class OnClass(Function):
    @staticmethod
    def forward(ctx, x):
        OnClass.y = x.exp()
        return OnClass.y

    @staticmethod
    def backward(ctx, g):
        return g * OnClass.y


@wrong("A12")
class Array(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g.detach().numpy() * y.detach().numpy()


@wrong("A04")
class InAList(Base):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return [g * y]


@wrong("C04")
class ExpLeadingEntry(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        head = g.reshape(-1)[0]
        return head * y
