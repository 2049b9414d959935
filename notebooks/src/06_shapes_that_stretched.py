# ruff: noqa: E501  (a table)

# %% [markdown] tags=["slide"]
# # Shapes that stretched
#
# You will
# * find the gradient of a bias that's used in every row,
# * tell from two shapes which axes stretched, and write the gradient for them,
# * find out which wrong gradients the engine notices.

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
# ## Where does each gradient come from?
#
# With ones you can't see where each gradient came from. So here's an upstream gradient
# `g` with a different number in each position: `backward(g)` starts with `g`, where
# `.sum()` started with ones.

# %% tags=["slide"]
x = mg.zeros(3, 4)
g = mg.tensor(
    [[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0], [100.0, 200.0, 300.0, 400.0]]
)
b = mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True)
(x + b).backward(g)
b.grad

# %% [markdown] tags=["slide"]
# The 111 is 1 + 10 + 100, the first column of `g`: three uses, three gradients, and they
# add up, as at any join. Each term is an upstream gradient times a local derivative: 1 in
# the three positions where `b[0]` was used, and 0 in the other nine. The 1s don't
# depend on `x` or `b`, so nothing has to be saved: **an addition only needs shapes.**

# %% [markdown] tags=["slide"]
# ## Which axes stretched?
#
# Now we write the addition ourselves. `c` has shape (3, 1): one number per row, used in
# all four columns. So each number of `c` gets the sum of one row of `g`, and we sum
# over axis 1.


# %% tags=["slide"]
class AddBias(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, b):
        return x + b

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output.sum(1)


def column_and_back():
    c = mg.tensor([[5.0], [6.0], [7.0]], requires_grad=True)
    AddBias.apply(x, c).backward(g)
    return c.grad


# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "06.axis",
    "c is (3, 1), and the rows of g add up to 10, 100 and 1000. What happens?",
    ["c.grad is [10, 100, 1000]", "c.grad is [[10], [100], [1000]]", "an error"],
    then=column_and_back,
    so=lambda ran: (
        "an error"
        if ran.error
        else "c.grad is [10, 100, 1000]"
        if ran.value.ndim == 1
        else "c.grad is [[10], [100], [1000]]"
    ),
    why="`sum(1)` removes axis 1, and shape (3,) isn't (3, 1).",
    at="GradientShapeError",
)

# %% [markdown] tags=["explain", "slide"]
# **An error.** The numbers were right, one for each row. But `sum` removes the axis, and
# shape (3,) isn't (3, 1). `keepdim=True` leaves an axis of length 1 where the sum was
# taken:


# %% tags=["explain", "slide"]
class AddColumn(AddBias):
    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output.sum(1, keepdim=True)


c = mg.tensor([[5.0], [6.0], [7.0]], requires_grad=True)
AddColumn.apply(x, c).backward(g)
c.grad

# %% [markdown] tags=["explain", "slide"]
# Write the input's shape under the result's, **flush right**. An axis stretched where
# the input has nothing, or has 1 while the result has more. Sum the gradient over these
# axes. (Both inputs can stretch: (3, 1) + (4,) is (3, 4), the first along axis 1, the
# second along axis 0.)
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
# ## A gradient of the wrong shape
#
# It's tempting to return `grad_output` for every input. `b` has shape (4,) again, and
# each of the next three backwards returns something of a different shape for it.


# %% tags=["slide"]
def is_refused(shape):
    class Returns(AddBias):
        @staticmethod
        def backward(ctx, grad_output):
            return grad_output, mg.ones(shape)

    b = mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True)
    try:
        Returns.apply(x, b).backward(g)
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
# if only this last sum is missing, it always comes right. It doesn't if backward goes on
# to compute something that needs the sum first, and not every library repairs it: JAX
# refuses all three. **Return each gradient in the shape of its input**, as the exercises
# ask.

# %% [markdown] tags=["slide"]
# And a wrong gradient whose shape happens to be right? `AddBias` sums over axis 1. Here
# `x` is square and `b` is a row, so that's the wrong axis: [111, 222, 333] would be right.

# %% tags=["slide"]
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
    at="The box opens",
)

# %% [markdown] tags=["explain", "slide"]
# **-16**, so each training step moves the bias eight times too far. The addition is
# right to add up 8 gradients; the mean forgot to divide by the number of elements, 8.
# **Copying adds up, averaging divides.**

# %% tags=["because"]
course.because(
    "06.because",
    "Someone puts grad_output.mean(0) into the addition instead, and with MeanSquare b.grad "
    "is -2. Is it repaired? One sentence, for yourself; it isn't graded.",
)

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# No: it only looks so, because two bugs cancel. MeanSquare sends -2 to each row, and
# their mean is -2. But a loss that's right sends -2 / 8 to each row, and then b.grad is
# -0.25.
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
# Write the input's shape under the result's, flush right. An axis stretched where the
# input has nothing, or has 1 while the result has more. Use `keepdim=True` for the second kind.
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
# gradient at index 1*. (After 06.2, compare yours with torch's `sum_to_size`.)
#
# ## Now you
#
# [Six exercises](../exercises/06_shapes_that_stretched/06_exercises.ipynb)
# (06.1, 06.4 and 06.6 are extra); in 06.5 a bias learns too fast, but the weight beside it
# doesn't. In the whole course, [lesson 07](07_several_outputs.ipynb) follows. Your
# progress, and what's next on your path:

# %%
course.progress("06")
