# ruff: noqa: E501  (a link)

# %% [markdown] tags=["slide"]
# # How does backward find its way?
#
# You will
# * follow a graph by hand, from a result back to its leaf,
# * count what the obvious way costs, and see what the engine does instead,
# * step through the engine's own loop, and stand at a node with a hook.

# %%
import threading

import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("05")

# %% [markdown] tags=["slide"]
# ## The way is there already
#
# Four operations; `a` is used by two of them. Draw the graph before you go on: a dot
# for each operation, and an arrow from each to the ones its arguments came from. Where
# does your drawing fork, and where does it join again?


# %% tags=["slide"]
def diamond():
    x = mg.tensor(0.0, requires_grad=True)
    a = x.exp()
    b = a * 3
    c = a**2
    return x, a, b, c, b + c


def names(node):
    return [(to.name() if to else None, number) for to, number in node.next_functions]


x, a, b, c, y = diamond()
names(y.grad_fn)

# %% [markdown] tags=["explain", "slide"]
# Your arrows are the *edges* of the graph, and `next_functions` is a node's list of
# them: for each tensor argument the node it came from, and which output of that node it
# was. Forward has written it, call by call. Backward only has to follow.
#
# **Predict.** One edge leads on from `b`, one from `c`. To one node, or to two?

# %% tags=["predict", "slide"]
from_b = b.grad_fn.next_functions[0][0]
from_c = c.grad_fn.next_functions[0][0]
from_b is from_c, from_b is a.grad_fn

# %% [markdown] tags=["explain", "slide"]
# One: the node of `a`, for there was one call of `exp`. A node to which more than one
# edge leads is a **join**. Follow its own edge, and you are at the end: AccumulateGrad,
# the node of the leaf `x`. It has the leaf as its `variable`, and no edges. (The front
# part of its name is torch's.)

# %%
end = a.grad_fn.next_functions[0][0]
end.name(), end.variable is x, end.next_functions

# %% [markdown]
# **Try.** The second number of each pair was 0 so far. `unbind` takes a tensor apart
# into several results, and is one call, so it has one node. Which numbers do you expect
# in the pairs?

# %% tags=["try"]
first, second = mg.tensor([1.0, 2.0], requires_grad=True).unbind()
names((first + second).grad_fn), second.output_nr

# %% [markdown] tags=["slide"]
# ## The obvious way
#
# Call the rule of a node, hand on each gradient that it returns, and do the same where
# that arrives. `follow` does so, and keeps a list of its calls, and one of what arrives
# at the leaf. (`node.apply(g)` calls the rule of a Function's node by hand. Add returns
# a tuple, so the pairs fit.)


# %%
class Add(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output


# %% tags=["slide"]
def follow(node, gradient):
    if hasattr(node, "variable"):  # a leaf: the way ends here
        arrived.append(gradient.item())
        return
    calls.append(node.name())
    parts = node.apply(gradient)
    for (receiver, _), part in zip(node.next_functions, parts, strict=True):
        follow(receiver, part)


# %% [markdown]
# `chain(n)` adds a leaf to itself, then the sum to itself, and so on, n times. So the
# result is 2 to the power n times the leaf. **Predict** for two Adds: which gradients
# arrive at the leaf, and how often is a rule called?


# %% tags=["predict", "slide"]
calls, arrived = [], []


def chain(n):
    total = mg.tensor(1.0, requires_grad=True)
    for _ in range(n):
        total = Add.apply(total, total)
    return total


follow(chain(2).grad_fn, mg.tensor(1.0))
arrived, calls

# %% [markdown] tags=["explain", "slide"]
# Four times 1: together 4, which is right. And three calls, though there are only two
# nodes. Now a longer chain:


# %% tags=["slide"]
def calls_for(n):
    calls.clear()
    follow(chain(n).grad_fn, mg.tensor(1.0))
    return len(calls)


# %% tags=["predict", "hide-input", "step", "slide"]
def two_adds():
    return calls_for(2)


course.predict(
    "05.calls",
    "A chain of ten Adds has ten nodes. How often does follow call a rule?",
    ["10 times", "100 times", "1023 times", "more than a million times"],
    then=two_adds,
    so=lambda ran: f"{calls_for(10)} times",
    why="Each Add doubles the paths below it, and `follow` walks every path. (The player "
    "has two Adds, and is where the lower one's rule is called for the second time.)",
    at=["Add.backward, line"] * 3,
)

# %% [markdown] tags=["explain", "slide"]
# Right numbers, and 1023 calls for ten nodes. `follow` goes every *path* by itself, and
# each join doubles the paths behind it. Thirty joins make a billion paths. And whenever
# a tensor is used twice, there is a join.

# %% tags=["explain", "hide-input", "slide"]
lengths = list(range(1, 11))
mg.plot_lines(
    lengths,
    {"follow": [calls_for(n) for n in lengths], "once for each node": lengths},
    x="number of Adds in the chain",
    y="calls of a rule",
    says="Each further Add doubles the calls of follow; one call for each node would do.",
)

# %% [markdown] tags=["slide"]
# ## When may a node run?
#
# Back to the diamond, and to the engine's own loop. Two gradients are on their way to
# the node of `a`, one from `b` and one from `c`, and one of them gets there first.
# `follow` would call the rule of `a` at once, and again for the other one. What does the
# engine do?


# %% tags=["slide"]
def diamond_and_back():
    x, *_, y = diamond()
    y.backward()
    return x.grad


# %% tags=["predict", "hide-input", "step", "slide"]
ready = "ExpBackward0 is the newest ready node. What waits there: "

course.predict(
    "05.join",
    "c sends the gradient 2 to the node of a, b sends 3. What is the rule of a called with?",
    ["with 2, and later with 3", "with 5", "with 6", "with 3, which came last"],
    then=diamond_and_back,
    so=lambda ran: ran.first(
        {
            "with 2, and later with 3": f"{ready}2",
            "with 5": f"{ready}5",
            "with 6": f"{ready}6",
            "with 3, which came last": f"{ready}3",
        }
    ),
    why="The node waits until both gradients are there, adds them up, and runs once.",
    at="added to what waits there",
)

# %% [markdown] tags=["explain", "slide"]
# A rule only multiplies what arrives, so sending 2 and then 3 has the same effect as
# sending 5 once. That's why a node can wait, add up, and run **once**. It has to know
# how many to wait for: before the first rule is called, the engine counts the edges
# that lead to each node. That is its **dependency count**. Watch the badge at
# ExpBackward0, the node of `a`: *2 to come*, then *2, 1 to come*, then *5 = 2 + 3*.

# %% [markdown] tags=["slide"]
# Of the nodes that are ready the engine picks the one that was made last, so the order
# is the same each time. (The level *Everything* in the player shows each line of the
# loop, `GraphTask.run`. `count_dependencies` makes the counts before it; for every edge
# the loop counts one down.)

# %% tags=["because", "hide-input"]
course.because(
    "05.because",
    "What would go wrong if the node of a ran as soon as the first gradient had come? One "
    "sentence; it is for you and nobody grades it.",
)

# %% [markdown]
# **Try.** Here the slopes of both arms can be moved; each move runs it again. Which
# addends meet at the join? Then let them cancel, with 3 and -3, and step to the end. Is
# `x.grad` 0, or None?


# %% tags=["try"]
def fork(left, right):
    x = mg.tensor(1.0, requires_grad=True)
    a = x * 1
    (a * left + a * right).backward()


mg.live(fork, left=3.0, right=2.0)

# %% [markdown] tags=["slide"]
# ## Where the way ends
#
# Gradients pass through nodes, and are gone. Who keeps one?
#
# **Predict.** Backward runs through the diamond; `a.retain_grad()` was said before.
# Which of `x.grad`, `a.grad` and `b.grad` are there afterwards?

# %% tags=["predict", "slide", "Q48", "Q74"]
x, a, b, c, y = diamond()
a.retain_grad()
y.backward()
x.grad, a.grad, b.grad

# %% [markdown] tags=["explain", "slide"]
# `x` is a **leaf**: no operation made it (`x.is_leaf`), you did. The engine keeps what
# arrives at leaves, and at others only if it was asked to. `b.grad` is None, with a
# warning, though 1 has passed there.
#
# **Predict.** `x.grad` is 5. Another graph ends at the same leaf, with slope 2. What is
# `x.grad` then?

# %% tags=["predict", "Q68"]
(x * 2).backward()
x.grad

# %% [markdown] tags=["explain", "slide"]
# 7: the node of a leaf *adds*, within one backward and from one to the next. Nobody
# empties `x.grad` for you. A training loop does it before each step: `x.grad = None`.

# %% [markdown]
# **Try.** A way may also be missing. `a.detach()` has a's numbers, and no history. What
# stands where the edge to b's node was? And `x.grad` was 5: what is it now? (Nothing
# warns of it.)

# %% tags=["try", "Q50"]
x, a, b, c, y = diamond()
y = a.detach() * 3 + c
y.backward()
names(y.grad_fn), x.grad

# %% [markdown] tags=["slide"]
# ## Stand at a node
#
# A **hook** is a function that the engine calls on its way. `a.register_hook` asks for
# the gradient of `a`, another one for that of `x`, and a third for the moment after
# `x.grad` has changed.
#
# **Predict.** How often is the one at `a` called: with 2 and with 3, or with 5?


# %% tags=["predict", "slide", "Q64"]
def watched():
    x, a, *_, y = diamond()
    seen = []
    a.register_hook(lambda g: seen.append(("a", g.item())))
    x.register_hook(lambda g: seen.append(("x", g.item())))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append("x.grad is there"))
    return x, y, seen


x, y, seen = watched()
y.backward()
seen

# %% [markdown] tags=["explain", "slide"]
# Once, with 5: a hook sees what the node is about to be called with. If it returns a
# tensor, that goes on in its place.
#
# **Try.** `autograd.grad` hands you the gradient, and leaves `.grad` alone. Which of
# the three hooks is called now?

# %% tags=["try", "Q64"]
x, y, seen = watched()
mg.autograd.grad(y, x), seen, x.grad

# %% [markdown]
# Nodes have hooks as well, called when their rule is done. So they can say in which
# order they run, and on which *thread*: a breakpoint stops only on threads that the
# debugger watches. **Predict** the order first. (`node=node` gives each hook the node
# of its own round.)

# %% tags=["predict", "Q17"]
x, a, b, c, y = diamond()
ran = []
for node in [a.grad_fn, b.grad_fn, c.grad_fn, y.grad_fn]:
    node.register_hook(
        lambda *_, node=node: ran.append((node.name(), threading.current_thread().name))
    )
y.backward()
ran

# %% [markdown] tags=["explain", "slide"]
# Newest first, and on the thread of your cell: here every line of backward is Python,
# and a breakpoint in a rule stops. In PyTorch it does so for tensors on the CPU. For
# those on a GPU the rules run on a thread of the engine's own, where some debuggers do
# not look.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say in which order nodes run, and why none runs twice. Answer each card in
# your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>When may a node run?</summary>
#
# When a gradient has come along every edge that leads to it: its count is 0. Then it
# runs once, with the sum.
#
# </details>
#
# <details><summary>Where does the engine find the way?</summary>
#
# In `next_functions` of each node: for each tensor argument the node it came from, and
# the number of the output. Forward has written it.
#
# </details>
#
# <details><summary>Who keeps a gradient?</summary>
#
# Leaves, and they add. Other tensors only after `retain_grad()`; a hook may look at
# what passes.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same: the same pairs, the same order, the same hooks. The
# loop is in C++ there (`engine.cpp`), and `compute_dependencies` makes the counts. Put
# `import torch as mg` in the first cell, leave out the lines that teach (`teaching`,
# `course`, the stepper and the plot), and every value above stays as it is.
#
# ## Now you
#
# [Six
# exercises](../exercises/05_how_backward_finds_its_way/05_how_backward_finds_its_way.ipynb)
# wait for you; in 05.5 you write a backward of your own. They link back to this lesson.
# Where you stand:

# %%
course.progress()
