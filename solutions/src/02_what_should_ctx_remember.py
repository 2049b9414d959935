# %% [markdown]
# # Exercises: What should ctx remember?
#
# You will
# * sort what a rule needs onto three shelves,
# * write Functions that keep one array, or two numbers, and nothing else,
# * find a wrong number that nobody reports, and make it an error.
#
# The lesson is [here](../../notebooks/02_what_should_ctx_remember.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 02.1 Three shelves
#
# Seven things. Choose a shelf for each, then press *Commit*. (About 6 minutes.)

# %% tags=["exercise"]
exercise("02.1")

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

# %% tags=["check"]
check("02.1")

# %% [markdown]
# ## 02.2 Exp, cheaply
#
# Write `Exp`. Keep the one array that makes backward free: the check looks at your
# numbers, and at what ctx holds. (About 10 minutes.)


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


# %% tags=["check"]
check("02.2", Exp)

# %%
hint("02.2")

# %% [markdown]
# ## 02.3 Clip, and its bounds
#
# `Clip` lifts what is below `lo` to `lo`, and lowers what is above `hi` to `hi`; both
# are plain numbers. The gradient passes between the bounds and on them. Complete both
# methods. (About 10 minutes.)


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


# %% tags=["check"]
check("02.3", Clip)

# %%
hint("02.3")

# %% [markdown]
# ## 02.4 Silent 4 instead of 3
#
# First the culprit, then the crime. Run the class as it is. In the cell below it
# `product` is made with a factor of 3: say what the last line shows before you run
# that. (Teaching mode would name the culprit, so it is off there. About 8 minutes.)


# %% tags=["exercise"]
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None


# %% tags=["solution"]
class Scale(mg.autograd.Function):  # noqa: F811  the repaired class
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
# Now repair the class, so that a change like this one is noticed. Once it is, the cell
# above stops with an error that names both versions: that is what you want.

# %% tags=["check"]
check("02.4", Scale)

# %%
hint("02.4")

# %% [markdown]
# ## 02.5 Tanh twice
#
# The slope of tanh can be worked out from the input or from the result. Write both:
# each class keeps what its name says, and nothing else. (About 15 minutes.)


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
# And the price. In `y = Tanh.apply(a * b)` with 1000 float64 numbers in `a` and in `b`:
# how many bytes stay alive beside `a`, `b` and `y`, with either class? Put your two
# numbers here, from input first.

# %% tags=["exercise"]
extra_bytes = [0, 0]

# %% tags=["solution"]
extra_bytes = [8000, 0]

# %% tags=["check"]
check("02.5", [TanhFromInput, TanhFromOutput, extra_bytes])

# %%
hint("02.5")

# %% [markdown]
# ## Watch what yours keep
#
# Both of your classes on the same line, recorded. Look at the bytes under the graph:
# where do the two recordings differ, and since which step?


# %% tags=["step"]
def of_a_product(function):
    a = mg.ones(1000, dtype=mg.float64, requires_grad=True)
    b = mg.ones(1000, dtype=mg.float64, requires_grad=True)
    y = function.apply(a * b)
    y.sum().backward()
    return y


mg.compare(mg.step(of_a_product, TanhFromInput), mg.step(of_a_product, TanhFromOutput))

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/02_what_should_ctx_remember.ipynb), to its recall
# cards: open each one only after you have answered it. Then
# [lesson 03](../../notebooks/03_how_long_does_it_remember.ipynb): when it is let go.
