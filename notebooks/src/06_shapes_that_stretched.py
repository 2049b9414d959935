# ruff: noqa: E501  (a table)

# %% [markdown] tags=["slide"]
# # Shapes that stretched
#
# You will
# * find the gradient of a bias that's used in every row,
# * tell from two shapes which axes stretched, and sum over exactly these,
# * find out which wrong shapes the engine repairs, and which it refuses.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("06")

# %% [markdown] tags=["slide"]
# ## One bias for every row
#
# A layer adds its bias to each row of a batch: `x` has shape (3, 4) and `b` has shape
# (4,). As in NumPy, the smaller one is *stretched*: `b` is used as if there were three
# copies of it, one per row. That's **broadcasting**. But there's only one `b`, and one
# `b.grad`.


# %% tags=["slide"]
def bias_and_back():
    x = mg.zeros(3, 4)
    b = mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True)
    (x + b).sum().backward()
    return b.grad


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "06.bias",
    "x is (3, 4), b is (4,). After (x + b).sum().backward(), what is b.grad?",
    [
        "shape (4,), and each number is 1",
        "shape (4,), and each number is 3",
        "shape (3, 4), and each number is 1",
    ],
    then=bias_and_back,
    so=lambda ran: (
        f"shape {tuple(ran.value.shape)}, and each number is {ran.value.max().item():g}"
    ),
    why="Each number of `b` was used in three rows, and the three gradients add up.",
    at="b.grad was empty",
)

# %% [markdown] tags=["explain", "slide"]
# **3**, in the shape of `b`. If `b[0]` grows by 1, it grows in all three rows, so the
# sum grows by 3. A number that's used three times gets three gradients, and they add
# up, as in any graph where a tensor is used more than once.

# %% [markdown] tags=["slide"]
# ## Which gradients add up?
#
# With ones you can't see where each gradient came from. So here's the same addition as
# our own Function, and an upstream gradient `g` with a different number in each
# position: `y.backward(g)` starts with `g`, where `.sum()` started with ones.
# (`reshape` only matters for a `b` of shape (1, 4).)


# %% tags=["slide"]
class AddBias(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, b):
        ctx.shape = b.shape
        return x + b

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output.sum(0).reshape(ctx.shape)


x = mg.zeros(3, 4)
g = mg.tensor(
    [[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0], [100.0, 200.0, 300.0, 400.0]]
)


# %% tags=["slide"]
def there_and_back():
    b = mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True)
    y = AddBias.apply(x, b)
    y.backward(g)
    return b.grad


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "06.column",
    "b[0] is used in all three rows. What's the first number of b.grad?",
    ["1", "10", "37, the mean of 1, 10 and 100", "111, their sum"],
    then=there_and_back,
    so=lambda ran: {
        1: "1",
        10: "10",
        37: "37, the mean of 1, 10 and 100",
        111: "111, their sum",
    }[round(ran.value[0].item())],
    why="Nothing is lost and nothing is averaged: the first column of g adds up.",
    at="b.grad was empty",
)

# %% [markdown] tags=["explain", "slide"]
# 111 = 1 + 10 + 100, the first column of `g`. Each term is an upstream gradient times a
# local derivative. All the local derivatives of a call, one row per number of the result
# and one column per number of the input, form its **Jacobian**; you're looking at one
# column of it: three times 1, and nine times 0, because `b[0]` isn't used in the other
# columns. The 1s don't depend on `x` or `b`, so ctx keeps no array: **an addition only
# needs shapes.**

# %% [markdown] tags=["slide"]
# ## Which axes stretched?
#
# Now `c` has shape (3, 1): one number per row, used in all four columns. So each number
# of `c` gets the sum of one row of `g`, and we sum over axis 1. That isn't enough, as the
# error says. (To save you from reading the class again, a line replaces just its
# `backward`.)

# %% tags=["raises-exception", "slide"]
AddBias.backward = staticmethod(lambda ctx, g: (g, g.sum(1)))
c = mg.tensor([[5.0], [6.0], [7.0]], requires_grad=True)
AddBias.apply(x, c).backward(g)

# %% [markdown] tags=["explain", "slide"]
# The numbers were right: 10, 100 and 1000, or the sums of the rows. But `sum` removes
# the axis, and shape (3,) isn't (3, 1). `keepdim=True` leaves an axis of length 1 where
# the sum was taken.

# %% tags=["slide"]
AddBias.backward = staticmethod(lambda ctx, g: (g, g.sum(1, keepdim=True)))
AddBias.apply(x, c).backward(g)
c.grad

# %% [markdown] tags=["explain", "slide"]
# Write the two shapes below each other, **flush right**. An axis stretched where the
# smaller shape has nothing, or has 1 while the result has more. Sum the gradient over
# these axes.
#
# | | | stretched | gradient |
# |---|---|---|---|
# | result | `3  4` | | `g` |
# | (4,) | `·  4` | axis 0, which is new | `g.sum(0)` |
# | (3, 1) | `3  1` | axis 1, of length 1 | `g.sum(1, keepdim=True)` |
# | () | `·  ·` | both | `g.sum()` |

# %% [markdown]
# **Try.** Type a `b` of a different shape here: a column `[[5.0], [6.0], [7.0]]`, one
# number `5.0`, one row in two brackets. Before each, say which axes stretch and what
# `b.grad` will be. Can you find a `b` that the addition refuses?


# %% tags=["try"]
def added(b):
    y = x + b
    y.backward(g)


mg.live(added, b=mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True))

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# The column gets [[10], [100], [1000]], the single number 1110, the row in two brackets
# [[111, 222, 333, 444]]. A `b` of shape (3,) is refused: flush right, its 3 meets a 4.
#
# </details>

# %% [markdown] tags=["slide"]
# ## Where does 1/n go?
#
# Gradients of copies add up. So does a bias learn 1000 times as fast in a batch of 1000
# rows? Not if the loss is a *mean* over the rows: then each row's gradient arrives
# divided by n. Some backward has to do that division. Here's a mean of squares as a
# Function, and the same with the engine's own operations.


# %% tags=["slide"]
class MeanSquare(mg.autograd.Function):
    @staticmethod
    def forward(ctx, y, target):
        ctx.save_for_backward(y, target)
        return ((y - target) ** 2).mean()

    @staticmethod
    def backward(ctx, grad_output):
        y, target = ctx.saved_tensors
        return grad_output * 2 * (y - target), None


def mean_square(y, target):
    return ((y - target) ** 2).mean()


# %% [markdown] tags=["slide"]
# The bias starts at 0 and should become 1, in each of 8 rows. Compare the gradient that
# the engine's own operations give it, in `mean_square`, with the one of `MeanSquare`.


# %% tags=["slide", "Q77"]
def bias_gradient(loss, bias=0.0, rows=8):
    b = mg.tensor([bias], requires_grad=True)
    loss(mg.zeros(rows, 1) + b, mg.ones(rows, 1)).backward()
    return b.grad.item()


bias_gradient(mean_square), bias_gradient(MeanSquare.apply)

# %% [markdown] tags=["explain", "slide"]
# -16, eight times too much, so each training step moves the bias eight times too far.
# What was wrong: the addition, which adds up 8 gradients, or the mean, which forgot to
# divide? The mean: **copying adds up, averaging divides.** A learning rate eight times
# smaller would hide the mistake, but only for batches of 8.

# %% tags=["because"]
course.because(
    "06.because",
    "Someone repairs it with grad_output.mean(0) in the addition. For which loss is that "
    "wrong? One sentence, for yourself; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## What the engine does for you
#
# It's tempting to return `grad_output` for every input. `b` has shape (4,) again, and
# each of the next two backwards returns something of a wrong shape for it.


# %% tags=["slide"]
def is_refused(rule):
    AddBias.backward = staticmethod(rule)
    b = mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True)
    try:
        AddBias.apply(mg.zeros(3, 4), b).backward(g)
    except RuntimeError:
        return True
    return False


# %% tags=["predict", "hide-input", "step", "slide", "Q63"]
def both():
    return is_refused(lambda ctx, g: (g, g)), is_refused(lambda ctx, g: (g, g.sum()))


course.predict(
    "06.engine",
    "For b of shape (4,) one backward returns (3, 4), another returns (). Which of the "
    "two does the engine refuse?",
    ["both", "only the larger one", "only the smaller one", "neither"],
    then=both,
    so=lambda ran: {
        (True, True): "both",
        (True, False): "only the larger one",
        (False, True): "only the smaller one",
        (False, False): "neither",
    }[ran.value],
    why="A gradient that is too large gets summed; one that is too small is refused.",
    at="GradientShapeError",
)

# %% [markdown] tags=["explain", "slide"]
# Too large is **summed**, with no message (except from teaching mode). Too small is
# **refused**: should the one number be copied to four positions, shared among them, or
# is it a mistake? So you can leave the summing of an addition to the engine, but not
# the copying of a sum. Not every library does this: JAX's `custom_vjp` refuses both.

# %% [markdown] tags=["slide"]
# And a wrong gradient whose shape happens to be right? Now `x` is square, this backward
# sums over the wrong axis, and [111, 222, 333] would be right:

# %% tags=["slide"]
AddBias.backward = staticmethod(lambda ctx, g: (g, g.sum(1)))
b = mg.tensor([5.0, 6.0, 7.0], requires_grad=True)
AddBias.apply(mg.zeros(3, 3), b).backward(g[:, :3])
b.grad

# %% [markdown] tags=["explain", "slide"]
# Accepted. The engine checks shapes; it can't check your sums. That's why the exercises
# use sizes that are all different. Do the same in your own tests.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say what the gradient of a stretched tensor is. Answer each card in your
# own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>An input of shape (4,) met a result of (3, 4). What is its gradient?</summary>
#
# The sum over the axis that stretched, here axis 0: each copy has its own gradient, and
# they add up.
#
# </details>
#
# <details><summary>Which axes stretched?</summary>
#
# Write the shapes flush right. An axis stretched where the smaller shape has nothing,
# or has 1 while the result has more. Use `keepdim=True` for the second kind.
#
# </details>
#
# <details><summary>Where does 1/n of a mean belong?</summary>
#
# In the backward of the operation that averages. Copying just adds up.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same: too large is summed silently, too small raises
# *invalid gradient at index 1*. Put `import torch as mg` in the first cell and leave
# out the lines that teach (`teaching`, `course` and the stepper). (torch's
# `sum_to_size` does what you write in 06.2.)

# %% [markdown]
# ## Now you
#
# [Six exercises](../exercises/06_shapes_that_stretched/06_exercises.ipynb)
# (06.4 and 06.6 are extra); in 06.5 a bias learns too fast, but the weight beside it
# doesn't. Then [lesson 07](07_several_outputs.ipynb). Your progress so far:

# %%
course.progress("06")
