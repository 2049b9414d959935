# ruff: noqa: E501  (a link)

# %% [markdown] tags=["slide"]
# # How does backward find its way?
#
# You will
# * follow a graph by hand, from a result back to its leaf,
# * count what the obvious way costs, and see what the engine does instead,
# * find out who keeps a gradient, and in which order nodes run.

# %%
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
# each tensor argument the node that made it, and which output of that node it was. The
# edges of `b` and `c` both lead to the node of `a`: a node with several edges coming in
# is a **join**. Its own edge leads to the end: **AccumulateGrad**, the node of the leaf
# `x`, with the leaf as its `variable` and no edges.

# %%
end = a.grad_fn.next_functions[0][0]
end.name(), end.variable is x, end.next_functions

# %% [markdown] tags=["slide"]
# ## The obvious way
#
# Call the `backward` of a node (its **rule**), pass on each gradient it returns, and do
# the same wherever one arrives. `follow` does this. It lists the rules it calls, and
# what arrives at the leaf. (`node.apply(g)` calls the rule.)


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
    if hasattr(node, "variable"):  # a leaf: the path ends here
        arrived.append(gradient.item())
        return
    calls.append(node.name())
    parts = node.apply(gradient)
    for (receiver, _), part in zip(node.next_functions, parts, strict=True):
        follow(receiver, part)


# %% [markdown]
# `chain(n)` adds a leaf to itself, then the sum to itself, and so on, n times. So the
# result is 2 to the power n, times the leaf. Here's `follow` on two Adds: what arrives
# at the leaf?


# %% tags=["slide"]
calls, arrived = [], []


def chain(n):
    total = mg.tensor(1.0, requires_grad=True)
    for _ in range(n):
        total = Add.apply(total, total)
    return total


follow(chain(2).grad_fn, mg.tensor(1.0))
arrived

# %% [markdown] tags=["explain", "slide"]
# 1 arrives four times, 4 in total, which is right. Now we count how often a rule is
# called, in a longer chain:


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
# *path* separately, and each join doubles the paths from there to the leaf. Thirty
# joins make a billion paths. And there's a join wherever a tensor is used twice.

# %% [markdown] tags=["slide"]
# ## When may a node run?
#
# Back to the diamond, and to the engine's own loop. `x` is 0, so `a` is 1. `b` is 3a
# and sends 3 to the node of `a`; `c` is a², with the derivative 2a, and sends 2. One of
# them arrives first. What does the engine do?


# %% tags=["slide"]
def diamond_and_back():
    x, *_, y = diamond()
    y.backward()
    return x.grad


# %% tags=["predict", "hide-input", "step", "slide"]
ready = "ExpBackward0 is ready and runs next. Arrived there: "

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
    at="Both are here",
)

# %% [markdown] tags=["explain", "slide"]
# A rule multiplies what arrives by local derivatives (for arrays, it also sums), so
# sending 2 and then 3 has the same effect as sending 5 once. That's why a node can
# wait, add up, and run **once**. So before it calls the first rule, the engine counts
# the edges of *this* backward that lead to each node: its **dependency count**. Each
# value that a rule returns takes 1 off, even a None. Watch the label below `a`.

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
# gradients did arrive, and their sum is 0. None would mean that no gradient arrived.
#
# </details>

# %% [markdown] tags=["slide"]
# ## Who keeps a gradient?
#
# Gradients pass through nodes and are gone afterwards. A tensor keeps its own only if
# it's a leaf (`x.is_leaf` says so), or if you ask for it, as we do for `a`. `b` is
# neither, so its `.grad` is None, with a warning:

# %% tags=["slide", "Q48", "Q74"]
x, a, b, c, y = diamond()
a.retain_grad()
y.backward()
x.grad, a.grad, b.grad

# %% [markdown] tags=["explain", "slide"]
# The node of a leaf *adds* what arrives to what is in `x.grad` already. Nothing resets
# `x.grad` for you, so a training loop does it before each step: `x.grad = None`. Here
# another graph ends at `x`, and 5 becomes 7:

# %% tags=["explain", "Q68"]
(x * 2).backward()
x.grad

# %% [markdown]
# A path can also be cut. `a.detach()` has the numbers of `a` and no history. So the
# first edge of `y` leads nowhere (it shows None, and a 0 that means nothing), and
# `x.grad` is only the 2 that came through `c`. Nothing warns you about it:

# %% tags=["explain", "Q50"]
x, a, b, c, y = diamond()
y = a.detach() * 3 + c
y.backward()
names(y.grad_fn), x.grad

# %% [markdown] tags=["slide"]
# ## In which order do nodes run?
#
# Of several nodes that may run, the engine takes the one that was made last. But an
# AccumulateGrad isn't a call: when does it run? We make a leaf `w`, and add it to the
# diamond's `y`; `leaf w` is its AccumulateGrad.
#
# A **hook** is a function that you register and the engine calls. Hooks of a node are
# called when its rule is done, so they show the order.


# %% tags=["slide"]
def order_of_nodes():
    order, (_x, a, b, c, y) = [], diamond()
    w = mg.tensor(1.0, requires_grad=True)
    z = y + w
    nodes = {name: t.grad_fn for name, t in zip("abcyz", [a, b, c, y, z], strict=True)}
    nodes["leaf w"] = z.grad_fn.next_functions[1][0]
    for name, node in nodes.items():
        node.register_hook(lambda *_, name=name: order.append(name))
    z.backward()
    return ", ".join(order)


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
    why="A ready AccumulateGrad goes before all others; of the rest, the one that was made "
    "last.",
    at="w.grad was empty",
)

# %% [markdown] tags=["explain", "slide"]
# A node is *ready* when its count is 0. After `z` two nodes are: the one of `y` and the
# one of the leaf `w`. A leaf's AccumulateGrad goes before all others, so that its
# gradient is added to `.grad` as soon as it's there. Later `b` and `c` are both ready,
# and `c` was made last. The gradients don't depend on this order.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say in which order nodes run, and why none runs twice.

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
# the number of the output. `apply` collects them from the inputs, before forward runs.
#
# </details>
#
# <details><summary>Who keeps a gradient?</summary>
#
# Leaves, and they add. Other tensors only after `retain_grad()`.
#
# </details>

# %% [markdown]
# In PyTorch this is the same: the same pairs, the same order, the same hooks. The loop
# is in C++ there (`engine.cpp`); here it's `GraphTask.run`, and the level *Everything*
# in the player shows it line by line.
#
# ## Now you
#
# [Six exercises](../exercises/05_how_backward_finds_its_way/05_exercises.ipynb)
# (05.1, 05.4 and 05.6 are extra); in 05.5 you write a backward of your own. Then
# [lesson 06](06_shapes_that_stretched.ipynb). Your progress, and what's next on your
# path:

# %%
course.progress("05")
