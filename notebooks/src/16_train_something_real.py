# %% [markdown] tags=["slide"]
# # Train something real
#
# You will
# * say what a network's loss is before it has learned anything,
# * step through one training step, run hundreds of them, interrupt them and go on,
# * see what one wrong gradient does to the loss of a network.

# %%
import numpy as np

import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("16")

# %% [markdown] tags=["slide"]
# ## The loss before training
#
# The course comes with 1797 handwritten digits: images of 8 by 8 pixels, each a number
# from 0 to 1, and which digit each image is. Here an image becomes a row of 64 numbers.

# %% tags=["slide"]
images, labels = mg.nn.data.digits()
x, y = images.reshape(-1, 64), labels
x.shape, y[:6].tolist()

# %% [markdown] tags=["slide"]
# From each image, a network computes ten numbers, one for each digit: the higher the
# number, the surer it is of that digit. These are **logits**. Softmax turns them into
# probabilities, which add up to 1. The loss is **cross-entropy**: -ln of the
# probability given to the right digit, averaged over the images. (ln is the natural
# logarithm: ln 2 is 0.69.)
#
# **Predict.** All weights are 0. What's the loss: 0, 0.9, 2.3 or 10?

# %% tags=["predict", "slide", "Q83"]
w = mg.zeros(64, 10)
round(mg.nn.functional.cross_entropy(x @ w, y).item(), 4)

# %% [markdown] tags=["explain", "slide"]
# All ten logits are 0, so each digit gets the probability 1/10, and -ln(1/10) is ln 10,
# or 2.30. With 27 classes it would be ln 27, or 3.30. A loss of 0 would mean: always
# right, always certain.

# %% [markdown] tags=["slide"]
# One layer may begin with zeros, as here. In a network with two, each layer's gradient
# has the other's weights as a factor: all would be 0, and stay so. So weights are drawn
# at random, here from the standard normal distribution: most are between -2 and 2.


# %% tags=["slide"]
def at_random(scale=1.0):
    drawn = mg.tensor(np.random.default_rng(2).normal(size=(64, 10)), dtype=mg.float32)
    w = (drawn * scale).detach().requires_grad_()
    loss = mg.nn.functional.cross_entropy(x @ w, y)
    loss.backward()
    return round(loss.item(), 2)


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "16.random",
    "What is the loss now, before any training?",
    ["between 0.5 and 1.5", "between 2 and 3", "between 5 and 8", "above 20"],
    then=at_random,
    so=lambda ran: "between 5 and 8" if 5 < ran.value < 8 else "above 20",
    why="It doesn't know anything, but it's certain. That costs more than ln 10.",
    at="nll_loss gives",
    level="picture",
)

# %% [markdown] tags=["explain", "slide"]
# 6.5. The weights are 0 on average, but the logits of one image aren't: each is a sum
# of 64 products, and they come out at -3, 5 or 1. Softmax turns such a lead into
# certainty: the favourite gets 72 % on average, and in 87 of 100 images it's a wrong
# digit. So the weights are too large.

# %% [markdown]
# **Try.** How large may the factor in front of the weights be, so that the loss stays
# below 2.5? Type other numbers for `scale`, such as 0.5.

# %% tags=["try"]
mg.live(at_random, scale=mg.tensor(1.0))

# %% [markdown] tags=["explain"]
# About 0.18. People divide by the square root of the number of inputs, here 8: the sum
# of 64 such products is about as large as one was before, and the loss is 2.38. Look at
# the first loss of every run. If it isn't near ln of the number of classes, something
# is wrong already. If it's 64 times that, the losses of a batch of 64 were added, not
# averaged.

# %% [markdown] tags=["slide"]
# ## One training step
#
# Every training loop repeats these four lines: clear the gradients, compute the loss of
# a batch, go backward, let the optimizer change the weights. **Look.** Which line makes
# the gradient, and which one changes `w`? What's left of the boxes by then?

# %% tags=["slide"]
w = mg.zeros(64, 10, requires_grad=True)
optimizer = mg.optim.SGD([w], lr=0.5)
pixels, digits = x[:32], y[:32]

# %% tags=["step", "slide"]
# %%step --level picture
optimizer.zero_grad()
loss = mg.nn.functional.cross_entropy(pixels @ w, digits)
loss.backward()
optimizer.step()

# %% tags=["slide"]
again = mg.nn.functional.cross_entropy(pixels @ w, digits)
round(loss.item(), 2), round(again.item(), 2)

# %% [markdown] tags=["explain", "slide"]
# backward puts the gradient into `w.grad`, and empties the boxes. `w` itself changes in
# the last line only, in place: it's version 1 then. And `zero_grad`? In the next round
# it takes `w.grad` away, before backward would add to it (lesson 05). One training step
# takes the loss on these 32 images from 2.30 to 2.15. If every step used them, the
# network would learn these 32 and nothing of the others. So each step gets a new batch.

# %% [markdown] tags=["slide"]
# ## A loop with a progress bar
#
# Now 300 steps from zero weights, each on 64 images that are drawn anew. One list of
# row numbers is used for both, images and labels: draw twice, and every image gets the
# label of another. `mg.training` is a progress bar that shows the loss, and draws its
# curve. (It calls one pass over what you loop over an *epoch*: here all 300 batches.)

# %% tags=["slide"]
w = mg.zeros(64, 10, requires_grad=True)
optimizer = mg.optim.SGD([w], lr=0.5)
mg.manual_seed(0)
run = mg.training(range(300))
for _ in run:
    rows = mg.randint(0, 1797, (64,))
    optimizer.zero_grad()
    loss = mg.nn.functional.cross_entropy(x[rows] @ w, y[rows])
    loss.backward()
    optimizer.step()
    run.note(loss=loss)

# %% [markdown] tags=["explain", "slide"]
# The curve begins below ln 10, as each of its points is the mean of six losses. No two
# batches are alike, so single losses jump about: the last 50 are between 0.14 and 0.34.
# If you change your program, don't judge it by the last loss, which the bar shows. Take
# the mean of several runs, with other seeds.

# %% [markdown] tags=["slide"]
# ## What does each Function cost?
#
# `course.costs(step)` says how many bytes each Function keeps, and how many
# milliseconds it takes each way. Here it's a network with two layers; `Mm` is `@`.
# **Look.** Which Function keeps most? Is it also the slowest?


# %%
w1, w2 = [(mg.randn(64, n) / 8).requires_grad_() for n in (64, 10)]


def two_layers():
    hidden = (x[:64] @ w1).relu()
    mg.nn.functional.cross_entropy(hidden @ w2, y[:64]).backward()


# %% tags=["slide"]
course.costs(two_layers)

# %% [markdown] tags=["explain"]
# Relu and the second `@`, and it's one array: Relu's result, 64 times 64 numbers of 4
# bytes, which both need. It takes memory once and is counted for both. Images and
# weights, which are there anyway, don't count. The slowest is usually `Mm`.

# %% [markdown] tags=["slide"]
# ## Learning-rate schedules
#
# A high rate gets you far at first, and makes the loss jump up and down in the end. A
# **learning-rate schedule** changes it as you go: call `schedule.step()` after each
# `optimizer.step()`. `LambdaLR` calls your function with the number of steps taken so
# far, and multiplies `lr` by the result. **Predict.** What are the rates of the first
# four steps?

# %% tags=["predict", "slide"]
optimizer = mg.optim.SGD([mg.zeros(1, requires_grad=True)], lr=0.4)
schedule = mg.optim.lr_scheduler.LambdaLR(optimizer, lambda taken: min(1, taken / 2))
rates = []
for _ in range(4):
    rates += schedule.get_last_lr()
    optimizer.step()
    schedule.step()
rates

# %% [markdown] tags=["explain", "slide"]
# 0, 0.2, 0.4, 0.4. Rates that rise at first are a **warm-up**: the first gradients,
# from random weights, shouldn't move anything far. Here the first step has the rate 0
# and does nothing; `(taken + 1) / 2` would be better. Two others go down: `StepLR`
# every few steps, `CosineAnnealingLR` smoothly.

# %% [markdown] tags=["slide"]
# ## Interrupt, and go on
#
# A run of hours gets interrupted. So every now and then, save what it needs to go on.
# `mg.save` writes a dict of tensors and numbers to a file: a *checkpoint*, but not
# lesson 12's. `mg.load` reads it, and refuses a file that could run code. The optimizer
# is `Adam` now: for each weight, it keeps a running mean of the gradients and one of
# their squares, and computes the step from both.


# %% tags=["slide"]
class Run:
    def __init__(self):
        self.w = mg.zeros(64, 10, requires_grad=True)
        self.optimizer = mg.optim.Adam([self.w], lr=0.1)
        mg.manual_seed(0)
        self.losses = []

    def go(self, steps):
        for _ in range(steps):
            rows = mg.randint(0, 1797, (64,))
            self.optimizer.zero_grad()
            loss = mg.nn.functional.cross_entropy(x[rows] @ self.w, y[rows])
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())
        return self


# %% [markdown] tags=["slide"]
# This is saved after 20 steps. Then a new `Run` goes on from the file for 20 more,
# with some parts of it or with all. `whole` is a run of 40 steps without a stop.

# %% tags=["slide"]
whole, first = Run().go(40), Run().go(20)
state = {"w": first.w.detach(), "optimizer": first.optimizer.state_dict()}
state |= {"random": mg.get_rng_state(), "losses": first.losses}
mg.save(state, "run.pt")


# %% tags=["slide"]
def resumed(*parts):
    kept, run = mg.load("run.pt"), Run()
    if "w" in parts:
        run.w.data.copy_(kept["w"])
    if "optimizer" in parts:
        run.optimizer.load_state_dict(kept["optimizer"])
    if "random" in parts:
        mg.set_rng_state(kept["random"])
    return (kept["losses"] + run.go(20).losses) == whole.losses


# %% [markdown] tags=["slide"]
# **Predict.** Which of these has exactly the 40 losses of `whole`? Only the weights;
# weights and optimizer; weights, optimizer and the state of the random numbers?

# %% tags=["predict", "slide", "Q84"]
resumed("w"), resumed("w", "optimizer"), resumed("w", "optimizer", "random")

# %% [markdown] tags=["explain", "slide"]
# Only the last one. Without its running means, Adam begins anew: its step changes a
# weight by 0.08 on average, as the very first one did. Step 21 of `whole` changes it by
# 0.016. And without the random state you'd draw the batches of steps 1 to 20 once more.
# If there's a schedule, save its `state_dict()` as well. And if you press the stop
# button in the middle of a save? Ours keeps the old file until the new one is fully
# written.

# %% [markdown] tags=["slide"]
# ## What does one wrong gradient do to the loss?
#
# Now names. A row of `letters` has three letters that follow each other, as numbers
# from 1 to 26, and 0 before the first one. The network guesses which letter comes next
# (0: the end). So there are 27 classes.

# %% tags=["slide"]
letters, following = mg.nn.data.letters(mg.nn.data.names())
letters[:3].tolist(), following[:3].tolist()

# %% [markdown] tags=["slide"]
# An **embedding** is a table with a row of numbers for each letter. `weight[idx]` looks
# rows up, and the table learns, like any weights. If a letter was looked up five times
# in a batch, its row has to get the sum of five gradients. This Function is wrong:
# where rows repeat, an assignment overwrites, and only one of the five is left.


# %% tags=["slide"]
class Overwriting(mg.autograd.Function):
    @staticmethod
    def forward(ctx, weight, idx):
        ctx.save_for_backward(idx)
        ctx.shape = weight.shape
        return weight[idx]

    @staticmethod
    def backward(ctx, grad_output):
        (idx,) = ctx.saved_tensors
        table = grad_output.new_zeros(ctx.shape)
        table[idx.reshape(-1)] = grad_output.reshape(-1, ctx.shape[1])
        return table, None


# %% [markdown] tags=["slide"]
# Two runs of 500 steps, from the same seed: one with this Function, one with the right
# gradient. Of the right one, you see the first loss and the mean of the last 100.


# %% tags=["slide"]
def train(look_up):
    random = np.random.default_rng(0)
    table = random.normal(size=(27, 8))  # looked up, never added up: not divided
    w1 = random.normal(size=(24, 64)) / 24**0.5
    w2 = random.normal(size=(64, 27)) / 64**0.5
    table, w1, w2 = [mg.tensor(d).float().requires_grad_() for d in (table, w1, w2)]
    optimizer, losses = mg.optim.Adam([table, w1, w2], lr=0.01), []
    for _ in range(500):
        rows = mg.tensor(random.integers(0, len(letters), 64))
        hidden = look_up(table, letters[rows]).reshape(64, 24) @ w1
        loss = mg.nn.functional.cross_entropy(hidden.relu() @ w2, following[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [round(mean, 1) for mean in (losses[0], sum(losses[-100:]) / 100)]


right, wrong = train(lambda table, idx: table[idx]), train(Overwriting.apply)
right


# %% [markdown] tags=["slide"]
# With the right gradient, the loss goes from 3.5, a little above ln 27, to 2.2. A batch
# looks up 192 letters, but only 23 different rows on average: `Overwriting` throws away
# seven of eight gradients. Here row 1 is looked up three times, so it should get 3.


# %% tags=["slide"]
def four_letters():
    table = mg.zeros(3, 2, requires_grad=True)
    picked = Overwriting.apply(table, mg.tensor([1, 1, 1, 2]))
    picked.sum().backward()
    return table.grad.tolist()


four_letters()

# %% tags=["predict", "hide-input", "step", "slide", "Q85"]
course.predict(
    "16.falling",
    "And where does the loss end with Overwriting, after the same 500 steps?",
    ["above 3.3: it doesn't fall", "near 2.9", "near 2.5", "near 2.2"],
    then=four_letters,
    so=lambda ran: f"near {wrong[1]}",
    why="Row 1 should get 3 and gets 1. The two layers above it learn all the same.",
    at="table.grad was empty",
    level="picture",
)

# %% [markdown] tags=["explain", "slide"]
# At 2.2, like the right one. What's left of the gradient still points downhill, and the
# layers above have right gradients: they learn to use whatever the table holds. (It
# isn't Adam that hides the mistake: with SGD at 0.5 it's 2.24 and 2.27.)

# %% [markdown] tags=["slide"]
# Now a table that gets no gradient at all, and one that gets the wrong sign. Say first
# where each of the two losses ends.

# %% tags=["slide"]
no_gradient = train(lambda table, idx: table.detach()[idx])
# The same rows, but their gradient comes with a minus:
wrong_sign = train(lambda table, idx: 2 * table.detach()[idx] - table[idx])
wrong, no_gradient, wrong_sign

# %% [markdown] tags=["explain", "slide"]
# 2.3 and 2.6: even these fall. A table that doesn't learn still has a row of its own
# for each letter, and the layers above can tell rows apart. So a loss that falls says:
# some gradients are about right. It doesn't say which. A check of each Function alone
# does, with the limits that lesson 13 showed.

# %% tags=["because", "hide-input"]
course.because(
    "16.because",
    "What does a loss that falls tell you about the gradients, and what doesn't it? "
    "One sentence, for yourself; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## Only your own Functions
#
# In the exercises you train with your own Functions. A guard watches: in its block, no
# built-in operation that computes may join the graph, and nothing may be imported that
# brings gradients of its own. Inside forward and backward you use what you like.
# **Predict.** Which line stops?

# %% tags=["predict", "raises-exception", "slide"]
table = mg.zeros(27, 2, requires_grad=True)
with course.only_my_functions():
    rows = Overwriting.apply(table, mg.tensor([1, 1, 2]))
    flat = rows.reshape(6)
    loss = flat.sum()

# %% [markdown] tags=["explain", "slide"]
# The sum. `Overwriting` is yours, wrong as it is. `reshape` computes nothing: the guard
# lets operations through that only give the same numbers a new shape. But `sum` has a
# backward, and it's the engine's. The error names the node, so you know which Function
# is missing.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# Answer each card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>What should the loss be before the first step?</summary>
#
# About ln of the number of classes. If it's much higher, the network is certain without
# knowing anything (the weights are too large), or losses were added, not averaged.
#
# </details>
#
# <details><summary>What do you save, so that a run can go on exactly?</summary>
#
# The weights, the optimizer's state, the schedule's, the state of the random numbers,
# and the number of the step.
#
# </details>
#
# <details><summary>Your loss falls. Are your gradients right?</summary>
#
# Some of them, about. A network learns around a wrong one. Check each Function alone.
#
# </details>

# %% [markdown]
# **In PyTorch this is** nearly the same: ln 10, the rates, what's needed to go on, and
# 2.2 with the wrong gradient. But the same seed draws other batches there, so the
# losses of the loops differ. Put `import torch as mg` in the first cell; digits and
# letters still come from minigrad, and have to become PyTorch's tensors:
#
# ```python
# from minigrad.nn import data
# images, labels = [mg.tensor(t.numpy()) for t in data.digits()]
# letters, following = [mg.tensor(t.numpy()) for t in data.letters(data.names())]
# ```
#
# Loop over `range(300)` without `run.note`, and leave out the other lines that teach
# (`teaching`, `course`, `live`, the stepper). `torch.load` refuses code as well, since
# version 2.6; neither engine can read the other's files.

# %% [markdown]
# ## Now you
#
# [Six exercises](../exercises/16_train_something_real/16_exercises.ipynb)
# wait for you; in the last one you make a page of your own run. Where you stand:

# %%
course.progress("16")
