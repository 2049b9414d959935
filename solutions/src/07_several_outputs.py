# %% [markdown]
# # Exercises: Several outputs
#
# You will
# * say what arrives for an unused output, and write Functions whose outputs can be used
#   in any combination,
# * save the zeros, and the work that goes with them,
# * repair the gradient of a mean, and test a gradient that gradcheck has to refuse.
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

# %% tags=["solution"]
check("07.1", ["a", "b", "b", "a", "b", "b"])

# %% [markdown]
# ## 07.2 MinMax


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


# %% [markdown]
# ## 07.3 Skip the zeros
#
# This Function is right whichever outputs are used, but does needless work if one
# isn't. Suppose only the square is used: what does backward compute for nothing?


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
# output that isn't used. (Extra: about 12 minutes.)


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
# Now measure. `x` has 100,000 float64 numbers, 800,000 bytes, and only the square is
# used. By how many such arrays does the peak fall? Guess, then run. (Arrays that aren't
# needed any more are freed at once, so the peak falls by less than the work you save.)

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
# Write `Sort`: each row (the last axis) in ascending order, and the positions its
# numbers came from. `x.sort(-1)` gives you both. Mark the indices. (About 15 minutes.)


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


# %% [markdown]
# ## 07.5 Straight-through round
#
# Rounding has derivative 0 nearly everywhere, so nothing before it learns. A
# *straight-through* gradient pretends that forward changed nothing, and passes on what
# arrives. First the Function: it rounds (halves go to the even neighbour, as in
# Python's `round`), with a straight-through gradient. (Extra: about 15 minutes for all
# three.)


# %% tags=["exercise"]
class Round(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return the nearest integers, in the dtype of x
        return x.round()
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: pass on what arrives
        return grad_output
        # endregion


# %% [markdown]
# Now give it to `gradcheck`, which compares a gradient with what small steps measure
# (lesson 13). Read the line with *measured*: which of the two numbers is wrong?

# %% tags=["step", "raises-exception"]
x = mg.tensor([-1.7, 0.4, 2.6], dtype=mg.float64, requires_grad=True)
mg.autograd.gradcheck(Round.apply, x)

# %% [markdown]
# So `Round` needs a different test. `hands_on(function)` returns True if a Function
# passes on each gradient unchanged, and False if not. Write it so that it catches any
# other rule.


# %% tags=["exercise"]
def hands_on(function):
    # region solution: choose x and g, send g through, compare what arrives at x
    x = mg.tensor([-1.7, 0.4, 2.6], requires_grad=True)
    g = mg.tensor([1.0, -2.0, 3.0])
    (got,) = mg.autograd.grad(function.apply(x), x, g)
    return bool((got == g).all())
    # endregion


# %% [markdown]
# And your explanation, between the quotes: why does gradcheck have to refuse `Round`,
# even when it's right? A sentence or two; what they say isn't graded.

# %% tags=["exercise"]
why = ""

# %% tags=["solution"]
why = (
    "Stairs are flat: a small step to either side measures 0. Round says 1 on purpose, "
    "the slope of a line that goes through the stairs. The two are not meant to agree."
)

# %% [markdown]
# ## 07.6 A mean of what was kept
#
# `Keep` lets readings pass that are within a limit. The mean of their squares is
# divided by the number that were kept. Run both cells. What gradient should the reading
# 9 have, which isn't kept? (About 8 minutes.)


# %% tags=["exercise"]
# shipped Keep


# %% tags=["solution"]
class Keep(mg.autograd.Function):
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
# Now repair the class. (`mask.detach()` below would help in this cell, but not in any
# other program that uses the class.)

# %% [markdown]
# ## For the curious: stand-ins, compared
#
# Some people let a straight-through gradient pass only where `x` is between -1 and 1.
# **Predict.** A weight starts at 0.2 and is rounded; it should become 3. Where does it
# end up with such a window, and where without?


# %%
class Windowed(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, width):
        ctx.save_for_backward(x)
        ctx.width = width
        return x.round()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() <= ctx.width), None


# %% [markdown]
# Here's the fit, forty steps with each (a window of infinite width is none): first the
# final weights, then how they got there.


# %% tags=["predict", "Q72"]
def way_of_the_weight(width):
    w, way = mg.tensor(0.2, requires_grad=True), []
    for _ in range(40):
        way.append(w.item())
        loss = (Windowed.apply(w, width) - 3) ** 2
        (gradient,) = mg.autograd.grad(loss, w)
        w = (w - 0.02 * gradient).detach().requires_grad_()
    return way


ways = {"window": way_of_the_weight(1.0), "none": way_of_the_weight(float("inf"))}
{name: round(way[-1], 2) for name, way in ways.items()}

# %% tags=["explain"]
mg.plot_lines(
    range(40),
    ways,
    x="step",
    y="weight before rounding",
    says="With a window the weight stops just above 1; without, it goes on to 2.5.",
)

# %% [markdown]
# A window keeps a weight from running away, which helps if only -1 and 1 matter (a
# sign). Here it stops the learning. **Try** another stand-in: what reaches `w` if
# backward returns `-grad_output`, as below?


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
# 5 arrives at the layer's result, -5 leaves it, and so `w` gets -15: everything before
# the layer learns the opposite. This is a *gradient reversal* layer. (Its forward can
# return `x` itself. `apply` makes a new tensor of it; otherwise there'd be no node to
# reverse the gradient.)

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/07_several_outputs.ipynb): answer each recall
# card before you open it. Then
# [lesson 08](../../notebooks/08_changing_things_in_place.ipynb): when is it safe to
# change a tensor?
