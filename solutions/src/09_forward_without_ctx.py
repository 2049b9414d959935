# %% [markdown]
# # Exercises: Forward without ctx
#
# You will
# * say which Functions pass under `grad`, `vmap` and `jvp`,
# * sort lines into three methods, and convert a Function from one style to the other,
# * deal with a value that only forward has.
#
# The lesson is [here](../../notebooks/09_forward_without_ctx.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 09.1 Accepted or refused?

# %% tags=["solution"]
check("09.1", ["accepted", "refused", "accepted", "refused", "accepted", "refused"])

# %% [markdown]
# ## 09.2 Where does this line go?

# %% tags=["solution"]
check("09.2", ["k", "g", "e", "b", "d", "l", "j", "h", "a"])

# %% [markdown]
# ## 09.3 Convert Decay
#
# `DecayWithCtx` is right, and in the first style: of an amount x, what's left after
# some hours. x and rate are tensors, hours is a plain number. Which of forward's lines
# compute, and which ones fill ctx? (About 10 minutes.)


# %%
class DecayWithCtx(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, rate, hours):
        result = x * (-rate * hours).exp()
        ctx.save_for_backward(rate, result)
        ctx.hours = hours
        return result

    @staticmethod
    def backward(ctx, grad_output):
        rate, result = ctx.saved_tensors
        left = (-rate * ctx.hours).exp()
        return grad_output * left, -ctx.hours * grad_output * result, None


# %% [markdown]
# Write it in the second style. `Decay` inherits backward, which can't know in which
# style ctx was filled, so ctx has to hold what that backward reads, and no more.


# %% tags=["exercise"]
class Decay(DecayWithCtx):
    @staticmethod
    def forward(x, rate, hours):
        # region solution: return what is left of x
        return x * (-rate * hours).exp()
        # endregion

    @staticmethod
    def setup_context(ctx, inputs, output):
        # region solution: fill ctx with what backward reads
        _, rate, hours = inputs
        ctx.save_for_backward(rate, output)
        ctx.hours = hours
        # endregion


# %% [markdown]
# Now `grad` accepts it; the old one would be refused here. At rate 0 nothing is lost,
# so the slope for x is 1.

# %% tags=["raises-exception"]
mg.func.grad(Decay.apply)(mg.tensor(8.0), mg.tensor(0.0), 3)

# %% [markdown]
# ## 09.4 The value that no longer exists
#
# The conversion of this one stopped halfway: run the cell below it and read the error.
# Repair it so that `Sigmoid.apply(x)` still returns one tensor, exp is computed once,
# and ctx keeps one array. Where the result is 0, as at -1000, the slope is 0. A second
# derivative has to be right, too. (About 10 minutes.)


# %% tags=["exercise"]
# shipped Sigmoid


# %% tags=["solution"]
class Sigmoid(mg.autograd.Function):
    @staticmethod
    def forward(x):
        e = (-x).exp()
        return 1 / (1 + e)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (s,) = ctx.saved_tensors
        return grad_output * s * (1 - s)


# %% [markdown]
# At 0 the result is 0.5 and the slope 0.25. Run this cell before and after your repair.

# %% tags=["raises-exception"]
x = mg.tensor(0.0, requires_grad=True)
Sigmoid.apply(x).backward()
x.grad

# %% [markdown]
# ## 09.5 Return what you need
#
# `Bump.apply(x)` returns two tensors: y = x * e, and e = exp(-x * x), which forward
# computes on the way. backward uses that e and computes no exp. (y / x would give e
# back, but not at 0.) Others take a second derivative of y, and some use e itself:
# decide whether to mark it. (About 14 minutes.)


# %% tags=["exercise"]
class Bump(mg.autograd.Function):
    @staticmethod
    def forward(x):
        # region solution: return y and e
        e = (-x * x).exp()
        return x * e, e
        # endregion

    @staticmethod
    def setup_context(ctx, inputs, output):
        # region solution: save what backward needs; does e have to be marked?
        ctx.save_for_backward(inputs[0], output[1])
        # endregion

    @staticmethod
    def backward(ctx, g_y, g_e):
        # region solution: return the gradient for x, from both that arrive
        x, e = ctx.saved_tensors
        return (g_y * (1 - 2 * x * x) - g_e * 2 * x) * e
        # endregion


# %% [markdown]
# At x = 1 the slope of y is -0.3679, and its second derivative -0.7358.

# %% tags=["raises-exception"]
x = mg.tensor(1.0, requires_grad=True)
(slope,) = mg.autograd.grad(Bump.apply(x)[0], x, create_graph=True)
slope.item(), mg.autograd.grad(slope, x)[0].item()

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/09_forward_without_ctx.ipynb): answer its recall
# cards before you open them. Then comes a derivative of the derivative, in
# [lesson 10](../../notebooks/10_differentiating_the_derivative.ipynb).
