# %% [markdown] tags=["slide"]
# # Several outputs, and outputs without gradients
#
# You will
# * see which gradients reach `backward` when `forward` returns two tensors,
# * choose what arrives for an output that isn't used, and measure the difference,
# * say which outputs have a gradient, and give one to an output on purpose.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("07")

# %% [markdown] tags=["slide"]
# ## Two outputs
#
# `forward` may return several tensors. This one gives the sum and the difference of two
# numbers. `backward` gets one gradient for each *output*, in their order, and returns
# one for each *argument*, as ever. `arrived` is a list, to look at later.


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
# `a` reaches the end by both outputs, so its gradient is the sum of what comes back by
# both. `b` makes the difference smaller: hence the minus.
#
# **Predict.** One call, two results. Is it one node or two? The last line asks both
# results, and each for its `output_nr`.

# %% tags=["predict"]
a, b = mg.tensor(5.0, requires_grad=True), mg.tensor(2.0, requires_grad=True)
plus, minus = PlusMinus.apply(a, b)
plus.grad_fn is minus.grad_fn, plus.output_nr, minus.output_nr

# %% [markdown] tags=["explain"]
# One call, one ctx, one node, with two outputs. `output_nr` is the number of the output
# that a tensor is: 0 for `plus`, 1 for `minus`. By it the engine knows for which
# parameter of `backward` a gradient is.

# %% [markdown]
# ## An output that nobody used
#
# Results often go unused: a layer returns its output and some statistics, and the loss
# is made of the output alone. Here `minus` isn't used:


# %% tags=["slide"]
def without_minus():
    a, b = mg.tensor(5.0, requires_grad=True), mg.tensor(2.0, requires_grad=True)
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
    "backward(ctx, g_plus, g_minus) runs, and nobody used minus. What is g_minus?",
    ["a tensor of zeros", "None", "there is an error", "the same as g_plus"],
    then=without_minus,
    so=g_minus,
    why="The engine makes zeros in the output's shape: however `minus` changes, the "
    "loss doesn't.",
    at="No gradient arrived for output 1",
)

# %% [markdown] tags=["explain", "slide"]
# *One gradient waits for each of its 2 outputs: 3 and None*; and then, *backward is
# given zeros of shape () there.* Nothing sent this 0; the engine made it. And it is
# right: if `minus` grows, the loss does not. So the rule above is right whichever
# outputs are used.

# %% [markdown]
# **Try.** This time `minus` is used and `plus` is not. Say which pair arrives, and what
# the gradients are, before you run. Then use both: `plus * 3 + minus * 5`.

# %% tags=["try"]
a.grad = b.grad = None
plus, minus = PlusMinus.apply(a, b)
(minus * 5).backward()
arrived[-1], a.grad, b.grad

# %% [markdown] tags=["slide"]
# ## What does an unused output cost?
#
# Suppose the output that isn't used has a million numbers. What arrives for it then
# costs time and memory. `ctx.set_materialize_grads(False)` asks the engine to spare
# both. (To *materialize* is to make real what was only meant.) `TooLean` adds that line
# to the forward of `PlusMinus`, and has the same backward.
#
# **Predict.** `minus` is unused again. What happens in `g_plus + g_minus`?


# %% tags=["predict", "raises-exception", "slide", "Q28"]
class TooLean(PlusMinus):
    @staticmethod
    def forward(ctx, a, b):
        ctx.set_materialize_grads(False)
        return a + b, a - b


plus, minus = TooLean.apply(a, b)
(plus * 3).backward()

# %% [markdown] tags=["explain", "slide"]
# `None` arrived, and nothing can be added to `None`. Whoever asks for it has to expect
# it in every place, for any output may be the unused one. (A `NoneType` in an error out
# of `backward` means this more often than not.)


# %%
class Lean(mg.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.set_materialize_grads(False)
        return a + b, a - b

    @staticmethod
    def backward(ctx, g_plus, g_minus):
        if g_minus is None:
            return g_plus, g_plus
        if g_plus is None:
            return g_minus, -g_minus
        return g_plus + g_minus, g_plus - g_minus


# %% [markdown]
# **Predict.** Now `a` and `b` have 100,000 float64 numbers each, 800,000 bytes, and
# `minus` is not used. How much less is alive at most with `Lean`: nothing, 800,000
# bytes, or twice that? First with zeros, then with `None`.

# %% tags=["predict"]
a = mg.ones(100_000, dtype=mg.float64, requires_grad=True)
b = mg.ones(100_000, dtype=mg.float64, requires_grad=True)


def only_plus(function):
    arrived.clear()
    a.grad = b.grad = None
    plus, _ = function.apply(a, b)
    plus.sum().backward()


course.peak_bytes(only_plus, PlusMinus)

# %% tags=["step"]
course.peak_bytes(only_plus, Lean)

# %% [markdown] tags=["explain"]
# About 800,000 bytes less: the zeros for `minus`, which nobody made. For single numbers
# that is not worth a line; for the outputs of a large layer it is.

# %% [markdown]
# ## An output without a slope
#
# `x.max(0)` gives the largest number of a vector, and the place where it stands. If `x`
# grows a little, the number grows with it. The place stays as it is, until it jumps: it
# has no slope that anybody could follow.


# %%
class Largest(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        value, place = x.max(0)
        ctx.save_for_backward(place)
        ctx.shape = x.shape
        return value, place

    @staticmethod
    def backward(ctx, g_value, g_place):
        arrived.append((g_value, g_place))
        (place,) = ctx.saved_tensors
        gradient = mg.zeros(ctx.shape)
        gradient[place] = g_value
        return gradient


# %% tags=["slide"]
def largest():
    x = mg.tensor([3.0, 7.0, 5.0], requires_grad=True)
    value, place = Largest.apply(x)
    return value, place


# %% tags=["predict", "hide-input", "step", "slide", "Q37"]
def node_of_place(ran):
    if ran.error:
        return "apply refuses it as an output"
    place = ran.value[1]
    return "None" if place.grad_fn is None else "the node of Largest, as for value"


course.predict(
    "07.place",
    "x requires grad, and place is a tensor of integers. What is place.grad_fn?",
    ["the node of Largest, as for value", "None", "apply refuses it as an output"],
    then=largest,
    so=node_of_place,
    why="Integers have no slope, so no wire leads to that output.",
    at="Output 1 cannot have a gradient",
)

# %% [markdown] tags=["explain"]
# Read the sentence of *wrap outputs*, the fifth phase of `apply`: *Output 1 cannot have
# a gradient: no wire will lead there.* Then find the node in the graph: to which of its
# outputs does a wire lead, and what stands at the other?

# %% tags=["step", "slide"]
x = mg.tensor([3.0, 7.0, 5.0], requires_grad=True)
value, place = Largest.apply(x)
double = value * 2

# %% [markdown]
# **Predict.** Now `double.backward()`. The backward of `Largest` has two parameters for
# gradients, and one wire leads to its node. Which pair arrives?

# %% tags=["predict", "Q37"]
double.backward()
place.requires_grad, place.grad_fn, arrived[-1]

# %% [markdown] tags=["explain"]
# With integers, and with True and False, the engine knows by itself that there is no
# gradient. `backward` keeps a parameter for it,
# and gets zeros there. `ctx.mark_non_differentiable(place)` says the same to whoever
# reads the class. What if the mark is on the wrong output?

# %% [markdown]
# **Try.** Here the *value* is marked, which does have a slope. Guess what becomes of
# the last line. Then mark the place and not the value, and run again.


# %% tags=["try", "raises-exception", "Q78"]
class MarksTheValue(Largest):
    @staticmethod
    def forward(ctx, x):
        value, place = Largest.forward(ctx, x)
        ctx.mark_non_differentiable(value)
        return value, place


value, place = MarksTheValue.apply(x)
mg.autograd.grad(value, x)

# %% [markdown] tags=["explain"]
# With its mark the value has lost its wire, and backward has nowhere to begin. (The
# advice below the error is for the usual cause; here `x` requires grad, and the mark is
# what is wrong.) So a mark too many is loud. A mark too few is not:

# %% [markdown] tags=["slide"]
# ## A mask as an output
#
# `Gate` lets positive numbers pass. It returns its mask as well, 1 where a number
# passed, because somebody wants to count. The mask is made of floats, so that one can
# multiply by it. And backward adds what comes by both outputs, as in `PlusMinus`.


# %% tags=["slide"]
class Gate(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = (x > 0).float()
        ctx.save_for_backward(mask)
        return x * mask, mask

    @staticmethod
    def backward(ctx, g_passed, g_mask):
        (mask,) = ctx.saved_tensors
        return g_passed * mask + g_mask


# %% [markdown] tags=["slide"]
# **Predict.** The loss is the sum of what passed, plus the count. -1 does not pass, and
# neither would -1.01 or -0.99. Which gradient *should* `x` have, and which does it get?

# %% tags=["predict", "slide", "Q37"]
x = mg.tensor([2.0, -1.0], requires_grad=True)
passed, mask = Gate.apply(x)
(passed.sum() + mask.sum()).backward()
x.grad

# %% [markdown] tags=["explain", "slide"]
# **2 and 1 instead of 1 and 0.** A float can carry a gradient, and the engine cannot
# know that these will only ever be 0 or 1. So there is a wire from the count back to
# the node, 1 and 1 came along it, and backward added them. Not a word from anybody. One
# line cuts the wire:


# %% tags=["slide", "Q37"]
class MarkedGate(Gate):
    @staticmethod
    def forward(ctx, x):
        passed, mask = Gate.forward(ctx, x)
        ctx.mark_non_differentiable(mask)
        return passed, mask


x.grad = None
passed, mask = MarkedGate.apply(x)
(passed.sum() + mask.sum()).backward()
x.grad, mask.requires_grad

# %% [markdown]
# **Predict.** The same loss, and thirty steps downhill, first with `Gate`, then with
# `MarkedGate`. What becomes of the second number, which never passes?


# %% tags=["predict"]
def way_of_the_second(gate):
    x, way = mg.tensor([2.0, -1.0], requires_grad=True), []
    for _ in range(30):
        way.append(x[1].item())
        passed, mask = gate.apply(x)
        (gradient,) = mg.autograd.grad(passed.sum() + mask.sum(), x)
        x = (x - 0.05 * gradient).detach().requires_grad_()
    return way


ways = {"unmarked": way_of_the_second(Gate), "marked": way_of_the_second(MarkedGate)}

# %% tags=["explain"]
mg.plot_lines(
    range(30),
    ways,
    x="step",
    y="second number",
    says="Unmarked, the number sinks from -1 on and on; marked, it stays at -1.",
)

# %% [markdown] tags=["explain"]
# The true slope of a mask is 0. Unmarked, this one was treated as if it were 1: every
# number was pushed down, to make the count smaller, even one that was never counted.
# With the mark, `g_mask` is zeros whatever the loss does with the mask.

# %% tags=["because"]
course.because(
    "07.because",
    "No error, no warning. By what could you have noticed the mask that learned? One "
    "sentence; it is for you and nobody grades it.",
)

# %% [markdown]
# ## A gradient on purpose
#
# A switch is 0 or 1, as the mask was. With its true slope, 0, no switch ever learns.
# Sometimes it should. A *straight-through* gradient pretends that forward changed
# nothing: what arrives is handed straight through.


# %%
class Switch(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


# %% [markdown]
# **Predict.** The loss wants both switches on, and each step goes 0.1 times the
# gradient downhill. The slope of `(s - 1) ** 2` is -2 where s is 0, and 0 where s is 1.
# What is `x` after five steps?

# %% tags=["predict"]
x = mg.tensor([-0.3, 0.4], requires_grad=True)
for _ in range(5):
    loss = ((Switch.apply(x) - 1) ** 2).sum()
    (gradient,) = mg.autograd.grad(loss, x)
    x = (x - 0.1 * gradient).detach().requires_grad_()
x

# %% [markdown] tags=["explain"]
# The first number was pulled up by 0.2 a step until its switch was on. Then the loss
# was 0, and nothing pulled any more. The second one never moved. This is how networks
# learn whose numbers are rounded to a few steps.
#
# **Predict.** `gradcheck` compares a gradient with the slope that small steps show
# (lesson 13). Will it accept `Switch`?

# %% tags=["predict", "raises-exception"]
x = mg.tensor([-0.3, 0.4], dtype=mg.float64, requires_grad=True)
mg.autograd.gradcheck(Switch.apply, x)

# %% [markdown] tags=["explain"]
# *0 measured, and 1 from backward.* That is no bug in `Switch`, and none in
# `gradcheck`. In 07.5 you say why, and find out what can be tested instead.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say what arrives for an output that nobody used, and which outputs have a
# wire at all. Answer each card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>Nobody used the second output. What does backward get for
# it?</summary>
#
# Zeros of its shape, which the engine makes; or None, after
# `ctx.set_materialize_grads(False)` in forward. Then every place may be None.
#
# </details>
#
# <details><summary>Which outputs have to be marked non-differentiable?</summary>
#
# Floats without a slope, such as a mask of 0 and 1. Integers and bools have no wire
# anyway; the mark tells the reader.
#
# </details>
#
# <details><summary>What is a straight-through gradient, and what does gradcheck say of
# it?</summary>
#
# backward hands on what arrives, though the slope of forward is 0. gradcheck refuses
# it, as it should: the gradient is not the slope.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same: the same zeros, the same `None`, and the same mask
# that learns without a word. Put `import torch as mg` in the first cell, leave out the
# lines that teach (`teaching`, `course`, the stepper and the plot), and every value
# above stays as it is.
#
# ## Now you
#
# [Six exercises](../exercises/07_several_outputs/07_several_outputs.ipynb) wait for
# you; in 07.6 a mean is wrong because a mask learns. They link back to this lesson.
# Where you stand:

# %%
course.progress()
