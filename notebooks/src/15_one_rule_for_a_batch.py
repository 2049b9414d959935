# %% [markdown] tags=["slide"]
# # One rule for a batch
#
# You will
# * write a function for one sample, and run it on a whole batch without a loop,
# * teach a Function of yours to take a batch, and test it against a loop,
# * compute the gradient of every single sample, and measure what that costs.

# %%
import minigrad as mg
from minigrad import bench, course

mg.teaching()

# %% tags=["recall"]
course.recall("15")

# %% [markdown] tags=["slide"]
# ## What does vmap do?
#
# A batch is a tensor that holds many samples; one of its axes counts them. It's easiest
# to write down what happens to one sample. `mg.vmap(score)` turns that into a function
# of the batch: it calls `score` once, with an x that stands for all samples at the same
# time. (**vmap** is short for *vectorizing map*.) Here are two samples, each with three
# numbers.


# %% tags=["slide"]
w = mg.tensor([1.0, 0.0, 2.0])


def score(x):
    print("x.shape is", tuple(x.shape))
    return (x * w).sum(0)


X = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
mg.vmap(score)(X)

# %% [markdown] tags=["slide"]
# There are two results, one for each sample, but there was only one call: the shape was
# printed once, and it's that of a sample. So `sum(0)` adds the three numbers of a
# sample, not the two samples. Its x is a **stand-in**: it has the shape of one sample,
# but no numbers.

# %% [markdown] tags=["slide"]
# ## Does backward work through vmap?
#
# Now X requires grad. `inside` notes what x says about that while `score` runs, runs
# backward, and returns its note and whether X has a gradient. In the pictures, a tensor
# that holds all samples is a stack with double lines. Its shape says `[2]x3`: the axis
# in brackets counts the samples. That's the **mapped axis**.


# %% tags=["slide"]
def inside():
    X = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    notes = []

    def score(x):
        notes.append(x.requires_grad)
        return (x * w).sum(0)

    scores = mg.vmap(score)(X)
    scores.sum().backward()
    return notes[0], X.grad is not None


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "15.inside",
    "inside() returns two things: x.requires_grad as score sees it, and whether X has "
    "a gradient after backward. What are they?",
    ["True, True", "True, False", "False, True", "False, False"],
    then=inside,
    so=lambda ran: "{}, {}".format(*ran.value),
    why="score sees a stand-in without a graph. What's recorded is a call on all of X.",
    at="X.grad is filled",
)

# %% [markdown] tags=["explain", "slide"]
# A stand-in has no graph of its own, so `score` sees False. But `x * w` reaches vmap
# first. It puts X in the place of x, and multiplies all of it with w in one call. That
# call is recorded, like any other, so backward works all the same. (In the picture w
# is no stack: it's the same for both samples.)

# %% tags=["because", "hide-input"]
course.because(
    "15.because",
    "When score runs under vmap, which calls are recorded, and of what? One sentence, "
    "for yourself; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## in_dims and out_dims
#
# Not every batch counts its samples along axis 0. `in_dims=1` says that axis 1 does.
# With several arguments, `in_dims` is a tuple with one entry for each; `None` means
# that all samples share this argument. `double`, below, changes no shape.


# %% tags=["slide"]
def double(x):
    return x * 2


def columns():
    X = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    Y = mg.vmap(double, in_dims=1)(X)
    Y.sum().backward()
    return Y.shape


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "15.columns",
    "X has the shape (2, 3). What does columns() return, the shape of "
    "mg.vmap(double, in_dims=1)(X)?",
    ["(2, 3)", "(3, 2)", "(2,)", "(3,)"],
    then=columns,
    so=lambda ran: str(tuple(ran.value)),
    why="There are three samples of two numbers. In the result, axis 0 counts them.",
    at="gives Y",
)

# %% [markdown] tags=["explain", "slide"]
# `in_dims` is about arguments only. The picture shows a `permute` that you didn't
# write: vmap moves the mapped axis to the front, and `2x[3]` becomes `[3]x2`.

# %% [markdown] tags=["slide"]
# To have the mapped axis elsewhere in the result, use `out_dims`. Here the three
# samples are columns again, as they were in X:

# %% tags=["slide"]
mg.vmap(double, in_dims=1, out_dims=1)(X).shape

# %% [markdown]
# **Try.** This one adds the squares of each sample's numbers. With `dim` 0 there are
# two results, 14 and 77. How many are there with 1, and which numbers do they add? Does
# X.grad change? Say it first, then move the slider.


# %% tags=["try"]
def mapped(dim=0):
    X = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    squares = mg.vmap(lambda x: (x**2).sum(0), in_dims=dim)(X)
    squares.sum().backward()
    return squares


mg.live(mapped, dim=(0, 1))

# %% [markdown] tags=["explain"]
# Three: 17, 29 and 45. Each column is a sample, and 17 is 1² + 4². X.grad doesn't
# change: in the end all squares are added, one way or the other, and their slope is 2X.

# %% [markdown] tags=["slide"]
# ## How does my Function take a batch?
#
# vmap has a rule for each built-in operation, but it knows nothing about your Function.
# Here's one that multiplies a sample with weights and adds up. It sums along the last
# axis, so it's right for one sample, and also for a batch that counts its samples along
# axis 0. vmap can't know that.


# %% tags=["slide"]
class Plain(mg.autograd.Function):
    @staticmethod
    def forward(x, w):
        return (x * w).sum(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        g = grad_output.unsqueeze(-1)
        return g * w, g * x


# %% tags=["raises-exception", "slide", "Q97"]
mg.vmap(Plain.apply, in_dims=(0, None))(X, w)

# %% [markdown] tags=["slide"]
# The `fix:` line names two remedies. Let's begin with the second: a rule, which is a
# static method called `vmap`. It gets the tensors with all samples, and `in_dims` says
# which axis of each is the mapped one (None if it isn't mapped). It returns two things:
# the result for all samples, and which axis of that is the mapped one.


# %% tags=["slide"]
class Dot(Plain):
    @staticmethod
    def vmap(info, in_dims, x, w):
        x_dim, w_dim = in_dims
        if x_dim is not None:
            x = x.movedim(x_dim, 0)
        if w_dim is not None:
            w = w.movedim(w_dim, 0)
        return Dot.apply(x, w), 0


# %% [markdown] tags=["slide"]
# Now the samples are the columns of Z: three samples of two numbers. **Look.** Which
# shape does the rule get, and which one does forward get? How many samples does the ctx
# keep?

# %% tags=["step", "slide", "Q97"]
# %%step
Z = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
v = mg.tensor([10.0, 1.0])
dots = mg.vmap(Dot.apply, in_dims=(1, None))(Z, v)
dots.sum().backward()

# %% [markdown] tags=["explain", "slide"]
# The rule gets `2x[3]`: nothing has been moved yet, because that's the rule's job. Its
# `movedim(1, 0)` is the `permute` in the picture. Then it calls `Dot.apply` again, this
# time with real tensors. So forward gets `[3]x2` and runs once, and one ctx keeps all
# three samples. v needn't be mapped: broadcasting lines up axes from the right (lesson
# 06), so its two numbers meet the two of each sample. That works as long as v has no
# more axes than a sample. In backward, `g * x` has the shape (3, 2), and v (2,): if v
# required grad, the engine would add up the three rows.

# %% [markdown] tags=["slide"]
# ## What if a rule doesn't look at in_dims?
#
# This one hands on its tensors just as they came. M holds three samples of three
# numbers each, the columns.


# %% tags=["slide"]
class Hasty(Plain):
    @staticmethod
    def vmap(info, in_dims, x, w):
        return Hasty.apply(x, w), 0


def hasty():
    M = mg.tensor(
        [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0], [100.0, 200.0, 300.0]],
        requires_grad=True,
    )
    dots = mg.vmap(Hasty.apply, in_dims=(1, None))(M, mg.ones(3))
    dots.sum().backward()
    return dots


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "15.hasty",
    "The samples are (1, 10, 100), (2, 20, 200) and (3, 30, 300), and the weights are "
    "ones. What does hasty() return?",
    ["111, 222, 333", "an error", "6, 60, 600"],
    then=hasty,
    so=lambda ran: ", ".join([f"{dot:g}" for dot in ran.value.tolist()]),
    why="Each result adds a row of M, and a row has one number of every sample.",
    at="Its work is done",
)

# %% [markdown] tags=["explain", "slide"]
# 6 is 1 + 2 + 3: a number from each sample. The axis wasn't moved, and with as many
# rows as columns no shape gives that away. vmap believes what a rule says about its
# result.

# %% [markdown] tags=["slide"]
# So test your rule against a loop, with lengths that differ: with two samples of three
# numbers, `Hasty` would stop with an error. `Dot` agrees with the loop:


# %% tags=["slide"]
def loop(f, batch, *shared, dim=0):
    return mg.stack([f(sample, *shared) for sample in batch.unbind(dim)])


batch, weights = mg.linspace(0, 1, 6).reshape(3, 2), mg.tensor([1.0, -1.0, 0.5])
by_rule = mg.vmap(Dot.apply, in_dims=(1, None))(batch, weights)
mg.allclose(by_rule, loop(Dot.apply, batch, weights, dim=1))

# %% [markdown] tags=["slide"]
# ## When can generate_vmap_rule do it for me?
#
# The other remedy is one line. It says: my methods are made of operations on tensors,
# so run them under vmap, too. Then forward, setup_context and backward see one sample,
# and axis 0 is the first one of a sample.


# %% tags=["slide", "Q97"]
class Generated(mg.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, w):
        print("forward gets", tuple(x.shape))
        return (x * w).sum(0)

    setup_context = Plain.setup_context

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        return grad_output * w, grad_output * x


mg.vmap(Generated.apply, in_dims=(1, None))(Z, v).tolist()

# %% [markdown] tags=["slide"]
# That's right for every `in_dims`. But a stand-in has no numbers, so whatever needs
# numbers is refused: here, NumPy in forward. (The error calls samples "examples".)


# %% tags=["slide"]
class WithNumPy(Generated):
    @staticmethod
    def forward(x, w):
        return mg.tensor(x.detach().numpy() @ w.detach().numpy())


# %% tags=["raises-exception", "slide", "Q97"]
mg.vmap(WithNumPy.apply, in_dims=(1, None))(Z, v)

# %% [markdown] tags=["explain", "slide"]
# | with `generate_vmap_rule = True` | under vmap |
# |---|---|
# | operations on tensors | works |
# | `numpy()`, `item()`, `if x.sum() > 0` | refused: a stand-in has no numbers |
# | `forward(ctx, x)`, without `setup_context` | refused, as in `grad` (lesson 09) |
# | a static method `vmap` beside it | refused: which one is meant? |
#
# A rule of your own gets real tensors. So if forward calls NumPy, or a compiled loop,
# write the rule yourself.

# %% [markdown] tags=["slide"]
# ## How do I get the gradient of every sample?
#
# backward adds the gradients of all samples. Sometimes you need each by itself, a
# **per-sample gradient**: to find the samples that change the weights most, or to limit
# what each can add. `mg.func.grad(loss)` is a function of one sample, so you can map
# it. All samples share the weights: None. X is the batch of the first section.


# %% tags=["slide", "Q96"]
def loss(weights, x, target):
    return ((x * weights).sum(0) - target) ** 2


slope = mg.func.grad(loss)
weights, targets = mg.tensor([1.0, 0.0, 2.0]), mg.tensor([6.0, 20.0])
each = mg.vmap(slope, in_dims=(None, 0, 0))(weights, X, targets)
each

# %% [markdown] tags=["slide"]
# Two samples give two gradients, each for three weights. The second one is larger and
# has the opposite signs: this sample alone would change the weights more, and in the
# other direction. Their average is what backward gives for the mean loss:


# %% tags=["slide"]
def mean_loss(weights):
    return mg.vmap(loss, in_dims=(None, 0, 0))(weights, X, targets).mean()


each.mean(0), mg.func.grad(mean_loss)(weights)

# %% [markdown] tags=["slide"]
# A loop would do it as well. Here are both, for 64 samples. `loop_over_vmap` times them
# as in lesson 14, prints the median of the ratios and in brackets the band, and returns
# the median.


# %% tags=["slide"]
many, goals = mg.randn(64, 3), mg.randn(64)


def by_loop():
    return mg.stack([slope(weights, x, t) for x, t in zip(many, goals, strict=True)])


def by_vmap():
    return mg.vmap(slope, in_dims=(None, 0, 0))(weights, many, goals)


def loop_over_vmap():
    timed = bench.interleaved({"loop": by_loop, "vmap": by_vmap}, seconds=0.5)
    ratio = timed["loop"].ratio_to(timed["vmap"])
    print(ratio)
    return ratio.median


# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "15.loop",
    "How many times as long as vmap does the loop over 64 samples take?",
    ["less than 2", "2 to 10", "more than 10"],
    so=lambda _: (
        "more than 10"
        if (ratio := loop_over_vmap()) > 10
        else ("2 to 10" if ratio > 2 else "less than 2")
    ),
    why="vmap makes nodes and runs backward once. The loop does all of it 64 times.",
)

# %% [markdown] tags=["explain", "slide"]
# Both do the same multiplications. But the loop calls `apply`, makes nodes and runs
# backward 64 times; vmap does all that once, with arrays that are 64 times as long.
# With arrays this small, nearly all the time goes into the calls; with large ones you
# gain less.

# %% [markdown] tags=["slide"]
# All 64 gradients are in memory at once: `chunk_size=16` maps 16 samples at a time.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# Answer each card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>What does a function under vmap get as x?</summary>
#
# A stand-in with the shape of one sample. It has no numbers and no graph; operations on
# it are done, and recorded, on the whole batch.
#
# </details>
#
# <details><summary>What does a vmap rule get, and what does it return?</summary>
#
# The tensors with all samples, and in `in_dims` the mapped axis of each, or None. It
# returns the result for all samples, and the mapped axis of that.
#
# </details>
#
# <details><summary>How do you get a gradient for each sample?</summary>
#
# `mg.vmap(mg.func.grad(loss), in_dims=(None, 0, 0))`: None for the weights, which all
# samples share.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same since version 2.0: `torch.vmap`, `torch.func.grad`,
# and in your Function `generate_vmap_rule` or a static method `vmap`. If PyTorch has no
# rule for one of its own operations, it runs a loop, and warns you that this is slow.
#
# ## Now you
#
# [Six exercises](../exercises/15_one_rule_for_a_batch/15_exercises.ipynb)
# wait for you; in 15.2 you write the rule that's needed most often. Where you stand:

# %%
course.progress("15")
