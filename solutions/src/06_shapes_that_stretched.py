# %% [markdown]
# # Exercises: Shapes that stretched
#
# You will
# * say which axes stretched, and write the function that undoes any stretch,
# * write Functions that keep shapes, and two that are each other's backward,
# * find out why a bias learns too fast, and what the engine repairs unasked.
#
# The lesson is [here](../../notebooks/06_shapes_that_stretched.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 06.1 Which axes stretched?
#
# Six pairs of shapes. Write each pair on paper, one below the other, flush right. Then
# choose, and press *Commit*. (About 6 minutes.)

# %% tags=["exercise"]
exercise("06.1")

# %% tags=["solution"]
check("06.1", ["axis 0", "axis 1", "axes 0 and 1", "axis 0", "axes 0 and 2", "none"])

# %% tags=["check"]
check("06.1")

# %% [markdown]
# ## 06.2 unbroadcast
#
# Write the function that undoes any stretch: `g` is the gradient of a result, `shape`
# that of the input. Add up with `sum` alone. (About 18 minutes.)


# %% tags=["exercise"]
def unbroadcast(g, shape):
    # region solution: add up g over the axes that stretched, return it in this shape
    while g.ndim > len(shape):
        g = g.sum(0)
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.sum(axis, keepdim=True)
    return g
    # endregion


# %% [markdown]
# The check tries thirty pairs of shapes, each with random numbers: among them the shape
# (), and axes of length 0. Before that try some of your own here. Which three numbers
# should this be, and in which shape?

# %% tags=["raises-exception"]
g = mg.tensor([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]])
unbroadcast(g, (3, 1))

# %% tags=["check"]
check("06.2", unbroadcast)

# %%
hint("06.2")

# %% [markdown]
# ## 06.3 Add, with shapes only
#
# `a + b`, where either of the two may stretch. ctx keeps what backward needs: no array.
# Your `unbroadcast` may be called. (About 10 minutes.)


# %% tags=["exercise"]
class Add(mg.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        # region solution: keep what backward needs, and no array
        ctx.shapes = a.shape, b.shape
        # endregion
        return a + b

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return a gradient for a and one for b, each in its shape
        for_a, for_b = ctx.shapes
        return unbroadcast(grad_output, for_a), unbroadcast(grad_output, for_b)
        # endregion


# %% tags=["check"]
check("06.3", Add)

# %%
hint("06.3")

# %% [markdown]
# ## 06.4 Sum and Expand
#
# Two Functions, and each is the backward of the other. `Expand` puts an axis in, at
# place `axis`, with n copies of x along it (`mg.stack` may help). `Sum` adds up along
# `axis`, which is gone then. A negative axis counts from the end. (About 15 minutes.)


# %% tags=["exercise"]
class Expand(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, axis, n):
        # region solution: keep what backward needs, return n copies along a new axis
        ctx.axis = axis
        return mg.stack([x] * n, axis)
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one value for each argument
        return Sum.apply(grad_output, ctx.axis), None, None
        # endregion


# %% tags=["exercise"]
class Sum(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, axis):
        # region solution: keep what backward needs, return the sum along the axis
        ctx.axis, ctx.n = axis, x.shape[axis]
        return x.sum(axis)
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one value for each argument
        return Expand.apply(grad_output, ctx.axis, ctx.n), None
        # endregion


# %% [markdown]
# Here is a test that needs no right answer to compare with. Take any `x`, and any `y`
# of the result's shape. Multiply and add up twice: the result with `y`, and `x` with
# what backward makes of `y` (`grad(result, x, y)` sends `y` back). For a sum, or a
# stretch, the two must be the same. It is called the *adjoint test*, and the check does
# it many times.


# %% tags=["raises-exception"]
def adjoint_test(function, x, *more):
    x = x.requires_grad_()
    result = function.apply(x, *more)
    y = mg.randn(*result.shape)
    (back,) = mg.autograd.grad(result, x, y)
    return (result * y).sum().item(), (x * back).sum().item()


adjoint_test(Sum, mg.randn(2, 3), 1), adjoint_test(Expand, mg.randn(2, 3), 1, 4)

# %% [markdown]
# Both pairs should agree to six digits or so. Then try other axes, negative ones too,
# and hand over both.

# %% tags=["check"]
check("06.4", [Expand, Sum])

# %%
hint("06.4")

# %% [markdown]
# ## 06.5 The bias that learned n times too fast
#
# A layer, a loss that is the mean over the rows, and a rate for each parameter. Run
# them as they are, then the cell below: W is right, and b is not. (About 12 minutes.)


# %% tags=["exercise"]
class Linear(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.T + b

    @staticmethod
    def backward(ctx, grad_output):
        x, W = ctx.saved_tensors
        n = len(x)
        return grad_output @ W, grad_output.T @ x / n, grad_output.sum(0)


# %% tags=["solution"]
class Linear(mg.autograd.Function):  # noqa: F811  the repaired class
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.T + b

    @staticmethod
    def backward(ctx, grad_output):
        x, W = ctx.saved_tensors
        return grad_output @ W, grad_output.T @ x, grad_output.sum(0)


# %% tags=["exercise"]
class MeanSquare(mg.autograd.Function):
    @staticmethod
    def forward(ctx, y, target):
        ctx.save_for_backward(y, target)
        return ((y - target) ** 2).sum() / len(y)

    @staticmethod
    def backward(ctx, grad_output):
        y, target = ctx.saved_tensors
        return grad_output * 2 * (y - target), None


rates = {"W": 0.05, "b": 0.05}


# %% tags=["solution"]
class MeanSquare(mg.autograd.Function):  # noqa: F811  the repaired class
    @staticmethod
    def forward(ctx, y, target):
        ctx.save_for_backward(y, target)
        return ((y - target) ** 2).sum() / len(y)

    @staticmethod
    def backward(ctx, grad_output):
        y, target = ctx.saved_tensors
        return grad_output * 2 * (y - target) / len(y), None


# %% [markdown]
# One training step from 0, with your classes and with the engine's own operations. How
# far do W and b move? Take other numbers of rows: what does the difference follow?


# %%
def one_step(rows, own):
    x, target = mg.ones(rows, 1), 3 * mg.ones(rows, 1)
    W, b = mg.zeros(1, 1, requires_grad=True), mg.zeros(1, requires_grad=True)
    if own:
        MeanSquare.apply(Linear.apply(x, W, b), target).backward()
    else:
        ((x @ W.T + b - target) ** 2).mean().backward()
    return -rates["W"] * W.grad.item(), -rates["b"] * b.grad.item()


print("yours:        W moves by {:.3g}, b by {:.3g}".format(*one_step(4, own=True)))
print("the engine's: W moves by {:.3g}, b by {:.3g}".format(*one_step(4, own=False)))

# %% [markdown]
# Now repair what is wrong. The check looks at the step, and then at each class
# alone: would it be right beside another loss, or another layer?

# %% tags=["check"]
check("06.5", [Linear, MeanSquare, rates])

# %%
hint("06.5")

# %% [markdown]
# ## 06.6 What the engine does for you
#
# `try_one` adds `x` and `b`, and returns for `b` what you say. Try the gradients of the
# questions below, and others. Then answer. (About 8 minutes.)


# %%
class Stretching(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, b, returned):
        ctx.returned = returned
        return x + b

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, ctx.returned(grad_output), None


# %% tags=["raises-exception"]
def try_one(returned, columns=4):
    b = mg.zeros(columns, requires_grad=True)
    g = mg.arange(3.0 * columns).reshape(3, columns)
    Stretching.apply(mg.zeros(3, columns), b, returned).backward(g)
    return b.grad


try_one(lambda g: g)

# %% [markdown]
# Here are the questions. Of `g` itself you have seen the outcome; the other gradients
# go into the call above, one by one.

# %% tags=["exercise"]
exercise("06.6")

# %% tags=["solution"]
check(
    "06.6",
    {
        "a": "the sums over the rows",
        "b": "an error",
        "c": "an error",
        "d": "wrong numbers, and no word of it",
        "e": "an error",
    },
)

# %% tags=["check"]
check("06.6")

# %% [markdown]
# Stuck, or surprised? Each hint is more direct than the one before.

# %%
hint("06.6")

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/06_shapes_that_stretched.ipynb), to its recall
# cards: open each one only after you have answered it. Then
# [lesson 07](../../notebooks/07_several_outputs.ipynb): Functions with several outputs.
