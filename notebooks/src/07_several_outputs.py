# ruff: noqa: E501  (a link)

# %% [markdown] tags=["slide"]
# # Several outputs
#
# You will
# * see which gradients reach `backward` when `forward` returns two tensors,
# * choose what `backward` gets for an output that isn't used,
# * find out whether integers and masks are treated like other outputs.
#
# All three are one question: what should `backward` get for each output, whatever
# it is and whether it's used or not?

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("07")

# %% [markdown] tags=["slide"]
# ## Two outputs
#
# `forward` can return several tensors. This one returns the sum and the difference of
# two numbers. `backward` gets one gradient for each *output*, in the same order, and
# returns one for each *argument*, as always. The list `arrived` keeps them for us.


# %% tags=["slide"]
arrived = []


class PlusMinus(mg.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a + b, a - b

    @staticmethod
    def backward(ctx, g_plus, g_minus):
        arrived.append((g_plus, g_minus))
        return g_plus + g_minus, g_plus - g_minus


# %% [markdown]
# Both outputs depend on `a`, so its gradient is the sum of what comes back from both.
# `b` makes the difference smaller, hence the minus. And one call has one node, even
# with two results:

# %% tags=["Q93"]
a, b = mg.tensor(5.0, requires_grad=True), mg.tensor(2.0, requires_grad=True)
plus, minus = PlusMinus.apply(a, b)
plus.grad_fn is minus.grad_fn, plus.output_nr, minus.output_nr

# %% [markdown] tags=["explain"]
# `output_nr` says which output of its node a tensor is: 0 for `plus` and 1 for `minus`.
# That's how the engine knows which argument of `backward` to fill.

# %% [markdown]
# ## What arrives for an unused output?
#
# A layer may return its output and some statistics, and only the output goes into the
# loss. Here `minus` isn't used:


# %% tags=["slide"]
def without_minus():
    plus, _minus = PlusMinus.apply(a, b)
    (plus * 3).backward()
    return arrived[-1]


# %% tags=["predict", "hide-input", "step", "slide", "Q28"]
def g_minus(ran):
    if ran.error:
        return "there is an error"
    arrived_there = ran.value[1]
    if arrived_there is None:
        return "None"
    return "the same as g_plus" if arrived_there.any() else "a tensor of zeros"


course.predict(
    "07.unused",
    "backward(ctx, g_plus, g_minus) runs, and minus isn't used. What's g_minus?",
    ["a tensor of zeros", "None", "there is an error", "the same as g_plus"],
    then=without_minus,
    so=g_minus,
    why="The engine makes zeros in the output's shape: if `minus` changes, the loss "
    "doesn't.",
    at="Nothing arrived for output 1",
)

# %% [markdown] tags=["explain", "slide"]
# A tensor of zeros: nothing arrived for `minus`, so the engine made it. And it's right:
# if `minus` grows, the loss doesn't change.

# %% [markdown] tags=["slide"]
# ## What does an unused output cost?
#
# Suppose the unused output has a million numbers. The zeros for it take time and
# memory. `ctx.set_materialize_grads(False)` asks the engine not to *materialize* them,
# that is, not to make them. `Lean` adds this line to the forward of `PlusMinus`, and
# has the same backward. `minus` is unused again:


# %% tags=["raises-exception", "slide", "Q28"]
class Lean(PlusMinus):
    @staticmethod
    def forward(ctx, a, b):
        ctx.set_materialize_grads(False)
        return a + b, a - b


plus, minus = Lean.apply(a, b)
(plus * 3).backward()

# %% [markdown] tags=["explain", "slide"]
# `None` arrives instead, and you can't add `None`. (When an error from `backward`
# mentions `NoneType`, check this first.) Any output may be the unused one, so backward
# has to ask about each:


# %% tags=["slide", "Q28"]
class Leaner(Lean):
    @staticmethod
    def backward(ctx, g_plus, g_minus):
        if g_plus is None:
            return g_minus, -g_minus
        if g_minus is None:
            return g_plus, g_plus
        return g_plus + g_minus, g_plus - g_minus


plus, minus = Leaner.apply(a, b)
mg.autograd.grad(plus * 3, [a, b])

# %% [markdown] tags=["explain", "slide"]
# So with a million numbers in `minus`, the zeros cost 4 MB (a float32 takes 4 bytes),
# an addition and a subtraction. `None` saves all three, for four more lines. In 07.3
# you measure it.


# %% [markdown]
# ## The largest number and its position
#
# `x.max(0)` returns two tensors: the largest number of a vector, and its position, which
# is an integer. This Function returns both, and saves the position for backward.


# %%
class Largest(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        value, place = x.max(0)
        ctx.save_for_backward(place)
        ctx.count = len(x)
        return value, place

    @staticmethod
    def backward(ctx, g_value, g_place):
        arrived.append((g_value, g_place))
        (place,) = ctx.saved_tensors
        return g_value * (mg.arange(ctx.count) == place)


# %% tags=["slide"]
def largest():
    return Largest.apply(mg.tensor([3.0, 7.0, 5.0], requires_grad=True))


# %% tags=["predict", "hide-input", "step", "slide", "Q37"]
def node_of_place(ran):
    if ran.error:
        return "apply refuses it as an output"
    place = ran.value[1]
    return "None" if place.grad_fn is None else "the node of Largest, as for value"


course.predict(
    "07.place",
    "x requires grad, and place is a tensor of integers. What's place.grad_fn?",
    ["the node of Largest, as for value", "None", "apply refuses it as an output"],
    then=largest,
    so=node_of_place,
    why="An integer can't change by a little, so it has no derivative and gets no node.",
    at="Output 1 can't have a gradient",
)

# %% [markdown] tags=["explain"]
# **None.** If `x` changes a little, the position stays, until it jumps: it has no useful
# derivative. The engine knows that of integers, and of True and False. `backward` still
# has a parameter for them, and gets zeros there:

# %% tags=["explain", "slide", "Q37"]
x = mg.tensor([3.0, 7.0, 5.0], requires_grad=True)
value, place = Largest.apply(x)
(value * 2).backward()
place.requires_grad, place.grad_fn, arrived[-1]

# %% [markdown]
# **Try.** With `ctx.mark_non_differentiable(...)` you say of any output that it has no
# gradient. What if you mark the wrong one? Here it's the *value*, which does have one.
# What happens in the last line? Then mark the position instead, and run it again.


# %% tags=["try", "raises-exception", "Q78"]
class MarksTheValue(Largest):
    @staticmethod
    def forward(ctx, x):
        value, place = Largest.forward(ctx, x)
        ctx.mark_non_differentiable(value)
        return value, place


mg.autograd.grad(MarksTheValue.apply(x)[0], x)

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# An error: the marked value has no node, so backward can't start there. (The advice
# below the error is for the usual cause; here the mark is wrong.) With the position
# marked you get [0, 1, 0].
#
# </details>

# %% [markdown] tags=["slide"]
# ## A mask as an output
#
# `Gate` lets positive numbers pass. It also returns its mask, 1 where a number passed,
# so that you can count them. The mask is made of floats, so that you can multiply by
# it. Its backward follows `PlusMinus`: both outputs are made from `x`, so it adds what
# arrives for both, and lets that through where `x` passed.


# %% tags=["slide"]
class Gate(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = (x > 0).float()
        ctx.save_for_backward(mask)
        return x * mask, mask

    @staticmethod
    def backward(ctx, g_passed, g_mask):
        arrived.append((g_passed, g_mask))
        (mask,) = ctx.saved_tensors
        return (g_passed + g_mask) * mask


# %% [markdown] tags=["slide"]
# The loss uses both outputs: it's the sum of what passed, plus the sum of the mask, which
# is the count of the numbers that passed.


# %% tags=["slide"]
def slopes(gate):
    x = mg.tensor([2.0, -1.0], requires_grad=True)
    passed, mask = gate.apply(x)
    (passed.sum() + mask.sum()).backward()
    return mask.requires_grad, x.grad


# %% tags=["predict", "hide-input", "slide", "Q37"]
def slopes_of_gate():
    return slopes(Gate)


course.predict(
    "07.gate",
    "x is [2, -1]. What are mask.requires_grad and x.grad?",
    ["False and [1, 0]", "True and [1, 0]", "True and [2, 0]", "an error"],
    then=slopes_of_gate,
    so=lambda ran: (
        "an error"
        if ran.error
        else f"{ran.value[0]} and {[round(slope) for slope in ran.value[1].tolist()]}"
    ),
    why="The engine can't know that these floats are only ever 0 or 1, so the ones from "
    "the count arrive too, and this backward adds them.",
    at="The box opens",
)

# %% [markdown] tags=["explain", "slide"]
# **True and [2, 0]**, without an error, and [1, 0] would be right: if 2 grows a little,
# what passed grows as much, and the count stays the same. `PlusMinus` was right to add:
# there, both outputs change with `a`. What's more, the mask has an edge back to the
# node: `mask.numpy()` is refused, and a list of masks keeps every graph in memory.
#
# | output | not marked | marked |
# |---|---|---|
# | integers, True and False | no gradient | no gradient |
# | floats that should have a gradient | right | **its part is missing** |
# | floats that shouldn't, such as a mask | right only if backward ignores it | no gradient |

# %% [markdown] tags=["slide"]
# Here's the same gate with one line more, which marks the mask. Compare
# `mask.requires_grad` and `x.grad`, then see what arrived for the two outputs:


# %% tags=["slide", "Q37"]
class MarkedGate(Gate):
    @staticmethod
    def forward(ctx, x):
        passed, mask = Gate.forward(ctx, x)
        ctx.mark_non_differentiable(mask)
        return passed, mask


slopes(MarkedGate), arrived[-1]

# %% tags=["because"]
course.because(
    "07.because",
    "Which test would show you that a backward uses g_mask? One sentence, for yourself; "
    "it isn't graded.",
)

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# Take `mask.sum()` alone as the loss: `x.grad` must be all zeros. `Gate` gives [1, 0].
# (With `MarkedGate` that loss has no path to `x`, so backward is refused.)
#
# </details>

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say what arrives for an unused output, and which outputs have a gradient.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>A Function returns two tensors. How many nodes, and what does backward get?</summary>
#
# One node, and one gradient for each output, in the same order. `output_nr` tells them
# apart.
#
# </details>
#
# <details><summary>The second output isn't used. What does backward get for it?</summary>
#
# Zeros of its shape, which the engine makes; or None, after
# `ctx.set_materialize_grads(False)` in forward.
#
# </details>
#
# <details><summary>Which outputs do you have to mark as non-differentiable?</summary>
#
# Floats that shouldn't have a gradient, such as a mask of 0 and 1. Integers and bools
# have none anyway.
#
# </details>

# %% [markdown]
# In PyTorch this is the same: the same zeros, the same `None`, the same flags.
#
# ## Now you
#
# [Six exercises](../exercises/07_several_outputs/07_exercises.ipynb)
# (07.3 and 07.5 are extra); in 07.6 a mean has a wrong gradient. Then
# [lesson 08](08_changing_things_in_place.ipynb). Your progress, and what's
# next on your path:

# %%
course.progress("07")
