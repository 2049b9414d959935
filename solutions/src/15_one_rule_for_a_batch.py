# %% [markdown]
# # Exercises: One rule for a batch
#
# You will
# * say which shapes go in and come out,
# * write two rules, and repair a third,
# * find out what a generated rule refuses, and compute a gradient for each sample.
#
# The lesson is [here](../../notebooks/15_one_rule_for_a_batch.ipynb).

# %%
import minigrad as mg
from minigrad import bench
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 15.1 Where did the axis go?
#
# Answer from memory, without running anything, then press *Commit*. (About 5 minutes.)

# %% tags=["solution"]
check("15.1", ["(2, 4)", "(3, 2, 4)", "(2, 3, 4)", "(4,)", "(5,)", "(5, 4)"])

# %% [markdown]
# ## 15.2 Mul, one side batched


# %% tags=["exercise"]
class Mul(mg.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x

    @staticmethod
    def vmap(info, in_dims, x, y):
        # region solution: return the product of all samples, and its mapped axis
        x_dim, y_dim = in_dims
        x = x.unsqueeze(-1) if x_dim is None else x.movedim(x_dim, -1)
        y = y.unsqueeze(-1) if y_dim is None else y.movedim(y_dim, -1)
        return Mul.apply(x, y), -1
        # endregion


# %% [markdown]
# First, two samples, the columns of x, times a shared y: [[1, 4, 9], [10, 40, 90]].
# Then two samples of one number each, times the same y: [[1, 2, 3], [10, 20, 30]].

# %% tags=["raises-exception"]
x, y = mg.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]), mg.tensor([1.0, 2.0, 3.0])
print(mg.vmap(Mul.apply, in_dims=(1, None))(x, y).tolist())
print(mg.vmap(Mul.apply, in_dims=(0, None))(x[0], y).tolist())

# %% [markdown]
# ## 15.3 Sum(axis) under vmap


# %% tags=["exercise"]
class Sum(mg.autograd.Function):
    @staticmethod
    def forward(x, axis):
        return x.sum(axis)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.axis = inputs
        ctx.shape = x.shape

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.unsqueeze(ctx.axis).expand(ctx.shape), None

    @staticmethod
    def vmap(info, in_dims, x, axis):
        # region solution: return the sums of all samples, and their mapped axis
        x = x.movedim(in_dims[0], 0)
        return Sum.apply(x, axis + 1 if axis >= 0 else axis), 0
        # endregion


# %% [markdown]
# Two samples, each with two rows. Their columns add up to [4, 6] and [12, 14], their
# rows to [3, 7] and [11, 15].

# %% tags=["raises-exception"]
x = mg.tensor([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
print(mg.vmap(Sum.apply, in_dims=(0, None))(x, 0).tolist())
print(mg.vmap(Sum.apply, in_dims=(0, None))(x, -1).tolist())

# %% [markdown]
# ## 15.4 Right shape, wrong sample


# %% tags=["exercise"]
# shipped Linear


# %% tags=["solution"]
class Linear(mg.autograd.Function):
    @staticmethod
    def forward(x, W):
        return x @ W.T

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, W = ctx.saved_tensors
        g = grad_output.unsqueeze(-1)
        return grad_output @ W, g * x.unsqueeze(-2)

    @staticmethod
    def vmap(info, in_dims, x, W):
        x = x.movedim(in_dims[0], 0)
        return Linear.apply(x, W), 0


# %% [markdown]
# The samples are the columns of x: (1, 0, 0), (1, 1, 0) and (0, 0, 2). So the first
# vector should be W's first column. Run this before and after your repair.

# %% tags=["raises-exception"]
x = mg.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
W = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
mg.vmap(Linear.apply, in_dims=(1, None))(x, W).tolist()

# %% [markdown]
# ## 15.5 The generated rule
#
# Here's a Function that leaves its rule to vmap. Change one thing at a time, as the
# questions say, and run both cells again. (About 7 minutes.)


# %%
class Cube(mg.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        print("forward gets", tuple(x.shape))
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2


# %% tags=["raises-exception"]
x = mg.ones(2, 4, requires_grad=True)
y = mg.vmap(Cube.apply, in_dims=1)(x)
print("called")
y.sum().backward()

# %% [markdown]
# In each question only the one thing is changed that it names.

# %% tags=["exercise"]
exercise("15.5")

# %% tags=["solution"]
check("15.5", ["c", "b", "b", "b", "c"])

# %% [markdown]
# ## 15.6 Per-sample gradients, and what they cost
#
# Here's the loss of one sample, and a loop that takes its gradient for each sample.
# Write the same with vmap. Then write `speedup(slow, fast)`: how many times as long as
# fast() does slow() take? Measure both in turns. (About 10 minutes.)


# %%
def loss(w, x, target):
    return ((x * w).sum(0) - target) ** 2


def by_loop(loss, w, X, targets):
    slope = mg.func.grad(loss)
    return mg.stack([slope(w, x, t) for x, t in zip(X, targets, strict=True)])


# %% tags=["exercise"]
def by_vmap(loss, w, X, targets):
    # region solution: return the same as by_loop, with one call of loss
    slope = mg.func.grad(loss)
    return mg.vmap(slope, in_dims=(None, 0, 0))(w, X, targets)
    # endregion


def speedup(slow, fast):
    # region solution: return how many times as long slow() takes as fast()
    timed = bench.interleaved({"slow": slow, "fast": fast})
    return timed["slow"].ratio_to(timed["fast"]).median
    # endregion


# %% [markdown]
# How many times as long does the loop take here, with 64 samples?

# %% tags=["raises-exception"]
w, X, targets = mg.randn(3), mg.randn(64, 3), mg.randn(64)
speedup(lambda: by_loop(loss, w, X, targets), lambda: by_vmap(loss, w, X, targets))

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/15_one_rule_for_a_batch.ipynb), to its recall
# cards: open each one only after you have answered it.
