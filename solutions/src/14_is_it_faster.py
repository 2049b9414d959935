# %% [markdown]
# # Exercises: Is it faster?
#
# You will
# * say where a compiled kernel loses, and measure two programs side by side,
# * write a fused loss and a convolution as kernels, with their backward,
# * repair a sum that two threads get wrong.
#
# The lesson is [here](../../notebooks/14_is_it_faster.ipynb).

# %%
import math
import random
import time

import numpy as np

import minigrad as mg
from minigrad.autograd.function import once_differentiable
from minigrad.course import check, exercise, hint
from minigrad.utils import jit

mg.teaching()

# %% [markdown]
# ## 14.1 When does compiling lose?
#
# Answer from memory, without running anything, then press *Commit*. (About 5 minutes.)

# %% tags=["solution"]
check(
    "14.1",
    ["as it is", "compiled", "as it is", "compiled", "about equal", "about equal"],
)

# %% [markdown]
# ## 14.2 Measure honestly


# %%
def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


# %% tags=["exercise"]
def compare(one, other):
    # region solution: warm up, let them take turns, return three numbers
    one(), other()
    ratios = []
    for _ in range(15):
        a, b = seconds(one), seconds(other)
        ratios.append(a / b)
    return sorted(ratios)[len(ratios) // 2], min(ratios), max(ratios)
    # endregion


# %% [markdown]
# Two ways to add up squares: if 1 lies between the lowest and the highest ratio, you
# can't say which one is faster.

# %% tags=["raises-exception"]
x = np.random.default_rng(0).standard_normal(100_000)
compare(lambda: (x * x).sum(), lambda: x @ x)

# %% [markdown]
# ## 14.3 Fused softmax cross-entropy


# %% tags=["exercise"]
@jit
def losses_of(logits, target, logs, losses):
    # region solution: fill logs and losses, a row at a time
    for i in range(logits.shape[0]):
        largest = logits[i, 0]
        for j in range(1, logits.shape[1]):
            largest = max(largest, logits[i, j])
        total = 0.0
        for j in range(logits.shape[1]):
            total += math.exp(logits[i, j] - largest)
        logs[i] = largest + math.log(total)
        losses[i] = logs[i] - logits[i, target[i]]
    # endregion


# %% [markdown]
# The slope of a row's loss is its softmax, with 1 less at the right class. With `logs`,
# the softmax is `exp(logits[i, j] - logs[i])`. Each slope is multiplied by `scale`.


# %% tags=["exercise"]
@jit
def slopes_of(logits, target, logs, scale, slopes):
    # region solution: fill slopes
    for i in range(logits.shape[0]):
        for j in range(logits.shape[1]):
            slopes[i, j] = math.exp(logits[i, j] - logs[i]) * scale
        slopes[i, target[i]] -= scale
    # endregion


# %% [markdown]
# The Function around them. (Kernels leave no graph, so `once_differentiable` refuses a
# second derivative, lesson 10.) Its loss is the mean over the rows: which scale does
# each slope get?


# %% tags=["exercise"]
class CrossEntropy(mg.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        z = logits.detach().numpy()
        logs, losses = np.empty((2, len(z)), z.dtype)
        losses_of(z, target.numpy(), logs, losses)
        ctx.save_for_backward(logits, target, mg.from_numpy(logs))
        return mg.tensor(losses.mean(), dtype=logits.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        logits, target, logs = [saved.detach() for saved in ctx.saved_tensors]
        slopes = np.empty(logits.shape, logits.numpy().dtype)
        # region solution: scale = ...
        scale = grad_output.item() / len(slopes)
        # endregion
        slopes_of(logits.numpy(), target.numpy(), logs.numpy(), scale, slopes)
        return mg.from_numpy(slopes), None


# %% tags=["check"]
check("14.3", CrossEntropy)

# %%
hint("14.3")

# %% [markdown]
# Then the time, by your own `compare`: how many times as long does a loss made of
# single operations take, forward and backward?


# %% tags=["raises-exception"]
def step_with(loss_of):
    def run():
        loss = loss_of(logits, target)
        return loss, mg.autograd.grad(loss, logits)[0]

    return run


def in_single_operations(logits, target):
    shifted = logits - logits.amax(1, keepdim=True)
    logs = shifted - shifted.exp().sum(1, keepdim=True).log()
    return -logs[mg.arange(len(target)), target].mean()


logits = mg.randn(64, 100, requires_grad=True)
target = mg.randint(0, 100, (64,))
compare(step_with(in_single_operations), step_with(CrossEntropy.apply))

# %% [markdown]
# ## 14.4 The race


# %%
def run(work, threads, places):
    shared = [0.0] * places
    going = [work(shared, k) for k in range(threads)]
    while going:
        one = random.choice(going)
        if next(one, "over") == "over":
            going.remove(one)
    return shared


# %% tags=["exercise"]
# shipped parallel_sum


# %% tags=["solution"]
def parallel_sum(numbers, run):
    def work(shared, k):
        for x in numbers[k::2]:
            total = shared[k]
            yield
            shared[k] = total + x
            yield

    shared = run(work, threads=2, places=2)
    return shared[0] + shared[1]


# %% [markdown]
# 1 + 2 + ... + 10 is 55. What do ten runs of your version say?

# %% tags=["raises-exception"]
[parallel_sum([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], run) for _ in range(10)]

# %% [markdown]
# ## 14.5 conv1d without unfolding


# %% tags=["exercise"]
@jit
def correlate(x, w, padding, y):
    # region solution: add up every product that belongs to a place of y
    for b in range(y.shape[0]):
        for o in range(y.shape[1]):
            for t in range(y.shape[2]):
                for c in range(x.shape[1]):
                    for k in range(w.shape[2]):
                        s = t + k - padding
                        if 0 <= s < x.shape[2]:
                            y[b, o, t] += x[b, c, s] * w[o, c, k]
    # endregion


# %% [markdown]
# `jit` has every index checked. A kernel in C++ or CUDA doesn't: outside of an array it
# reads, and writes, what happens to be there. Now the way back, for the same products:


# %% tags=["exercise"]
@jit
def correlate_back(g, x, w, padding, grad_x, grad_w):
    # region solution: hand g on to both factors of every product
    for b in range(g.shape[0]):
        for o in range(g.shape[1]):
            for t in range(g.shape[2]):
                for c in range(x.shape[1]):
                    for k in range(w.shape[2]):
                        s = t + k - padding
                        if 0 <= s < x.shape[2]:
                            grad_x[b, c, s] += g[b, o, t] * w[o, c, k]
                            grad_w[o, c, k] += g[b, o, t] * x[b, c, s]
    # endregion


# %% [markdown]
# The Function around the two is ready. It makes three arrays, none larger than x or y.


# %%
class Conv1d(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, padding):
        ctx.save_for_backward(x, w)
        ctx.padding = padding
        steps = x.shape[2] + 2 * padding - w.shape[2] + 1
        a, b = x.detach().numpy(), w.detach().numpy()
        y = np.zeros((x.shape[0], w.shape[0], steps), a.dtype)
        correlate(a, b, padding, y)
        return mg.from_numpy(y)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, w = [saved.detach().numpy() for saved in ctx.saved_tensors]
        grad_x, grad_w = np.zeros(x.shape, x.dtype), np.zeros(w.shape, w.dtype)
        g = grad_output.numpy()
        correlate_back(g, x, w, ctx.padding, grad_x, grad_w)
        return mg.from_numpy(grad_x), mg.from_numpy(grad_w), None


# %% [markdown]
# Let gradcheck say first whether the two kernels belong together (lesson 13).

# %% tags=["raises-exception"]
x = mg.randn(2, 3, 7, dtype=mg.float64, requires_grad=True)
w = mg.randn(4, 3, 2, dtype=mg.float64, requires_grad=True)
mg.autograd.gradcheck(lambda x, w: Conv1d.apply(x, w, 1), (x, w))

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/14_is_it_faster.ipynb), to its recall cards: open
# each one only after you have answered it.
