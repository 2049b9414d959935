"""Answers to gym.ReLU."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class MaskFromTheInput(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0)


@right()
class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return mg.where(x > 0, x, mg.zeros_like(x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return (mg.where(y > 0, g, mg.zeros_like(g)),)


@right()
class SavesTheMask(Function):
    @staticmethod
    def forward(ctx, x):
        mask = x > 0
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return mask.to(g.dtype) * g


@right()
class BooleanIndex(Function):
    @staticmethod
    def forward(ctx, x):
        out = x.clone()
        out[x < 0] = 0
        ctx.save_for_backward(x)
        return out

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        gx = g.clone()
        gx[x <= 0] = 0
        return gx


@right()
class MaskAsArray(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy()
        ctx.mask = a > 0
        return mg.tensor(np.maximum(a, 0))

    @staticmethod
    def backward(ctx, g):
        return g * mg.tensor(ctx.mask)


@wrong("C01")
class MaskAlone(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (x > 0).to(x.dtype)


@wrong("C03")
class EverythingPasses(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g


@wrong("C05")
class ResultHandedBack(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y


@wrong("L01")
class NegativeMask(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0) * -1


@wrong("L01")
class SignInsteadOfMask(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * mg.sign(x)


@wrong("L05", "S01")
class ValueTimesUpstream(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask


@wrong("L10")
class ZeroPasses(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x >= 0)


@wrong("L10")
class ZeroPassesByIndex(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        gx = g.clone()
        gx[x < 0] = 0.0
        return gx


@wrong("L10")
class HalfPassesAtZero(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x + x.abs()) / 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 + mg.sign(x)) / 2


@wrong("L11")
class MaskFromUpstream(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g.clamp(min=0)


@wrong("L11")
class MaskFromBoth(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (g * (x > 0)).clamp(min=0)


@wrong("L11")
class MaskFromTheProduct(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.where(g * x > 0, g, mg.zeros_like(g))


@wrong("S07")
class ResultAsAttribute(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.out = x.clamp(min=0)
        return ctx.out

    @staticmethod
    def backward(ctx, g):
        return g * (ctx.out > 0)


MASKS = []


@wrong("S05")
class MaskInAList(Function):
    @staticmethod
    def forward(ctx, x):
        MASKS.append(x > 0)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g * MASKS[-1]


@wrong("M01")
class ZeroesUpstream(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g[x <= 0] = 0
        return g


@wrong("M02")
class ZeroesTheInput(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x > 0)
        x[x < 0] = 0
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask


@wrong("T01", "T03")
class SinglePrecision(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (x > 0).to(mg.float32) * g.to(mg.float32)


@wrong("M02")
class ClampsTheInput(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp_(min=0)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (y > 0)


@wrong()
class MaskOfTheFirstMatrix(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x > 0)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * (mask[0] if mask.ndim == 3 else mask)


@wrong("S04", "S05")
class InputsOnTheClassByCall(Function):
    kept = {}  # noqa: RUF012

    @staticmethod
    def forward(ctx, x):
        ctx.number = len(InputsOnTheClassByCall.kept)
        InputsOnTheClassByCall.kept[ctx.number] = x.clone()
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g * (InputsOnTheClassByCall.kept[ctx.number] > 0)


inputs_by_call = []


@wrong("S05")
class InputsInAListByCall(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.number = len(inputs_by_call)
        inputs_by_call.append(x.clone())
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g * (inputs_by_call[ctx.number] > 0)
