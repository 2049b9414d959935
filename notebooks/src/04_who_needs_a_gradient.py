# ruff: noqa: E501  (a link)

# %% [markdown] tags=["slide"]
# # Who needs a gradient?
#
# You will
# * return one value for each argument, and know what stands for *none*,
# * see before the work which gradients anybody will read, and skip the others,
# * find out what a `None` too many does.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("04")

# %% [markdown] tags=["slide"]
# ## One value for each argument
#
# `apply` was given some arguments; `backward` gives back one value for each of them, in
# their order. `k` is a plain number, so this rule seems complete. **Predict** what the
# engine says of it.


# %% tags=["predict", "raises-exception", "slide", "Q04"]
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.k


Scale.apply(mg.tensor(2.0, requires_grad=True), 3.0).backward()

# %% [markdown] tags=["explain", "slide"]
# *Expected 2, got 1.* The engine does not guess which argument a gradient is for: it
# counts places. What is no tensor has a place too, and `None` stands there. (To save
# you the whole class, this line puts another backward into it.)

# %% tags=["slide", "Q04"]
Scale.backward = staticmethod(lambda ctx, grad_output: (grad_output * ctx.k, None))
x = mg.tensor(2.0, requires_grad=True)
Scale.apply(x, 3.0).backward()
x.grad

# %% [markdown]
# **Try.** Give back a third value behind the `None`: first another `None`, as below,
# then the gradient `g` itself. Which of the two does the engine accept? (`x.grad` was 3
# already; a leaf adds.)

# %% tags=["try", "raises-exception"]
Scale.backward = staticmethod(lambda ctx, g: (g * ctx.k, None, None))
Scale.apply(x, 3.0).backward()
x.grad

# %% [markdown] tags=["slide"]
# ## A question before the work
#
# A product has two gradients, and often only one of them is read: data needs none, a
# frozen weight needs none. `ctx.needs_input_grad` says so, with one flag for each
# argument. This Function keeps a list of what it sees.

# %% tags=["slide"]
seen = []


class Product(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        seen.append(ctx.needs_input_grad)
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        return grad_output @ w.T, x.T @ grad_output


# %% tags=["slide"]
def flags_in_no_grad():
    data = mg.ones((2, 3), requires_grad=True)
    weight = mg.ones((3, 4), requires_grad=True)
    with mg.no_grad():
        Product.apply(data, weight)
    return seen[-1]


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "04.no_grad",
    "Both matrices require grad, and Product.apply runs in a no_grad block. Which flags?",
    ["(True, True)", "(True, False)", "(False, False)"],
    then=flags_in_no_grad,
    so=lambda ran: str(ran.value),
    why="The flags repeat what each argument requires; `no_grad` decides something else.",
    at="apply creates ctx",
)

# %% [markdown] tags=["explain", "slide"]
# The flags repeat what each argument requires, and they are set in the phase *create
# ctx*, before forward runs. Whether the call is recorded at all is another question,
# which `no_grad` answers. So a True is no promise that backward will be called.

# %% tags=["step", "slide"]
data, weight = mg.ones((2, 3)), mg.ones((3, 4), requires_grad=True)
seen.clear()
Product.apply(data, weight)
seen

# %% [markdown]
# **Try.** What is the `grad_fn` of the result of such a call, and does it require grad?
# Guess, run, and see what taking the `with` away changes.

# %% tags=["try", "Q70"]
with mg.no_grad():
    unrecorded = Product.apply(data.clone().requires_grad_(), weight)
unrecorded.requires_grad, unrecorded.grad_fn

# %% [markdown] tags=["slide"]
# **Look.** Data goes in without requiring a gradient. The node has an *edge* for each
# argument, the way on for its gradient: see that row in the ctx pane. Which one leads
# nowhere, so that the graph does not draw it? And what becomes of the gradient that
# backward computes for it? Step to the line that returns both.

# %% tags=["step", "slide", "Q44"]
# %%step
data, weight = mg.ones((2, 3)), mg.ones((3, 4), requires_grad=True)
loss = Product.apply(data, weight).sum()
loss.backward()

# %% [markdown] tags=["explain", "slide"]
# The gradient for `data` was computed and dropped: a matrix product for nothing. In a
# model whose first layer sees data, that is one of the layer's three products (one
# forward, two backward). The remedy is a question in front of each gradient:


# %% tags=["slide"]
class Frugal(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        for_x = grad_output @ w.T if ctx.needs_input_grad[0] else None
        for_w = x.T @ grad_output if ctx.needs_input_grad[1] else None
        return for_x, for_w


# %% [markdown] tags=["slide"]
# **Predict.** `weight` is frozen now (`detach` gives the same numbers without
# `requires_grad`), and the data needs no gradient either. What is the `grad_fn` of the
# result, and what would backward do?

# %% tags=["predict", "slide"]
frozen = weight.detach()
print(Frugal.apply(data, frozen).grad_fn)
Frugal.apply(data, frozen).requires_grad

# %% [markdown] tags=["explain", "slide"]
# Nothing needs a gradient, so nothing was recorded: there is no node, and no backward
# will ever run. Freezing all of a part saves its whole way back.

# %% tags=["because"]
course.because(
    "04.because",
    "A frozen layer in the middle of a model still passes a gradient on. Why must it? One "
    "sentence; it is for you and nobody grades it.",
)

# %% [markdown] tags=["slide"]
# ## None for an input that needs a gradient
#
# `None` is right for what needs no gradient. Here it comes back for an input that needs
# one. **Predict**: an error, zeros, or something else?


# %% tags=["predict", "slide", "Q50"]
class Forgets(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


a, b = mg.tensor(1.0, requires_grad=True), mg.tensor(1.0, requires_grad=True)
Forgets.apply(a, b).backward()
a.grad, b.grad

# %% [markdown] tags=["explain", "slide"]
# Neither. `b.grad` is `None`, as if `b` had not taken part, and training goes on with a
# weight that never moves. In PyTorch nobody says a word; here teaching mode does. When
# a `.grad` is None, ask three things: does it require grad, was it used, and does some
# backward on the way return None for it?

# %% [markdown]
# **Try.** The second question: `c` requires grad and is not used. What does
# `autograd.grad` say of it, and what with `allow_unused=True`?

# %% tags=["try", "raises-exception"]
c = mg.tensor(1.0, requires_grad=True)
mg.autograd.grad(a * 2, [a, c])

# %% [markdown]
# **Try.** The same two tensors, handed over in a list. `apply` looks at its arguments
# one by one; does it look into a list? Guess the two values, then give `Sum` two
# arguments instead.


# %% tags=["try", "Q47"]
class Sum(mg.autograd.Function):
    @staticmethod
    def forward(ctx, tensors):
        return tensors[0] + tensors[1]


total = Sum.apply([a, c])
total.requires_grad, total.grad_fn

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say what backward has to return, and what it may leave out. Answer each
# card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>How many values does backward return, and in which order?</summary>
#
# One for each argument of forward after ctx, in their order; None for what is no tensor
# or needs no gradient.
#
# </details>
#
# <details><summary>When is <code>needs_input_grad</code> set, and what does it say?</summary>
#
# Before forward runs: one flag for each argument, whether it requires grad. `no_grad`
# does not change it, nor does `autograd.grad(y, a)`.
#
# </details>
#
# <details><summary>Your weight's .grad is None. Which three questions?</summary>
#
# Does it require grad? Was it used? Does a backward on the way return None for it?
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same: the same count in the message, the same flags, and
# the same silent `None`. Put `import torch as mg` in the first cell, leave out the
# lines that teach (`teaching`, `course` and the stepper), and every value above stays
# as it is.
#
# ## Now you
#
# [Five exercises](../exercises/04_who_needs_a_gradient/04_who_needs_a_gradient.ipynb)
# wait for you; in 04.2 the check counts your matrix products. They link back to this
# lesson. Where you stand:

# %%
course.progress()
