# %% [markdown]
# # Exercises: Train something real
#
# You will
# * write the Functions of a network, and train it until it reaches a target,
# * make do with half the memory, and replace a loop by a kernel,
# * turn your own run into a report card.
#
# The lesson is [here](../../notebooks/16_train_something_real.ipynb).

# %%
import numpy as np

import minigrad as mg
from minigrad import bench, course
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 16.1 Loss at step zero
#
# Answer from memory, without running anything, then press *Commit*. (About 6 minutes.)

# %% tags=["exercise"]
exercise("16.1")

# %% tags=["solution"]
check("16.1", ["2.3", "3.3", "the same", "73.7", "10", "up"])

# %% tags=["check"]
check("16.1")

# %% [markdown]
# ## 16.2 The parts
#
# Everything that follows is made of four Functions. If you have written one in the gym,
# or `Linear` in lesson 04, bring it along. `Linear.apply(x, W, b)` returns `x @ W.T +
# b`, and computes no gradient that isn't needed. (About 25 minutes for all four.)


# %% tags=["exercise"]
class Linear(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b):
        # region solution: save what backward needs, return x @ W.T + b
        ctx.save_for_backward(x, W)
        return x @ W.T + b
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: one gradient for each input, None where it isn't needed
        x, W = ctx.saved_tensors
        for_x, for_W, for_b = ctx.needs_input_grad
        return (
            grad_output @ W if for_x else None,
            grad_output.T @ x if for_W else None,
            grad_output.sum(0) if for_b else None,
        )
        # endregion


# %% [markdown]
# `ReLU.apply(x)` keeps what's positive, and everything else becomes 0. At exactly 0 the
# slope is 0.


# %% tags=["exercise"]
class ReLU(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: save what backward needs, return x where it's positive
        ctx.save_for_backward(x)
        return x.clamp(min=0)
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: the gradient where forward let x through
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0)
        # endregion


# %% [markdown]
# `Embedding.apply(weight, idx)` returns `weight[idx]`: a row of the table for each
# number in `idx`, which may have any shape. A row that's picked twice gets both
# gradients.


# %% tags=["exercise"]
class Embedding(mg.autograd.Function):
    @staticmethod
    def forward(ctx, weight, idx):
        # region solution: keep what backward needs, return the rows that idx picks
        ctx.save_for_backward(idx)
        ctx.shape = weight.shape
        return weight[idx]
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: the gradient of the table, and None for idx
        (idx,) = ctx.saved_tensors
        table = mg.zeros(ctx.shape, dtype=grad_output.dtype)
        rows = grad_output.reshape(-1, ctx.shape[1])
        return table.index_add_(0, idx.reshape(-1), rows), None
        # endregion


# %% [markdown]
# `CrossEntropy.apply(logits, target)` returns the mean over the rows of -ln p, where p
# is the softmax at the right class, `target`. A logit of 1000 has to be fine.


# %% tags=["exercise"]
class CrossEntropy(mg.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        # region solution: save the inputs of the softmax, return the mean loss
        ctx.save_for_backward(logits, target)
        logs = logits - logits.logsumexp(1, keepdim=True)
        return -logs[mg.arange(len(target)), target].mean()
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: the gradient of the logits, and None for target
        logits, target = ctx.saved_tensors
        slope = logits.softmax(1)
        slope[mg.arange(len(target)), target] -= 1
        return grad_output * slope / len(target), None
        # endregion


# %% [markdown]
# The check takes them in this order, and stops at the first that isn't right yet.

# %% tags=["check"]
check("16.2", [Linear, ReLU, Embedding, CrossEntropy])

# %%
hint("16.2")

# %% [markdown]
# ## 16.3 The loop
#
# Choose your track. *Digits*: a row of x is 64 pixels, y is which digit it is. *Names*:
# a row of x is three letters of a name as numbers, y is the letter that follows (0 is
# before the first and after the last one). `unseen` isn't for training: one image in
# five, or one name in five. These names are new, but 87 % of their rows occur in
# others, too. (About 30 minutes.)

# %% tags=["exercise"]
TRACK = "digits"

# %%
if TRACK == "digits":
    images, labels = mg.nn.data.digits()
    x, y, steps = images.reshape(-1, 64), labels, 300
    whose = mg.arange(len(x))
else:
    names = [[0, 0, 0, *[ord(c) - 96 for c in n], 0] for n in mg.nn.data.names()]
    rows = mg.tensor([n[i : i + 4] for n in names for i in range(len(n) - 3)])
    x, y, steps = rows[:, :3], rows[:, 3], 500
    whose = mg.tensor([i for i, n in enumerate(names) for _ in n[3:]])
mg.manual_seed(0)
count = whose[-1].item() + 1  # images, or names
is_unseen = (mg.randperm(count) < count // 5)[whose]
unseen, rest = [mask.nonzero()[:, 0] for mask in (is_unseen, ~is_unseen)]
x.shape, y[:8].tolist()

# %% [markdown]
# `uniform` draws a matrix for Linear whose results are about as large as its inputs.
# Write `train`. It goes through `for _ in run:`, takes one step each time, and notes
# its loss with `run.note(loss=loss)`. It returns the function `logits`. For names,
# Embedding gives each row three vectors; `.reshape(len(x), -1)` puts them side by side.


# %% tags=["exercise"]
def uniform(rows, columns):
    return ((2 * mg.rand(rows, columns) - 1) / columns**0.5).requires_grad_()


def train(x, y, run, seed):
    mg.manual_seed(seed)
    # region solution: make the parameters, and the optimizer
    table = mg.randn(27, 8).requires_grad_()
    inputs, classes = (64, 10) if x.is_floating_point() else (24, 27)
    W1, b1 = uniform(64, inputs), mg.zeros(64, requires_grad=True)
    W2, b2 = uniform(classes, 64), mg.zeros(classes, requires_grad=True)
    optimizer = mg.optim.Adam([table, W1, b1, W2, b2], lr=0.01)
    # endregion

    def logits(x):
        # region solution: a row of numbers for each row of x, one for each class
        if not x.is_floating_point():
            x = Embedding.apply(table, x).reshape(len(x), -1)
        return Linear.apply(ReLU.apply(Linear.apply(x, W1, b1)), W2, b2)
        # endregion

    for _ in run:
        # region solution: one step on a new batch, and note its loss
        rows = mg.randint(0, len(x), (64,))
        optimizer.zero_grad()
        loss = CrossEntropy.apply(logits(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        run.note(loss=loss)
        # endregion
    return logits


# %% [markdown]
# Train once, with a bar. Inside the `with` block only your own Functions may join a
# graph. Then the loss on the images, or names, that were left out. The targets are 0.25
# and 2.30, as a mean of three runs. (20 reference runs: Adam at 0.01, 64 hidden units,
# batches of 64. Digits: 0.112 on average, from 0.055 to 0.209; names: 2.201, from 2.139
# to 2.272.)

# %% tags=["raises-exception"]
run = mg.training(range(steps))
with course.only_my_functions():
    logits = train(x[rest], y[rest], run, seed=0)
CrossEntropy.apply(logits(x[unseen]), y[unseen])

# %% tags=["check"]
check("16.3", [TRACK, train])

# %%
hint("16.3")

# %% [markdown]
# ## 16.4 Half the memory
#
# The loss of a network with six hidden layers. `layers` is a list of pairs (W, b). What
# does your ReLU save, what does the Linear after it save, and how many arrays is that
# for each layer? (About 15 minutes.)


# %% tags=["exercise"]
def loss_of(x, y, layers):
    for W, b in layers[:-1]:
        x = ReLU.apply(Linear.apply(x, W, b))
    return CrossEntropy.apply(Linear.apply(x, *layers[-1]), y)


# %% [markdown]
# Write `lean_loss`: the same loss and the same gradients, with about half as much kept
# for backward: at most 60 % of two arrays a layer. Write new Functions in the same
# cell, if you need them, and use anything from lessons 02, 03 and 12.


# %% tags=["exercise"]
class LeanReLU(ReLU):
    @staticmethod
    def forward(ctx, x):
        # region solution: save something else than ReLU does
        result = x.clamp(min=0)
        ctx.save_for_backward(result)
        return result
        # endregion


def lean_loss(x, y, layers):
    # region solution: the loss of loss_of, with less kept for backward
    for W, b in layers[:-1]:
        x = LeanReLU.apply(Linear.apply(x, W, b))
    return CrossEntropy.apply(Linear.apply(x, *layers[-1]), y)
    # endregion


# %% [markdown]
# The most that's alive at a time, in forward and backward together, in MB: once with
# `loss_of`, once with yours. This falls by less than half, as backward makes gradients
# on top of what's kept.

# %% tags=["raises-exception"]
layers = [(uniform(64, 64), mg.zeros(64, requires_grad=True)) for _ in range(6)]
layers.append((uniform(10, 64), mg.zeros(10, requires_grad=True)))
batch, classes = mg.randn(512, 64), mg.randint(0, 10, (512,))


def megabytes(loss):
    peak = course.peak_bytes(lambda: loss(batch, classes, layers).backward())
    return round(peak / 1e6, 2)


megabytes(loss_of), megabytes(lean_loss)

# %% tags=["check"]
check("16.4", lean_loss)

# %%
hint("16.4")

# %% [markdown]
# ## 16.5 Twice as fast
#
# `slow` is the gradient of an Embedding's table on NumPy arrays. Write `fast`: the same
# numbers without a Python loop over the rows of g, with array operations or a compiled
# kernel. (About 15 minutes.)


# %%
def slow(g, idx, rows):
    table = np.zeros((rows, g.shape[1]), g.dtype)
    for i, row in zip(idx.tolist(), g, strict=True):
        table[i] += row
    return table


# %% tags=["exercise"]
def fast(g, idx, rows):
    # region solution: the same table, without a loop over rows
    table = np.zeros((rows, g.shape[1]), g.dtype)
    np.add.at(table, idx, g)
    return table
    # endregion


# %% [markdown]
# And say how much faster it is: `speedup(first, second)` returns how many times faster
# a call of `second()` is, as a rule. Measure warm and in turns: with `bench` (lesson
# 14), or by yourself with `time.perf_counter()`.


# %% tags=["exercise"]
def speedup(first, second):
    # region solution: how many times faster second() is, as a rule
    timed = bench.interleaved({"first": first, "second": second})
    return timed["first"].ratio_to(timed["second"]).median
    # endregion


# %% [markdown]
# How much is it here? Does it hold for 10 rows as well?

# %% tags=["raises-exception"]
random = np.random.default_rng(0)
g, idx = random.normal(size=(1000, 8)), random.integers(0, 27, 1000)
few = g[:10], idx[:10]
(
    speedup(lambda: slow(g, idx, 27), lambda: fast(g, idx, 27)),
    speedup(lambda: slow(*few, 27), lambda: fast(*few, 27)),
)

# %% tags=["check"]
check("16.5", [fast, speedup])

# %%
hint("16.5")

# %% [markdown]
# ## 16.6 Report card
#
# One page of your run: the curve, what each Function costs, the graph of one step, the
# mistakes you met. Five sentences are yours, of 6 to 60 words, three with a number:
# where the loss began, and why · where it ended, on what was left out · which Function
# keeps most, and why · a mistake, and how it showed (none? one that's hard to notice) ·
# what you'd change next, and what you expect. (About 20 minutes.)

# %% tags=["exercise"]
sentences = ["", "", "", "", ""]

# %% tags=["solution"]
sentences = [
    "The loss began at 2.4, a little above ln 10 = 2.3: the network knew nothing yet.",
    "On the 359 images it hadn't seen, it ended at 0.16, and 96 of 100 were right.",
    "Linear and ReLU keep most, 16 kB each: 64 rows of 64 numbers from the middle.",
    "At first the loss fell and rose again, until the gradients were set to None.",
    "With 128 hidden units I expect about 0.14, for twice as many bytes.",
]

# %% [markdown]
# `step` moves no parameter, so the page can run it several times. If you like the page,
# `card.save("report_card.html")` writes it to one file, which you can send to somebody.

# %% tags=["raises-exception"]
batch = rest[:64]


def step():
    CrossEntropy.apply(logits(x[batch]), y[batch]).backward()


title = f"A network for {TRACK}"
card = course.report_card(step, run.noted["loss"], sentences, title=title)
card

# %% tags=["check"]
check("16.6", sentences)

# %%
hint("16.6")

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/16_train_something_real.ipynb), to its recall
# cards: open each one only after you have answered it.
