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

# %% tags=["solution"]
check("16.1", ["2.3", "3.3", "the same", "73.7", "10", "up"])

# %% [markdown]
# ## 16.2 The parts

# %% tags=["exercise"]
# gym Linear

# %% tags=["exercise"]
# gym ReLU

# %% tags=["exercise"]
# gym Embedding

# %% [markdown]
# For each row, the loss is -ln p, where p is the softmax at the right class.


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
# ## 16.3 The loop

# %% tags=["exercise"]
TRACK = "digits"

# %%
(unseen, right), (x, y) = mg.nn.data.split(TRACK, np.random.default_rng(0))
steps = {"digits": 300, "names": 500}[TRACK]
len(unseen), x.shape, y[:8].tolist()

# %% [markdown]
# `unseen` isn't for training. Write `train`: each step of `run` is one batch, one
# backward and one `run.note(loss=loss)`. `uniform` draws a matrix for Linear whose
# results are about as large as its inputs. For names, Embedding gives each row three
# vectors; `.reshape(len(x), -1)` puts them side by side.


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
# graph. Then the loss on what was left out. The targets are 0.25 and 2.30, as a mean of
# three runs with other seeds. (20 reference runs: Adam at 0.01, 64 hidden units,
# batches of 64. Digits: 0.112 on average, from 0.055 to 0.209; names: 2.201, from 2.139
# to 2.272.)

# %% tags=["raises-exception"]
run = mg.training(range(steps))
with course.only_my_functions():
    logits = train(x, y, run, seed=0)
CrossEntropy.apply(logits(unseen), right)

# %% [markdown]
# ## 16.4 Half the memory


# %% tags=["exercise"]
def loss_of(x, y, layers):
    for W, b in layers[:-1]:
        x = ReLU.apply(Linear.apply(x, W, b))
    return CrossEntropy.apply(Linear.apply(x, *layers[-1]), y)


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

# %% [markdown]
# ## 16.5 Twice as fast


# %%
def slow(g, idx, rows):
    table = np.zeros((rows, g.shape[1]), g.dtype)
    for i, row in zip(idx.tolist(), g, strict=True):
        table[i] += row
    return table


# %% tags=["exercise"]
def fast(g, idx, rows):
    # region solution: the same table, without a loop over rows
    total = np.zeros((rows, g.shape[1]), g.dtype)
    np.add.at(total, idx, g)
    return total
    # endregion


# %% tags=["exercise"]
def speedup(first, second):
    # region solution: how many times faster second() is, as a rule
    timed = bench.interleaved({"first": first, "second": second})
    return timed["first"].ratio_to(timed["second"]).median
    # endregion


# %% [markdown]
# How much is it here? Does it hold for 10 rows as well? (The check has a clock of its
# own: `bench` and `time.perf_counter()` read it, timeit doesn't.)

# %% tags=["raises-exception"]
random = np.random.default_rng(0)
g, idx = random.normal(size=(1000, 8)), random.integers(0, 27, 1000)
few = g[:10], idx[:10]
(
    speedup(lambda: slow(g, idx, 27), lambda: fast(g, idx, 27)),
    speedup(lambda: slow(*few, 27), lambda: fast(*few, 27)),
)

# %% [markdown]
# ## 16.6 Report card

# %% tags=["exercise"]
sentences = ["", "", "", "", ""]

# %% tags=["solution"]
sentences = [
    "The loss began at 2.34, a little above ln 10, as the network knew nothing yet.",
    "On the 360 images it hadn't seen, it ended at 0.08, and 351 of them were right.",
    "Linear and ReLU keep most, 16 kB each: 64 rows of 64 numbers from the middle.",
    "At first the loss fell and rose again, until the gradients were set to None.",
    "With 128 hidden units I expect about 0.07, for twice as many bytes.",
]

# %% [markdown]
# Say what the network did, not what the program looks like. A person reads it and gives
# 0 to 3 points: is it true, and does it say why? `step` moves no parameter, so the page
# can run it several times. `card.save("report_card.html")` writes one file, which you
# can send to others.


# %% tags=["raises-exception"]
def step():
    CrossEntropy.apply(logits(x[:64]), y[:64]).backward()


title = f"A network for {TRACK}"
card = course.report_card(step, run.noted["loss"], sentences, title=title)
card

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/16_train_something_real.ipynb), to its recall
# cards: open each one only after you have answered it.
