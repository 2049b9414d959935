# %% [markdown]
# # Exercises: How does backward find its way?
#
# You will
# * predict the order in which nodes run, and assemble the loop that runs them,
# * write your own sorting of the nodes, and use it for a whole backward,
# * find the one character that loses a gradient.
#
# The lesson is [here](../../notebooks/05_how_backward_finds_its_way.ipynb).

# %%
import threading

import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 05.1 Order on a diamond
#
# Draw the graph on paper, answer, then press *Commit*. (Extra: about 6 minutes.)

# %% tags=["solution"]
check("05.1", ["y b d c a", "13", "the one that was made last: d"])

# %% [markdown]
# ## 05.2 The loop
#
# A graph as plain data, and the lines of a backward in the wrong order. Drag them into
# your program, or use *Add*, *Remove* (or Enter for both), *Earlier* and *Later* (or
# Alt+↑ and Alt+↓). (About 10 minutes.)

# %%
edges = {
    "y": [("b", 1.0), ("c", 1.0)],
    "b": [("a", 3.0)],
    "c": [("a", 2.0)],
    "a": [],
}
counts = {"y": 0, "b": 1, "c": 1, "a": 2}

# %% [markdown]
# That's the diamond from the lesson. Think of it while you build the program.

# %% tags=["exercise"]
exercise("05.2")

# %% tags=["solution"]
check("05.2", ["o", "e", "b", "m", "d", "k", "n", "g", "a", "j", "i"])

# %% [markdown]
# Any order of lines that works is right. The check runs your program on graphs of up to
# 200 nodes, including the one above.

# %% [markdown]
# ## 05.3 toposort


# %% tags=["exercise"]
def toposort(root, receivers):
    # region solution: return the list of all nodes, users first
    counts, met = {root: 0}, [root]
    for node in met:
        for receiver in receivers(node):
            if receiver not in counts:
                counts[receiver] = 0
                met.append(receiver)
            counts[receiver] += 1
    order, ready = [], [root]
    while ready:
        node = ready.pop()
        order.append(node)
        for receiver in receivers(node):
            counts[receiver] -= 1
            if counts[receiver] == 0:
                ready.append(receiver)
    return order
    # endregion


# %% [markdown]
# Try it on the graph of 05.2: `y` has to come first, and `a` last.

# %% tags=["raises-exception"]
toposort("y", lambda node: [receiver for receiver, _ in edges[node]])

# %% [markdown]
# The check has its own graphs. Each one is there to catch a different mistake.

# %% [markdown]
# ## 05.4 Overwrite instead of add
#
# This function gets a correct order and goes through it. It's right for a chain but
# wrong for a diamond, because of one character. (Extra: about 8
# minutes.)


# %% tags=["exercise"]
# shipped gradients


# %% tags=["solution"]
# shipped gradients with ] += w for ] = w

# %% [markdown]
# First a chain, where `a` gets 2 times 5. Then the diamond: what should the number at
# `a` be?

# %%
chain = {"y": [("b", 2.0)], "b": [("a", 5.0)], "a": []}
print(gradients(["y", "b", "a"], chain))
gradients(["y", "c", "b", "a"], edges)

# %% [markdown]
# Repair the function, run its cell and the chain's again, then check.

# %% [markdown]
# ## 05.5 backward(root, g)
#
# Now a real one, on the engine's own nodes. It's tested on programs made of these two
# Functions, whose rules return tuples. (About 22 minutes.)


# %%
class Add(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output


class Mul(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x


# %% [markdown]
# Write `backward(root, g)` in at most 15 lines. It sends `g` from the node `root` to
# all leaves and adds to their `.grad`. It calls each rule once, with the sum of
# everything that arrives. You may use your toposort.
#
# `node.next_functions` has a pair for each argument, with None where no gradient is
# needed. `node.apply(gradient)` calls the rule. A leaf's node has a `variable`, and no
# rule. (`@mg.no_grad()` makes sure that what backward computes isn't recorded.)


# %% tags=["exercise"]
@mg.no_grad()
def backward(root, g):
    # region solution: send g from root to the leaves, each rule called once
    def receivers(node):
        return [receiver for receiver, _ in node.next_functions if receiver]

    waiting = {root: g}
    for node in toposort(root, receivers):
        gradient = waiting.pop(node)
        if hasattr(node, "variable"):
            leaf = node.variable
            leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient
            continue
        returned = node.apply(gradient)
        for (receiver, _), part in zip(node.next_functions, returned, strict=True):
            if receiver:
                there = waiting.get(receiver)
                waiting[receiver] = part if there is None else there + part
    # endregion


# %% [markdown]
# x is 3, so y = (x * x) * (x * x + x) is 108. What should `x.grad` be? (Differentiate
# the fourth power of x plus the third.)

# %% tags=["raises-exception"]
x = mg.tensor(3.0, requires_grad=True)
square = Mul.apply(x, x)
y = Mul.apply(square, Add.apply(square, x))
backward(y.grad_fn, mg.tensor(1.0))
x.grad

# %% [markdown]
# Write one line first, run the cell above, and see what's missing. Check when you're
# done.

# %% [markdown]
# ## The engine's own
#
# The same program, run by the engine. Its loop is `GraphTask.run`, in five phases. For
# each line you wrote, find the phase that does the same work. Which phases did you
# leave out? (The level *Everything* shows each line of the loop.)

# %% tags=["step"]
x = mg.tensor(3.0, requires_grad=True)
square = Mul.apply(x, x)
y = Mul.apply(square, Add.apply(square, x))
mg.step(y.backward)

# %% [markdown]
# *Check what it returned* and *release* aren't in your backward: yours trusts the
# rules, and keeps what they saved. And you sorted the nodes in advance, while the
# engine counts down as it goes.

# %% [markdown]
# ## 05.6 Twice adds
#
# Before you run this, write down what you expect `x.grad` to be after each backward.
# (Extra: about 9 minutes.)

# %% tags=["step"]
# %%step
x = mg.tensor(2.0, requires_grad=True)
h = x * 3
y = h * h
y.backward(retain_graph=True)
y.backward()

# %% tags=["exercise"]
exercise("05.6")

# %% tags=["solution"]
check("05.6", {"a": "72", "b": "None", "c": "36", "d": "24"})

# %% tags=["check"]
check("05.6")

# %% [markdown]
# Stuck, or surprised? Each hint says more than the one before it.

# %%
hint("05.6")

# %% [markdown]
# ## For the curious: hooks on tensors
#
# A tensor can have hooks too. Here `a` is used twice, as in the lesson's diamond. The
# first hook gets the gradient of `a`, the second that of `x`, and the third is called
# after `x.grad` has changed.
#
# **Predict.** How often is the hook at `a` called: twice, with 2 and with 3, or once,
# with 5?


# %% tags=["predict", "Q64"]
def watched():
    x = mg.tensor(0.0, requires_grad=True)
    a = x.exp()
    y = a * 3 + a**2
    seen = []
    a.register_hook(lambda g: seen.append(("a", g.item())))
    x.register_hook(lambda g: seen.append(("x", g.item())))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append("x.grad is there"))
    return x, y, seen


x, y, seen = watched()
y.backward()
seen

# %% [markdown]
# Once, with 5: a hook gets what the node is about to be called with. If it returns a
# tensor, that replaces the gradient. Now `autograd.grad`, which returns the gradient
# and leaves `.grad` alone. Which of the three hooks isn't called?

# %% tags=["explain", "Q64"]
x, y, seen = watched()
mg.autograd.grad(y, x), seen, x.grad

# %% [markdown]
# The third: it's called after something was added to `x.grad`, and `grad` adds nothing
# there.
#
# Does a breakpoint in a rule stop? Here it does: backward runs on your cell's thread,
# as a hook can show. In PyTorch that's so on the CPU; on a GPU, rules run on a thread
# of the engine, which a debugger may not watch.

# %% tags=["explain", "Q17"]
threads = set()
x, y, seen = watched()
x.register_hook(lambda g: threads.add(threading.current_thread().name))
y.backward()
threads

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/05_how_backward_finds_its_way.ipynb): answer each
# recall card before you open it. Then
# [lesson 06](../../notebooks/06_shapes_that_stretched.ipynb): what's the gradient of a
# tensor that was stretched?
