# %% [markdown]
# # Exercises: Changing things in place
#
# You will
# * say how five programs end, and rewrite one that's refused,
# * write Functions that change their input, one of them without saving any extra array,
# * build a version counter, and test it on twelve short programs.
#
# The lesson is [here](../../notebooks/08_changing_things_in_place.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 08.1 Right, error or silent?
#
# Five programs, each with one change in place. Choose for each, then press *Commit*.
# (About 8 minutes.)

# %% tags=["solution"]
check("08.1", ["right", "an error", "right", "silently wrong", "an error"])

# %% [markdown]
# ## 08.2 AddOne_


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


# %% [markdown]
# ## 08.3 Repair Square_
#
# The class from the lesson. Run it and the cell below. Two of the three gradients are
# wrong: which one is right, and why that one? (Teaching mode would say too much, so
# it's off there. About 10 minutes.)


# %% tags=["exercise"]
# shipped Square_


# %% tags=["solution"]
class Square_(mg.autograd.Function):
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
# Now repair the class. It should still square in place, and keep no more than one array
# for backward.

# %% [markdown]
# ## 08.4 The leaf rule
#
# Run this cell and read the error: which tensor does it mean, and what does it tell you
# to do? (About 12 minutes.)

# %% tags=["raises-exception"]
w = mg.tensor([2.0, 4.0], requires_grad=True)
w.mul_(0.5)

# %% [markdown]
# Someone who writes this can mean two things. `shrink` changes the weight itself, as an
# optimizer does. `halved` is a step of a computation that a gradient goes through.
# Write both; each takes one or two lines.


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
# Hand in both. The check also computes a result *before* `shrink`, and asks for its
# gradient afterwards.

# %% [markdown]
# ## 08.5 Relu_ for free


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


# %% [markdown]
# ## 08.6 A version counter
#
# Now the engine's side of it. `Toy` is a very small tensor: a list of numbers. A view
# has the *same* list, a clone has its own. Complete it so that it counts the changes to
# a list, whichever toy makes them. (Extra: about 20 minutes.)


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
# reads. `unpack` raises a `RuntimeError` if the numbers have changed in between, and
# otherwise returns the toy.


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
# A first test. It has to stop with your error. Then the check runs twelve more.

# %% tags=["raises-exception"]
t = Toy([2.0, 3.0])
saved = Saved(t)
t.view().add_(1)
saved.unpack()

# %% [markdown]
# ## For the curious: writing into grad_output
#
# In `backward` there's something you could overwrite, too. **Predict** `b.grad` here:
# `q` is 3 times `b`, `p` is 2 times `a`, and we add both. Is it 3, 2 or 6?


# %% tags=["predict", "Q38"]
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

# %% [markdown]
# 6, although `b` isn't an input of `Twice`. The sum sent *one* tensor to both of its
# inputs. `Twice` ran first and doubled it in place, so the other node got the doubled
# one. The tensor that arrives in `backward` isn't yours alone: make a new one,
# `grad_output * 2`.

# %% [markdown]
# At least there's an error if the gradient comes from a `sum`: all its positions share
# one number in memory (its strides are 0), and the engine refuses to write there.

# %% tags=["explain", "raises-exception", "Q38"]
Twice.apply(mg.ones(3, requires_grad=True)).sum().backward()

# %% [markdown]
# ## For the curious: returning the input unchanged
#
# **Predict.** What if forward returns its argument with no change and no mark? Is
# `same` the tensor `h`, which node made it, and do they share their memory?


# %% tags=["predict", "Q49"]
class Same(mg.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


h = mg.tensor(3.0, requires_grad=True) * 2
same = Same.apply(h)
same is h, same.grad_fn.name(), same.data_ptr() == h.data_ptr()

# %% [markdown]
# It's a new tensor with the new node, on the same memory. So `same.add_(1)` would
# change `h` as well, and the engine forbids it: *Output 0 of Same is a view and is
# being modified inplace*. Return `a.clone()` if you want to change the result later.

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/08_changing_things_in_place.ipynb): answer each
# recall card before you open it. `course.home()` in any notebook says what's next on
# your path.
