# %% [markdown]
# # Gym: practice Functions
#
# You will
# * write forward and backward of Functions that people meet in real models,
# * check each as often as you like, on numbers that are new every time,
# * read what a wrong gradient looks like, and step through the case that shows it.
#
# Take them in any order; the easy ones come first. None needs more than the lessons
# before it, and each says what it asks. `gym()` shows how far you are;
# `hint("gym.Power")` helps with one of them, more directly each time.

# %%
import numpy as np

import minigrad as mg
from minigrad.course import check, exercise, gym, hint

mg.teaching()
gym()

# %% [markdown]
# ## MulConstant, a tensor times a number
#
# The smallest Function that needs ctx. The factor is a plain number, so it needs no
# gradient, but backward can't do without it. Where do you keep it? (About 8
# minutes.)

# %%
exercise("gym.MulConstant")


# %% tags=["exercise"]
class MulConstant(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.c = c
        return x * c
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        return grad_output * ctx.c, None
        # endregion


# %% tags=["check"]
check("gym.MulConstant", MulConstant)

# %% [markdown]
# ## Square, and its second derivative
#
# One input, one output, and a slope that changes from place to place. This is the
# first one whose gradient has to be differentiable once more. (About 8 minutes.)

# %%
exercise("gym.Square")


# %% tags=["exercise"]
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(x)
        return x * x
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output
        # endregion


# %% tags=["check"]
check("gym.Square", Square)

# %% [markdown]
# ## Exp, and its second derivative
#
# The function that is its own slope. That gives you a choice of what to keep for
# backward, and one of the two is cheaper than the other. (About 8 minutes.)

# %%
exercise("gym.Exp")


# %% tags=["exercise"]
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the result, and keep on ctx what backward needs
        result = x.exp()
        ctx.save_for_backward(result)
        return result
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (result,) = ctx.saved_tensors
        return grad_output * result
        # endregion


# %% tags=["check"]
check("gym.Exp", Exp)

# %% [markdown]
# ## Power, x to a fixed power
#
# A second argument that is a number, whole or not, and one value of it for which the
# obvious formula breaks. Numbers like zero are tried, too. (About 12 minutes.)

# %%
exercise("gym.Power")


# %% tags=["exercise"]
class Power(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(x), None
        return grad_output * ctx.n * x ** (ctx.n - 1), None
        # endregion


# %% tags=["check"]
check("gym.Power", Power)

# %% [markdown]
# ## Sigmoid, and its second derivative
#
# It squeezes any number into the range from 0 to 1. The formula holds for very large
# inputs, but not every formula for its slope does: try 1000 and -1000. (About 12
# minutes.)

# %%
exercise("gym.Sigmoid")


# %% tags=["exercise"]
class Sigmoid(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the result, and keep on ctx what backward needs
        result = 1 / (1 + (-x).exp())
        ctx.save_for_backward(result)
        return result
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (s,) = ctx.saved_tensors
        return grad_output * s * (1 - s)
        # endregion


# %% tags=["check"]
check("gym.Sigmoid", Sigmoid)

# %% [markdown]
# ## ReLU, with a rule for the kink
#
# The most used activation of all. Its slope is clear everywhere but in one point, and
# there the statement tells you what to return. (About 8 minutes.)

# %%
exercise("gym.ReLU")


# %% tags=["exercise"]
class ReLU(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(x)
        return x.clamp(min=0)
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0)
        # endregion


# %% tags=["check"]
check("gym.ReLU", ReLU)

# %% [markdown]
# ## NumpySin, a function outside the graph
#
# Sometimes a step is computed by a library that autograd knows nothing about. You
# can still give it a gradient, but not a second one that way. (About 12
# minutes.)

# %%
exercise("gym.NumpySin")


# %% tags=["exercise"]
class NumpySin(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))
        # endregion

    @staticmethod
    @mg.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (x,) = ctx.saved_tensors
        return mg.tensor(np.cos(x.numpy()) * grad_output.numpy())
        # endregion


# %% tags=["check"]
check("gym.NumpySin", NumpySin)

# %% [markdown]
# ## CubeDoubleBackward: Cube, differentiated twice
#
# Here the second derivative is the point. A gradient that is right may still lose its
# own gradient, silently, and how you save decides it. (About 12 minutes.)

# %%
exercise("gym.CubeDoubleBackward")


# %% tags=["exercise"]
class CubeDoubleBackward(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(x)
        return x**3
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad_output
        # endregion


# %% tags=["check"]
check("gym.CubeDoubleBackward", CubeDoubleBackward)

# %% [markdown]
# ## StraightThroughRound: Rounding that lets gradients through
#
# Rounding has slope zero almost everywhere, and nothing can learn through it.
# Quantised networks use a stand-in for its gradient: you write that stand-in. (About 8
# minutes.)

# %%
exercise("gym.StraightThroughRound")


# %% tags=["exercise"]
class StraightThroughRound(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the result, and keep on ctx what backward needs
        return x.round()
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        return grad_output
        # endregion


# %% tags=["check"]
check("gym.StraightThroughRound", StraightThroughRound)

# %% [markdown]
# ## GradientReversal, a mirror for gradients
#
# Forward does nothing, and backward turns the gradient round. That's how two parts of a
# network can be trained to work against each other. (About 8 minutes.)

# %%
exercise("gym.GradientReversal")


# %% tags=["exercise"]
class GradientReversal(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.lam = lam
        return x.clone()
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        return -ctx.lam * grad_output, None
        # endregion


# %% tags=["check"]
check("gym.GradientReversal", GradientReversal)

# %% [markdown]
# ## JvpMul, a product in both directions
#
# A product once more, this time in both modes: backward for upstream gradients, jvp for
# tangents that travel along with the values. (About 20
# minutes.)

# %%
exercise("gym.JvpMul")


# %% tags=["exercise"]
class JvpMul(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        return x * y
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x
        # endregion

    @staticmethod
    def jvp(ctx, x_t, y_t):
        # region solution: return the tangent of the result
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t
        # endregion


# %% tags=["check"]
check("gym.JvpMul", JvpMul)

# %% [markdown]
# ## BroadcastAdd, a sum of two shapes
#
# A small tensor added to a large one is copied silently. Each copy sends its
# gradient back, and the small tensor gets them all. (About 18 minutes.)

# %%
exercise("gym.BroadcastAdd")


# %% tags=["exercise"]
class BroadcastAdd(mg.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.shapes = a.shape, b.shape
        return a + b
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        def sum_to(g, shape):
            while g.ndim > len(shape):
                g = g.sum(0)
            for axis, length in enumerate(shape):
                if length == 1:
                    g = g.sum(axis, keepdim=True)
            return g

        for_a, for_b = ctx.shapes
        return sum_to(grad_output, for_a), sum_to(grad_output, for_b)
        # endregion


# %% tags=["check"]
check("gym.BroadcastAdd", BroadcastAdd)

# %% [markdown]
# ## BroadcastMul, a product of two shapes
#
# Like the sum of two shapes, but now each slope depends on the other operand. The
# order of your two steps matters: try both on paper. (About 20 minutes.)

# %%
exercise("gym.BroadcastMul")


# %% tags=["exercise"]
class BroadcastMul(mg.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(a, b)
        return a * b
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        def sum_to(g, shape):
            while g.ndim > len(shape):
                g = g.sum(0)
            for axis, length in enumerate(shape):
                if length == 1:
                    g = g.sum(axis, keepdim=True)
            return g

        a, b = ctx.saved_tensors
        for_a = sum_to(grad_output * b, a.shape)
        for_b = sum_to(grad_output * a, b.shape)
        return for_a, for_b
        # endregion


# %% tags=["check"]
check("gym.BroadcastMul", BroadcastMul)

# %% [markdown]
# ## Mean, over one axis
#
# Many numbers become one, and the gradient has to find its way back to all of them.
# The axis may be negative, and the kept dimension may be gone. (About 15 minutes.)

# %%
exercise("gym.Mean")


# %% tags=["exercise"]
class Mean(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, axis, keepdim):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.shape, ctx.axis, ctx.keepdim = x.shape, axis, keepdim
        return x.mean(axis, keepdim=keepdim)
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        if not ctx.keepdim:
            grad_output = grad_output.unsqueeze(ctx.axis)
        count = ctx.shape[ctx.axis]
        return grad_output.expand(ctx.shape) / count, None, None
        # endregion


# %% tags=["check"]
check("gym.Mean", Mean)

# %% [markdown]
# ## Max
#
# Only the largest element of each row decides the result. What if two of them are
# equally large? Real data is full of ties. (About 15 minutes.)

# %%
exercise("gym.Max")


# %% tags=["exercise"]
class Max(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(x)
        return x.amax(-1)
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (x,) = ctx.saved_tensors
        wins = (x == x.amax(-1, keepdim=True)).to(x.dtype)
        share = wins / wins.sum(-1, keepdim=True)
        return grad_output.unsqueeze(-1) * share
        # endregion


# %% tags=["check"]
check("gym.Max", Max)

# %% [markdown]
# ## Embedding
#
# Every language model begins with it: rows of a table, picked by whole numbers. The
# same row may be picked twice, and then two gradients want to go to one place. (About
# 15 minutes.)

# %%
exercise("gym.Embedding")


# %% tags=["exercise"]
class Embedding(mg.autograd.Function):
    @staticmethod
    def forward(ctx, weight, idx):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(idx)
        ctx.shape = weight.shape
        return weight[idx]
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (idx,) = ctx.saved_tensors
        table = mg.zeros(ctx.shape, dtype=grad_output.dtype)
        rows = grad_output.reshape(-1, ctx.shape[1])
        return table.index_add_(0, idx.reshape(-1), rows), None
        # endregion


# %% tags=["check"]
check("gym.Embedding", Embedding)

# %% [markdown]
# ## TwoOutputs
#
# One Function, two results. A caller may use both of them or only one, and a gradient
# that doesn't arrive comes as None if you ask for it. (About 15 minutes.)

# %%
exercise("gym.TwoOutputs")


# %% tags=["exercise"]
class TwoOutputs(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.sin(), x * x
        # endregion

    @staticmethod
    def backward(ctx, grad_sine, grad_square):
        # region solution: return one gradient for each argument of forward
        (x,) = ctx.saved_tensors
        grad_x = None
        if grad_sine is not None:
            grad_x = grad_sine * x.cos()
        if grad_square is not None:
            by_square = grad_square * 2 * x
            grad_x = by_square if grad_x is None else grad_x + by_square
        return grad_x
        # endregion


# %% tags=["check"]
check("gym.TwoOutputs", TwoOutputs)

# %% [markdown]
# ## SortWithIndices
#
# It returns the sorted values, and the places that they came from.
# One of the two outputs has a gradient, the other has none. (About 15 minutes.)

# %%
exercise("gym.SortWithIndices")


# %% tags=["exercise"]
class SortWithIndices(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the result, and keep on ctx what backward needs
        values, indices = mg.sort(x, dim=-1)
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(indices)
        return values, indices
        # endregion

    @staticmethod
    def backward(ctx, grad_values, grad_indices):
        # region solution: return one gradient for each argument of forward
        (indices,) = ctx.saved_tensors
        return mg.zeros_like(grad_values).scatter(-1, indices, grad_values)
        # endregion


# %% tags=["check"]
check("gym.SortWithIndices", SortWithIndices)

# %% [markdown]
# ## InplaceScale
#
# It changes the caller's tensor instead of making a new one. You have to tell the
# engine, or it would compute gradients with numbers that are gone. (About 10 minutes.)

# %%
exercise("gym.InplaceScale")


# %% tags=["exercise"]
class InplaceScale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, c):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.c = c
        ctx.mark_dirty(x)
        x.mul_(c)
        return x
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        return grad_output * ctx.c, None
        # endregion


# %% tags=["check"]
check("gym.InplaceScale", InplaceScale)

# %% [markdown]
# ## InplaceSquare
#
# In place again, and this time backward needs the value that you are about to
# overwrite. Decide what to keep before it's gone. (About 12 minutes.)

# %%
exercise("gym.InplaceSquare")


# %% tags=["exercise"]
class InplaceSquare(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(x.clone())
        ctx.mark_dirty(x)
        x.mul_(x)
        return x
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (before,) = ctx.saved_tensors
        return 2 * before * grad_output
        # endregion


# %% tags=["check"]
check("gym.InplaceSquare", InplaceSquare)

# %% [markdown]
# ## Dropout
#
# It sets a random part of the input to zero, and makes the rest larger. Forward and
# backward must agree about which part, although nothing else remembers it. (About 12
# minutes.)

# %%
exercise("gym.Dropout")


# %% tags=["exercise"]
class Dropout(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, p):
        # region solution: return the result, and keep on ctx what backward needs
        mask = mg.rand(x.shape) >= p
        ctx.save_for_backward(mask)
        ctx.p = p
        return x * mask / (1 - p)
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (mask,) = ctx.saved_tensors
        return grad_output * mask / (1 - ctx.p), None
        # endregion


# %% tags=["check"]
check("gym.Dropout", Dropout)

# %% [markdown]
# ## Linear, a layer that does no needless work
#
# The layer that networks are made of. Three inputs, three gradients, and often one of
# them isn't needed: then don't compute it. (About 25 minutes.)

# %%
exercise("gym.Linear")


# %% tags=["exercise"]
class Linear(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(x, W)
        return x @ W.t() + b
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        x, W = ctx.saved_tensors
        grad_x = grad_W = grad_b = None
        if ctx.needs_input_grad[0]:
            grad_x = grad_output @ W
        if ctx.needs_input_grad[1]:
            grad_W = grad_output.t() @ x
        if ctx.needs_input_grad[2]:
            grad_b = grad_output.sum(0)
        return grad_x, grad_W, grad_b
        # endregion


# %% tags=["check"]
check("gym.Linear", Linear)

# %% [markdown]
# ## Softmax, where every element meets every other
#
# It turns numbers into shares that add up to 1. Every element changes every other one,
# so its slopes are a matrix for each row, though you need not build it. (About 20
# minutes.)

# %%
exercise("gym.Softmax")


# %% tags=["exercise"]
class Softmax(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, axis):
        # region solution: return the result, and keep on ctx what backward needs
        powers = (x - x.amax(axis, keepdim=True)).exp()
        y = powers / powers.sum(axis, keepdim=True)
        ctx.save_for_backward(y)
        ctx.axis = axis
        return y
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (y,) = ctx.saved_tensors
        coupling = (grad_output * y).sum(ctx.axis, keepdim=True)
        return y * (grad_output - coupling), None
        # endregion


# %% tags=["check"]
check("gym.Softmax", Softmax)

# %% [markdown]
# ## LogSoftmax, the logarithm of the shares
#
# The logarithm of the shares, computed in one piece, because in two pieces it
# overflows. Its gradient is simpler than you may fear. (About 20 minutes.)

# %%
exercise("gym.LogSoftmax")


# %% tags=["exercise"]
class LogSoftmax(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, axis):
        # region solution: return the result, and keep on ctx what backward needs
        shifted = x - x.amax(axis, keepdim=True)
        y = shifted - shifted.exp().sum(axis, keepdim=True).log()
        ctx.save_for_backward(y)
        ctx.axis = axis
        return y
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        (y,) = ctx.saved_tensors
        total = grad_output.sum(ctx.axis, keepdim=True)
        return grad_output - y.exp() * total, None
        # endregion


# %% tags=["check"]
check("gym.LogSoftmax", LogSoftmax)

# %% [markdown]
# ## CrossEntropy, from logits to a loss
#
# The loss of every classifier: numbers for each class go in, and the right class for
# each row. One of the inputs consists of whole numbers. (About 25 minutes.)

# %%
exercise("gym.CrossEntropy")


# %% tags=["exercise"]
class CrossEntropy(mg.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        # region solution: return the result, and keep on ctx what backward needs
        shifted = logits - logits.amax(1, keepdim=True)
        log_p = shifted - shifted.exp().sum(1, keepdim=True).log()
        ctx.save_for_backward(log_p, target)
        rows = mg.arange(logits.shape[0])
        return -log_p[rows, target].mean()
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        log_p, target = ctx.saved_tensors
        batch = log_p.shape[0]
        slope = log_p.exp()
        slope[mg.arange(batch), target] -= 1.0
        return grad_output * slope / batch, None
        # endregion


# %% tags=["check"]
check("gym.CrossEntropy", CrossEntropy)

# %% [markdown]
# ## LayerNorm
#
# Each row is moved and stretched to mean 0 and variance 1, then scaled and shifted.
# Mean and variance depend on every element, and so does the gradient. (About 25
# minutes.)

# %%
exercise("gym.LayerNorm")


# %% tags=["exercise"]
class LayerNorm(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b, eps):
        # region solution: return the result, and keep on ctx what backward needs
        centred = x - x.mean(-1, keepdim=True)
        variance = (centred * centred).mean(-1, keepdim=True)
        ctx.save_for_backward(x, w)
        ctx.eps = eps
        return centred / (variance + eps).sqrt() * w + b
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        x, w = ctx.saved_tensors
        centred = x - x.mean(-1, keepdim=True)
        variance = (centred * centred).mean(-1, keepdim=True)
        scale = 1 / (variance + ctx.eps).sqrt()
        normal = centred * scale
        h = grad_output * w
        along = (h * normal).mean(-1, keepdim=True)
        grad_x = scale * (h - h.mean(-1, keepdim=True) - normal * along)
        rows = (-1, x.shape[-1])
        grad_w = (grad_output * normal).reshape(rows).sum(0)
        return grad_x, grad_w, grad_output.reshape(rows).sum(0), None
        # endregion


# %% tags=["check"]
check("gym.LayerNorm", LayerNorm)

# %% [markdown]
# ## Conv1d
#
# A small kernel slides along a signal. Its gradient is a sliding sum again, with the
# roles exchanged: do it with small numbers on paper first. (About 30 minutes.)

# %%
exercise("gym.Conv1d")

# %% [markdown]
# This helper is given; both passes may use it.


# %%
def padded(x, padding):
    wide = mg.zeros(*x.shape[:-1], x.shape[-1] + 2 * padding, dtype=x.dtype)
    wide[:, :, padding : padding + x.shape[-1]] = x
    return wide


# %% tags=["exercise"]
class Conv1d(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, padding):
        # region solution: return the result, and keep on ctx what backward needs
        ctx.save_for_backward(x, w)
        ctx.padding = padding
        signal = padded(x, padding)
        steps = signal.shape[-1] - w.shape[-1] + 1
        return sum(
            mg.einsum("bct,oc->bot", signal[:, :, k : k + steps], w[:, :, k])
            for k in range(w.shape[-1])
        )
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one gradient for each argument of forward
        x, w = ctx.saved_tensors
        signal = padded(x, ctx.padding)
        steps = grad_output.shape[-1]
        grad_signal, grad_w = mg.zeros_like(signal), mg.zeros_like(w)
        for k in range(w.shape[-1]):
            seen = slice(k, k + steps)
            grad_signal[:, :, seen] += mg.einsum("bot,oc->bct", grad_output, w[:, :, k])
            grad_w[:, :, k] = mg.einsum("bot,bct->oc", grad_output, signal[:, :, seen])
        inside = slice(ctx.padding, ctx.padding + x.shape[-1])
        return grad_signal[:, :, inside], grad_w, None
        # endregion


# %% tags=["check"]
check("gym.Conv1d", Conv1d)

# %% [markdown]
# ## For the curious: may backward draw a new mask?
#
# Dropout draws a mask in forward. This one draws another in backward. Look at which
# elements of y and of x.grad are zero.


# %% tags=["Q10"]
class Redrawn(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * (mg.rand(x.shape) >= 0.5) * 2

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * (mg.rand(grad_output.shape) >= 0.5) * 2


mg.manual_seed(1)
x = mg.ones(8, requires_grad=True)
y = Redrawn.apply(x)
y.sum().backward()
print("y     ", y.detach().numpy())
print("x.grad", x.grad.numpy())

# %% [markdown]
# Where y is 0, x had no part in the loss, so its gradient has to be 0 there too. With a
# new mask, elements that did nothing are changed, and others that did something aren't.
# So the mask is kept with `save_for_backward`.
#
# ## For the curious: why isn't softmax's gradient s(1 - s)?
#
# For a sigmoid, s(1 - s) is right. For softmax, here's the whole Jacobian: how much
# each share (row) moves with each input (column).

# %% tags=["Q19"]
logits = mg.tensor([1.0, 2.0, 0.0])
jacobian = mg.autograd.functional.jacobian(lambda x: mg.softmax(x, 0), logits)
s, g = mg.softmax(logits, 0), mg.tensor([1.0, 0.0, 0.0])
print(jacobian.numpy().round(3))
print("only the diagonal:", (g * s * (1 - s)).numpy().round(3))
print("the whole matrix: ", (g @ jacobian).numpy().round(3))

# %% [markdown]
# s(1 - s) is the diagonal. It leaves out that raising one input lowers every other
# share: the shares add up to 1. The right gradient adds up to 0.
#
# ## For the curious: a NumPy function in the middle
#
# NumPy's results know nothing of the graph, so the first line below has no gradient.
# Inside `forward` you may use NumPy, because you write backward yourself.


# %% tags=["Q36"]
class CubeRoot(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = mg.tensor(np.cbrt(x.numpy()))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output / (3 * y * y)


x = mg.tensor([8.0, 27.0], requires_grad=True)
print(mg.tensor(np.cbrt(x.detach().numpy())).requires_grad)
CubeRoot.apply(x).sum().backward()
x.grad

# %% [markdown]
# At 8 the slope of the cube root is 1/12. This backward uses tensor operations only; if
# yours needs NumPy too, mark it with `once_differentiable`, as in NumpySin.
#
# ## For the curious: clip a gradient with a Function or a hook?
#
# Both can clip the gradient at one point of the graph to -1 and 1. Do they give the
# same?


# %% tags=["Q51"]
class ClipGradient(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clamp(-1, 1)


x = mg.tensor([1.0, 2.0], requires_grad=True)
(ClipGradient.apply(x * 3) ** 2).sum().backward()
by_function, x.grad = x.grad, None
h = x * 3
h.register_hook(lambda gradient: gradient.clamp(-1, 1))
(h**2).sum().backward()
by_function, x.grad

# %% [markdown]
# They do. The hook is shorter and belongs to one tensor of one run. The Function is
# there in every run, and you can see it in the graph.
#
# ## For the curious: why has LayerNorm's gradient three terms?
#
# Adding a constant to a row, or stretching it, doesn't change the result. So the
# gradient has no part in these two directions. This prints both parts, for the right
# gradient and for its first term alone.

# %% tags=["Q57"]
x = mg.tensor([[1.0, 2.0, 6.0]], dtype=mg.float64, requires_grad=True)
g = mg.tensor([[1.0, 0.0, 2.0]], dtype=mg.float64)
y = mg.nn.functional.layer_norm(x, (3,), eps=0.0)
(whole,) = mg.autograd.grad(y, x, g)
first_term = g / x.detach().std(-1, correction=0, keepdim=True)
for name, gradient in (("first term", first_term), ("whole", whole)):
    parts = gradient.sum(), (gradient * y.detach()).sum()
    print(name, [round(abs(part.item()), 3) for part in parts])

# %% [markdown]
# The second term takes out the part along a constant (the mean of the row absorbs it),
# the third the part along y (the variance does).
