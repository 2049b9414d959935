# ruff: noqa: E501  (a link)

# %% [markdown] tags=["slide"]
# # How long does it remember?
#
# You will
# * watch when what was saved leaves memory,
# * say what a second backward needs, and what `retain_graph` is for,
# * find a memory leak, and close it.

# %%
import gc

import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("03")

# %% [markdown] tags=["slide"]
# ## Who is still there?
#
# Python frees an object when nobody holds it any more. `course.watch(...)` looks at
# things without holding them, and says whether they are alive. Here `z` loses its only
# name.

# %% tags=["slide"]
x = mg.ones(1000, dtype=mg.float64, requires_grad=True)
z = x * 2
watched = course.watch(z=z)
del z
watched

# %% [markdown] tags=["slide"]
# Gone at once: a product with 2 keeps nothing of its result. The next Function keeps
# its input, as in lesson 02. So the numbers of `z` should live on. How long?


# %% tags=["slide"]
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x


# %% [markdown] tags=["slide"]
# Three of them make a chain. Each node holds what it saved: 1000 numbers of 8 bytes,
# 8,000 bytes. The player shows them as bars under the graph; its level *Story* makes the
# steps fewer.


# %% tags=["slide"]
def three_squares():
    x = mg.ones(1000, dtype=mg.float64, requires_grad=True)
    y = Square.apply(Square.apply(Square.apply(x)))
    y.sum().backward()
    return y


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "03.release",
    "When are the bytes of the last of the three calls let go?",
    [
        "when forward is over",
        "as soon as its own backward has run",
        "when the whole backward is over",
        "when y goes",
    ],
    then=three_squares,
    so=lambda ran: ran.first(
        {
            "as soon as its own backward has run": "SquareBackward is done",
            "when the whole backward is over": "backward is finished",
        }
    ),
    why="The phase release comes after every single node, not at the end.",
    at="SquareBackward is done",
)

# %% [markdown] tags=["explain", "slide"]
# As soon as its own backward has run. The bars under the graph end one after the other,
# from the last call to the first: the phase *release* comes after every single node. So
# backward gives memory back while it runs, and in the end only `x`, `y` and `x.grad`
# are left. The nodes are still there, but empty. Ask the last one, the `grad_fn` of `y`.

# %% tags=["explain", "raises-exception", "slide", "Q66"]
three_squares().grad_fn.saved_tensors

# %% [markdown] tags=["slide"]
# ## How long does an attribute stay?
#
# The same rule with an attribute. (Teaching mode warns of it when it is first used, as
# it did in lesson 02.)


# %% tags=["slide"]
class SquareByAttribute(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2 * ctx.x


# %% [markdown] tags=["slide"]
# **Predict.** `saved` and `kept` are made from tensors that have no other name.
# Backward runs through both. Which numbers are alive after it, while `a` and `b` are
# still there?

# %% tags=["predict", "step", "slide", "Q07"]
saved, kept = x * 2, x * 2
watched = course.watch(saved=saved, kept=kept)
a, b = Square.apply(saved), SquareByAttribute.apply(kept)
del saved, kept
(a + b).sum().backward()
watched

# %% [markdown] tags=["explain", "slide"]
# The attribute is alive. The engine knows what was saved and releases it; of what you
# hang on ctx it knows nothing. It goes when ctx goes, and ctx goes when the result
# goes. In a training loop that keeps its losses in a list, that is never. Here `b`
# goes:

# %% tags=["explain", "slide"]
del b
watched

# %% [markdown] tags=["slide"]
# ## Backward twice
#
# **Predict.** After a backward a `Square` is empty. What happens when backward runs
# through the same graph a second time?

# %% tags=["predict", "raises-exception", "slide"]
x = mg.tensor(3.0, requires_grad=True)
y = Square.apply(x)
y.backward()
y.backward()

# %% [markdown] tags=["explain", "slide"]
# An error, because what the rule needs has been released. `retain_graph=True` asks for
# it to be kept: then the nodes release nothing, and the bytes stay until the graph
# goes. Without a reason that is a leak with your signature on it.

# %% tags=["slide", "Q25", "Q68"]
x.grad = None
y = Square.apply(x)
y.backward(retain_graph=True)
y.backward()
x.grad

# %% [markdown]
# **Try.** 12 is twice the slope of 6, since a leaf *adds* what arrives. Below is the
# class with the attribute, and nothing is retained. Guess what x.grad is, then run.
# Then make it 18, and at last 6 though backward runs twice. Which line do you need?

# %% tags=["try"]
x.grad = None
y = SquareByAttribute.apply(x)
y.backward()
y.backward()
x.grad

# %% [markdown] tags=["slide"]
# Twice through saved tensors is an error; twice through an attribute gives 12, and
# nobody says a word. Both happen in training loops in which one line stands in the
# wrong place.

# %% tags=["because"]
course.because(
    "03.because",
    "Which of the two would you want in a training loop, and why? One sentence; it is "
    "for you and nobody grades it.",
)

# %% [markdown] tags=["slide"]
# ## The leak
#
# This one keeps its *result* as an attribute. So that nothing is hidden, Python's
# collector is switched off: it looks for objects that hold each other, now and then.


# %% tags=["slide"]
class ExpThatLeaks(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.result = x.exp()
        return ctx.result

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.result


# %% [markdown] tags=["slide"]
# **Predict.** `y` is the only name of the result, and it is deleted. Are its numbers
# gone? Are they after `gc.collect()`, which runs the collector once?

# %% tags=["predict", "step", "slide", "Q12"]
gc.disable()
x = mg.ones(1000, dtype=mg.float64, requires_grad=True)
y = ExpThatLeaks.apply(x)
watched = course.watch(result=y, node=y.grad_fn)
del y
watched

# %% tags=["step", "slide"]
found = gc.collect()
gc.enable()
watched

# %% [markdown] tags=["explain", "slide"]
# The result holds its `grad_fn`, which is ctx; ctx holds the result as an attribute: a
# **cycle**. Nobody outside holds either of them, and still each keeps the other alive.
# The collector finds such cycles, but not when you run out of memory; it counts
# objects, not bytes. `save_for_backward(result)` keeps the numbers *without* the way
# back to ctx.

# %% [markdown] tags=["slide"]
# ## A picture of bytes
#
# `course.peak_bytes` runs a function and says how many bytes were alive at most.
# **Predict.** `x` has 1000 float64 numbers, 8,000 bytes. With one `Square` more in a
# chain, how much more is alive at most, forward and back? And forward in `no_grad`,
# where no graph is built?


# %% tags=["slide"]
def chain(length, x):
    y = x
    for _ in range(length):
        y = Square.apply(y)
    return y


def without_graph(length, x):
    with mg.no_grad():
        return chain(length, x)


lengths = [1, 5, 10, 20, 40]
graph = [course.peak_bytes(lambda n=n: chain(n, x).sum().backward()) for n in lengths]
none = [course.peak_bytes(without_graph, n, x) for n in lengths]

# %% tags=["explain", "slide"]
mg.plot_lines(
    lengths,
    {"forward and backward": graph, "forward in no_grad": none},
    x="number of Squares in the chain",
    y="bytes alive at most",
    says="With a graph the peak grows with every call; without one it is soon flat.",
)

# %% [markdown] tags=["explain", "slide"]
# Each further call adds the 8,000 bytes that it saves, and a little for its node: 20
# more calls, about 176,000 bytes more. In `no_grad` nobody keeps what lies between, so
# a chain of 40 needs no more than one of 5. Where the lines begin you see what is alive
# for a moment, in any chain.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say when something leaves memory, and who lets it go. Answer each card in
# your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>When does a node let go of what it saved?</summary>
#
# As soon as its own backward has run, unless `retain_graph=True` was asked for. An
# attribute stays until ctx goes.
#
# </details>
#
# <details><summary>What does a second backward need?</summary>
#
# What the nodes saved: so the first one has to retain it. And `x.grad` grows, because a
# leaf adds.
#
# </details>
#
# <details><summary>Why must a result not be an attribute of its ctx?</summary>
#
# The result holds ctx through `grad_fn`, ctx would hold the result: a cycle, which only
# the collector can free.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same: the error says *Trying to backward through the graph
# a second time*, and the cycle is freed by the collector alone. Put `import torch as
# mg` in the first cell, leave out the lines that teach (`teaching`, `course` and the
# stepper), and every value above stays as it is.
#
# ## Now you
#
# [Five
# exercises](../exercises/03_how_long_does_it_remember/03_how_long_does_it_remember.ipynb)
# wait for you; in 03.3 you close a leak. They link back to this lesson. Where you
# stand:

# %%
course.progress()
