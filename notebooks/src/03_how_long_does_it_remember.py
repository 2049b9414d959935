# ruff: noqa: E501  (links)

# %% [markdown] tags=["slide"]
# # How long does it remember?
#
# You will
# * watch when saved tensors leave memory,
# * find out what a second backward needs, and what `retain_graph` is for,
# * find a memory leak and close it.

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
# Python frees an object as soon as no name and no other object refers to it.
# `course.watch(...)` observes objects without keeping them, and says whether they're
# alive. Here `z` loses its only name.

# %% tags=["slide"]
x = mg.ones(1000, dtype=mg.float64, requires_grad=True)
z = x * 2
watched = course.watch(z=z)
del z
watched

# %% [markdown] tags=["slide"]
# `z` is gone at once: multiplying by 2 keeps nothing of its result. The next Function
# saves its input, as in lesson 02, so its input should live longer. How long?


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
# 8,000 bytes. The player shows them as bars under the graph.


# %% tags=["slide"]
def three_squares():
    x = mg.ones(1000, dtype=mg.float64, requires_grad=True)
    y = Square.apply(Square.apply(Square.apply(x)))
    y.sum().backward()
    return y


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "03.release",
    "When does the last of the three calls release what it saved?",
    [
        "when forward is over",
        "as soon as its own backward has run",
        "when the whole backward is over",
        "when y is deleted",
    ],
    then=three_squares,
    so=lambda ran: ran.first(
        {
            "as soon as its own backward has run": "lets it go",
            "when the whole backward is over": "backward is finished",
        }
    ),
    why="The engine releases what a node has saved, right after that node's backward.",
    at="lets it go",
    memory=True,
)

# %% [markdown] tags=["explain", "slide"]
# Right after its own backward. The bars under the graph end one after the other, from
# the last call to the first, so backward frees memory while it runs. The nodes are
# still there, but they're empty. (If you need no backward, put the call in a `no_grad`
# block, which records no graph: then nothing is kept in the first place.)

# %% [markdown] tags=["slide"]
# ## How long does an attribute stay?
#
# Now `x` is kept as an attribute of ctx instead of a saved tensor. Everything else is
# as in `Square`, so the gradient is the same.


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
# `saved` is the input of `Square`, `kept` that of `SquareByAttribute`. We delete both
# names, so each lives on only if ctx holds it. After backward we look which of them are
# alive, then delete `b` and look again.


# %% tags=["slide"]
def after_backward():
    x = mg.ones(1000, dtype=mg.float64, requires_grad=True)
    saved, kept = x * 2, x * 2
    watched = course.watch(saved=saved, kept=kept)
    a, b = Square.apply(saved), SquareByAttribute.apply(kept)
    del saved, kept
    (a + b).sum().backward()
    first_look = watched.alive()
    del b
    return first_look, watched.alive()


# %% tags=["predict", "hide-input", "slide", "Q07"]
course.predict(
    "03.attribute",
    "Backward is over, and b still exists. Which of the two inputs are alive?",
    ["saved and kept", "only saved", "only kept", "neither of them"],
    then=after_backward,
    so=lambda ran: {
        (True, True): "saved and kept",
        (True, False): "only saved",
        (False, True): "only kept",
        (False, False): "neither of them",
    }[ran.value[0]["saved"], ran.value[0]["kept"]],
    why="The engine releases what was saved; it knows nothing about attributes.",
    at="saved nothing",
)

# %% [markdown] tags=["explain", "slide"]
# An attribute lives as long as ctx, and ctx as long as the result, or anything computed
# from it. When `b` is deleted, `kept` goes too. But if your training loop keeps its
# losses in a list, the attribute is never freed.

# %% [markdown] tags=["slide"]
# ## Backward twice
#
# A second backward through the same graph reads the saved tensors a second time.
# `retain_graph=True` asks the engine to release nothing. Here it's in the second of two
# calls:

# %% tags=["raises-exception", "slide", "Q25", "Q66"]
x = mg.tensor(3.0, requires_grad=True)
y = Square.apply(x)
y.backward()
y.backward(retain_graph=True)

# %% [markdown] tags=["explain", "slide"]
# Too late: the first backward has already released what the second one needs. So
# `retain_graph=True` belongs in the *first* call. The engine releases nothing then, and
# the memory stays in use until a backward without it, or until the graph is gone.

# %% tags=["slide", "Q25", "Q68"]
x.grad = None
y = Square.apply(x)
y.backward(retain_graph=True)
y.backward()
x.grad

# %% [markdown]
# **Try.** You got 12, twice the gradient 6: a *leaf*, a tensor you made yourself, adds
# up what arrives. Next comes the class with the attribute, and nothing is retained.
# What's `x.grad` now: 6, 12 or an error? Which line would you add to get 6, although
# backward runs twice?

# %% tags=["try"]
x.grad = None
y = SquareByAttribute.apply(x)
y.backward()
y.backward()
x.grad

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# 12: the attribute was never released, so the second backward runs and adds 6 again,
# without any message. With `x.grad = None` between the two calls it's 6.
#
# </details>

# %% tags=["because"]
course.because(
    "03.because",
    "Without retain_graph, twice through saved tensors is an error, twice through an "
    "attribute gives 12. Which would you want in a training loop, and why? One sentence; "
    "it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## The leak
#
# This Function keeps its *result* as an attribute. Python also has a garbage collector,
# which looks through all objects now and then. We switch it off for a moment, so that
# it runs only when we say so.


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
# `y` is the only name of the result, and we delete it. Then `gc.collect()` runs the
# collector once. `leak` returns whether the result was alive before that, and after.


# %% tags=["slide"]
def leak():
    gc.disable()
    x = mg.ones(1000, dtype=mg.float64, requires_grad=True)
    y = ExpThatLeaks.apply(x)
    watched = course.watch(result=y)
    del y
    before = watched.alive()
    gc.collect()
    gc.enable()
    return before["result"], watched.alive()["result"]


# %% tags=["predict", "hide-input", "slide", "Q12"]
course.predict(
    "03.leak",
    "When is the result freed?",
    ["at del y", "not before gc.collect()", "not even by gc.collect()"],
    then=leak,
    so=lambda ran: {
        (False, False): "at del y",
        (True, False): "not before gc.collect()",
        (True, True): "not even by gc.collect()",
    }[ran.value],
    why="The result and its ctx keep each other alive; only the collector finds that.",
    at="apply takes what was saved",
)

# %% [markdown] tags=["explain", "slide"]
# The result refers to its `grad_fn`, which is ctx, and ctx refers to the result: a
# **cycle**. No name is left, but each keeps the other alive. The collector does find
# such groups, but it counts objects, not bytes, so it may come long after your memory
# is full. With `save_for_backward(result)` there's no cycle: the engine stores the
# result's numbers *without* its `grad_fn`, and adds that when `backward` reads them.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say when something leaves memory, and who releases it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>When does a node release what it saved?</summary>
#
# Right after its own backward, unless you asked for `retain_graph=True`. An attribute
# stays as long as ctx.
#
# </details>
#
# <details><summary>What does a second backward need?</summary>
#
# What the nodes saved, so the first one has to retain it. And `x.grad` grows, because a
# leaf adds.
#
# </details>
#
# <details><summary>Why shouldn't a result be an attribute of its ctx?</summary>
#
# The result refers to ctx through `grad_fn`, and ctx would refer to the result: a
# cycle, which only the collector can free.
#
# </details>

# %% [markdown]
# In PyTorch this is the same: the error says *Trying to backward through the graph a
# second time*, and only the collector frees the cycle (seen with torch 2.13).
#
# ## Now you
#
# [Five exercises](../exercises/03_how_long_does_it_remember/03_exercises.ipynb)
# (03.2 and 03.4 are extra); in 03.3 you close a leak. Then
# [lesson 04](04_who_needs_a_gradient.ipynb). Your progress, and what's next on your
# path:

# %%
course.progress("03")
