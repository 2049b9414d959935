# %% [markdown]
# # Exercises: What should ctx remember?
#
# You will
# * decide what a rule saves, what it keeps as an attribute, and what it doesn't keep,
# * write Functions that keep one array, or two numbers, and nothing else,
# * find a wrong number that raises no error, and make it raise one.
#
# The lesson is [here](../../notebooks/02_what_should_ctx_remember.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 02.1 Three shelves
#
# Seven things. Where does each one go? Choose, then press *Commit*. (About 6 minutes.)

# %% tags=["solution"]
check(
    "02.1",
    {
        "a": "not kept",
        "b": "saved",
        "c": "not kept",
        "d": "an attribute",
        "e": "an attribute",
        "f": "saved",
        "g": "not kept",
    },
)

# %% [markdown]
# ## 02.2 Exp, cheaply
#
# Write `Exp`. Keep the one array that leaves backward almost nothing to do. The check
# looks at your numbers and at what ctx holds. (About 10 minutes.)


# %% tags=["exercise"]
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: compute e to the power x, keep what backward needs, return it
        result = x.exp()
        ctx.save_for_backward(result)
        return result
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return the gradient for x, without any exp
        (result,) = ctx.saved_tensors
        return grad_output * result
        # endregion


# %% [markdown]
# ## 02.3 Clip, and its bounds
#
# `Clip` raises everything below `lo` to `lo` and lowers everything above `hi` to `hi`.
# Both are plain numbers. Where `x` is between the bounds, or on one of them, the
# gradient passes unchanged; elsewhere it's 0. Complete both methods. (About 10
# minutes.)


# %% tags=["exercise"]
class Clip(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, lo, hi):
        # region solution: keep x, and the two numbers, each where it belongs
        ctx.save_for_backward(x)
        ctx.lo, ctx.hi = lo, hi
        # endregion
        return x.clamp(lo, hi)

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one value for each of the three arguments
        (x,) = ctx.saved_tensors
        inside = (x >= ctx.lo) & (x <= ctx.hi)
        return grad_output * inside, None, None
        # endregion


# %% [markdown]
# ## 02.4 Silent 4 instead of 3
#
# First watch it go wrong. Run the class as it is. In the cell below it, `product` is
# made with a factor of 3: what will the last line show? (Teaching mode would point at
# the mistake, so it's off there. About 8 minutes.)


# %% tags=["exercise"]
# shipped Scale


# %% tags=["solution"]
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(factor)
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        (factor,) = ctx.saved_tensors
        return grad_output * factor, None


# %% tags=["predict", "raises-exception"]
x, factor = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0)
with mg.teaching(False):
    product = Scale.apply(x, factor)
factor.add_(1)
mg.autograd.grad(product, x)

# %% [markdown]
# Now repair the class so that a change like this one gets noticed. Once it is, the cell
# above stops with an error that names both versions. That's what you want.

# %% [markdown]
# ## 02.5 Tanh twice
#
# The derivative of tanh can be computed from the input or from the result. Write both:
# each class keeps what its name says, and nothing else. (Extra: about 15 minutes.)


# %% tags=["exercise"]
class TanhFromInput(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: keep x, return tanh of x
        ctx.save_for_backward(x)
        return x.tanh()
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return the gradient for x, from x
        (x,) = ctx.saved_tensors
        y = x.tanh()
        return grad_output * (1 - y * y)
        # endregion


# %% tags=["exercise"]
class TanhFromOutput(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: keep the result, return it
        y = x.tanh()
        ctx.save_for_backward(y)
        return y
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return the gradient for x, from the result
        (y,) = ctx.saved_tensors
        return grad_output * (1 - y * y)
        # endregion


# %% [markdown]
# Now the cost. In `y = Tanh.apply(a * b)`, `a` and `b` have 1000 float64 numbers each.
# How many bytes stay in memory besides `a`, `b` and `y`, with each class? Fill in your
# two numbers, first from input, then from output.

# %% tags=["exercise"]
extra_bytes = [0, 0]

# %% tags=["solution"]
extra_bytes = [8000, 0]

# %% [markdown]
# ## Watch what yours keep
#
# Both your classes in the same program, recorded. What differs has a colour, and the
# player opens at the first step where something does. Go on from there: which class
# keeps more bytes, and until when?


# %% tags=["step"]
def of_a_product(function):
    a = mg.ones(1000, dtype=mg.float64, requires_grad=True)
    b = mg.ones(1000, dtype=mg.float64, requires_grad=True)
    y = function.apply(a * b)
    y.sum().backward()
    return y


both = [TanhFromInput, TanhFromOutput]
traces = [mg.step(of_a_product, one).with_memory() for one in both]
mg.compare(*traces, titles=[one.__name__ for one in both])

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/02_what_should_ctx_remember.ipynb): answer each
# recall card before you open it. Then
# [lesson 03](../../notebooks/03_how_long_does_it_remember.ipynb): when is what ctx
# keeps released?
