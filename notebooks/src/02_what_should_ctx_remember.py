# ruff: noqa: E501  (a link)

# %% [markdown] tags=["slide"]
# # What should ctx remember?
#
# You will
# * see what happens when a tensor changes between `forward` and `backward`,
# * decide what goes into `save_for_backward` and what becomes an attribute,
# * compare what different Functions have to keep.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("02")

# %% [markdown] tags=["slide"]
# ## Two ways to keep a tensor
#
# `MulConstant` in lesson 01 kept its number as an attribute of ctx. For tensors there's
# a second way: `ctx.save_for_backward(...)`, and `ctx.saved_tensors` to get them back.
# Both classes below multiply `x` by a tensor `factor`, so the local derivative is the
# factor. They differ only in how they keep it.


# %% tags=["slide"]
class ByAttribute(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None


# %% tags=["slide"]
class BySaving(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(factor)
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        (factor,) = ctx.saved_tensors
        return grad_output * factor, None


# %% [markdown] tags=["slide"]
# ## What if factor changes in between?
#
# `factor.add_(1)` changes the tensor *in place*: same object, new numbers. (A trailing
# underscore always means that.) Here it runs after `forward` and before `backward`. In
# a real program the line could be in a different file. The product was computed with 3.


# %% tags=["slide"]
def gradient(function):
    x, factor = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0)
    product = function.apply(x, factor)
    factor.add_(1)
    return mg.autograd.grad(product, x)[0].item()


# %% tags=["predict", "hide-input", "step", "slide"]
def both():
    return gradient(ByAttribute), gradient(BySaving)


course.predict(
    "02.inplace",
    "forward used 3, then factor became 4. Which gradient does each class give?",
    [
        "3 and 3",
        "4 and 4",
        "3 by attribute, 4 by saving",
        "one of them raises an error",
    ],
    then=both,
    so=lambda ran: (
        "one of them raises an error"
        if ran.error
        else "{:g} and {:g}".format(*ran.value)
    ),
    why="The attribute gives 4. The saved tensor is refused, because it has changed.",
    at="SavedModifiedError",
)

# %% [markdown] tags=["explain", "slide"]
# **By attribute you get 4 instead of 3.** The product was 2 times 3, so its gradient is
# 3, whatever happens to `factor` later. But the attribute is just a second name for the
# tensor, not a copy. (Teaching mode warns about such an attribute as soon as the class
# is used, change or no change. PyTorch doesn't.)
#
# **By saving you get an error**, and it ends with *is at version 1; expected version
# 0*. Every tensor counts how often it was changed in place; that count is its
# **version**, `_version`. `save_for_backward` stores the version with the tensor, and
# when you read `ctx.saved_tensors`, the engine compares. To mend such a program, mend
# the line that makes the change: let it make a new tensor (`factor = factor + 1`), or
# come after backward. (A copy in `forward` would cost its memory in every call.)

# %% [markdown] tags=["slide"]
# **Look.** Here are both again, recorded. Press **c** in the player: all of ctx is
# listed there. Which of the two rows has a version? Then go on to the step that changes
# `factor`, and compare the two rows.

# %% tags=["step", "slide", "Q07"]
# %%step
x, factor = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0)
first = ByAttribute.apply(x, factor)
second = BySaving.apply(x, factor)
factor.add_(1)

# %% tags=["explain", "slide"]
factor._version, first.grad_fn.factor._version

# %% [markdown] tags=["slide"]
# Both say 1, because they're the same tensor. Only the saved row also remembers version
# 0. That's the first reason to save tensors. The second is memory: lesson 03.

# %% tags=["because"]
course.because(
    "02.because",
    "Which of the two classes would you rather use, and why? One sentence, for "
    "yourself; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## What about numbers?
#
# The factor can be a plain number, and other Functions need a shape or an axis.
# `BySaving` is the class from above; here `factor` is 3.0, not a tensor.


# %% tags=["slide"]
def saves_a_number():
    x = mg.tensor(2.0, requires_grad=True)
    return BySaving.apply(x, 3.0).grad_fn.saved_tensors


# %% tags=["predict", "hide-input", "slide", "Q91"]
course.predict(
    "02.number",
    "What does save_for_backward(3.0) do?",
    ["it keeps 3.0 as it is", "it keeps a tensor of 3.0", "it raises an error"],
    then=saves_a_number,
    so=lambda ran: (
        "it raises an error" if ran.error else f"it keeps {ran.value[0]} as it is"
    ),
    why="It takes only tensors: a number has no version to check.",
    at="BySaving.forward, line",
)

# %% [markdown] tags=["explain", "slide"]
# **It raises an error.** A number can't change in place, so it needs no version, and it
# takes almost no memory. That gives a short rule:
#
# | backward needs | where it goes |
# |---|---|
# | a tensor | `ctx.save_for_backward` |
# | a number, a shape, an axis, a flag | an attribute of ctx |
# | nothing of it | nowhere |

# %% [markdown]
# One more thing about `save_for_backward`: call it once, with everything. If `forward`
# calls it twice, the second call replaces the first. Here only the factor, 4, is left:


# %% tags=["explain"]
class SavesTwice(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.save_for_backward(factor)
        return x * factor


SavesTwice.apply(x, factor).grad_fn.saved_tensors

# %% [markdown] tags=["slide"]
# ## Which array is the cheapest to keep?
#
# The derivative of e to the power x is e to the power x, so `forward` has already
# computed what `backward` needs. This version keeps the input, and has to compute the
# power a second time.


# %% tags=["slide"]
class ExpFromInput(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.exp()


# %% [markdown] tags=["slide"]
# A thousand float64 numbers take 8,000 bytes. The function returns its result and
# nothing else. The bars under the graph show what ctx keeps. (`course.watch` notes
# whether `z` is still there; lesson 03 uses it.)


# %% tags=["slide"]
def exp_of_double():
    x = mg.ones(1000, dtype=mg.float64, requires_grad=True)
    z = x * 2
    watched.append(course.watch(z=z))
    return ExpFromInput.apply(z)


watched = []

# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "02.bytes",
    "What stays in memory only because ctx keeps it?",
    ["nothing", "z: 8,000 bytes", "the result: 8,000 bytes", "both: 16,000 bytes"],
    then=exp_of_double,
    so=lambda _: "z: 8,000 bytes" if watched[-1].alive()["z"] else "nothing",
    why="The caller has the result, and the name `z` is gone: only ctx has that tensor.",
    at="apply takes what was saved",
)

# %% [markdown] tags=["explain", "slide"]
# **8,000 bytes, for `z`.** If ctx had saved the *result*, which you hold anyway,
# nothing more would be kept, and backward would be a single multiplication. The
# engine's own `exp` does just that: its node has a `_saved_result` and no input.

# %% tags=["explain", "slide"]
x = mg.ones(1000, requires_grad=True)
node = x.exp().grad_fn
[name for name in dir(node) if name.startswith("_saved_")]

# %% [markdown]
# **Try.** Ask other nodes what they keep: `x * x`, `x + x`, `x.sum()`, `x.sqrt()`,
# `x.tanh()`. Guess each one first. Which keep no tensor, and why don't they need one?

# %% tags=["try"]
node = (x * x).grad_fn
[name for name in dir(node) if name.startswith("_saved_")]

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# `x * x` keeps its two factors; `sqrt` and `tanh` keep the result. `x + x` and `sum`
# keep no tensor: their local derivatives are 1, whatever the numbers are. A shape is
# all that `sum` has to know; PyTorch lists that shape, `_saved_self_sym_sizes`.
#
# </details>

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say what goes into `save_for_backward` and what doesn't. Answer each card
# in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>What does saving give a tensor that an attribute doesn't?</summary>
#
# Its version is checked: a change in place before backward is an error, not a wrong
# number.
#
# </details>
#
# <details><summary>Where do a number, a shape and an axis go?</summary>
#
# On ctx as attributes. `save_for_backward` takes only tensors (or None).
#
# </details>
#
# <details><summary>Your backward needs the result. What do you save?</summary>
#
# The very tensor that forward returns. As long as the caller keeps it, saving it costs
# nothing.
#
# </details>

# %% [markdown]
# In PyTorch this is the same: a silent 4 by attribute, and a RuntimeError with both
# versions by saving.
#
# ## Now you
#
# [Five exercises](../exercises/02_what_should_ctx_remember/02_exercises.ipynb)
# (02.5 is extra); in 02.4 you find the silent 4 in a class and repair it. Then
# [lesson 03](03_how_long_does_it_remember.ipynb). Your progress, and what's next on your
# path:

# %%
course.progress("02")
