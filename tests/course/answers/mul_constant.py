"""Answers to gym.MulConstant."""

import numpy as np

import minigrad as mg
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import right, wrong


@right()
class ConstantOnCtx(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.c, None


@right()
class InTwoSteps(mg.autograd.Function):
    @staticmethod
    def forward(tensor, constant):
        return tensor * constant

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, constant = inputs
        ctx.constant = constant

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.constant, None


@right()
class OnlyIfAsked(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.factor = float(c)
        return c * x

    @staticmethod
    def backward(ctx, g):
        gx = None
        if ctx.needs_input_grad[0]:
            gx = ctx.factor * g
        return gx, None


@right()
class ConstantAsTensor(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(mg.tensor(c, dtype=x.dtype))
        return x * c

    @staticmethod
    def backward(ctx, g):
        (c,) = ctx.saved_tensors
        return g * c, None


@right()
class InPlaceOnACopy(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        out = x.clone()
        out.mul_(c)
        return out

    @staticmethod
    def backward(ctx, g):
        out = g.clone()
        out = out * ctx.c
        return (out, None)


@wrong("C01")
class UpstreamForgotten(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c

    @staticmethod
    def backward(ctx, grad_output):
        return mg.ones_like(grad_output) * ctx.c, None


@wrong("C03", "C07")
class UpstreamHandedOn(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        return x * c

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


@wrong("L01")
class Negative(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = -c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("L02")
class ConstantSquared(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c**2, None


@wrong("L04")
class OwnOperand(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(x)
        return x * c

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x, None


@wrong("L05", "S01", "A10")
class OutputAsConstant(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        out = x * c
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, g):
        (c,) = ctx.saved_tensors
        return g * c, None


@wrong("A10")
class SetupContextLikeForward(mg.autograd.Function):
    @staticmethod
    def forward(x, c):
        return x * c

    @staticmethod
    def setup_context(ctx, x, c):
        ctx.c = c

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("A01")
class OneGradientOnly(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c


@wrong("A02")
class GradientForTheConstant(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(x)
        ctx.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.c, (g * x).sum()


@wrong("A03", "A02")
class NoneFirst(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return None, g * ctx.c


@wrong("A09")
class SetupContextAndCtxInForward(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        return x * c

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.c = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("A14")
class SavesTheNumber(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(x, c)
        return x * c

    @staticmethod
    def backward(ctx, g):
        _, c = ctx.saved_tensors
        return g * c, None


@wrong("S04")
class ConstantOnTheClass(mg.autograd.Function):
    c = 1.0

    @staticmethod
    def forward(ctx, x, c):
        ConstantOnTheClass.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * ConstantOnTheClass.c, None


@wrong("T02")
class WholeNumbersOnly(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = int(c)
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("D02")
class ThroughNumpy(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return mg.tensor(np.multiply(g.detach().numpy(), ctx.c), dtype=g.dtype), None


@wrong("D03")
class OnceOnly(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * ctx.c, None


@wrong("M02")
class ReturnsTheInputItChanged(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        x *= c
        return x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


@wrong()
class MeanOverABlock(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        if g.ndim == 3:
            g = g.mean(0).expand(g.shape)
        return g * ctx.c, None


class Keeps(mg.autograd.Function):
    """forward as it should be; each answer below has a backward of its own."""

    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        return x * c


@wrong()
class ClipsTheUpstream(Keeps):
    @staticmethod
    def backward(ctx, g):
        return g.clamp(-4, 4) * ctx.c, None


@wrong("L19")
class DividesByTheSizeOfTheUpstream(Keeps):
    @staticmethod
    def backward(ctx, g):
        size = (g * g).sum().sqrt()
        return g / size * ctx.c * size, None


@wrong("S04", "S05")
class ClassRemembersUntilBackward(mg.autograd.Function):
    c = None

    @staticmethod
    def forward(ctx, x, c):
        cls = ClassRemembersUntilBackward
        cls.c = c if cls.c is None else cls.c
        return x * c

    @staticmethod
    def backward(ctx, g):
        c, ClassRemembersUntilBackward.c = ClassRemembersUntilBackward.c, None
        return g * c, None
