# %% [markdown]
# # Exercises: How long does it remember?
#
# You will
# * say what is alive at six moments, and what a second backward does,
# * close a leak, and predict a peak of memory before you measure it,
# * write a ReLU that keeps one byte per number.
#
# The lesson is [here](../../notebooks/03_how_long_does_it_remember.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint, peak_bytes, watch

mg.teaching()

# %% [markdown]
# ## 03.1 Alive or gone?
#
# Six moments. Choose for each, then press *Commit*. (About 6 minutes.)

# %% tags=["solution"]
check("03.1", ["alive", "gone", "alive", "gone", "alive", "gone"])

# %% [markdown]
# ## 03.2 Twice
#
# Two classes with the same rule. Use them to find out what happens; then choose, and
# press *Commit*. (Extra: about 10 minutes.)


# %%
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * grad_output * x


class SquareByAttribute(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output * ctx.x


# %% [markdown]
# Replace `Square` by the other class, and move `retain_graph` from one call to the
# other. Look at the bytes under the graph each time.

# %% tags=["raises-exception"]
# %%step
x = mg.tensor(3.0, requires_grad=True)
y = Square.apply(x)
y.backward(retain_graph=True)
y.backward()

# %% [markdown]
# Once you've seen all four outcomes, answer here.

# %% tags=["exercise"]
exercise("03.2")

# %% tags=["solution"]
check(
    "03.2",
    {
        "a": "it raises: a second time",
        "b": "12.0",
        "c": "what the nodes saved",
        "d": "it runs",
    },
)

# %% [markdown]
# ## 03.3 The leak
#
# The numbers and gradients of this class are right, but each call leaves its result in
# memory. First run it and the cell below: what should be gone there, but isn't?
# (Teaching mode would tell you why, so it's off there. About 8 minutes.)


# %% tags=["exercise"]
# shipped Exp


# %% tags=["solution"]
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result


# %%
x = mg.ones(1000, requires_grad=True)
with mg.teaching(False):
    y = Exp.apply(x)
watched = watch(result=y, node=y.grad_fn)
del y
watched

# %% [markdown]
# Now repair the class. Nothing may be left in memory, even though the collector is off.

# %% [markdown]
# ## 03.4 Peak of a chain
#
# `Damped` saves two tensors. Write the peak of a chain of `n` calls as a formula, in
# bytes. The input itself doesn't count. Measure as often as you like: `peak_bytes` runs
# a function and returns the most bytes that were alive at any moment. (Extra: about
# 12 minutes.)


# %%
class Damped(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        decay = (-x).exp()
        ctx.save_for_backward(x, decay)
        return x * decay

    @staticmethod
    def backward(ctx, grad_output):
        x, decay = ctx.saved_tensors
        return grad_output * decay * (1 - x)


# %% [markdown]
# Here's a chain of it, with the peaks for one, two and three calls.

# %%
x = mg.ones(5000, dtype=mg.float64, requires_grad=True)


def forward_and_back(n):
    y = x
    for _ in range(n):
        y = Damped.apply(y)
    y.sum().backward()


[peak_bytes(forward_and_back, n) for n in (1, 2, 3)]

# %% [markdown]
# Your formula goes here. `size` is how many numbers `x` has (5000 above).


# %% tags=["exercise"]
def peak(n, size):
    # region solution: return the bytes that are alive at most
    return (2 * n + 3) * size * 8
    # endregion


# %% [markdown]
# The check measures chains of 100 calls, of 3 and of one, with a different size. Five
# percent off still counts as right.

# %% [markdown]
# ## 03.5 A mask instead of floats
#
# Write `Relu`, for finite x. This time ctx may keep one byte for each number of `x`,
# and no more: neither `x` nor the result, which the caller may throw away. The gradient
# is 0 where `x` is 0 or less. (About 12 minutes.)


# %% tags=["exercise"]
class Relu(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: keep one byte a number, return x where it is above 0, else 0
        mask = x > 0
        ctx.save_for_backward(mask)
        return x * mask
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return the gradient for x
        (mask,) = ctx.saved_tensors
        return grad_output * mask
        # endregion


# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/03_how_long_does_it_remember.ipynb): answer each
# recall card before you open it. Then
# [lesson 04](../../notebooks/04_who_needs_a_gradient.ipynb): what may backward skip?
