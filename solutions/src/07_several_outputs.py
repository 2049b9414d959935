# %% [markdown]
# # Exercises: Several outputs, and outputs without gradients
#
# You will
# * say what arrives for an output that nobody used, and write Functions for every use,
# * spare the zeros, and the work that goes with them,
# * cut the wire of a mask, and test a gradient that gradcheck must refuse.
#
# The lesson is [here](../../notebooks/07_several_outputs.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint, peak_bytes

mg.teaching()

# %% [markdown]
# ## 07.1 What is g2?
#
# Six backwards. Choose for each, then press *Commit*. (About 6 minutes.)

# %% tags=["exercise"]
exercise("07.1")

# %% tags=["solution"]
check("07.1", ["a", "b", "b", "a", "b", "b"])

# %% tags=["check"]
check("07.1")

# %% [markdown]
# ## 07.2 MinMax
#
# Write `MinMax`: the smallest and the largest of all numbers of `x`, which are all
# different. Some use only one of the two, and x may be a single number. (About 14
# minutes.)


# %% tags=["exercise"]
class MinMax(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: keep what backward needs, return the smallest and the largest
        low, high = x.min(), x.max()
        ctx.save_for_backward(x, low, high)
        return low, high
        # endregion

    @staticmethod
    def backward(ctx, g_low, g_high):
        # region solution: return one gradient for x, from both outputs
        x, low, high = ctx.saved_tensors
        return g_low * (x == low) + g_high * (x == high)
        # endregion


# %% tags=["check"]
check("07.2", MinMax)

# %%
hint("07.2")

# %% [markdown]
# ## 07.3 Skip the zeros
#
# This one is right whichever output is used, and does needless work when one of them is
# not. Use only the square: what does backward make and work out for nothing?


# %%
class WithZeros(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x * x

    @staticmethod
    def backward(ctx, g_sine, g_square):
        (x,) = ctx.saved_tensors
        return g_sine * x.cos() + g_square * 2 * x


# %% [markdown]
# Write the same Function without that work: no zeros, no cosine, and no product for an
# output that nobody used. (About 12 minutes.)


# %% tags=["exercise"]
class SineAndSquare(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: ask for None instead of zeros, and keep x
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        # endregion
        return x.sin(), x * x

    @staticmethod
    def backward(ctx, g_sine, g_square):
        # region solution: return the gradient for x, from the outputs that were used
        (x,) = ctx.saved_tensors
        if g_sine is None:
            return g_square * 2 * x
        if g_square is None:
            return g_sine * x.cos()
        return g_sine * x.cos() + g_square * 2 * x
        # endregion


# %% tags=["check"]
check("07.3", SineAndSquare)

# %%
hint("07.3")

# %% [markdown]
# Measure. `x` has 100,000 float64 numbers, 800,000 bytes, and only the square is used.
# Guess how many such arrays the peak falls by; then run. (What is not needed any more
# goes at once, so the peak falls by less than what you spare.)

# %% tags=["step", "raises-exception"]
x = mg.ones(100_000, dtype=mg.float64, requires_grad=True)


def only_the_square(function):
    x.grad = None
    _, square = function.apply(x)
    square.sum().backward()


[peak_bytes(only_the_square, function) for function in (WithZeros, SineAndSquare)]

# %% [markdown]
# ## 07.4 Sort with indices
#
# Write `Sort`: each row (the last axis) in ascending order, and the places where its
# numbers stood. `x.sort(-1)` gives you both. Mark the indices. (About 15 minutes.)


# %% tags=["exercise"]
class Sort(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: keep and mark the indices, return the values and the indices
        values, indices = x.sort(-1)
        ctx.save_for_backward(indices)
        ctx.mark_non_differentiable(indices)
        return values, indices
        # endregion

    @staticmethod
    def backward(ctx, g_values, g_indices):
        # region solution: send each gradient to the place where its value stood
        (indices,) = ctx.saved_tensors
        return mg.zeros_like(g_values).scatter(-1, indices, g_values)
        # endregion


# %% tags=["check"]
check("07.4", Sort)

# %%
hint("07.4")

# %% [markdown]
# ## 07.5 Straight-through round
#
# First the Function: it rounds (halves to the even neighbour, as Python's `round`), and
# its gradient does as if nothing had happened. (About 15 minutes for all three.)


# %% tags=["exercise"]
class Round(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the nearest integers, in the dtype of x
        return x.round()
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: hand on what arrives
        return grad_output
        # endregion


# %% [markdown]
# Now give it to gradcheck. Read the line with *measured*: which of the two numbers is
# wrong?

# %% tags=["step", "raises-exception"]
x = mg.tensor([-1.7, 0.4, 2.6], dtype=mg.float64, requires_grad=True)
mg.autograd.gradcheck(Round.apply, x)

# %% [markdown]
# So Round needs another test. `hands_on(function)` returns True if a Function hands on
# every gradient as it is, and False if not. Write it so that no other rule gets by.


# %% tags=["exercise"]
def hands_on(function):
    # region solution: choose x and g, send g through, compare what arrives at x
    x = mg.tensor([-1.7, 0.4, 2.6], requires_grad=True)
    g = mg.tensor([1.0, -2.0, 3.0])
    (got,) = mg.autograd.grad(function.apply(x), x, g)
    return bool((got == g).all())
    # endregion


# %% [markdown]
# And your explanation, between the quotes: why must gradcheck refuse Round, however
# right it is? A sentence or two; nobody grades what they say.

# %% tags=["exercise"]
why = ""

# %% tags=["solution"]
why = (
    "Stairs are flat: a small step to either side measures 0. Round says 1 on purpose, "
    "the slope of a line that goes through the stairs. The two are not meant to agree."
)

# %% tags=["check"]
check("07.5", [Round, hands_on, why])

# %%
hint("07.5")

# %% [markdown]
# ## 07.6 The mask that learned
#
# `Keep` lets readings pass that are within a limit. Their mean of squares is divided by
# how many were kept. Run both cells. Which gradient should the reading 9 have, which is
# not kept? (About 8 minutes.)


# %% tags=["exercise"]
class Keep(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        mask = (x.abs() <= limit).to(x.dtype)
        ctx.save_for_backward(mask)
        return x * mask, mask

    @staticmethod
    def backward(ctx, g_kept, g_mask):
        (mask,) = ctx.saved_tensors
        return g_kept * mask + g_mask, None


# %% tags=["solution"]
class Keep(mg.autograd.Function):  # noqa: F811  the repaired class
    @staticmethod
    def forward(ctx, x, limit):
        mask = (x.abs() <= limit).to(x.dtype)
        ctx.save_for_backward(mask)
        ctx.mark_non_differentiable(mask)
        return x * mask, mask

    @staticmethod
    def backward(ctx, g_kept, g_mask):
        (mask,) = ctx.saved_tensors
        return g_kept * mask, None


# %% tags=["step"]
readings = mg.tensor([0.5, -1.5, 9.0, 2.0], requires_grad=True)
kept, mask = Keep.apply(readings, 3.0)
mean = (kept * kept).sum() / mask.sum()
mean.backward()
readings.grad

# %% [markdown]
# Now repair the class. (`mask.detach()` below would help this cell, and nobody else who
# uses the class.)

# %% tags=["check"]
check("07.6", Keep)

# %%
hint("07.6")

# %% [markdown]
# ## Stand-ins, compared
#
# Some let a straight-through gradient pass only where x is between -1 and 1.
# **Predict.** One weight is rounded and shall become 3, from 0.2. Where does it get to
# with a window, and where without?


# %%
class Windowed(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() <= 1)


# %% [markdown]
# Here is the fit, forty steps with either: the last weights first, then the way there.
# (If Round is not written yet, these cells raise.)


# %% tags=["predict", "raises-exception", "Q72"]
def way_of_the_weight(function):
    w, way = mg.tensor(0.2, requires_grad=True), []
    for _ in range(40):
        way.append(w.item())
        loss = (function.apply(w) - 3) ** 2
        (gradient,) = mg.autograd.grad(loss, w)
        w = (w - 0.02 * gradient).detach().requires_grad_()
    return way


ways = {"window": way_of_the_weight(Windowed), "none": way_of_the_weight(Round)}
{name: round(way[-1], 2) for name, way in ways.items()}

# %% tags=["explain", "raises-exception"]
mg.plot_lines(
    range(40),
    ways,
    x="step",
    y="weight before rounding",
    says="With a window the weight stops just above 1; without, it goes on to 2.5.",
)

# %% [markdown]
# A window keeps a weight from running away, which helps where -1 and 1 are all that
# counts (a sign). Here it ends the learning. **Try** another stand-in: what reaches
# `w` if backward hands on `-grad_output`, as below?


# %% tags=["try", "Q11"]
class Reverse(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return -grad_output


w = mg.tensor([1.0, 2.0], requires_grad=True)
before = w * 3
after = Reverse.apply(before)
mg.autograd.grad((after * 5).sum(), [after, before, w])

# %% [markdown]
# 5 arrives above the layer, -5 below it, and so -15 at `w`: what learns below learns
# the opposite. This is a *gradient reversal* layer. (Its forward may return x itself.
# `apply` makes a new tensor of it, or there would be no node to turn the gradient.)

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/07_several_outputs.ipynb), to its recall cards:
# open each one only after you have answered it. Then
# [lesson 08](../../notebooks/08_changing_things_in_place.ipynb): when it is safe to
# change a tensor.
