# ruff: noqa: E501  (a link)

# %% [markdown] tags=["slide"]
# # Changing things in place
#
# You will
# * say of a change in place whether it is right, an error, or silently wrong,
# * write a Function that changes its own input, and tell the engine so,
# * meet wrong numbers that no error stops, and see who warns of them.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("08")

# %% [markdown] tags=["slide"]
# ## One line, at the wrong moment?
#
# `h.add_(1)` changes `h` in place: the same tensor, other numbers. Here it stands
# between forward and backward, in two programs. They differ in one thing: how `y` was
# made of `h`.


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
    "h = x * 2, then y is made of h, then h.add_(1), then backward. Which y is refused?",
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
# Nobody forbids a change in place. `exp` saved its *result* (lesson 02), so it does not
# matter to it what becomes of `h`: 14.78, twice e squared, is right. The product saved
# `h` itself. When backward comes to its node, the rows in the ctx pane say *saved at
# v0, now v1*, and to read them is refused. So the question is never "was it changed?"
# but **"does a node still need the value that is gone?"**

# %% [markdown]
# **Try.** Now `y` itself is changed, and not `h`. Guess before you run it. Then put
# `h.sin()` and at last `h + 1` in the place of `h.exp()`: which of the three can do
# without its result?

# %% tags=["try", "raises-exception"]
x = mg.tensor(1.0, requires_grad=True)
h = x * 2
y = h.exp()
y.add_(1)
mg.autograd.grad(y, x)

# %% [markdown] tags=["slide"]
# ## A Function that changes its input
#
# To overwrite an input saves an array. Then forward has two duties more: it tells the
# engine which tensor is *dirty*, that is, overwritten, with `ctx.mark_dirty(...)`; and
# it returns that very tensor. This one adds `b` to `a` in place. (Its name ends in an
# underscore, too.)


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
# **Predict.** Three things about `h` after the call: its version (0, 1 or 2?), its
# `grad_fn` (the product still, or the new node?), and whether `y` is `h`. Then step
# through the call. In the graph a flag *h* is pinned to a node: watch it.

# %% tags=["predict", "step", "slide"]
# %%step
x = mg.tensor(3.0, requires_grad=True)
b = mg.tensor(4.0, requires_grad=True)
h = x * 2
y = Add_.apply(h, b)

# %% tags=["explain"]
y is h, h._version, h.grad_fn.name(), h.grad_fn.next_functions[0][0].name()

# %% tags=["explain"]
mg.autograd.grad(h, [x, b])

# %% [markdown] tags=["explain", "slide"]
# One tensor, and version 2. It went from 0 to 1 in forward, by `add_`; and from 1 to 2
# in apply, by the mark itself, for forward may have written in a way that counts
# nothing, such as through NumPy. And `h` has *moved on*. Its `grad_fn` is the new node
# now, and the product's node comes behind that. Whoever holds `h` holds the new value,
# so a gradient for `h` has to pass the new node first: 1 goes to `b`, and 2 arrives at
# `x`.

# %% [markdown] tags=["slide"]
# ## Nobody was told
#
# The same Function without its mark. `h` is 10 afterwards, as before: twice `x`, and
# `b`. **Predict**: are the two gradients still 2 and 1? (`allow_unused` asks for None
# in place of an error, where no way leads to an input.)


# %% tags=["predict", "step", "slide", "Q24"]
class Untold(Add_):
    @staticmethod
    def forward(ctx, a, b):
        return a.add_(b)


h = x * 2
Untold.apply(h, b)
print(h)
mg.autograd.grad(h, [x, b], allow_unused=True)

# %% [markdown] tags=["explain", "slide"]
# `h` is 10 and believes that it is a product. The way to `b` hangs on the tensor that
# apply returned, *another* one, and nobody kept that. So `b` learns nothing, and in
# PyTorch nobody says a word. The warning is teaching mode's; it names the argument, and
# both versions.

# %% [markdown]
# **Try.** The other half: marked, and another tensor returned. Run it, and read what is
# asked for. Then put the class right with as few strokes as you can.


# %% tags=["try", "raises-exception"]
class Unreturned(Add_):
    @staticmethod
    def forward(ctx, a, b):
        ctx.mark_dirty(a)
        return a.add_(b).clone()


Unreturned.apply(x * 2, b)

# %% [markdown]
# **Try.** And if forward returns its argument as it is, with no change and no mark? Guess
# three answers: is `same` the tensor `h`, which node made it, and are the numbers
# shared? Then add a line `same.add_(1)`, and read why that is forbidden.


# %% tags=["try", "Q49"]
class Same(mg.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


same = Same.apply(h)
same is h, same.grad_fn.name(), same.data_ptr() == h.data_ptr()

# %% [markdown] tags=["slide"]
# ## The leaf rule
#
# So far `h` was a result. `x` is a leaf: you made it, and want its gradient.
# **Predict.** What comes of the same line on `x`: version 1, or an error?

# %% tags=["predict", "raises-exception", "slide", "Q32"]
x.add_(1)

# %% [markdown] tags=["explain", "slide"]
# Refused. After a recorded change `x` would be a result, with a node behind it, and the
# leaf whose gradient you want would have no name any more. What do you *mean*? Either
# the change is a step of the computation: then make it on a copy, `clone`, which has a
# history. Or it is none, as when an optimizer moves a weight: then record nothing. Here
# are both, and what `h` and `x` are afterwards:

# %% tags=["explain", "slide", "Q32"]
h = x.clone()
h.add_(1)
with mg.no_grad():
    x.add_(1)
(h.is_leaf, h._version), (x.is_leaf, x._version)

# %% [markdown] tags=["slide"]
# ## All by the book
#
# This one does all that was asked for. It saves its input, with `save_for_backward`. It
# marks what it changes, and returns that. Is it safe now?


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
    "The slope of x squared is 2 times x. What comes out at x = 3?",
    ["6", "18", "an error that names two versions"],
    then=slope_at_3,
    so=lambda ran: (
        "an error that names two versions" if ran.error else f"{ran.value:g}"
    ),
    why="What was saved is `x` itself, and by the end of `apply` it holds 9.",
    at="apply takes what forward saved",
)

# %% [markdown] tags=["explain", "slide"]
# **18**: the rule read 9 where it needed 3. A version is noted when *apply ends*, not
# where `save_for_backward` stands. By then the change had been made and counted, so
# backward compares 2 with 2 and is content. A mark protects those who saved `x` before
# you. It doesn't protect you from yourself.

# %% [markdown]
# **Try.** The same program with an input that you can change. Follow the row *saved[0]*
# in the ctx pane: which number has it when it is saved, and which number and version in
# the phase *wire edges*? Then type other numbers for `x`. For which two is the gradient
# right, by accident?


# %% tags=["try"]
def slope(x):
    y = Square_.apply(x.clone())
    y.backward()
    return x.grad


mg.live(slope, x=mg.tensor(3.0, requires_grad=True))

# %% [markdown] tags=["slide"]
# ## Behind the counter
#
# Two more names for one memory: `y.detach()`, and `y.data`. Both have the numbers of
# `y` and no history. This rule needs its result. **Predict** for each of the two:
# right, an error, or silently wrong?


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


# %% tags=["predict", "step", "raises-exception", "slide", "Q52"]
x = mg.tensor(3.0, requires_grad=True)
y = Exp.apply(x)
y.detach().zero_()
mg.autograd.grad(y, x)

# %% tags=["predict", "step", "slide", "Q52"]
y = Exp.apply(x)
y.data.zero_()
mg.autograd.grad(y, x)

# %% [markdown] tags=["explain", "slide"]
# A slope of 0, for e to the power of 3. What `detach` gives shares the memory *and* the
# count, and so does a *view*, a part such as `y[0]`. `.data` shares the memory and
# counts for itself, and so does a NumPy array. So the saved value is at version 0
# still, and the engine cannot see it. Teaching mode has noted a checksum, and tells
# you; PyTorch is silent. Use `detach` or `no_grad`, and leave `.data` alone.

# %% tags=["because"]
course.because(
    "08.because",
    "The engine looks at versions only when backward reads a value, not when somebody "
    "changes it. Why not at once? One sentence; it is for you and nobody grades it.",
)

# %% [markdown] tags=["slide"]
# ## Writing into grad_output
#
# In `backward` there is something to overwrite, too. **Predict** `b.grad` here: `q` is
# 3 times `b`, `p` is 2 times `a`, and both are added. Is it 3, 2 or 6?


# %% tags=["predict", "step", "slide", "Q38"]
class Twice(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.mul_(2)


a, b = mg.tensor(1.0, requires_grad=True), mg.tensor(1.0, requires_grad=True)
q = b * 3
p = Twice.apply(a)
(q + p).backward()
a.grad, b.grad

# %% [markdown] tags=["explain", "slide"]
# 6, though `Twice` never met `b`. The sum handed *one* tensor to both; `Twice` ran
# first and doubled it for its neighbour as well. What arrives in `backward` belongs to
# others: make a new tensor, `grad_output * 2`.

# %% [markdown]
# **Try.** Below the gradient comes from `sum`, and there is an error at least. Print
# `grad_output.stride()` in `Twice.backward` to see why: how far is it in memory from
# one number of this gradient to the next?

# %% tags=["try", "raises-exception", "Q38"]
Twice.apply(mg.ones(3, requires_grad=True)).sum().backward()

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say which of three endings a change in place has, and why. Answer each
# card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>When is a change in place right?</summary>
#
# When no node still needs the value that is gone: it was not saved, or it was saved
# after the change.
#
# </details>
#
# <details><summary>Your forward overwrites its input. Which two duties?</summary>
#
# Mark it with `ctx.mark_dirty`, and return that very tensor. And if backward needs the
# old value, keep a copy of it, made before.
#
# </details>
#
# <details><summary>Which changes does no version count?</summary>
#
# Those through `.data`, and through a NumPy array on the same memory. And what forward
# itself changes after saving it is counted too early: the version is noted at the end.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same, without the warnings: the same two versions in the
# error, the same 18, the same 0 and 6. Put `import torch as mg` in the first cell,
# leave out the lines that teach (`teaching`, `course`, the stepper and `mg.live`), and
# every value above stays as it is.
#
# ## Now you
#
# [Six
# exercises](../exercises/08_changing_things_in_place/08_changing_things_in_place.ipynb)
# wait for you; in 08.6 you build a version counter of your own. They link back to this
# lesson. Where you stand:

# %%
course.progress()
