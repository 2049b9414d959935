# %% [markdown]
# # Exercises: Shapes that stretched
#
# You will
# * say which axes stretched, and write a function that undoes any stretch,
# * write a Function that keeps only shapes, and two that are each other's backward,
# * find out why a bias learns too fast, and what the engine repairs for you.
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
# choose, and press *Commit*. (Extra: about 6 minutes.)

# %% tags=["solution"]
check("06.1", ["axis 0", "axis 1", "axes 0 and 1", "axis 0", "axes 0 and 2", "none"])

# %% [markdown]
# ## 06.2 unbroadcast
#
# Write the function that undoes any stretch: `g` is the gradient of a result, and
# `shape` is the shape of the input. Sums do it; a reshape at the end is allowed. (About
# 18 minutes.)


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
# The check tries thirty pairs of shapes with random numbers, among them the shape ()
# and axes of length 0. Try some of your own first. Which three numbers should this be,
# and in which shape?

# %% tags=["raises-exception"]
g = mg.tensor([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]])
unbroadcast(g, (3, 1))

# %% [markdown]
# ## 06.3 Add, with shapes only


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


# %% [markdown]
# ## 06.4 Sum and Expand
#
# Two Functions, and each is the backward of the other. `Expand` inserts an axis at
# position `axis`, with n copies of `x` along it (`mg.stack` may help). `Sum` sums over
# `axis`, which disappears. A negative axis counts from the end. (Extra: about 15
# minutes.)


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
# Here's a test that doesn't need a right answer to compare with. Take any `x`, and any
# `y` with the result's shape. Multiply and sum in two ways: the result times `y`, and
# `x` times what backward returns for `y` (`grad(result, x, y)` sends `y` back). For a
# sum or a stretch, both numbers must be the same. It's called the *adjoint test*, and
# the check runs it many times.


# %% tags=["raises-exception"]
def adjoint_test(function, x, *more):
    x = x.requires_grad_()
    result = function.apply(x, *more)
    y = mg.randn(result.shape)
    (back,) = mg.autograd.grad(result, x, y)
    return (result * y).sum().item(), (x * back).sum().item()


adjoint_test(Sum, mg.randn(2, 3), 1), adjoint_test(Expand, mg.randn(2, 3), 1, 4)

# %% [markdown]
# The two numbers of each pair should agree to about six digits. Then try other axes,
# including negative ones, and hand in both classes.

# %% [markdown]
# ## 06.5 The bias that learned n times too fast
#
# A layer, a loss that is the mean over the rows, and a learning rate for each
# parameter. Run them as they are, then the cell below: W moves correctly, and b
# doesn't. (About 12 minutes.)


# %% tags=["exercise"]
# shipped Linear


# %% tags=["solution"]
class Linear(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.T + b

    @staticmethod
    def backward(ctx, grad_output):
        x, W = ctx.saved_tensors
        return grad_output @ W, grad_output.T @ x, grad_output.sum(0)


# %% tags=["exercise"]
# shipped MeanSquare


rates = {"W": 0.05, "b": 0.05}


# %% tags=["solution"]
# shipped MeanSquare with target) / len(y), None for target), None

# %% [markdown]
# One training step from 0, with your classes and with the engine's own operations. How
# far do W and b move? Change the number of rows: how does the difference depend on it?


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
# Now repair what's wrong. The check looks at the step, and then at each class by
# itself: would it be right with another loss, or with another layer?

# %% [markdown]
# ## 06.6 What the engine does for you
#
# `try_one` adds `x` and `b`, and returns the gradient you pass it for `b`. Try the
# gradients from the questions below, and others. Then answer. (Extra: about 8 minutes.)


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
# Here are the questions. You've just seen what happens with `g` itself; try the other
# gradients in the call above, one by one.

# %% tags=["exercise"]
exercise("06.6")

# %% tags=["solution"]
check(
    "06.6",
    {
        "a": "g.sum(0)",
        "b": "an error",
        "c": "an error",
        "d": "g.sum(1), and no word of it",
        "e": "an error",
    },
)

# %% tags=["check"]
check("06.6")

# %% [markdown]
# Stuck, or surprised? Each hint says more than the one before it.

# %%
hint("06.6")

# %% [markdown]
# ## For the curious: how grad_output lies in memory
#
# The gradient of a stretch is a sum. And the gradient of a sum is a stretch: each
# number that went into the sum gets the same gradient. The Function below changes
# nothing; it prints how the gradient that arrives is laid out in memory. `stride()`
# says how many elements it is to the next row and to the next column.


# %%
class Look(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad_output):
        print(tuple(grad_output.shape), grad_output.stride())
        return grad_output


# %% [markdown]
# **Predict.** The gradient of a sum of twelve numbers has shape (3, 4). Are there
# twelve numbers in memory, with strides of 4 and 1?

# %% tags=["predict", "Q03"]
twelve = mg.ones(3, 4, requires_grad=True)
g = mg.tensor(
    [[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0], [100.0, 200.0, 300.0, 400.0]]
)
Look.apply(twelve).sum().backward()

# %% [markdown] tags=["explain"]
# The strides are 0: **one** number serves all twelve positions. That's how the backward
# of a sum stretches, and it takes no memory. (So never write into `grad_output`: one
# write would show at twelve positions.)

# %% [markdown]
# **Try.** A transpose doesn't move numbers either: it swaps the strides. C code that
# gets only the memory knows nothing of strides, and `ravel("K")` reads memory as such
# code would. The first row that comes back should be [1, 2, 3, 4] both times. Is it?
# Then replace `grad_output` by `grad_output.contiguous()`, a copy laid out as its shape
# says.


# %% tags=["try", "Q03"]
class InMemory(Look):
    @staticmethod
    def backward(ctx, grad_output):
        numbers = grad_output.numpy().ravel("K")
        return mg.tensor(numbers).reshape(grad_output.shape)


(straight,) = mg.autograd.grad(InMemory.apply(twelve), twelve, g)
(turned,) = mg.autograd.grad(InMemory.apply(twelve).T, twelve, g.T.contiguous())
straight[0], turned[0]

# %% [markdown] tags=["explain"]
# The second one is [1, 10, 100, 2]: the right numbers in a different order, and no
# error. Such a backward is right until someone transposes its result. Behind a sum it's
# worse: C code would read one number, and then eleven that don't exist. With
# `contiguous()` both are right.

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/06_shapes_that_stretched.ipynb): answer each
# recall card before you open it. Then
# [lesson 07](../../notebooks/07_several_outputs.ipynb): Functions with several outputs.
