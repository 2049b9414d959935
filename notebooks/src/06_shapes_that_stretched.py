# ruff: noqa: E501  (a table)

# %% [markdown] tags=["slide"]
# # Shapes that stretched
#
# You will
# * find the gradient of a bias that's used in every row,
# * tell from two shapes which axes stretched, and sum over exactly these,
# * find out which wrong shapes the engine repairs, and what no engine can notice.

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
    why="Each number of `b` was used in three rows.",
    at="b.grad was empty",
)

# %% [markdown] tags=["explain", "slide"]
# **3**, in the shape of `b`. If `b[0]` grows by 1, it grows in all three rows, so the
# sum grows by 3.

# %% [markdown] tags=["slide"]
# ## Which gradients add up?
#
# With ones you can't see where each gradient came from. So here's an upstream gradient
# `g` with a different number in each position: `y.backward(g)` starts with `g`, where
# `.sum()` started with ones.

# %% tags=["slide"]
x = mg.zeros(3, 4)
g = mg.tensor(
    [[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0], [100.0, 200.0, 300.0, 400.0]]
)


# %% tags=["slide"]
def there_and_back():
    b = mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True)
    y = x + b
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
# 111 = 1 + 10 + 100, the first column of `g`: three uses, three gradients, and they add
# up, as at any join. Each term is an upstream gradient times a local derivative: 1 in
# the three positions where `b[0]` was used, and 0 in the other nine. The 1s don't
# depend on `x` or `b`, so nothing has to be saved: **an addition only needs shapes.**

# %% [markdown] tags=["slide"]
# ## Which axes stretched?
#
# Now we write the addition ourselves. `c` has shape (3, 1): one number per row, used in
# all four columns. So each number of `c` gets the sum of one row of `g`, and we sum
# over axis 1. That isn't enough, as the error says.


# %% tags=["raises-exception", "slide"]
class AddBias(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, b):
        return x + b

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output.sum(1)


c = mg.tensor([[5.0], [6.0], [7.0]], requires_grad=True)
AddBias.apply(x, c).backward(g)

# %% [markdown] tags=["explain", "slide"]
# The numbers were right: 10, 100 and 1000, one for each row. But `sum` removes the
# axis, and shape (3,) isn't (3, 1). `keepdim=True` leaves an axis of length 1 where the
# sum was taken. (The first line replaces only the `backward`.)

# %% tags=["slide"]
AddBias.backward = staticmethod(lambda ctx, g: (g, g.sum(1, keepdim=True)))
AddBias.apply(x, c).backward(g)
c.grad

# %% [markdown] tags=["explain", "slide"]
# Write the two shapes below each other, **flush right**. An axis stretched where the
# smaller shape has nothing, or has 1 while the result has more. Sum the gradient over
# these axes. (If both inputs stretched, each has its own axes.)
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
# ## What the engine does for you
#
# It's tempting to return `grad_output` for every input. `b` has shape (4,) again, and
# each of the next three backwards returns something of a different shape for it.


# %% tags=["slide"]
def is_refused(shape):
    AddBias.backward = staticmethod(lambda ctx, g: (g, mg.ones(shape)))
    b = mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True)
    try:
        AddBias.apply(mg.zeros(3, 4), b).backward(g)
    except RuntimeError:
        return True
    return False


# %% tags=["predict", "hide-input", "step", "slide", "Q63"]
def accepted():
    shapes = [(3, 4), (3, 5), ()]
    return [shape for shape in shapes if not is_refused(shape)]


course.predict(
    "06.engine",
    "For b of shape (4,), backward returns (3, 4), then (3, 5), then (). Which does the "
    "engine accept?",
    ["all three", "(3, 4) and (3, 5)", "only (3, 4)", "none of them"],
    then=accepted,
    so=lambda ran: {
        3: "all three",
        2: "(3, 4) and (3, 5)",
        1: "only (3, 4)",
        0: "none of them",
    }[len(ran.value)],
    why="(4,) can be stretched to (3, 4), so the engine sums back; to the others it can't.",
    at="GradientShapeError",
)

# %% [markdown] tags=["explain", "slide"]
# A shape to which (4,) could have been stretched is **summed** back, with no message
# (except from teaching mode). Any other shape is **refused**: (3, 5), although it's
# larger, and also (), because a single number doesn't say what the four should get. So
# a forgotten sum often comes right in the end. Still, **return each gradient in the
# shape of its input**, as the exercises ask: a missing sum and a wrong one look alike,
# and not every library repairs it. JAX refuses all three.

# %% [markdown] tags=["slide"]
# And a wrong gradient whose shape happens to be right? Now `x` is square, this backward
# sums over the wrong axis, and [111, 222, 333] would be right:

# %% tags=["slide"]
AddBias.backward = staticmethod(lambda ctx, g: (g, g.sum(1)))
b = mg.tensor([5.0, 6.0, 7.0], requires_grad=True)
AddBias.apply(mg.zeros(3, 3), b).backward(g[:, :3])
b.grad

# %% [markdown] tags=["slide"]
# Accepted. The engine checks shapes; it can't check your sums. That's why the exercises
# use sizes that are all different. Do the same in your own tests.

# %% [markdown] tags=["slide"]
# ## Where does 1/n go?
#
# Gradients of copies add up. So does a bias learn 1000 times as fast in a batch of 1000
# rows? Not if the loss is a *mean*. Here's a mean of squares as a Function, and the
# same with the engine's own operations. The bias starts at 0, and each of 8 rows has
# the target 1.


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


# %% tags=["slide", "Q77"]
def bias_gradient(loss, bias=0.0, rows=8):
    b = mg.tensor([bias], requires_grad=True)
    loss(mg.zeros(rows, 1) + b, mg.ones(rows, 1)).backward()
    return b.grad.item()


bias_gradient(mean_square)


# %% tags=["predict", "hide-input", "slide", "Q77"]
def of_mean_square():
    return bias_gradient(MeanSquare.apply)


course.predict(
    "06.mean",
    "With the engine's own operations b.grad is -2. What is it with MeanSquare?",
    ["-2", "-16", "-0.25"],
    then=of_mean_square,
    so=lambda ran: f"{ran.value:g}",
    why="Eight gradients of -2 add up, and nothing has divided them by 8.",
    at="MeanSquare.backward returned",
)

# %% [markdown] tags=["explain", "slide"]
# **-16**, so each training step moves the bias eight times too far. The addition is
# right to add up 8 gradients; the mean forgot to divide by the number of elements, 8.
# **Copying adds up, averaging divides.**

# %% tags=["because"]
course.because(
    "06.because",
    "Someone repairs it with grad_output.mean(0) in the addition instead. What does b.grad "
    "become with a loss that's right? One sentence, for yourself; it isn't graded.",
)

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# -0.25 instead of -2: a loss that's right sends -2 / 8 to each row, and the mean of
# eight times -0.25 is -0.25. The 1/n is there twice now.
#
# </details>

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say what the gradient of a stretched tensor is.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>An input of shape (4,) was stretched to (3, 4). What is its gradient?</summary>
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
# In PyTorch this is the same: (3, 4) is summed silently, the others raise *invalid
# gradient at index 1*. (torch's `sum_to_size` does what you write in 06.2.)
#
# ## Now you
#
# [Six exercises](../exercises/06_shapes_that_stretched/06_exercises.ipynb)
# (06.4 and 06.6 are extra); in 06.5 a bias learns too fast, but the weight beside it
# doesn't. In the whole course, [lesson 07](07_several_outputs.ipynb) follows. Your
# progress, and what's next on your path:

# %%
course.progress("06")
