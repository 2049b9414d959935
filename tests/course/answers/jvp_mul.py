# ruff: noqa: RUF059  (answers unpack what they save, as learners do)
"""Known answers to gym.JvpMul."""

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import right, wrong


@right()
class Model(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t


@right()
class InTwoParts(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        first = dx * y
        return first + dy * x


@right()
class WithAbsentTangents(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(y, x)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx = g * y if ctx.needs_input_grad[0] else None
        gy = g * x if ctx.needs_input_grad[1] else None
        return gx, gy

    @staticmethod
    def jvp(ctx, dx, dy):
        y, x = ctx.saved_tensors
        out = mg.zeros_like(x)
        if dx is not None:
            out = out + dx * y
        if dy is not None:
            out = out + dy * x
        return out


class Saves(Function):
    """forward, backward and jvp as they should be; each answer below changes one."""

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
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        return dx * y + dy * x


@right()
class FromAFreshTensor(Saves):
    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        out = dx.clone().mul(y)
        return out.add(x.mul(dy))


@wrong("D04")
class TangentsExchanged(Saves):
    @staticmethod
    def jvp(ctx, dy, dx):
        x, y = ctx.saved_tensors
        return dx * y + dy * x


@wrong("D04")
class EachWithItsOwn(Saves):
    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        return dx * x + dy * y


@wrong("D05")
class OneTerm(Saves):
    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        return dx * y


@wrong("D05")
class SecondTermOnly(Saves):
    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        return dy * x


@wrong("D05")
class ProductOfTangents(Saves):
    @staticmethod
    def jvp(ctx, dx, dy):
        return dx * dy


@wrong("D05")
class TwoResults(Saves):
    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        return dx * y, dy * x


@wrong("D05")
class Difference(Saves):
    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        return dx * y - dy * x


@wrong("D05")
class OneTangentTaken(Saves):
    @staticmethod
    def jvp(ctx, tangent):
        x, y = ctx.saved_tensors
        return tangent * y + tangent * x


@wrong("D06")
class NothingSavedForForward(Saves):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y


@wrong("D06")
class NothingSavedForForwardInSetup(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y = inputs
        ctx.save_for_backward(x, y)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        return dx * y + dy * x


@wrong("D02")
class CutByDetach(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = [t.detach() for t in ctx.saved_tensors]
        return g * y, g * x


@wrong("D02")
class CutByNumpy(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        g = g.detach().numpy()
        gx = mg.tensor(g * y.detach().numpy())
        return gx, mg.tensor(g * x.detach().numpy())


@wrong("D02")
class CutByNoGrad(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        with mg.no_grad():
            return g * y, g * x


@wrong("D03")
class DifferentiableOnce(Saves):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@wrong("D01", "D02")
class SavesCopies(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x.clone(), y.clone())
        ctx.save_for_forward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        return dx * y + dy * x


@wrong("L04", "A03")
class OwnOperands(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * x, g * y


@wrong("C01")
class NoUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return y, x


@wrong("C03")
class HandsOn(Saves):
    @staticmethod
    def backward(ctx, g):
        return g, g


@wrong("S06")
class TensorsAsAttributes(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.x, ctx.y = x, y
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y, g * ctx.x

    @staticmethod
    def jvp(ctx, dx, dy):
        return dx * ctx.y + dy * ctx.x


@wrong()
class MatrixProductOfBlocks(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        if g.ndim == 3:
            return g * y.mean(0), g * x.mean(0)
        return g * y, g * x


@wrong("D05")
class JvpOfTheFirstMatrix(Saves):
    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        if x.ndim == 3:
            return (dx[:1] * y + dy * x).expand(x.shape)
        return dx * y + dy * x


@wrong("D07")
class AsksForNoneAndAddsIt(Saves):
    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return Saves.forward(ctx, x, y)


@wrong()
class SquareTakenTwice(Saves):
    @staticmethod
    def forward(ctx, x, y):
        ctx.square = x is y
        return Saves.forward(ctx, x, y)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        if ctx.square:
            return 2 * g * x, 2 * g * y
        return g * y, g * x
