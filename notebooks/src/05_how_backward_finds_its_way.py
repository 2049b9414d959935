# ruff: noqa: E501  (a link)

# %% [markdown] tags=["slide"]
# # How does backward find its way?
#
# You will
# * follow a graph by hand, from a result back to its leaf,
# * count what the obvious way costs, and see what the engine does instead,
# * step through the engine's own loop, and watch it with hooks.

# %%
import threading

import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("05")

# %% [markdown] tags=["slide"]
# ## Where are the edges?
#
# Four operations, and two of them use `a`. Draw the graph before you go on: a dot for
# each operation, and an arrow from each dot to the ones that made its arguments. Where
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
# Your arrows are the edges of the graph. A node lists them in `next_functions`: for
# each tensor argument the node that made it, and which output of that node it was.
# Backward only has to follow. One edge leads on from `b` and one from `c`, both to the
# node of `a`: it's a **join**. Its own edge leads to the end: **AccumulateGrad**, the
# node of the leaf `x`, with the leaf as its `variable` and no edges.

# %%
end = a.grad_fn.next_functions[0][0]
end.name(), end.variable is x, end.next_functions

# %% [markdown] tags=["slide"]
# ## The obvious way
#
# Call the rule of a node, pass on each gradient it returns, and do the same wherever
# one arrives. `follow` does this, and notes each call, and what arrives at the leaf.
# (`node.apply(g)` calls a node's rule by hand. A rule may return one tensor or a tuple;
# `Add` returns a tuple.)


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
    if hasattr(node, "variable"):  # a leaf: nothing comes after it
        arrived.append(gradient.item())
        return
    calls.append(node.name())
    parts = node.apply(gradient)
    for (receiver, _), part in zip(node.next_functions, parts, strict=True):
        follow(receiver, part)


# %% [markdown]
# `chain(n)` adds a leaf to itself, then the sum to itself, and so on, n times. So the
# result is 2 to the power n, times the leaf. Here's `follow` on two Adds: what arrives at
# the leaf, and which rules were called?


# %% tags=["slide"]
calls, arrived = [], []


def chain(n):
    total = mg.tensor(1.0, requires_grad=True)
    for _ in range(n):
        total = Add.apply(total, total)
    return total


follow(chain(2).grad_fn, mg.tensor(1.0))
arrived, calls

# %% [markdown] tags=["explain", "slide"]
# 1 arrives four times, 4 in total, which is right. But there were three calls for two
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
    "shows two Adds, at the second call of the lower one's rule.)",
    at=["Add.backward, line"] * 3,
)

# %% [markdown] tags=["explain", "slide"]
# The numbers are right, but it takes 1023 calls for ten nodes. `follow` walks every
# *path* separately, and each join doubles the paths behind it. Thirty joins make a
# billion paths. And there's a join wherever a tensor is used twice.

# %% [markdown] tags=["slide"]
# ## When may a node run?
#
# Back to the diamond, and to the engine's own loop. `x` is 0, so `a` is 1. `b` is 3a and
# sends 3 to the node of `a`; `c` is a², with the derivative 2a, and sends 2. One of them
# arrives first. `follow` would call the rule of `a` right away, and again for the other
# one. What does the engine do?


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
# A rule multiplies what arrives by local derivatives (for arrays, it also sums), so
# sending 2 and then 3 has the same effect as sending 5 once. That's why a node can wait,
# add up, and run **once**. It has to know how many gradients to wait for, so before it
# calls the first rule, the engine counts the edges of *this* backward that lead to each
# node: its **dependency count**. Watch the label below the box of `a`.

# %% tags=["because", "hide-input"]
course.because(
    "05.because",
    "Why does it matter when the rule of a is called, and with what? One sentence, for "
    "yourself; it isn't graded.",
)

# %% [markdown]
# **Try.** You can change both local derivatives here; the player runs the program again
# each time. Which two addends meet at the join? Then set 3 and -3 and step to the end:
# is `x.grad` 0 or None?


# %% tags=["try"]
def fork(left, right):
    x = mg.tensor(1.0, requires_grad=True)
    a = x * 1
    (a * left + a * right).backward()


mg.live(fork, left=3.0, right=2.0)

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# The addends are the two numbers you set. With 3 and -3 `x.grad` is 0, not None: two
# gradients did arrive, and their sum is 0. None would mean that nothing arrived.
#
# </details>

# %% [markdown] tags=["slide"]
# ## Who keeps a gradient?
#
# Gradients pass through nodes and are gone afterwards. A tensor keeps its own only if
# it's a leaf (you made it, not an operation: `x.is_leaf`), or if you ask for it. `b` is
# neither, so its `.grad` is None, with a warning:

# %% tags=["slide", "Q48", "Q74"]
x, a, b, c, y = diamond()
a.retain_grad()
y.backward()
x.grad, a.grad, b.grad

# %% [markdown] tags=["explain", "slide"]
# The node of a leaf *adds*, within one backward and from one backward to the next.
# Nothing resets `x.grad` for you, so a training loop does it before each step:
# `x.grad = None`. Here another graph ends at `x`, and 5 becomes 7:

# %% tags=["explain", "Q68"]
(x * 2).backward()
x.grad

# %% [markdown]
# A path can also be cut. `a.detach()` has the numbers of `a` and no history, so there's
# no edge where the edge to b's node was, and 3 of the 5 are missing. Nothing warns you
# about it:

# %% tags=["explain", "Q50"]
x, a, b, c, y = diamond()
y = a.detach() * 3 + c
y.backward()
names(y.grad_fn), x.grad

# %% [markdown] tags=["slide"]
# ## In which order do nodes run?
#
# A **hook** is a function that you register and the engine calls. Hooks of a node are
# called when its rule is done, so they can tell us the order. We add a leaf `w` to the
# diamond's `y`, after everything else. `leaf w` below is the AccumulateGrad of `w`.


# %% tags=["slide"]
def order_of_nodes():
    order, w = [], mg.tensor(1.0, requires_grad=True)
    _x, a, b, c, y = diamond()
    z = y + w
    nodes = {name: t.grad_fn for name, t in zip("abcyz", [a, b, c, y, z], strict=True)}
    nodes["leaf w"] = z.grad_fn.next_functions[1][0]
    for name, node in nodes.items():
        node.register_hook(lambda *_, name=name: order.append(name))
        node.register_hook(lambda *_: threads.add(threading.current_thread().name))
    z.backward()
    return ", ".join(order)


threads = set()

# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "05.order",
    "z = y + w, and y = b + c. In which order do these nodes run?",
    [
        "z, y, c, b, a, leaf w",
        "z, y, leaf w, c, b, a",
        "z, leaf w, y, c, b, a",
        "z, y, b, c, a, leaf w",
    ],
    then=order_of_nodes,
    so=lambda ran: ran.value,
    why="A ready AccumulateGrad goes before all others; of the rest, the one whose call "
    "came last.",
    at="w.grad was empty",
)

# %% [markdown] tags=["explain", "slide"]
# After `z` two nodes are ready: the one of `y` and the one of the leaf `w`. A leaf's
# AccumulateGrad goes before all others, so that its gradient is put away at once. Of
# the other ready nodes, the one whose call came last goes first. The gradients don't
# depend on this order; it just makes every run go the same way.

# %% [markdown] tags=["slide"]
# The hooks also noted the *thread*, because a breakpoint only stops on threads that
# the debugger watches. Here everything runs on your cell's thread, and every line of
# backward is Python, so a breakpoint in a rule stops. In PyTorch it does so for tensors
# on the CPU; for tensors on a GPU the rules run on a thread of the engine's.

# %% tags=["explain", "Q17"]
order_of_nodes()
threads

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say in which order nodes run, and why none runs twice. Answer each card in
# your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>When may a node run?</summary>
#
# When a gradient has arrived along each edge that leads to it, so its count is 0. Then
# it runs once, with the sum.
#
# </details>
#
# <details><summary>Where does the engine find the edges?</summary>
#
# In each node's `next_functions`: for each tensor argument the node that made it, and
# the number of the output. `apply` wrote the list before forward ran.
#
# </details>
#
# <details><summary>Who keeps a gradient?</summary>
#
# Leaves, and they add. Other tensors only after `retain_grad()`. A hook can look at the
# gradient as it passes.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same: the same pairs, the same order, the same hooks. The
# loop is in C++ there (`engine.cpp`), and `compute_dependencies` makes the counts; here
# it's `GraphTask.run`, which the level *Everything* in the player shows line by line.
# Put `import torch as mg` in the first cell and leave out the lines that teach
# (`teaching`, `course` and the stepper).
#
# ## Now you
#
# [Six exercises](../exercises/05_how_backward_finds_its_way/05_exercises.ipynb);
# in 05.5 you write a backward of your own. Then
# [lesson 06](06_shapes_that_stretched.ipynb). Your progress so far:

# %%
course.progress("05")
