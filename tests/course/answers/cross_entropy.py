"""Known answers to gym.CrossEntropy."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from tests.course.answers.kit import right, wrong


@right()
class Model(Function):
    @staticmethod
    def forward(ctx, logits, target):
        shifted = logits - logits.amax(1, keepdim=True)
        log_p = shifted - shifted.exp().sum(1, keepdim=True).log()
        ctx.save_for_backward(log_p, target)
        rows = mg.arange(logits.shape[0])
        return -log_p[rows, target].mean()

    @staticmethod
    def backward(ctx, grad_output):
        log_p, target = ctx.saved_tensors
        batch = log_p.shape[0]
        slope = log_p.exp()
        slope[mg.arange(batch), target] -= 1.0
        return grad_output * slope / batch, None


def log_softmax(x):
    m = x.amax(dim=-1, keepdim=True)
    return x - m - (x - m).exp().sum(dim=-1, keepdim=True).log()


def one_hot(target, classes, like):
    hot = mg.zeros(target.shape[0], classes, dtype=like.dtype)
    hot[range(target.shape[0]), target] = 1.0
    return hot


@right()
class WithOneHot(Function):
    @staticmethod
    def forward(ctx, logits, target):
        hot = one_hot(target, logits.shape[1], logits)
        logp = log_softmax(logits)
        ctx.save_for_backward(logits, hot)
        return -(hot * logp).sum() / logits.shape[0]

    @staticmethod
    def backward(ctx, g):
        logits, hot = ctx.saved_tensors
        p = log_softmax(logits).exp()
        return (p - hot) * (g / logits.shape[0]), None


@right()
class InTwoParts(Function):
    @staticmethod
    def forward(logits, target):
        n = logits.shape[0]
        return (-log_softmax(logits)[mg.arange(n), target]).sum() / n

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        logits, target = ctx.saved_tensors
        n = logits.shape[0]
        grad = log_softmax(logits).exp()
        rows = np.arange(n)
        grad[rows, target] = grad[rows, target] - 1
        grad = grad.mul(g).mul(1 / n)
        return grad, None


@right()
class ThroughNumpy(Function):
    @staticmethod
    def forward(ctx, logits, target):
        z = logits.detach().numpy()
        t = target.numpy()
        z = z - z.max(axis=1, keepdims=True)
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        picked = z[np.arange(len(t)), t] - np.log(np.exp(z).sum(axis=1))
        d = p.copy()
        d[np.arange(len(t)), t] -= 1
        ctx.d = d / len(t)
        return mg.tensor(-picked.mean(), dtype=logits.dtype)

    @staticmethod
    def backward(ctx, g):
        return mg.tensor(ctx.d, dtype=g.dtype) * g, None


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, logits, target):
        logp = log_softmax(logits)
        ctx.save_for_backward(logp, target)
        return -logp[mg.arange(logits.shape[0]), target].mean()

    @staticmethod
    def parts(ctx):
        logp, target = ctx.saved_tensors
        hot = one_hot(target, logp.shape[1], logp)
        return logp.exp(), hot, logp.shape[0]


@wrong("R05")
class NotDividedByTheBatch(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, _ = Saves.parts(ctx)
        return g * (p - hot), None


@wrong("R06")
class DividedByTheClasses(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, _ = Saves.parts(ctx)
        return g * (p - hot) / p.shape[1], None


@wrong("R06")
class DividedByAllElements(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        return g * (p - hot) / (batch * p.shape[1]), None


@wrong("R13")
class OuterIndex(Saves):
    @staticmethod
    def backward(ctx, g):
        logp, target = ctx.saved_tensors
        grad = logp.exp()
        grad[:, target] -= 1
        return g * grad / logp.shape[0], None


@wrong("R13")
class OuterIndexInForward(Function):
    @staticmethod
    def forward(ctx, logits, target):
        logp = log_softmax(logits)
        ctx.save_for_backward(logp, target)
        return -logp[:, target].mean()

    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        return g * (p - hot) / batch, None


@wrong("L01")
class Negative(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        return g * (hot - p) / batch, None


@wrong("L01")
class OneHotAdded(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        return g * (p + hot) / batch, None


@wrong("L08")
class ProbabilitiesMissing(Saves):
    @staticmethod
    def backward(ctx, g):
        _, hot, batch = Saves.parts(ctx)
        return -g * hot / batch, None


@wrong("L08", "C07")
class OneHotMissing(Saves):
    @staticmethod
    def backward(ctx, g):
        p, _, batch = Saves.parts(ctx)
        return g * p / batch, None


@wrong("L07", "L08")
class RightClassOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        return g * (p - 1) * hot / batch, None


@wrong("R14")
class FirstRowOnly(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        grad = mg.zeros_like(p)
        grad[0] = (p - hot)[0] / batch
        return g * grad, None


@wrong("L05", "S01")
class LogitsForProbabilities(Function):
    @staticmethod
    def forward(ctx, logits, target):
        ctx.save_for_backward(logits, target)
        return -log_softmax(logits)[mg.arange(logits.shape[0]), target].mean()

    @staticmethod
    def backward(ctx, g):
        p, target = ctx.saved_tensors
        hot = one_hot(target, p.shape[1], p)
        return g * (p - hot) / p.shape[0], None


@wrong("L05", "S01")
class ExpForgotten(Saves):
    @staticmethod
    def backward(ctx, g):
        logp, target = ctx.saved_tensors
        hot = one_hot(target, logp.shape[1], logp)
        return g * (logp - hot) / logp.shape[0], None


@wrong("L20")
class NoMaximumTaken(Function):
    @staticmethod
    def forward(ctx, logits, target):
        e = logits.exp()
        p = e / e.sum(1, keepdim=True)
        ctx.save_for_backward(p.log(), target)
        return -p.log()[mg.arange(logits.shape[0]), target].mean()

    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        return g * (p - hot) / batch, None


@wrong("L20")
class UnstableInBackward(Function):
    @staticmethod
    def forward(ctx, logits, target):
        ctx.save_for_backward(logits, target)
        return -log_softmax(logits)[mg.arange(logits.shape[0]), target].mean()

    @staticmethod
    def backward(ctx, g):
        logits, target = ctx.saved_tensors
        p = logits.exp() / logits.exp().sum(1, keepdim=True)
        hot = one_hot(target, p.shape[1], p)
        return g * (p - hot) / p.shape[0], None


@wrong("R05")
class SumInForward(Function):
    @staticmethod
    def forward(ctx, logits, target):
        logp = log_softmax(logits)
        ctx.save_for_backward(logp, target)
        return -logp[mg.arange(logits.shape[0]), target].sum()

    @staticmethod
    def backward(ctx, g):
        p, hot, _ = Saves.parts(ctx)
        return g * (p - hot), None


@wrong("R02")
class SoftmaxOverTheBatch(Saves):
    @staticmethod
    def forward(ctx, logits, target):
        logp = log_softmax(logits)
        ctx.save_for_backward(logits.softmax(0).log(), target)
        return -logp[mg.arange(logits.shape[0]), target].mean()

    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        return g * (p - hot) / batch, None


@wrong("C01")
class NoUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        return (p - hot) / batch, None


@wrong("C02")
class UpstreamSquared(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        return g * g * (p - hot) / batch, None


@wrong("A01")
class OneGradient(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        return g * (p - hot) / batch


@wrong("A02")
class GradientForTheTarget(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        _, target = ctx.saved_tensors
        return g * (p - hot) / batch, mg.zeros_like(target)


@wrong("S06")
class TargetAsAttribute(Function):
    @staticmethod
    def forward(ctx, logits, target):
        logp = log_softmax(logits)
        ctx.save_for_backward(logp)
        ctx.target = target
        return -logp[mg.arange(logits.shape[0]), target].mean()

    @staticmethod
    def backward(ctx, g):
        (logp,) = ctx.saved_tensors
        hot = one_hot(ctx.target, logp.shape[1], logp)
        return g * (logp.exp() - hot) / logp.shape[0], None


@wrong("M05", "S10")
class WritesIntoSaved(Saves):
    @staticmethod
    def forward(ctx, logits, target):
        logp = log_softmax(logits)
        ctx.save_for_backward(logp.exp(), target)
        return -logp[mg.arange(logits.shape[0]), target].mean()

    @staticmethod
    def backward(ctx, g):
        p, target = ctx.saved_tensors
        p[mg.arange(p.shape[0]), target] -= 1
        return g * p / p.shape[0], None


@wrong("T03")
class GradientInDouble(Saves):
    @staticmethod
    def backward(ctx, g):
        p, hot, batch = Saves.parts(ctx)
        p, hot = p.to(mg.float64), hot.to(mg.float64)
        return g.to(mg.float64) * (p - hot) / batch, None
