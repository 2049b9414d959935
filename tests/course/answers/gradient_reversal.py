"""Known answers to gym.GradientReversal."""

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class Model(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return -ctx.lam * grad_output, None


@right()
class AsAView(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.lam, None


@right()
class InTwoParts(Function):
    @staticmethod
    def forward(x, lam):
        return x.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.lam = inputs

    @staticmethod
    def backward(ctx, g):
        return g * (-ctx.lam), None


@right()
class ReturnsTheInput(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.factor = -lam
        return x

    @staticmethod
    def backward(ctx, g):
        gx = None
        if ctx.needs_input_grad[0]:
            gx = ctx.factor * g
        return gx, None


@right()
class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return mg.tensor(x.numpy().copy())

    @staticmethod
    def backward(ctx, g):
        return mg.tensor(-ctx.lam * g.numpy(), dtype=g.dtype), None


class Keeps(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.clone()


@right()
class OnAClone(Keeps):
    @staticmethod
    def backward(ctx, g):
        turned = g.clone()
        turned.mul_(-ctx.lam)
        return turned, None


@wrong("L01")
class NoReversal(Keeps):
    @staticmethod
    def backward(ctx, g):
        return ctx.lam * g, None


@wrong("C03")
class HandsOn(Keeps):
    @staticmethod
    def backward(ctx, g):
        return g, None


@wrong("C07")
class LamForgotten(Keeps):
    @staticmethod
    def backward(ctx, g):
        return -g, None


@wrong("C07")
class LamForgottenWithNeg(Keeps):
    @staticmethod
    def backward(ctx, g):
        return g.neg(), None


@wrong("C01")
class NoUpstream(Keeps):
    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * mg.ones_like(g), None


@wrong("C02")
class UpstreamSquared(Keeps):
    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g * g, None


@wrong("C04")
class MeanUpstream(Keeps):
    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g.mean() * mg.ones_like(g), None


@wrong("C06", "L02")
class AddedTwice(Keeps):
    @staticmethod
    def backward(ctx, g):
        turned = -ctx.lam * g
        return turned + turned, None


@wrong("L02", "C06")
class TimesThree(Keeps):
    @staticmethod
    def backward(ctx, g):
        return -3.0 * ctx.lam * g, None


@wrong("L15")
class ReversedInForward(Keeps):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return -x

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


@wrong("L15")
class ScaledInForward(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return -lam * x

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


@wrong("A10")
class OutputTakenForLam(Function):
    @staticmethod
    def forward(x, lam):
        return x.clone()

    @staticmethod
    def setup_context(ctx, x, lam):
        ctx.lam = lam

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


@wrong("A01")
class OneGradient(Keeps):
    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g


@wrong("A02")
class GradientForLam(Keeps):
    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, mg.tensor(0.0)


@wrong("A04")
class ReturnsAList(Keeps):
    @staticmethod
    def backward(ctx, g):
        return [-ctx.lam * g, None]


@wrong("A03")
class NoneFirst(Keeps):
    @staticmethod
    def backward(ctx, g):
        return None, -ctx.lam * g


@wrong("A12")
class ReturnsAnArray(Keeps):
    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g.numpy(), None


@wrong("A14")
class SavesANumber(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.save_for_backward(lam)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        (lam,) = ctx.saved_tensors
        return -lam * g, None


@wrong("A16")
class ReturnsNothing(Keeps):
    @staticmethod
    def backward(ctx, g):
        turned = -ctx.lam * g
        print(turned)


@wrong("A17")
class ForwardReturnsAnArray(Keeps):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.numpy()

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


@wrong("S04")
class LamOnTheClass(Function):
    lam = 1.0

    @staticmethod
    def forward(ctx, x, lam):
        LamOnTheClass.lam = lam
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return -LamOnTheClass.lam * g, None


settings = {}


@wrong("S05")
class LamInAGlobal(Function):
    @staticmethod
    def forward(ctx, x, lam):
        settings["lam"] = lam
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return -settings["lam"] * g, None


@wrong("M01")
class TurnsTheUpstream(Keeps):
    @staticmethod
    def backward(ctx, g):
        g.mul_(-ctx.lam)
        return g, None


@wrong("M01")
class TurnsTheUpstreamByOperator(Keeps):
    @staticmethod
    def backward(ctx, g):
        g *= -ctx.lam
        return g, None


@wrong("T02")
class WholeLam(Keeps):
    @staticmethod
    def backward(ctx, g):
        return -int(ctx.lam) * g, None


@wrong("A08")
class NotStatic(Function):
    def forward(self, x, lam):
        self.lam = lam
        return x.clone()

    def backward(self, g):
        return -self.lam * g, None


@wrong()
class FlattensABlock(Keeps):
    @staticmethod
    def backward(ctx, g):
        if g.ndim > 2:
            g = g.reshape(len(g), -1)
        return -ctx.lam * g, None


class Scratch:
    """Memory that is used again and again."""

    def __init__(self):
        self.tensors = {}

    def like(self, g):
        return self.tensors.setdefault((g.dtype, *g.shape), mg.zeros_like(g))


scratch = Scratch()


@wrong("S05")
class ReturnsTheSameMemory(Keeps):
    @staticmethod
    def backward(ctx, g):
        return scratch.like(g).copy_(-ctx.lam * g), None
