"""Known answers to gym.Mean."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class Model(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        ctx.shape, ctx.axis, ctx.keepdim = x.shape, axis, keepdim
        return x.mean(axis, keepdim=keepdim)

    @staticmethod
    def backward(ctx, grad_output):
        if not ctx.keepdim:
            grad_output = grad_output.unsqueeze(ctx.axis)
        count = ctx.shape[ctx.axis]
        return grad_output.expand(ctx.shape) / count, None, None


@right()
class InTwoParts(Function):
    @staticmethod
    def forward(x, axis, keepdim):
        return x.sum(dim=axis, keepdim=keepdim) / x.shape[axis]

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, axis, keepdim = inputs
        ctx.save_for_backward(x)
        ctx.axis = axis if axis >= 0 else axis + x.ndim
        ctx.keepdim = keepdim

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = g if ctx.keepdim else g.unsqueeze(ctx.axis)
        return mg.ones_like(x) * g / x.shape[ctx.axis], None, None


@right()
class WithReshape(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        shape = list(x.shape)
        ctx.full = tuple(shape)
        ctx.n = shape[axis]
        shape[axis] = 1
        ctx.kept = tuple(shape)
        return x.mean(dim=axis, keepdim=keepdim)

    @staticmethod
    def backward(ctx, g):
        if not ctx.needs_input_grad[0]:
            return None, None, None
        g = g.reshape(ctx.kept) * (1.0 / ctx.n)
        return g.expand(ctx.full), None, None


@right()
class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        ctx.axis, ctx.keepdim, ctx.shape = axis, keepdim, x.shape
        return mg.tensor(np.asarray(x.numpy().mean(axis=axis, keepdims=keepdim)))

    @staticmethod
    def backward(ctx, g):
        array = g.numpy()
        if not ctx.keepdim:
            array = np.expand_dims(array, ctx.axis)
        n = ctx.shape[ctx.axis]
        spread = np.repeat(array, n, axis=ctx.axis) / n
        return mg.tensor(spread, dtype=g.dtype), None, None


class Keeps(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, axis, keepdim):
        ctx.save_for_backward(x)
        ctx.axis, ctx.keepdim = axis, keepdim
        return x.mean(axis, keepdim=keepdim)

    @staticmethod
    def spread(ctx, g):
        (x,) = ctx.saved_tensors
        if not ctx.keepdim:
            g = g.unsqueeze(ctx.axis)
        return g.expand(x.shape)


@wrong("R05")
class NotDivided(Keeps):
    @staticmethod
    def backward(ctx, g):
        return Keeps.spread(ctx, g), None, None


@wrong("R06")
class DividedByAllElements(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        total = 1
        for n in x.shape:
            total *= n
        return Keeps.spread(ctx, g) / max(total, 1), None, None


@wrong("R06", "R08")
class DividedByTheFirstLength(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Keeps.spread(ctx, g) / max(x.shape[0], 1), None, None


@wrong("R06", "R08")
class DividedByTheLastLength(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Keeps.spread(ctx, g) / x.shape[-1], None, None


@wrong("R07", "R08")
class AxisNotPutBack(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g.expand(x.shape) / x.shape[ctx.axis], None, None


@wrong("R07")
class StaysReduced(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / x.shape[ctx.axis], None, None


@wrong("R07", "R08")
class RepeatedInMemory(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        n = x.shape[ctx.axis]
        flat = np.repeat(g.numpy().ravel(), n).reshape(x.shape)
        return mg.tensor(flat / n, dtype=x.dtype), None, None


@wrong("R08")
class KeepdimNotAsked(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = g.unsqueeze(ctx.axis)
        return g.expand(x.shape) / x.shape[ctx.axis], None, None


@wrong("R08", "R07")
class AlwaysTheLastAxis(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if not ctx.keepdim:
            g = g.unsqueeze(-1)
        return mg.zeros_like(x) + g / x.shape[ctx.axis], None, None


@wrong("R08", "R07")
class AlwaysTheFirstAxis(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if not ctx.keepdim:
            g = g.unsqueeze(0)
        return g.expand(x.shape) / x.shape[ctx.axis], None, None


@wrong("R08")
class NegativeAxisInserted(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        shape = list(g.shape)
        if not ctx.keepdim:
            shape.insert(ctx.axis, 1)
        return g.reshape(shape).expand(x.shape) / x.shape[ctx.axis], None, None


@wrong("C01")
class NoUpstream(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.ones_like(x) / x.shape[ctx.axis], None, None


@wrong("C02")
class UpstreamSquared(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (
            Keeps.spread(ctx, g) * Keeps.spread(ctx, g) / x.shape[ctx.axis],
            None,
            None,
        )


@wrong("C04")
class MeanUpstream(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        mean = mg.zeros_like(x) + g.mean() if g.shape != (0,) else mg.zeros_like(x)
        return mean / x.shape[ctx.axis], None, None


@wrong("C05")
class OutputForUpstream(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        out = x.mean(axis, keepdim=True)
        ctx.save_for_backward(x, out)
        ctx.axis = axis
        return out if keepdim else x.mean(axis)

    @staticmethod
    def backward(ctx, g):
        x, out = ctx.saved_tensors
        return out.expand(x.shape) / x.shape[ctx.axis], None, None


@wrong("L01")
class Negative(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -Keeps.spread(ctx, g) / x.shape[ctx.axis], None, None


@wrong("L05", "S01")
class TimesTheInput(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Keeps.spread(ctx, g) * x / x.shape[ctx.axis], None, None


@wrong("A01")
class OneGradient(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Keeps.spread(ctx, g) / x.shape[ctx.axis]


@wrong("A02")
class GradientForTheAxis(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Keeps.spread(ctx, g) / x.shape[ctx.axis], mg.tensor(0.0), None


@wrong("A14")
class SavesTheAxis(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        ctx.save_for_backward(x, axis, keepdim)
        return x.mean(axis, keepdim=keepdim)

    @staticmethod
    def backward(ctx, g):
        x, axis, keepdim = ctx.saved_tensors
        g = g if keepdim else g.unsqueeze(axis)
        return g.expand(x.shape) / x.shape[axis], None, None


@wrong("S05")
class OptionsInAGlobal(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        global last_shape, last_axis, last_keepdim
        last_shape, last_axis, last_keepdim = x.shape, axis, keepdim
        return x.mean(axis, keepdim=keepdim)

    @staticmethod
    def backward(ctx, g):
        g = g if last_keepdim else g.unsqueeze(last_axis)
        return g.expand(last_shape) / last_shape[last_axis], None, None


@wrong("S06")
class InputAsAttribute(Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        ctx.x, ctx.axis, ctx.keepdim = x, axis, keepdim
        return x.mean(axis, keepdim=keepdim)

    @staticmethod
    def backward(ctx, g):
        g = g if ctx.keepdim else g.unsqueeze(ctx.axis)
        return g.expand(ctx.x.shape) / ctx.x.shape[ctx.axis], None, None


@wrong("M01")
class DividesTheUpstream(Keeps):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g /= x.shape[ctx.axis]
        return Keeps.spread(ctx, g), None, None
