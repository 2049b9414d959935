# %% [markdown] tags=["slide"]
# # To PyTorch and back
#
# You will
# * run one source in both engines, and see what carries over and what doesn't,
# * carry a Function from one to the other, and read PyTorch's errors on the way,
# * review a Function of your own, with ctx on one printed page.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("17")

# %% [markdown] tags=["slide"]
# ## One program, two engines
#
# This program gets its engine as an argument and calls it `torch`. So it's one source
# for both: `scale(mg)` runs here, and `scale(torch)` would run in PyTorch.


# %% tags=["slide"]
def scale(torch):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.factor, None

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Scale.apply(x, 10)
    (y * y).sum().backward()
    return x.grad


scale(mg)

# %% [markdown] tags=["slide"]
# **Look.** Here are both in one player: minigrad first, then PyTorch. If PyTorch is
# installed, it runs now; if not, you see a recording. Step to the end, and read the
# line at the top last. What differs has a colour: does the ctx ever hold something else
# in one of them? Do the nodes run in another order?

# %% tags=["step", "slide"]
course.side_by_side(scale)

# %% [markdown] tags=["explain", "slide"]
# No to both: each of minigrad's 11 steps has a twin in PyTorch that says the same. At
# two more steps minigrad waits: there PyTorch notes that its apply and its engine are
# C++, where less can be seen. The versions of saved tensors and the names in `grad_fn`
# are the same, too.

# %% [markdown] tags=["slide"]
# ## What happens to NumPy in PyTorch?
#
# People **port** a Function (carry it from one engine to another) by changing the
# import. Often something else is in there: NumPy. Here the weights are an array, whose
# dtype is float64; x is float32.

# %% tags=["slide"]
import numpy as np


def weighted(torch):
    weights = np.array([2.0, 3.0])

    class Weighted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * weights

        @staticmethod
        def backward(ctx, grad_output):
            return weights * grad_output

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Weighted.apply(x).sum().backward()
    return x.grad


# %% tags=["predict", "hide-input", "step", "slide"]
def where_it_ended(ran):
    for event in ran.trace.data["events"]:
        for method in ("forward", "backward"):
            if event["k"] == "exception" and f"Weighted.{method}" in event["say"]:
                return f"an error in {method}"
    return "no error: x.grad is [2, 3], in float32"


course.predict(
    "17.numpy",
    "What happens in PyTorch, when weighted(torch) is called?",
    [
        "an error in forward",
        "an error in backward",
        "no error: x.grad is [2, 3], in float32",
        "no error: x.grad is [2, 3], in float64",
    ],
    then=course.in_torch(weighted),
    so=where_it_ended,
    why="With the array first, the product is NumPy's to compute. It leaves it to the "
    "tensor, which knows nothing of arrays; so neither computes it.",
    at="It stops here",
)

# %% [markdown] tags=["explain", "slide"]
# A TypeError. To Python the two products aren't the same. `x * weights` asks the tensor
# first, and PyTorch's tensor hands the product to NumPy: it runs (with NumPy 2, it
# prints a DeprecationWarning about `__array_wrap__`, meant for PyTorch's authors).
# `weights * grad_output` asks the array first. NumPy hands the product to the tensor,
# and the tensor refuses arrays. Nor is the product that runs harmless: it's float64,
# though x is float32, and `x.grad` wouldn't show it, being cast to float32.

# %% [markdown] tags=["slide"]
# Now the same program in minigrad. **Look.** Where does it stop, and what does the
# message tell you to write instead?

# %% tags=["raises-exception", "slide"]
weighted(mg)

# %% [markdown] tags=["slide"]
# In forward: minigrad refuses every product of array and tensor, and says how to repair
# it. It refuses calls such as `np.exp(x)`, too. In PyTorch these work inside a
# Function, as long as nothing is recorded there; they stop under `create_graph`, on a
# GPU, and in `vmap`, which runs a Function once for a whole batch (lesson 15). So port
# the formula, not NumPy: `torch.exp(x)`.

# %% tags=["because", "hide-input"]
course.because(
    "17.because",
    "A Function has NumPy inside, and ran in PyTorch for a year. Today it stops, but "
    "nobody changed it. Why? One sentence, for yourself; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## Which differences are left?
#
# **Look.** Both sides begin with the same seed. The first step at which they differ is
# marked. Is the difference autograd's? Do nodes, order and rules differ as well?


# %% tags=["slide"]
def seeded(torch):
    torch.manual_seed(0)
    x = torch.rand(2).requires_grad_()
    (x * x).sum().backward()


# %% tags=["step", "slide"]
course.side_by_side(seeded)

# %% [markdown] tags=["explain", "slide"]
# No: the numbers of x differ, since each engine draws in its own way. These are the
# differences that you'll meet:
#
# | | PyTorch 2.13 | minigrad |
# |---|---|---|
# | a seed | its own numbers | NumPy's |
# | a long float32 sum | its own order of adding | NumPy's: the last digit may differ |
# | NumPy in a formula | often accepted | refused, so it may stop earlier |
# | another error | RuntimeError, TypeError, ... | a subclass of it, with a `fix:` |
# | gradcheck | gives backward ones and zeros | and also random gradients |
# | devices | cpu, cuda, mps, ... | cpu |

# %% [markdown] tags=["slide"]
# ## What works here and stops there?
#
# A **device** is where a tensor's numbers are: `cpu`, or a GPU such as `cuda`. Tensors
# on two devices can't be multiplied (single numbers excepted), and matrix products
# refuse two dtypes. So a tensor that forward makes should get its dtype and device from
# x: `new_tensor` does that. Here's the dtype of the result for an x in float16, float32
# and float64.


# %% tags=["slide"]
class Portable(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x @ x.new_tensor([2.0, 3.0])

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * grad_output.new_tensor([2.0, 3.0])


x = mg.tensor([1.0, 2.0], requires_grad=True)
[Portable.apply(each).dtype for each in (x.half(), x, x.double())]

# %% [markdown]
# **Try.** Besides dtype and device, order in memory can stop a port. `view` copies
# nothing, so the numbers have to be **contiguous**: one after the other in memory, in
# the order of the shape. Turn the switch. What's printed, and which line stops? Then
# write `reshape` for the first `view`: what does it do that `view` refuses?


# %% tags=["try"]
class Double(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad_output):
        print(grad_output.stride(), grad_output.is_contiguous())
        return (grad_output.view(-1) * 2).view(2, 3)


def in_memory(transposed=False):
    y = Double.apply(mg.ones(2, 3, requires_grad=True))
    y = y.t() if transposed else y
    (y * 2).sum().backward()


mg.live(in_memory, transposed=False)

# %% [markdown] tags=["explain"]
# (3, 1) and True; then (1, 2) and False, and the line with `view` stops, as it does in
# PyTorch. `reshape` copies where it has to. What comes after your Function chooses the
# order in which grad_output arrives.

# %% [markdown] tags=["slide"]
# ## What does an error of PyTorch mean?
#
# A message says what the engine saw, and guesses at what you want. h is a state that
# goes from round to round. `train("nothing")` stops in the second round, here and in
# PyTorch: *Trying to backward through the graph a second time ... Specify
# retain_graph=True*. With `train("retain_graph")` you do what it says.


# %% tags=["slide"]
def train(repair):
    w = mg.tensor(0.5, requires_grad=True)
    h = mg.tensor(1.0)
    for _ in range(2):
        h = w.sin() * h
        h.backward(retain_graph=repair == "retain_graph")
        with mg.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        if repair == "detach":
            h = h.detach()
    return round(w.item(), 3)


# %% tags=["predict", "hide-input", "step", "slide"]
def with_retain_graph():
    return train("retain_graph")


def how_it_ended(ran):
    if ran.error is None:
        return "without an error"
    return f"with {'the same' if 'second time' in str(ran.error) else 'another'} error"


course.predict(
    "17.retain",
    'How does train("retain_graph") end?',
    ["without an error", "with the same error", "with another error"],
    then=with_retain_graph,
    so=how_it_ended,
    why="h leads into the graph of the first round, where sin has saved w. w has been "
    "changed in place since, so backward finds another version of it.",
    at="backward stops: the box kept w",
)

# %% [markdown] tags=["explain", "slide"]
# The graph of the second round contains the first one, through `h`. retain_graph keeps
# it alive, but its `sin` has saved `w`, and `w -= ...` has changed `w` in place since.

# %% [markdown] tags=["slide"]
# Run it yourself, without the player. **Look.** What does it end with, and what would
# you change in `train`, now that you know?

# %% tags=["raises-exception", "slide"]
train("retain_graph")

# %% [markdown] tags=["slide"]
# Ask where the graph comes from, not which words are in the message. It's `h` that
# carries its history from round to round, so the repair is `h.detach()`. In 17.3 you do
# that for eight messages; `course.answers` helps.

# %% tags=["slide"]
train("detach")

# %% [markdown] tags=["slide"]
# ## Is your own Function ready?
#
# Here's the course in ten questions about a Function:
#
# 1. Does forward return what you mean, also at 0 and for large inputs?
# 2. Does backward agree with measured slopes?
# 3. Does it return one gradient, or None, for each argument?
# 4. Does it keep only what it needs, tensors with save_for_backward?
# 5. Do calls, and backward passes, leave each other alone?
# 6. Does it write only into what it marks dirty?
# 7. Does it work with a frozen input or an unused output?
# 8. Is the second derivative right, or refused?
# 9. Does it keep dtype and memory order, and stay on a GPU?
# 10. Will forward mode and vmap work, or refuse?

# %% [markdown] tags=["slide"]
# `self_review` asks them. A run answers what a run can answer; the rest is for you to
# say. This Function is log(1 + exp(x)), written so that a large x doesn't overflow.
# **Predict.** To which of the ten is the answer *no*?


# %% tags=["predict", "slide"]
class Softplus(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.sigmoid())
        positive = mg.maximum(x, mg.zeros(x.shape))
        return positive + (-x.abs()).exp().log1p()

    @staticmethod
    def backward(ctx, grad_output):
        (slope,) = ctx.saved_tensors
        return grad_output * slope


course.self_review(Softplus, mg.tensor([0.5, -1.0]))

# %% [markdown] tags=["explain"]
# 8 and 9. In 8, the sigmoid that's saved was computed inside forward, so it has no
# history (lesson 10). Save x, and compute the sigmoid in backward. In 9,
# `mg.zeros(x.shape)` is on the cpu, wherever x is. It's also float32, so for an x in
# float16 the result is float32. `x.new_zeros(x.shape)` takes both from x. A *yes* means
# that no run found the opposite.

# %% [markdown] tags=["slide"]
# ## ctx on one page
#
# Here's everything that ctx has: when you may call it, what it does to backward, and
# the lesson that shows it. `course.ctx_map().save("ctx_map.pdf")` writes a page to
# print; `.svg` works, too.

# %% tags=["slide"]
course.ctx_map()

# %% [markdown] tags=["slide"]
# ## Where to go from here
#
# What you know carries over, under other names:
#
# * **Your rule in a compiled model:** `torch.library`, with `custom_op` and
#   `register_autograd`. It takes `setup_context` and `backward`, as you wrote them.
# * **What a compiler makes of backward:** AOTAutograd, in `torch.compile`. Forward and
#   backward become two graphs; what's saved is an output of the first.
# * **vmap, grad and jvp as functions:** `torch.func`, once called functorch. For all of
#   them a Function needs forward without ctx, and `setup_context` (lesson 09); for jvp
#   also `jvp` (11), and for vmap `vmap` or `generate_vmap_rule = True` (15).
# * **JAX:** `jax.custom_vjp`. Its forward returns the result and what ctx would keep;
#   its backward gets that, and the upstream gradient.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# Answer each card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>What carries over without a change?</summary>
#
# The rules of ctx and apply, the order of nodes, hooks, version checks, the names in
# grad_fn, and (NumPy aside) which of Python's errors is raised.
#
# </details>
#
# <details><summary>What can stop a port that ran on your machine?</summary>
#
# A tensor that forward makes with a dtype or device of its own, a `view` of a tensor
# that isn't contiguous, and NumPy inside.
#
# </details>
#
# <details><summary>An error suggests a repair. What do you ask first?</summary>
#
# Where the graph (or the tensor) that it complains about comes from. The suggestion
# removes the message, not always the cause.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same lesson. Put `import torch as mg` in the first cell,
# and leave out the lines that teach. Only what this lesson has shown to differ will
# differ.
#
# ## Now you
#
# [Five exercises](../exercises/17_to_pytorch_and_back/17_exercises.ipynb)
# wait for you. The last one is a Function from your own work. Where you stand:

# %%
course.progress("17")
