"""Wrong answers to gym.InplaceSquare."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


class Base(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        ctx.mark_dirty(x)
        return x.mul_(x)


@wrong("M04", "L05")
class SavesTheOverwritten(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("M04", "L05")
class SavesAfterwards(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(x)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x


@wrong("M04", "L05")
class ClonesTooLate(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(x)
        ctx.save_for_backward(x.clone())
        return x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x


@wrong("M02")
class NotMarked(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("M03")
class ReturnsACopy(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        ctx.mark_dirty(x)
        x.mul_(x)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("L02")
class NoTwo(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return x * g


@wrong("L03", "L05")
class SquareStays(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * x * g


@wrong("S06")
class CopyOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.old = x.clone()
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.old * g


@wrong("M04", "S08", "L05")
class AliasArray(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.old = x.numpy()
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        return 2 * mg.tensor(ctx.old) * g


@wrong("C01")
class Slope(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x


@wrong("M05")
class IntoTheSaved(Base):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return x.mul_(2).mul_(g)


@wrong("M04")
class RowByRowDoubleLate(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        slopes = mg.zeros_like(x)
        for i in range(x.shape[0]):
            row = x[i]
            x[i] = row * row
            slopes[i] = 2 * row
        ctx.save_for_backward(slopes)
        return x

    @staticmethod
    def backward(ctx, g):
        (slopes,) = ctx.saved_tensors
        return slopes * g
