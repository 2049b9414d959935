# ruff: noqa: F811  (a bug to be found, and the class without it)

# %% [markdown]
# # Exercises: Is my gradient right?
#
# You will
# * say what gradcheck notices, and write your own,
# * get a wrong rule past a weak check,
# * cure four programs, and test one that differences can't.
#
# The lesson is [here](../../notebooks/13_is_my_gradient_right.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 13.1 Pass or fail?
#
# Answer from memory, without running anything, then press *Commit*. (About 5 minutes.)

# %% tags=["exercise"]
exercise("13.1")

# %% tags=["solution"]
check("13.1", ["fails", "fails", "passes", "passes", "passes", "fails"])

# %% tags=["check"]
check("13.1")

# %% [markdown]
# ## 13.2 Your own gradcheck
#
# `f` takes one tensor and returns one, which may be a single number, of shape (); x is
# float64 and requires grad. Send one random upstream gradient g back, then measure how
# `(g * f(x)).sum()` changes when one element of x moves by 1e-6 up and down. Return
# True if every slope is equal to what backward found, up to `1e-5 + 1e-3 * abs(slope)`.
# Leave x as you found it. (About 12 minutes.)


# %% tags=["exercise"]
def gradcheck(f, x):
    # region solution: compare what backward finds with slopes that you measure
    y = f(x)
    g = mg.randn(y.shape, dtype=y.dtype)
    (found,) = mg.autograd.grad(y, x, g)
    for i in range(x.numel()):
        step = mg.zeros(x.shape, dtype=x.dtype)
        step.view(-1)[i] = 1e-6
        up, down = f(x.detach() + step), f(x.detach() - step)
        slope = ((g * (up - down)).sum() / 2e-6).item()
        if abs(found.view(-1)[i].item() - slope) > 1e-5 + 1e-3 * abs(slope):
            return False
    return True
    # endregion


# %% [markdown]
# Try it on one right rule and on one that detach has spoilt: True and False.

# %% tags=["raises-exception"]
x = mg.tensor([0.5, -1.5, 2.0], dtype=mg.float64, requires_grad=True)
gradcheck(lambda x: x * x, x), gradcheck(lambda x: x * x.detach(), x)

# %% [markdown]
# The check hands it four rules that are right and five that aren't.

# %% tags=["check"]
check("13.2", gradcheck)

# %%
hint("13.2")

# %% [markdown]
# ## 13.3 Fool a weak check
#
# This check sends ones back, as many homemade tests do. Write a wrong backward for
# `Fooled` that gets past it at every x. (About 6 minutes.)


# %%
def weak(function, x):
    x.grad = None
    function.apply(x).sum().backward()
    return mg.allclose(x.grad, 2 * x.detach())


# %% [markdown]
# forward squares x, and stays as it is.


# %% tags=["exercise"]
class Fooled(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        # region solution: return something that's right only where grad_output is 1
        return 2 * x * grad_output**2
        # endregion


# %% [markdown]
# The check runs `weak`, which has to accept your rule, and then sends a random upstream
# gradient, which has to give it away.

# %% tags=["check"]
check("13.3", Fooled)

# %%
hint("13.3")

# %% [markdown]
# ## 13.4 Clinic 1 and 2
#
# `Linear` is `x @ W.T`, with W of shape (outputs, inputs); its backward raises an
# error. `Gap` is the mean of `(made - wanted) ** 2`; with it, training makes the loss
# grow. Go through the card of the lesson, then repair both. (About 8 minutes.)


# %% tags=["exercise"]
class Linear(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, W):
        ctx.save_for_backward(x, W)
        return x @ W.T

    @staticmethod
    def backward(ctx, grad_output):
        x, W = ctx.saved_tensors
        return grad_output @ W, x.T @ grad_output


# %% tags=["solution"]
class Linear(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, W):
        ctx.save_for_backward(x, W)
        return x @ W.T

    @staticmethod
    def backward(ctx, grad_output):
        x, W = ctx.saved_tensors
        return grad_output @ W, grad_output.T @ x


# %% tags=["exercise"]
class Gap(mg.autograd.Function):
    @staticmethod
    def forward(ctx, made, wanted):
        ctx.save_for_backward(made, wanted)
        return ((made - wanted) ** 2).mean()

    @staticmethod
    def backward(ctx, grad_output):
        made, wanted = ctx.saved_tensors
        difference = wanted - made
        slope = grad_output * 2 * difference / difference.numel()
        return slope, -slope


# %% tags=["solution"]
class Gap(mg.autograd.Function):
    @staticmethod
    def forward(ctx, made, wanted):
        ctx.save_for_backward(made, wanted)
        return ((made - wanted) ** 2).mean()

    @staticmethod
    def backward(ctx, grad_output):
        made, wanted = ctx.saved_tensors
        difference = made - wanted
        slope = grad_output * 2 * difference / difference.numel()
        return slope, -slope


# %% [markdown]
# And the test that they have to pass. It takes the shapes of the inputs.


# %%
def passes(function, first_shape, second_shape):
    first = mg.randn(first_shape, dtype=mg.float64, requires_grad=True)
    second = mg.randn(second_shape, dtype=mg.float64, requires_grad=True)
    return mg.autograd.gradcheck(function.apply, (first, second))


# %% [markdown]
# Read the error of each. The last line is the one that helps most.

# %% tags=["raises-exception"]
passes(Linear, (4, 3), (2, 3))

# %% tags=["raises-exception"]
passes(Gap, (2, 3), (2, 3))

# %% [markdown]
# Repair both, run their cells again, and hand over all three, `passes` too.

# %% tags=["check"]
check("13.4", [Linear, Gap, passes])

# %%
hint("13.4")

# %% [markdown]
# ## 13.5 Clinic 3 and 4
#
# `Swish` passes gradcheck; a model that uses it twice trains badly. `residual` adds x
# and the sine of x, and its gradient is always 1. `Sine` is right: leave it as it is.
# (About 8 minutes.)


# %%
class Sine(mg.autograd.Function):
    @staticmethod
    def forward(x):
        return mg.tensor(mg.sin(x).tolist(), dtype=x.dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.cos()


# %% [markdown]
# Go through the card before you change anything. Its questions are: 1 is it in the
# graph, 2 shapes and dtypes, 3 gradcheck, 4 two calls, 5 anomaly mode.


# %% tags=["exercise"]
class Swish(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = 1 / (1 + (-x).exp())
        Swish.kept = (x, s)
        return x * s

    @staticmethod
    def backward(ctx, grad_output):
        x, s = Swish.kept
        return grad_output * s * (1 + x * (1 - s))


# %% tags=["solution"]
class Swish(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x / (1 + (-x).exp())

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = 1 / (1 + (-x).exp())
        return grad_output * s * (1 + x * (1 - s))


# %% tags=["exercise"]
def residual(x):
    return x + Sine.forward(x)


# %% tags=["solution"]
def residual(x):
    return x + Sine.apply(x)


# %% [markdown]
# For each of the two, Swish first: the number of the first question that says no, as
# you found them.

# %% tags=["exercise"]
found_by = [0, 0]

# %% tags=["solution"]
found_by = [4, 1]

# %% [markdown]
# Room to try things out. At 2, the slope of x + sin(x) is 0.58.

# %%
x = mg.tensor(2.0, requires_grad=True)
residual(x).backward()
x.grad

# %% [markdown]
# Repair both, run their cells again, and check.

# %% tags=["check"]
check("13.5", [Swish, residual, found_by])

# %%
hint("13.5")

# %% [markdown]
# ## 13.6 When differences cannot help
#
# Some code works in float32 only, and differences drown there. If f is linear, take the
# adjoint test (lesson 06): u goes into f, v is the upstream gradient, `back` what
# backward makes of it. Then `(v * f(u)).sum()` and `(back * u).sum()` are equal; allow
# a thousandth of `(v * f(u)).abs().sum()`. u and v have x's shape and dtype. Which u
# and v does it take? (About 6 minutes.)


# %% tags=["exercise"]
def is_adjoint(f, x):
    # region solution: draw u and v, and compare two sums of products
    u = mg.randn(x.shape, dtype=x.dtype, requires_grad=True)
    v = mg.randn(x.shape, dtype=x.dtype)
    y = f(u)
    (back,) = mg.autograd.grad(y, u, v)
    apart = (v * y).sum() - (back * u).sum()
    return apart.abs().item() <= 1e-3 * (v * y).abs().sum().item()
    # endregion


# %% [markdown]
# The check hands it running sums and steps round a ring, right ones and wrong ones.

# %% tags=["check"]
check("13.6", is_adjoint)

# %%
hint("13.6")

# %% [markdown]
# ## For the curious: mixed precision
#
# In mixed precision a part of the model computes in float16, to be faster; here it's
# the square. **Predict.** Which dtype do the saved x and the gradient that arrives
# have? And which gradient does the second element of x get, where the slope of the loss
# is 4e-9? The cell runs it with the loss as it is, then with the loss times 4096.


# %% tags=["predict"]
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        print("saved:", x.dtype, "arrives:", grad_output.dtype, grad_output.tolist())
        return grad_output * 2 * x


def slopes(scale):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = Square.apply(x.half())
    (scale * (y.float() * mg.tensor([0.5, 1e-9])).sum()).backward()
    return x.grad.dtype, (x.grad / scale).tolist()


slopes(1), slopes(4096)

# %% [markdown]
# float16 both times, and 0 at first: 1e-9 is too small for float16, so 0 arrives, and
# the cast back to float32 can't undo that. 4096 times as much isn't too small: divided
# by 4096 in float32, it's right to one percent. That's why people multiply the loss by
# a large number in mixed precision (*loss scaling*). Too large a number, and float16
# overflows to inf.

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/13_is_my_gradient_right.ipynb), to its recall
# cards: open each one only after you have answered it.
