"""Known answers to gym.BroadcastAdd."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
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


@right()
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


@right()
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


@right()
class SavesTheOperands(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a + b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return unbroadcast(g, a.shape), unbroadcast(g, b.shape)


@right()
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


class Keeps(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.a_shape, ctx.b_shape = a.shape, b.shape
        return a + b


@wrong("R01")
class NotSummed(Keeps):
    @staticmethod
    def backward(ctx, g):
        return g, g


@wrong("R01")
class NotSummedForTheSecond(Keeps):
    @staticmethod
    def backward(ctx, g):
        return unbroadcast(g, ctx.a_shape), g.clone()


def average(g, shape):
    while g.ndim > len(shape):
        g = g.mean(0)
    for i, n in enumerate(shape):
        if n == 1 and g.shape[i] > 1:
            g = g.mean(i, keepdim=True)
    return g


@wrong("R04")
class Averaged(Keeps):
    @staticmethod
    def backward(ctx, g):
        return average(g, ctx.a_shape), average(g, ctx.b_shape)


def without_ones(g, shape):
    while g.ndim > len(shape):
        g = g.sum(dim=0)
    return g


@wrong("R09", "R01")
class OnlyNewAxes(Keeps):
    @staticmethod
    def backward(ctx, g):
        return without_ones(g, ctx.a_shape), without_ones(g, ctx.b_shape)


def without_new_axes(g, shape):
    if g.ndim == len(shape):
        for i, n in enumerate(shape):
            if n == 1:
                g = g.sum(i, keepdim=True)
    return g


@wrong("R09", "R01")
class OnlyAxesOfSizeOne(Keeps):
    @staticmethod
    def backward(ctx, g):
        return without_new_axes(g, ctx.a_shape), without_new_axes(g, ctx.b_shape)


def first_axis(g, shape):
    return g if g.shape == shape else g.sum(0)


@wrong("R09", "R02")
class AlwaysTheFirstAxis(Keeps):
    @staticmethod
    def backward(ctx, g):
        return first_axis(g, ctx.a_shape), first_axis(g, ctx.b_shape)


def last_axes(g, shape):
    while g.ndim > len(shape):
        g = g.sum(-1)
    for i, n in enumerate(shape):
        if n == 1:
            g = g.sum(i, keepdim=True)
    return g


@wrong("R02")
class NewAxesAtTheEnd(Keeps):
    @staticmethod
    def backward(ctx, g):
        return last_axes(g, ctx.a_shape), last_axes(g, ctx.b_shape)


def squeezed(g, shape):
    extra = g.ndim - len(shape)
    copied = [*range(extra)]
    copied += [extra + i for i, n in enumerate(shape) if n == 1]
    return g.sum(tuple(copied)) if copied else g


@wrong("R03")
class KeepdimForgotten(Keeps):
    @staticmethod
    def backward(ctx, g):
        return squeezed(g, ctx.a_shape), squeezed(g, ctx.b_shape)


def everything(g, shape):
    return g if g.shape == shape else g.sum().expand(shape)


@wrong("R11")
class SumsEverything(Keeps):
    @staticmethod
    def backward(ctx, g):
        return everything(g, ctx.a_shape), everything(g, ctx.b_shape)


@wrong("R11", "C04")
class SumsEverythingAlways(Keeps):
    @staticmethod
    def backward(ctx, g):
        return g.sum() * mg.ones(ctx.a_shape), g.sum() * mg.ones(ctx.b_shape)


def one_row(g, shape):
    while g.ndim > len(shape):
        g = g[0]
    for i, n in enumerate(shape):
        if n == 1:
            g = g.transpose(0, i)[:1].transpose(0, i)
    return g


@wrong("R14")
class FirstCopyOnly(Keeps):
    @staticmethod
    def backward(ctx, g):
        return one_row(g, ctx.a_shape), one_row(g, ctx.b_shape)


@wrong("L01")
class MinusForTheSecond(Keeps):
    @staticmethod
    def backward(ctx, g):
        return unbroadcast(g, ctx.a_shape), -unbroadcast(g, ctx.b_shape)


@wrong("C01")
class NoUpstream(Keeps):
    @staticmethod
    def backward(ctx, g):
        ones = mg.ones_like(g)
        return unbroadcast(ones, ctx.a_shape), unbroadcast(ones, ctx.b_shape)


@wrong("C02")
class UpstreamSquared(Keeps):
    @staticmethod
    def backward(ctx, g):
        return unbroadcast(g * g, ctx.a_shape), unbroadcast(g * g, ctx.b_shape)


@wrong("C06", "L02")
class Doubled(Keeps):
    @staticmethod
    def backward(ctx, g):
        return 2 * unbroadcast(g, ctx.a_shape), 2 * unbroadcast(g, ctx.b_shape)


@wrong("L04", "C07")
class LikeAProduct(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a + b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return unbroadcast(g * b, a.shape), unbroadcast(g * a, b.shape)


@wrong("A03")
class ExchangedSlots(Keeps):
    @staticmethod
    def backward(ctx, g):
        return unbroadcast(g, ctx.b_shape), unbroadcast(g, ctx.a_shape)


@wrong("A01")
class OneGradientForBoth(Keeps):
    @staticmethod
    def backward(ctx, g):
        return unbroadcast(g, ctx.a_shape)


@wrong("A04")
class ReturnsAList(Keeps):
    @staticmethod
    def backward(ctx, g):
        return [unbroadcast(g, shape) for shape in (ctx.a_shape, ctx.b_shape)]


@wrong("A05")
class NothingForTheSecond(Keeps):
    @staticmethod
    def backward(ctx, g):
        return unbroadcast(g, ctx.a_shape), None


@wrong("A06")
class OneFlagForBoth(Keeps):
    @staticmethod
    def backward(ctx, g):
        ga = unbroadcast(g, ctx.a_shape) if ctx.needs_input_grad[0] else None
        gb = unbroadcast(g, ctx.b_shape) if ctx.needs_input_grad[0] else None
        return ga, gb


@wrong("S04")
class ShapesOnTheClass(Function):
    @staticmethod
    def forward(ctx, a, b):
        ShapesOnTheClass.shapes = a.shape, b.shape
        return a + b

    @staticmethod
    def backward(ctx, g):
        first, second = ShapesOnTheClass.shapes
        return unbroadcast(g, first), unbroadcast(g, second)


@wrong("S06")
class OperandsAsAttributes(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.a, ctx.b = a, b
        return a + b

    @staticmethod
    def backward(ctx, g):
        return unbroadcast(g, ctx.a.shape), unbroadcast(g, ctx.b.shape)
