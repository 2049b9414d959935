# ruff: noqa: E501  (a link)

# %% [markdown] tags=["slide"]
# # Who needs a gradient?
#
# You will
# * return the right number of values from `backward`, in the right order,
# * skip the work for gradients that won't be used,
# * work out why a weight's `.grad` is `None`.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("04")

# %% [markdown] tags=["slide"]
# ## How many values does backward return?
#
# `Scale` multiplies a tensor by a plain number `k`. Earlier Functions returned a None
# for such an argument; this `backward` returns the gradient for `x` alone. Run it.


# %% tags=["raises-exception", "slide", "Q04"]
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.k


Scale.apply(mg.tensor(2.0, requires_grad=True), 3.0).backward()

# %% [markdown] tags=["explain", "slide"]
# *Expected 2, got 1.* `backward` returns one value for each argument that `apply` got,
# in the same order. The engine can't guess which argument a gradient is for, so it
# counts positions, and non-tensor arguments count too: return `None` for them. (The
# first line replaces only the `backward`.)

# %% tags=["slide", "Q04"]
Scale.backward = staticmethod(lambda ctx, grad_output: (grad_output * ctx.k, None))
x = mg.tensor(2.0, requires_grad=True)
Scale.apply(x, 3.0).backward()
x.grad

# %% [markdown] tags=["slide"]
# ## Which gradients will be used?
#
# A product has two gradients, but often only one of them is used: input data doesn't
# need a gradient, and neither does a frozen weight. `ctx.needs_input_grad` has one flag
# for each argument. This Function collects the flags it sees. (Why its gradients are
# these two matrix products comes below.)

# %% tags=["slide"]
seen = []


class Product(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        seen.append(ctx.needs_input_grad)
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        return grad_output @ w.T, x.T @ grad_output


# %% tags=["slide"]
def flags_in_no_grad():
    data = mg.ones((2, 3), requires_grad=True)
    weight = mg.ones((3, 4), requires_grad=True)
    with mg.no_grad():
        Product.apply(data, weight)
    return seen[-1]


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "04.no_grad",
    "Both matrices require grad, and Product.apply runs in a no_grad block. Which flags?",
    ["(True, True)", "(True, False)", "(False, False)"],
    then=flags_in_no_grad,
    so=lambda ran: str(ran.value),
    why="A flag says what its argument requires. `no_grad` only decides about recording.",
    at="apply creates ctx",
)

# %% [markdown] tags=["explain", "slide"]
# Each flag says whether that argument requires a gradient. They're set before forward
# runs. Whether the call is recorded is a separate matter, and that's what `no_grad`
# decides. So a True doesn't promise that backward will run. Save what it would need
# anyway: without recording, ctx is gone when `apply` returns.

# %% tags=["explain", "slide"]
data, weight = mg.ones((2, 3)), mg.ones((3, 4), requires_grad=True)
seen.clear()
Product.apply(data, weight)
seen

# %% [markdown]
# **Try.** What's the `grad_fn` of a result computed in a `no_grad` block, and does the
# result require grad? Guess, run the cell, then take the `with` line away and compare.

# %% tags=["try", "Q70"]
with mg.no_grad():
    unrecorded = Product.apply(data.clone().requires_grad_(), weight)
unrecorded.requires_grad, unrecorded.grad_fn

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# False and None. `forward` ran and got its result, but the call has no node in the
# graph. Without the `with` it's True and a `ProductBackward`.
#
# </details>

# %% [markdown] tags=["slide"]
# **Look.** Now `data` doesn't require a gradient. The node has one *edge* per tensor
# argument: a link to the node its gradient goes to. Press **c** in the player, and find
# that row: which edge leads nowhere? Then step to the line that returns both gradients.
# What happens to the first one?

# %% tags=["step", "slide", "Q44"]
# %%step
data, weight = mg.ones((2, 3)), mg.ones((3, 4), requires_grad=True)
loss = Product.apply(data, weight).sum()
loss.backward()

# %% [markdown] tags=["explain", "slide"]
# The gradient for `data` was computed and thrown away. In a model's first layer that's
# one of three matrix products (one in forward, two in backward). So ask before you
# compute:


# %% tags=["slide"]
class Frugal(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        for_x = grad_output @ w.T if ctx.needs_input_grad[0] else None
        for_w = x.T @ grad_output if ctx.needs_input_grad[1] else None
        return for_x, for_w


# %% [markdown]
# Why these two products? `x[i, k]` is used in row i of the result, multiplied by
# `w[k, j]` for number j. So it gets `g[i, j] * w[k, j]` from each j, where `g` is
# `grad_output`. These terms add up to row i of `g` times row k of `w`: that's
# `g @ w.T`. For `w[k, j]` the terms come from all rows i: `x.T @ g`.

# %% tags=["explain", "Q69"]
g = mg.ones(2, 4)
(g @ weight.T).shape, (data.T @ g).shape

# %% [markdown]
# The rule to remember: **return each gradient in the shape of its input.** If the
# sizes, here (2, 3) @ (3, 4), are all different, only one product gives that shape;
# with square matrices the wrong ones fit as well. A bias `b` that's added to every row
# gets a term from each, so its gradient is the sum over the rows, `g.sum(0)` (lesson
# 06).

# %% [markdown] tags=["slide"]
# Now `weight` is frozen too: `detach` returns the same numbers as a tensor without
# history, which doesn't require grad. No input needs a gradient, so nothing is
# recorded: the result has no node, and backward never runs. Freeze the first layers of
# a model, and they have no backward pass.

# %% tags=["explain", "slide"]
Frugal.apply(data, weight.detach()).requires_grad

# %% tags=["because"]
course.because(
    "04.because",
    "A frozen layer in the middle of a model still passes a gradient on. Why does it have "
    "to? One sentence, for yourself; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## None for an input that needs a gradient
#
# `None` is right for arguments that need no gradient. `Forgets` adds two numbers, and
# its `backward` returns None for an input that does need a gradient.


# %% tags=["slide"]
class Forgets(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


def forgetful():
    a, b = mg.tensor(1.0, requires_grad=True), mg.tensor(1.0, requires_grad=True)
    Forgets.apply(a, b).backward()
    return a.grad, b.grad


# %% tags=["predict", "hide-input", "slide", "Q50"]
course.predict(
    "04.none",
    "backward returned (grad_output, None), and both inputs require grad. What's b.grad?",
    ["0", "1", "None", "backward() raises an error"],
    then=forgetful,
    so=lambda ran: (
        "backward() raises an error"
        if ran.error
        else "None"
        if ran.value[1] is None
        else f"{ran.value[1].item():g}"
    ),
    why="None means that no gradient goes there, whatever the input requires.",
    at="Forgets's backward returns",
)

# %% [markdown] tags=["explain", "slide"]
# It's as if `b` hadn't been used, and there's no error: training goes on with a weight
# that never changes. PyTorch says nothing; the warning is teaching mode's. If a `.grad`
# is None, ask three questions:
#
# | question | check |
# |---|---|
# | Does it require grad? | `b.requires_grad` |
# | Does a path of edges lead from the loss to it? | follow it in the player |
# | Does a `backward` on that path return None for it? | read it, or step through it |

# %% [markdown]
# **Try.** The second question again: here both tensors are used, but they're passed in
# a list. Guess the two values. Then rewrite `Sum` so that it takes two arguments.


# %% tags=["try", "Q47"]
class Sum(mg.autograd.Function):
    @staticmethod
    def forward(ctx, tensors):
        return tensors[0] + tensors[1]


a, b = mg.tensor(1.0, requires_grad=True), mg.tensor(1.0, requires_grad=True)
total = Sum.apply([a, b])
total.requires_grad, total.grad_fn

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# False and None: `apply` sees one argument, a list, and doesn't look inside. So nothing
# is recorded and there's no error. Pass tensors as separate arguments: `Sum.apply(a,
# b)`.
#
# </details>

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say what backward has to return, and what it may skip.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>How many values does backward return, and in which order?</summary>
#
# One for each argument of forward after ctx, in the same order; `None` for arguments
# that aren't tensors or need no gradient.
#
# </details>
#
# <details><summary>When is <code>needs_input_grad</code> set, and what does it say?</summary>
#
# Before forward runs: one flag for each argument, True if it requires a gradient.
# `no_grad` doesn't change it.
#
# </details>
#
# <details><summary>Your weight's .grad is None. Which three questions do you ask?</summary>
#
# Does it require grad? Does a path lead from the loss to it? Does a backward on that
# path return None for it?
#
# </details>

# %% [markdown]
# In PyTorch this is the same: the same count in the message, the same flags, and the
# same `None`, without teaching mode's warning.
#
# ## Now you
#
# [Five exercises](../exercises/04_who_needs_a_gradient/04_exercises.ipynb)
# (04.4 and 04.5 are extra); in 04.2 the check counts your matrix products. Then
# [lesson 05](05_how_backward_finds_its_way.ipynb). Your progress, and what's next on
# your path:

# %%
course.progress("04")
