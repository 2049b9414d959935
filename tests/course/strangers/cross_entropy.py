# ruff: noqa: RUF059  (answers are written as learners write them)
"""Wrong answers to gym.CrossEntropy."""

import numpy as np

import minigrad as mg
import minigrad as torch
from minigrad.autograd import Function
from tests.course.answers.kit import wrong


def log_soft(x):
    m = x.amax(-1, keepdim=True)
    return x - m - (x - m).exp().sum(-1, keepdim=True).log()


class Base(Function):
    @staticmethod
    def forward(ctx, logits, target):
        ctx.save_for_backward(logits, target)
        rows = mg.arange(logits.shape[0])
        return -log_soft(logits)[rows, target].mean()


def parts(ctx):
    logits, target = ctx.saved_tensors
    rows = mg.arange(logits.shape[0])
    return log_soft(logits).exp(), rows, target


@wrong("R05")
class NoB(Base):
    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        p[rows, t] -= 1
        return g * p, None


@wrong("R06")
class AllElements(Base):
    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        p[rows, t] -= 1
        return g * p / p.numel(), None


@wrong("R06")
class Classes(Base):
    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        p[rows, t] -= 1
        return g * p / p.shape[1], None


@wrong("R13")
class AllRows(Base):
    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        p[:, t] -= 1
        return g * p / p.shape[0], None


@wrong("L08")
class NoOneHot(Base):
    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        return g * p / p.shape[0], None


@wrong("L01")
class Negative(Base):
    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        p[rows, t] -= 1
        return -g * p / p.shape[0], None


@wrong("C01")
class NoG(Base):
    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        p[rows, t] -= 1
        return p / p.shape[0], None


@wrong("A02")
class ForTheTarget(Base):
    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        p[rows, t] -= 1
        return g * p / p.shape[0], mg.zeros_like(t)


@wrong("A01")
class OneOnly(Base):
    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        p[rows, t] -= 1
        return g * p / p.shape[0]


@wrong("L20")
class Unstable(Function):
    @staticmethod
    def forward(ctx, logits, target):
        ctx.save_for_backward(logits, target)
        rows = mg.arange(logits.shape[0])
        e = logits.exp()
        return -(e / e.sum(-1, keepdim=True)).log()[rows, target].mean()

    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        p[rows, t] -= 1
        return g * p / p.shape[0], None


@wrong("L05", "S01")
class LogitsForP(Base):
    @staticmethod
    def backward(ctx, g):
        logits, t = ctx.saved_tensors
        p = logits.clone()
        p[mg.arange(p.shape[0]), t] -= 1
        return g * p / p.shape[0], None


@wrong("L08")
class OnlyOneHot(Base):
    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        hot = mg.zeros_like(p)
        hot[rows, t] = -1
        return g * hot / p.shape[0], None


@wrong("A03")
class WrongSlot(Base):
    @staticmethod
    def backward(ctx, g):
        p, rows, t = parts(ctx)
        p[rows, t] -= 1
        return None, g * p / p.shape[0]


def logp_of(z):
    s = z - z.amax(1, keepdim=True)
    return s - s.exp().sum(1, keepdim=True).log()


def loss_of(z, target):
    rows = list(range(z.shape[0]))
    return -logp_of(z)[rows, target].mean()


def hot_of(z, target):
    return (target.unsqueeze(1) == mg.tensor(np.arange(z.shape[1]))).to(z.dtype)


@wrong("L09")
class CrossEntropyWeightedSum(Function):
    @staticmethod
    def forward(ctx, logits, target):
        ctx.save_for_backward(logits, target)
        return loss_of(logits, target)

    @staticmethod
    def backward(ctx, g):
        z, t = ctx.saved_tensors
        p = logp_of(z).exp()
        up = -hot_of(z, t) * g / z.shape[0]
        return up - p * (up * p).sum(1, keepdim=True), None


def _probabilities(z):
    e = (z - z.amax(1, keepdim=True)).exp()
    return e / e.sum(1, keepdim=True)


def _loss(z, target):
    top = z.amax(1, keepdim=True)
    lse = (z - top).exp().sum(1).log() + top.squeeze(1)
    picked = z[mg.arange(z.shape[0]), target]
    return (lse - picked).mean()


def _one_hot(target, like):
    h = mg.zeros_like(like)
    h[mg.arange(like.shape[0]), target] = 1
    return h


@wrong("S02")
class CrossEntropyPairMixed(Function):
    @staticmethod
    def forward(ctx, logits, target):
        ctx.save_for_backward(_probabilities(logits), target)
        return _loss(logits, target)

    @staticmethod
    def backward(ctx, g):
        target, p = ctx.saved_tensors
        d = p - _one_hot(target, p)
        return g * d / p.shape[0], None


def log_probs(z):
    z = z - z.amax(dim=1, keepdim=True)
    return z - z.exp().sum(1, keepdim=True).log()


def hits(target, classes, dtype):
    labels = torch.tensor(list(range(classes)))
    return (target.unsqueeze(1) == labels).to(dtype)


@wrong("L11")
class EntropyGuessedLabel(Function):
    @staticmethod
    def forward(ctx, logits, target):
        lp = log_probs(logits)
        ctx.save_for_backward(lp)
        return -(lp * hits(target, lp.shape[1], lp.dtype)).sum() / lp.shape[0]

    @staticmethod
    def backward(ctx, g):
        p = ctx.saved_tensors[0].exp()
        best = torch.tensor(p.detach().numpy().argmax(1))
        return (p - hits(best, p.shape[1], p.dtype)) * g / p.shape[0], None


def log_p(logits):
    z = logits - logits.amax(1, keepdim=True)
    return z - z.exp().sum(1, keepdim=True).log()


def nll(logits, target):
    lp = log_p(logits)
    rows = torch.tensor(list(range(logits.shape[0])))
    return -lp[rows, target].sum() / logits.shape[0]


def one_hot(target, like):
    hot = torch.zeros_like(like)
    for i in range(like.shape[0]):
        hot[i, target[i]] = 1
    return hot


@wrong("R06")
class CrossEntropyDistinctLabels(Function):
    @staticmethod
    def forward(ctx, logits, target):
        ctx.save_for_backward(logits, target)
        ctx.n = len({int(t) for t in target})
        return nll(logits, target)

    @staticmethod
    def backward(ctx, g):
        logits, target = ctx.saved_tensors
        p = log_p(logits).exp()
        return g * (p - one_hot(target, p)) / ctx.n, None


def log_probs_of_c_e_through_log_softmax(logits):
    z = logits - logits.amax(1, keepdim=True)
    return z - z.exp().sum(1, keepdim=True).log()


def one_hot_of_c_e_through_log_softmax(target, like):
    out = mg.zeros_like(like)
    for row in range(like.shape[0]):
        out[row, int(target[row])] = 1
    return out


@wrong("L09")
class CEThroughLogSoftmax(Function):
    @staticmethod
    def forward(ctx, logits, target):
        lp = log_probs_of_c_e_through_log_softmax(logits)
        ctx.save_for_backward(lp, target)
        return (
            -(lp * one_hot_of_c_e_through_log_softmax(target, lp)).sum() / lp.shape[0]
        )

    @staticmethod
    def backward(ctx, g):
        lp, target = ctx.saved_tensors
        g_lp = one_hot_of_c_e_through_log_softmax(target, lp) * (-g / lp.shape[0])
        return g_lp - lp.exp(), None
