# ruff: noqa: E501  (a link)

# %% [markdown] tags=["slide"]
# # Changing things in place
#
# You will
# * predict how a change in place ends: right, an error, or silently wrong,
# * write a Function that changes its own input, and tell the engine about it,
# * find wrong gradients that raise no error.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("08")

# %% [markdown] tags=["slide"]
# ## Is this change allowed?
#
# `h.add_(1)` changes `h` in place: same tensor, different numbers. Here it runs between
# forward and backward, in two programs that differ only in how `y` is made from `h`.


# %% tags=["slide"]
def is_refused(made):
    x = mg.tensor(1.0, requires_grad=True)
    h = x * 2
    y = made(h)
    h.add_(1)
    try:
        mg.autograd.grad(y, x)
    except RuntimeError:
        return True
    return False


# %% tags=["predict", "hide-input", "step", "slide"]
def both():
    return is_refused(lambda h: h.exp()), is_refused(lambda h: h * h)


course.predict(
    "08.saved",
    "h = x * 2, then y from h, then h.add_(1), then backward. Which y is refused?",
    [
        "y = h.exp() and y = h * h",
        "only y = h.exp()",
        "only y = h * h",
        "neither of them",
    ],
    then=both,
    so=lambda ran: {
        (True, True): "y = h.exp() and y = h * h",
        (True, False): "only y = h.exp()",
        (False, True): "only y = h * h",
        (False, False): "neither of them",
    }[ran.value],
    why="`exp` saved its result; the product saved `h` itself, and `h` has changed.",
    at="SavedModifiedError",
)

# %% [markdown] tags=["explain", "slide"]
# `exp` saved its *result* (lesson 02), so it doesn't matter what happens to `h`. The
# product saved `h` itself, at version 0. When backward reads it, `h` is at version 1, so
# the engine refuses. So ask **"does a node still need the old value?"** The engine is
# stricter: it compares versions, not
# numbers, and refuses even if you've undone the change. `is_refused` caught its error;
# here you can read it:

# %% tags=["raises-exception", "explain", "slide"]
x = mg.tensor(1.0, requires_grad=True)
h = x * 2
y = h * h
h.add_(1)
mg.autograd.grad(y, x)

# %% [markdown] tags=["slide"]
# ## A Function that changes its input
#
# Overwriting an input saves memory: no new array is made. Then `forward` has two more
# duties. It tells the engine which tensor it has overwritten (the *dirty* one) with
# `ctx.mark_dirty(...)`, and it returns that very tensor.


# %% tags=["slide"]
class Add_(mg.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        a.add_(b)
        ctx.mark_dirty(a)
        return a

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output


# %% [markdown] tags=["slide"]
# `h` is a product, so its `grad_fn` is the product's node. Which node does `h` have when
# `Add_` has changed it?


# %% tags=["slide"]
def added_in_place():
    x = mg.tensor(3.0, requires_grad=True)
    b = mg.tensor(4.0, requires_grad=True)
    h = x * 2
    Add_.apply(h, b)
    return h.grad_fn.name()


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "08.add",
    "After Add_.apply(h, b): what's h.grad_fn?",
    ["the product's node, as before", "Add_'s node", "None"],
    then=added_in_place,
    so=lambda ran: (
        "Add_'s node" if "Add_" in ran.value else "the product's node, as before"
    ),
    why="Whatever uses `h` from here on has to send its gradient through the new node.",
    at="grad_fn is this box now",
)

# %% [markdown] tags=["explain", "slide"]
# The `grad_fn` of `h` is the new node now, with an edge to the product's node. So `h` has
# a path to both leaves. Look at its version, too:

# %% tags=["explain", "slide"]
x = mg.tensor(3.0, requires_grad=True)
b = mg.tensor(4.0, requires_grad=True)
h = x * 2
Add_.apply(h, b) is h, mg.autograd.grad(h, [x, b]), h._version

# %% [markdown] tags=["explain", "slide"]
# `add_` in forward made the version 1, and the mark made it 2. Why count twice? Forward
# might have written through a NumPy array, and that isn't counted. So `apply` adds one
# for each marked tensor.

# %% [markdown] tags=["slide"]
# ## What happens without the mark?
#
# The same Function without `mark_dirty`. Again `h` is 10 afterwards. Compare the two
# gradients with those above. (With `allow_unused` you get None, not an error, for an
# input that no path leads to.)


# %% tags=["slide", "Q24"]
class Untold(Add_):
    @staticmethod
    def forward(ctx, a, b):
        return a.add_(b)


h = x * 2
Untold.apply(h, b)
print(h)
mg.autograd.grad(h, [x, b], allow_unused=True)

# %% [markdown] tags=["explain", "slide"]
# The `grad_fn` of `h` is still the product. The path to `b` starts at the tensor that
# `apply` returned, a *different* one, and we didn't keep it. PyTorch is silent about
# that; the warning comes from teaching mode.

# %% [markdown] tags=["slide"]
# ## The leaf rule
#
# So far `h` was a result. `x` is a leaf: you made it, and you want its gradient. So the
# same change is refused. (*Variable* in the message is an old name for a tensor.)

# %% tags=["raises-exception", "slide", "Q32"]
x.add_(1)

# %% [markdown] tags=["explain", "slide"]
# After a recorded change, `x` would be a result and no longer a leaf, so backward would
# never fill `x.grad`. `Add_.apply` refuses a leaf, too. Here's a weight after that
# error:

# %% tags=["explain", "slide"]
weight = mg.tensor(3.0, requires_grad=True)
try:
    Add_.apply(weight, b)
except RuntimeError:
    print(weight)

# %% [markdown] tags=["explain", "slide"]
# 7, not 3: `apply` sees the mark only when forward is over, and forward has written by
# then. PyTorch does the same. If you catch this error, your weight is ruined.
#
# What do you *mean* by a change of a leaf?
#
# | you mean | write |
# |---|---|
# | a step of the computation | change a copy: `x.clone()` is recorded |
# | an update, as an optimizer does | change `x` itself in `no_grad`, so it isn't recorded |

# %% [markdown] tags=["slide"]
# ## Squaring in place
#
# This Function does everything we've asked for: it saves its input for backward, marks
# what it changes, and returns that very tensor.


# %% tags=["slide"]
class Square_(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x


def slope_at_3():
    x = mg.tensor(3.0, requires_grad=True)
    return mg.autograd.grad(Square_.apply(x.clone()), x)[0].item()


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "08.square",
    "The derivative of x squared is 2 times x. What comes out at x = 3?",
    ["6", "18", "an error that names two versions"],
    then=slope_at_3,
    so=lambda ran: (
        "an error that names two versions" if ran.error else f"{ran.value:g}"
    ),
    why="What was saved is `x` itself, and by the end of `apply` it holds 9.",
    at="apply takes what was saved",
)

# %% [markdown] tags=["explain", "slide"]
# **18**: backward read 9 where it needed 3. The engine notes the version when *apply
# ends*, not where you call `save_for_backward`. By then the change had been made and
# counted, so backward compares 2 with 2 and finds no difference. An earlier node that saved `x` would notice. You repair this class in 08.3.

# %% [markdown]
# **Try.** The same program, with an input you can change. Press **c** and follow the
# row *saved[0]*: which number does it have when `forward` saves it, and which at the
# end of `apply`? Then type other numbers for `x`. For which two is the gradient right
# by accident?


# %% tags=["try"]
def slope(x):
    y = Square_.apply(x.clone())
    y.backward()
    return x.grad


mg.live(slope, x=mg.tensor(3.0, requires_grad=True))

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# `forward` saves the tensor while it holds 3. At the end of `apply` the same tensor
# holds 9, at version 2. The gradient is right where the square of x equals x: at 0 and
# 1. (The warning of teaching mode says version 1: it's given before the mark is counted.)
#
# </details>

# %% [markdown] tags=["slide"]
# ## Two names for one memory
#
# `y.detach()` and `y.data` are two more names for the memory of `y`, both without
# history. `Exp` below saves its result, and we write zeros into that between forward
# and backward: once through each name.


# %% tags=["slide"]
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result


def ends(zeroed):
    x = mg.tensor(3.0, requires_grad=True)
    y = Exp.apply(x)
    zeroed(y)
    try:
        return f"{mg.autograd.grad(y, x)[0].item():.4g}"
    except RuntimeError:
        return "an error"


# %% tags=["predict", "hide-input", "slide", "Q52"]
def both_names():
    through_detach = ends(lambda y: y.detach().zero_())
    return through_detach, ends(lambda y: y.data.zero_())


course.predict(
    "08.data",
    "e to the power of 3 is 20.09. First through detach, then through data: what comes "
    "out?",
    ["20.09, then 20.09", "an error, then an error", "an error, then 0", "0, then 0"],
    then=both_names,
    so=lambda ran: ", then ".join(ran.value),
    why="`detach` shares the version with `y`; `data` has a count of its own, so the engine "
    "can't see the change.",
    at="SavedModifiedError",
)

# %% [markdown] tags=["explain", "slide"]
# Through `data` you get 0 where 20.09 is right. `detach` shares the memory *and* the
# version, and so does a *view*, a part such as `y[0]`. `.data` shares only the memory
# and has a count of its own; a NumPy array on that memory has none. So the saved value
# still looks like version 0. (Teaching mode compares the numbers and warns you; PyTorch
# is silent.) Use `detach` or `no_grad`, not `.data`.

# %% tags=["because"]
course.because(
    "08.because",
    "The engine compares versions only when backward reads a value, not when you change "
    "it. Why not at once? One sentence, for yourself; it isn't graded.",
)

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# When you change it, the engine can't know whether a backward will ever read the old
# value. Often none does, and a change that harms nothing would be refused.
#
# </details>

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say whether a change in place ends well, in an error, or silently wrong.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>When is a change in place right?</summary>
#
# When no node needs the old value, and the engine knows of the change: in a Function of
# your own by `ctx.mark_dirty`.
#
# </details>
#
# <details><summary>Your forward overwrites its input. Which two duties does it have?</summary>
#
# Mark the tensor with `ctx.mark_dirty`, and return that very tensor. If backward needs
# the old value, save a copy made before the change.
#
# </details>
#
# <details><summary>Which changes doesn't the version catch?</summary>
#
# Changes through `.data` or through a NumPy array with the same memory. And those that
# forward makes to what this very call saves: the version is noted when apply ends.
#
# </details>

# %% [markdown]
# In PyTorch this is the same, but without the warnings: the same two versions in the
# error, the same 18 and the same 0.
#
# ## Now you
#
# [Six exercises](../exercises/08_changing_things_in_place/08_exercises.ipynb)
# (08.5 and 08.6 are extra); in 08.3 you repair the silent 18. Your
# progress, and what's next on your path:

# %%
course.progress("08")
