"""Answers to gym.InplaceSquare, right and wrong, as strangers write them."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class InplaceSquare(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        ctx.mark_dirty(x)
        x.mul_(x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        (before,) = ctx.saved_tensors
        return 2 * before * grad_output


class Squares(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x):
        old = x.clone()
        x.mul_(x)
        ctx.mark_dirty(x)
        ctx.save_for_backward(old)
        return x


@right()
class CopiesOver(Function):
    @staticmethod
    def forward(ctx, x):
        old = x.clone()
        ctx.mark_dirty(x)
        ctx.save_for_backward(old)
        x.copy_(old * old)
        return x

    @staticmethod
    def backward(ctx, g):
        (old,) = ctx.saved_tensors
        return g * (old + old)


@right()
class WithTheOperator(Function):
    @staticmethod
    def forward(ctx, x):
        before = x.detach().clone()
        ctx.save_for_backward(before)
        x **= 2
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (before,) = ctx.saved_tensors
        gx = g.clone()
        gx.mul_(before).mul_(2.0)
        return (gx,)


@right()
class KeepsHalfOfTheWork(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(2.0 * x)
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        return slope * g


@right()
class CopyAsAnArray(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.before = x.numpy().copy()
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        return mg.tensor(2 * ctx.before * g.numpy())


@wrong("M04")
class SavesWhatItOverwrites(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("M04")
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
        return g * x * 2.0


@wrong("M04")
class DetachIsNoCopy(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.detach())
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * 2.0


@wrong("M04", "S08")
class ArrayThatShares(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.before = x.numpy()
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        return mg.tensor(2 * ctx.before * g.numpy())


@wrong("M02")
class NotMarked(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        x.mul_(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("M03")
class MarksAndReturnsACopy(Function):
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


@wrong("M03")
class MarksTheCopy(Function):
    @staticmethod
    def forward(ctx, x):
        old = x.clone()
        ctx.save_for_backward(old)
        ctx.mark_dirty(old)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("M03")
class NotInPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


@wrong("L02")
class WithoutTheTwo(Squares):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return x * g


@wrong("L03")
class ExponentTooLow(Squares):
    @staticmethod
    def backward(ctx, g):
        return 2 * g


@wrong("L03", "M04")
class ExponentNotLowered(Squares):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x**2 * g


@wrong("C01")
class WithoutUpstream(Squares):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x


@wrong("C02")
class UpstreamTwice(Squares):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g * g


@wrong("C03")
class HandsItOn(Squares):
    @staticmethod
    def backward(ctx, g):
        return g


@wrong("L01")
class Negative(Squares):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -2 * x * g


@wrong("C06", "L02")
class AddedTwice(Squares):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g + g * 2 * x


@wrong("S06")
class CopyOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.before = x.clone()
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.before * g


@wrong("M05")
class WritesIntoSaved(Squares):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return x.mul_(2).mul_(g)


@wrong("M01")
class WritesIntoUpstream(Squares):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g.mul_(2 * x)


@wrong("A16")
class ReturnsNothing(Squares):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        _ = 2 * x * g


@wrong("S10")
class TakesItOffCtx(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.kept = [x.numpy().copy()]
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, g):
        return mg.tensor(2 * ctx.kept.pop() * g.numpy())


@wrong("R11")
class LosesAnAxisOfABlock(Squares):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        slope = 2 * x * g
        return slope if slope.ndim < 3 else slope.sum(1)
