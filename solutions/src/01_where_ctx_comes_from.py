# %% [markdown]
# # Exercises: Where does ctx come from?
#
# You will
# * write a Function with two inputs, forward and backward,
# * have it checked on numbers you have not seen,
# * step through your own code.
#
# The lesson is [here](../../notebooks/01_where_ctx_comes_from.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, hint

mg.teaching()

# %% [markdown]
# ## 01.4 Mul, your first Function
#
# Write `Mul`, which multiplies two tensors of the same shape. `backward` gets one
# gradient, the one that arrives for the product, and returns two: for `x` and for
# `y`.
#
# `ctx.save_for_backward(a, b, ...)` keeps tensors; in `backward`, `ctx.saved_tensors`
# is the tuple of them. Replace each `raise` line. (About 12 minutes.)


# %% tags=["exercise"]
class Mul(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        # region solution: keep what backward will need, then return x * y
        ctx.save_for_backward(x, y)
        return x * y
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return the gradient for x and the gradient for y
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x
        # endregion


# %% [markdown]
# Run the cell above after every change, then check. The check draws its own inputs
# and its own upstream gradients, says what it saw, and names the mistake if it knows
# it.

# %% tags=["check"]
check("01.4", Mul)

# %% [markdown]
# Stuck? Run the next cell for a hint. Each hint is more direct than the one before;
# between two hints, try something and check it.

# %%
hint("01.4")

# %% [markdown]
# ## Watch your own class
#
# Here is your `Mul`, once forward and once backward, with an upstream gradient you can
# recognise.
#
# **Predict** the two gradients first. Then step: where does `1.0, 0.5, -1.0` enter
# your code, and what does it meet there?


# %% tags=["step"]
def there_and_back(x, y):
    product = Mul.apply(x, y)
    product.backward(mg.tensor([1.0, 0.5, -1.0]))
    return x.grad, y.grad


x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = mg.tensor([10.0, 20.0, 30.0], requires_grad=True)
mg.step(there_and_back, x, y)

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/01_where_ctx_comes_from.ipynb), to its recall
# cards: open each one only after you have answered it.
