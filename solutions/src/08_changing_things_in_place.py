# %% [markdown]
# # Exercises: Changing things in place
#
# You will
# * say of five programs how they end, and rewrite one that is refused,
# * write Functions that change their input, one of them without any array of its own,
# * build a version counter, and try it on twelve small stories.
#
# The lesson is [here](../../notebooks/08_changing_things_in_place.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 08.1 Right, error or silent?
#
# Five programs with one change in place each. Choose for each, then press *Commit*.
# (About 8 minutes.)

# %% tags=["exercise"]
exercise("08.1")

# %% tags=["solution"]
check("08.1", ["right", "an error", "right", "silently wrong", "an error"])

# %% tags=["check"]
check("08.1")

# %% [markdown]
# ## 08.2 AddOne_
#
# Write `AddOne_`: it adds 1 to each number of `x`, in the memory of `x`. Somebody who
# holds `x` afterwards holds the result. (About 10 minutes.)


# %% tags=["exercise"]
class AddOne_(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: change x, tell the engine, return what it expects
        x.add_(1)
        ctx.mark_dirty(x)
        return x
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return the gradient for x
        return grad_output
        # endregion


# %% tags=["check"]
check("08.2", AddOne_)

# %%
hint("08.2")

# %% [markdown]
# ## 08.3 18 instead of 6
#
# The class of the lesson, all by the book. Run it and the cell below. In two of three
# places the slope is wrong: which is right, and why just there? (Teaching mode would
# say too much, so it is off there. About 10 minutes.)


# %% tags=["exercise"]
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


# %% tags=["solution"]
class Square_(mg.autograd.Function):  # noqa: F811  the repaired class
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        ctx.mark_dirty(x)
        return x.mul_(x)

    @staticmethod
    def backward(ctx, grad_output):
        (before,) = ctx.saved_tensors
        return grad_output * 2 * before


# %%
x = mg.tensor([3.0, -3.0, 1.0], requires_grad=True)
with mg.teaching(False):
    y = Square_.apply(x.clone())
mg.autograd.grad(y.sum(), x)

# %% [markdown]
# Now repair the class. It shall still square in place, and keep no more than one array
# for backward.

# %% tags=["check"]
check("08.3", Square_)

# %%
hint("08.3")

# %% [markdown]
# ## 08.4 The leaf rule
#
# Run this cell and read what it says: which tensor is meant, and what are you advised
# to do? (About 12 minutes.)

# %% tags=["raises-exception"]
w = mg.tensor([2.0, 4.0], requires_grad=True)
w.mul_(0.5)

# %% [markdown]
# There are two things that may have been meant by it. `shrink` moves the weight itself,
# as an optimizer does. `halved` is a step of a computation, through which a gradient
# comes back. Write both; each is one or two lines.


# %% tags=["exercise"]
def shrink(w):
    # region solution: make the weight itself half as large; it stays a leaf
    with mg.no_grad():
        w.mul_(0.5)
    # endregion


def halved(w):
    # region solution: return half of w with its history; w itself stays as it is
    return w.clone().mul_(0.5)
    # endregion


# %% [markdown]
# Hand over both. The check also has a result that was made *before* `shrink`, and asks
# for its gradient afterwards.

# %% tags=["check"]
check("08.4", [shrink, halved])

# %%
hint("08.4")

# %% [markdown]
# ## 08.5 Relu_ for free
#
# Write `Relu_`: what is below 0 becomes 0, in the memory of `x`. Nothing is to be kept
# for backward but the result, which is alive anyway. (About 12 minutes.)


# %% tags=["exercise"]
class Relu_(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: overwrite x, keep what backward needs, return it
        x.clamp_(min=0)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return the gradient for x; 0 where x was 0 or less
        (result,) = ctx.saved_tensors
        return grad_output * (result > 0)
        # endregion


# %% tags=["check"]
check("08.5", Relu_)

# %%
hint("08.5")

# %% [markdown]
# ## 08.6 A version counter
#
# Now the engine's side of it. `Toy` is a tensor with little in it: a list of numbers. A
# view has the *same* list, a clone has its own. Complete it, so that changes of a list
# are counted, whoever makes them. (About 20 minutes.)


# %% tags=["exercise"]
class Toy:
    def __init__(self, values):
        self.values = values
        # region solution: begin to count the changes of this list
        self.count = [0]
        # endregion

    def add_(self, number):
        self.values[:] = [value + number for value in self.values]
        # region solution: count this change
        self.count[0] += 1
        # endregion

    def view(self):
        twin = Toy(self.values)
        # region solution: say what the twin counts with
        twin.count = self.count
        # endregion
        return twin

    def clone(self):
        return Toy(list(self.values))


# %% [markdown]
# `Saved` is what a node keeps: `Saved(t)` when apply ends, `unpack()` when backward
# reads. It raises a `RuntimeError` if the numbers were changed in between, and else
# returns the toy.


# %% tags=["exercise"]
class Saved:
    def __init__(self, toy):
        # region solution: keep the toy, and what you will compare
        self.toy = toy
        self.version = toy.count[0]
        # endregion

    def unpack(self):
        # region solution: raise a RuntimeError with both versions, or return the toy
        now = self.toy.count[0]
        if now != self.version:
            message = f"is at version {now}; expected version {self.version}"
            raise RuntimeError(message)
        return self.toy
        # endregion


# %% [markdown]
# A first story. It has to stop with your error; then let the check tell twelve of them.

# %% tags=["raises-exception"]
t = Toy([2.0, 3.0])
saved = Saved(t)
t.view().add_(1)
saved.unpack()

# %% tags=["check"]
check("08.6", [Toy, Saved])

# %%
hint("08.6")

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/08_changing_things_in_place.ipynb), to its recall
# cards: open each one only after you have answered it. Then
# [lesson 09](../../notebooks/09_forward_without_ctx.ipynb): a forward that gets no ctx.
