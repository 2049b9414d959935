# %% [markdown]
# # Exercises: Trading memory for time
#
# You will
# * say which values a pack hook is called with,
# * write hooks that keep saved tensors smaller, and in files,
# * put a checkpoint together, make one right for dropout, and choose where to cut.
#
# The lesson is [here](../../notebooks/12_trading_memory_for_time.ipynb).

# %%
import itertools
from contextlib import contextmanager

import numpy as np

import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 12.1 What do hooks see?

# %% tags=["solution"]
check("12.1", ["yes", "no", "no", "yes", "yes", "no"])

# %% [markdown]
# ## 12.2 Half the bytes


# %% tags=["exercise"]
def pack(tensor):
    # region solution: return what is kept; unpack gets this and nothing else
    if tensor.is_floating_point():
        return tensor.to(mg.float16), tensor.dtype
    return tensor, tensor.dtype
    # endregion


def unpack(packed):
    # region solution: return a tensor with the dtype that it had before
    numbers, dtype = packed
    return numbers.to(dtype)
    # endregion


# %% [markdown]
# The gradient of a sine is the cosine of what was saved. At 1 that's 0.5403. Which
# digits change with your hooks at 0.1, where it's 0.9950042?

# %% tags=["raises-exception"]
x = mg.tensor([1.0, 0.1], dtype=mg.float64, requires_grad=True)
with mg.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = x.sin().sum()
y.backward()
x.grad.tolist()

# %% [markdown]
# ## 12.3 To disk


# %% tags=["exercise"]
@contextmanager
def on_disk(folder):
    paths = []

    def pack(tensor):
        # region solution: write a file, and return its path
        path = folder / f"{len(paths)}.npy"
        np.save(path, tensor.detach().numpy())
        paths.append(path)
        return path
        # endregion

    def unpack(path):
        # region solution: read the file
        return mg.tensor(np.load(path))
        # endregion

    # region solution: put the hooks in force around yield; leave no file
    try:
        with mg.autograd.graph.saved_tensors_hooks(pack, unpack):
            yield
    finally:
        for path in paths:
            path.unlink()
    # endregion


# %% [markdown]
# ## 12.4 A checkpoint, in order

# %% tags=["solution"]
check("12.4", ["h", "c", "a", "e", "j", "b", "l", "f", "k", "g", "m"])

# %% [markdown]
# ## 12.5 checkpoint(function, x)


# %% tags=["exercise"]
class Checkpoint(mg.autograd.Function):
    @staticmethod
    def forward(ctx, function, x):
        # region solution: keep what backward needs, and run function
        ctx.function = function
        ctx.save_for_backward(x, mg.get_rng_state())
        return function(x)
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: run function again as it ran then, and go backward through it
        x, state = ctx.saved_tensors
        x = x.detach().requires_grad_()
        now = mg.get_rng_state()
        mg.set_rng_state(state)
        with mg.enable_grad():
            y = ctx.function(x)
        mg.set_rng_state(now)
        y.backward(grad_output)
        return None, x.grad
        # endregion


def checkpoint(function, x):
    return Checkpoint.apply(function, x)


# %% [markdown]
# A mask drops about half of the numbers. Where the result is 0, the gradient has to be
# 0, too; where it isn't, the gradient equals the result.

# %% tags=["raises-exception"]
x = mg.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], requires_grad=True)
y = checkpoint(lambda x: x.exp() * (mg.rand(6) < 0.5), x)
y.sum().backward()
y.tolist(), x.grad.tolist()

# %% [markdown]
# ## 12.6 Where to cut


# %%
def peak(sizes, cuts):
    edges = [0, *cuts, len(sizes)]
    kept = sum(sizes[p - 1] for p in cuts)
    return kept + max(sum(sizes[a:b]) for a, b in itertools.pairwise(edges))


EQUAL, FUNNEL = [10] * 16, [80, 70, 60, 50, 40, 30, 20, 10, 8, 7, 6, 5, 4, 3, 2, 1]
peak(EQUAL, [4, 8, 12]), peak(FUNNEL, [4, 8, 12])

# %% [markdown]
# Equal segments are fine for equal layers. Is there anything better for the other list?
# (16 layers and 3 cuts leave 455 choices.)


# %% tags=["exercise"]
def best_cuts(sizes, k):
    # region solution: return k places between 1 and 15, in order
    places = itertools.combinations(range(1, len(sizes)), k)
    return min(places, key=lambda cuts: peak(sizes, cuts))
    # endregion


# %% [markdown]
# How much lower is it than with equal segments?

# %% tags=["raises-exception"]
cuts = best_cuts(FUNNEL, 3)
cuts, peak(FUNNEL, cuts)

# %% [markdown]
# ## For the curious: in which order do hooks run?
#
# Saved-tensor hooks aren't the only ones. A hook on a *tensor* gets its gradient (and
# may return another); a *node* can have hooks and prehooks. `h` is used twice, and
# backward runs twice. **Predict** the order, and how often each is called.

# %% tags=["predict", "Q64", "Q99"]
calls = []
x = mg.tensor(2.0, requires_grad=True)
h = x * 3
h.grad_fn.register_hook(lambda *_: calls.append("node"))
h.grad_fn.register_prehook(lambda *_: calls.append("prehook"))
h.register_hook(lambda g: calls.append(f"tensor, {g.item():g}"))
x.register_post_accumulate_grad_hook(lambda leaf: calls.append("leaf is done"))
y = h * h
y.backward(retain_graph=True)
y.backward()
calls

# %% [markdown]
# Tensor, prehook, rule, hook of the node; and at a leaf, after `.grad` is written, its
# own. The order in which you register them matters only among hooks of one kind. `h` is
# used twice, but its node runs once a backward, with the sum 12. Two backwards: twice.

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/12_trading_memory_for_time.ipynb), to its recall
# cards: open each one only after you have answered it.
