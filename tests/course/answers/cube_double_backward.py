"""Answers to gym.CubeDoubleBackward."""

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import right, wrong


@right()
class RecordedSteps(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad_output


@right()
class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return x * x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        square = x * x
        return (g * (square + square + square),)


@right()
class ForwardWithNumpy(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(x.numpy() ** 3, dtype=x.dtype)

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors[0]
        if ctx.needs_input_grad[0]:
            return g * 3.0 * x * x
        return None


class CubeSlope(Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return 3 * g * x * x

    @staticmethod
    def backward(ctx, gg):
        g, x = ctx.saved_tensors
        return 3 * gg * x * x, 6 * gg * g * x


@right()
class OneFunctionForEachOrder(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return CubeSlope.apply(g, x)


@wrong("D01")
class SavesTheSquare(Function):
    @staticmethod
    def forward(ctx, x):
        square = x * x
        ctx.save_for_backward(square)
        return square * x

    @staticmethod
    def backward(ctx, g):
        (square,) = ctx.saved_tensors
        return 3 * square * g


@wrong("D01")
class SavesACopyOfTheInput(Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


@wrong("D01")
class HalfOfItSaved(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, 3 * x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        x, triple = ctx.saved_tensors
        return triple * x * g


@wrong("D02")
class DetachedInBackward(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        x = x.detach()
        return 3 * x * x * g


@wrong("D02")
class HalfDetached(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x.detach() * g


@wrong("D02")
class UpstreamDetached(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g.detach()


@wrong("D02")
class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        slope = 3 * x.detach().numpy() ** 2
        return mg.tensor(slope, dtype=x.dtype) * g


@wrong("D02")
class WithoutRecording(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with mg.no_grad():
            result = 3 * x * x * g
        return result


@wrong("D03")
class OnceOnly(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


@wrong("C01")
class SlopeAlone(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x


@wrong("L02")
class FactorForgotten(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return x**2 * g


@wrong("L03")
class ExponentLoweredTwice(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * g


@wrong("L03")
class ExponentNotLowered(Function):
    @staticmethod
    def forward(ctx, x):
        y = x**3
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return 3 * y * g


@wrong("L19")
class DividesByTheInput(Function):
    @staticmethod
    def forward(ctx, x):
        y = x**3
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return 3 * y / x * g


@wrong("S06")
class InputAsAttribute(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x**3

    @staticmethod
    def backward(ctx, g):
        return 3 * ctx.x**2 * g


@wrong("S04")
class InputOnTheClass(Function):
    @staticmethod
    def forward(ctx, x):
        InputOnTheClass.x = x
        return x**3

    @staticmethod
    def backward(ctx, g):
        x = InputOnTheClass.x
        return 3 * x * x * g


@wrong("M01")
class WritesIntoUpstream(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g *= 3 * x * x
        return g


@wrong()
class FirstMatrixForAll(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if x.ndim > 2:
            x = x[:1].expand(x.shape)
        return 3 * x * x * g
