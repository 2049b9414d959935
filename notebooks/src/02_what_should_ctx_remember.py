# %% [markdown] tags=["slide"]
# # What should ctx remember?
#
# You will
# * see what happens if a tensor changes after `forward` and before `backward`,
# * tell what belongs in `save_for_backward`, and what is a plain attribute,
# * choose what to keep so that backward costs next to nothing.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("02")

# %% [markdown] tags=["slide"]
# ## One rule, kept in two ways
#
# In lesson 01 everything was put on ctx as an attribute. For tensors there is a second
# way: `ctx.save_for_backward(...)`, and `ctx.saved_tensors` to get them back. Both of
# these multiply `x` by a tensor `factor`, so the slope for `x` is the factor. Only the
# way of keeping it differs.


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
# ## Now somebody changes factor
#
# `factor.add_(1)` changes the tensor *in place*: the same object, new content. (A
# trailing underscore always means that.) It happens after `forward` and before
# `backward`, far away in somebody else's code. The product was made with 3.


# %% tags=["slide"]
def slope(function):
    x, factor = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0)
    product = function.apply(x, factor)
    factor.add_(1)
    return mg.autograd.grad(product, x)[0].item()


# %% tags=["predict", "hide-input", "step", "slide"]
def both():
    return slope(ByAttribute), slope(BySaving)


course.predict(
    "02.inplace",
    "forward used 3, then factor became 4. What does each way give as the slope?",
    [
        "3 and 3",
        "4 and 4",
        "3 by attribute, 4 by saving",
        "one of them gives no number",
    ],
    then=both,
    so=lambda ran: (
        "one of them gives no number"
        if ran.error
        else "{:g} and {:g}".format(*ran.value)
    ),
    why="The attribute gives 4, and the saved tensor is refused: it has changed.",
    at="SavedModifiedError",
)

# %% [markdown] tags=["explain", "slide"]
# **By attribute: 4 instead of 3.** The product was 2 times 3; its slope is 3 whatever
# happens to `factor` afterwards. The attribute is a second name for the tensor, no copy
# of its content. (Teaching mode warns of the attribute when the class is first used,
# whether there's a change or not. PyTorch doesn't.)
#
# **By saving: no number, but an error**; read its end: *is at version 1; expected
# version 0*. Every tensor counts how often it was changed in place: that count is its
# *version*. `save_for_backward` notes the version beside the tensor, and when you
# unpack it with `ctx.saved_tensors`, the engine compares. (Take the line with `add_`
# out of `slope`: then both ways give 3.)

# %% [markdown] tags=["slide"]
# **Look.** Here are both once more, recorded. At the steps that keep the factor, look
# at the ctx pane. Which of the two rows says a version? Then go on to the change, and
# ask both tensors for theirs.

# %% tags=["step", "slide", "Q07"]
# %%step
x, factor = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0)
first = ByAttribute.apply(x, factor)
second = BySaving.apply(x, factor)
factor.add_(1)

# %% tags=["explain", "slide"]
factor._version, first.grad_fn.factor._version

# %% [markdown] tags=["explain", "slide"]
# Version 1: it is one tensor. The saved row says *saved at v0*; the attribute row has
# no such words. Four reasons to save tensors; you have seen one: the change is
# **noticed**; the memory is **released** once backward is through (lesson
# 03); others may **pack** what is saved, to halve its bytes or to put it on a disk
# (lesson 12); and an output kept as an attribute holds itself alive, in a **cycle**
# (lesson 03).

# %% tags=["because"]
course.because(
    "02.because",
    "A wrong number or an error: which of the two would you rather meet, and when "
    "would you meet each? One sentence; it is for you and nobody grades it.",
)

# %% [markdown] tags=["slide"]
# ## What is not a tensor
#
# A factor may also be a plain number, and a rule may need a shape or an axis.
#
# **Predict.** What happens when a number is handed to `save_for_backward`: is it turned
# into a tensor, kept as it is, or refused?


# %% tags=["predict", "raises-exception", "slide"]
class SavesANumber(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(factor)
        return x * factor


SavesANumber.apply(x, 3.0)

# %% [markdown] tags=["explain", "slide"]
# Refused. A number cannot change in place, needs no version, and takes no memory worth
# a word. So the rule is short: **a tensor that backward needs is saved; whatever else
# backward needs (a number, a shape, an axis, a flag) is an attribute; what backward
# does not need is not kept at all.**

# %% [markdown]
# **Try.** `save_for_backward` is meant to be called once in a forward. What if it is
# called a second time: are both kept, the first, or the last? Guess, then run. (If one
# is kept, take `len` away to see which.) Then put both tensors into one call.


# %% tags=["try"]
class SavesTwice(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.save_for_backward(factor)
        return x * factor


len(SavesTwice.apply(x, factor).grad_fn.saved_tensors)

# %% [markdown] tags=["slide"]
# ## The cheapest thing to keep
#
# The slope of e to the power x is e to the power x. So `forward` has already computed
# what `backward` needs. This version keeps the input, and so has to compute the power
# again.


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
# **Predict.** A thousand float64 numbers are 8,000 bytes. `z` is made in between, and
# its name ends with the function. In the end, whose numbers does the graph hold: those
# of `z`, of the result, or of both? How many bytes? The bars under the graph show it.


# %% tags=["predict", "step", "slide"]
def exp_of_double(x):
    z = x * 2
    return ExpFromInput.apply(z)


x = mg.ones(1000, dtype=mg.float64, requires_grad=True)
mg.step(exp_of_double, x)

# %% [markdown] tags=["explain", "slide"]
# 8,000 bytes for `z`, which only ctx keeps alive, beside the result itself. Had ctx
# kept the *result*, which you hold anyway, nothing more would be alive, and backward
# would be one multiplication. That is what the engine's own `exp` does: its node has a
# `_saved_result` and no input.

# %% tags=["explain", "slide"]
node = x.exp().grad_fn
[name for name in dir(node) if name.startswith("_saved_")]

# %% [markdown]
# **Try.** Ask other nodes what they keep: `x * x`, `x + x`, `x.sum()`, `x.sqrt()`,
# `x.tanh()`. Guess before each. Which keep nothing, and why do they not need to?

# %% tags=["try"]
node = (x * x).grad_fn
[name for name in dir(node) if name.startswith("_saved_")]

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say what goes through `save_for_backward` and what does not. Answer each
# card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>What does saving give a tensor that an attribute does not?</summary>
#
# A version stamp: a change in place before backward is an error, not a wrong number.
# And it is released when backward is through.
#
# </details>
#
# <details><summary>Where do a number, a shape and an axis go?</summary>
#
# On ctx as attributes. `save_for_backward` takes tensors (or None) only.
#
# </details>
#
# <details><summary>Your rule needs the result. What do you save?</summary>
#
# The very tensor that forward returns. It is alive anyway, so it costs nothing.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same: 4 by attribute without a word, and by saving a
# RuntimeError that names both versions. Put `import torch as mg` in the first cell,
# leave out the lines that teach (`teaching`, `course` and the stepper), and
# every value above stays as it is. (In the last *Try*, torch also lists a number or a
# shape for `x + x` and `x.sum()`. They are no tensors.)

# %% [markdown]
# ## Now you
#
# [Five
# exercises](../exercises/02_what_should_ctx_remember/02_what_should_ctx_remember.ipynb)
# wait for you; in 02.4 you find the silent 4 in a class, and repair it. They link back
# to this lesson. Where you stand:

# %%
course.progress()
