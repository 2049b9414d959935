# %% [markdown]
# # Exercises: Who needs a gradient?
#
# You will
# * say which flags five calls see,
# * write a layer that computes only what's needed, and repair three rules that the
#   engine refuses,
# * find out which nodes backward visits when one layer is frozen.
#
# The lesson is [here](../../notebooks/04_who_needs_a_gradient.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 04.1 True or False
#
# Four calls. Choose for each, then press *Commit*. (About 5 minutes.)

# %% tags=["solution"]
check("04.1", ["(True, False)", "(True, False)", "(True, False)", "(True, True)"])

# %% [markdown]
# ## 04.2 Linear, without needless work
#
# Write `Linear`: `x @ W.T + b`. Write the shapes on paper first. Then test a flag of
# `ctx.needs_input_grad` before you compute each gradient. `b` is added to every row, so
# its gradient is a sum over the rows. (About 18 minutes.)


# %% tags=["exercise"]
class Linear(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b):
        # region solution: keep what backward needs, return x @ W.T + b
        ctx.save_for_backward(x, W)
        return x @ W.T + b
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return the gradients for x, W and b, or None where not needed
        x, W = ctx.saved_tensors
        for_x = for_W = for_b = None
        if ctx.needs_input_grad[0]:
            for_x = grad_output @ W
        if ctx.needs_input_grad[1]:
            for_W = grad_output.T @ x
        if ctx.needs_input_grad[2]:
            for_b = grad_output.sum(0)
        return for_x, for_W, for_b
        # endregion


# %% [markdown]
# ## 04.3 The engine complains
#
# Three classes. Their forwards are right, but the engine refuses each backward. Repair
# them: each gradient in the shape of its input. (About 10 minutes.)


# %% tags=["exercise"]
# shipped Scale


# %% tags=["solution"]
# shipped Scale with * ctx.k, None for * ctx.k

# %% [markdown]
# This call raises an error. What did the engine expect, and what did it get?

# %% tags=["raises-exception"]
Scale.apply(mg.ones(3, requires_grad=True), 2.5).sum().backward()

# %% [markdown]
# The next one. Run its call: what did the engine expect, and what did it get?


# %% tags=["exercise"]
# shipped Shift


# %% tags=["solution"]
# shipped Shift with sum(0) for sum()

# %% [markdown]
# `by` is added to each row of `x`. What's the shape of `by`, and what's the shape of
# the gradient it gets?

# %% tags=["raises-exception"]
Shift.apply(mg.ones(2, 3), mg.ones(3, requires_grad=True)).sum().backward()

# %% [markdown]
# The next one. Run its call: what did the engine expect, and what did it get?


# %% tags=["exercise"]
# shipped Mix


# %% tags=["solution"]
# shipped Mix with None, grad_output * ctx.t for grad_output * ctx.t, None

# %% [markdown]
# And this one? Count the positions of its arguments.

# %% tags=["raises-exception"]
x, y = mg.ones(3, requires_grad=True), mg.ones(3, requires_grad=True)
Mix.apply(x, 0.25, y).sum().backward()

# %% [markdown]
# Once all three run, check them together. The check looks at the numbers, too.

# %% [markdown]
# ## 04.4 Scale by a number
#
# The same `Scale`, but now from memory: complete both methods. (Extra: about 6
# minutes.)


# %% tags=["exercise"]
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        # region solution: keep k where a number belongs
        ctx.k = k
        # endregion
        return x * k

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return one value for each argument
        return grad_output * ctx.k, None
        # endregion


# %% [markdown]
# ## 04.5 Frozen layer
#
# Freeze `w1` (delete its `requires_grad=True`), run the cell, and look which nodes
# backward visits. Then unfreeze `w1` and freeze `w2`. Then answer. (**AccumulateGrad**
# is the node of a tensor that you made: it adds what arrives to its `.grad`. Extra:
# about 10 minutes.)

# %% tags=["step"]
# %%step
x = mg.tensor([1.0, 2.0])
w1 = mg.tensor([0.5, -1.0], requires_grad=True)
w2 = mg.tensor([2.0, 3.0], requires_grad=True)
h = (x * w1).tanh()
y = (h * w2).sum()
y.backward()

# %% tags=["exercise"]
exercise("04.5")

# %% tags=["solution"]
check(
    "04.5",
    {"a": "3", "b": "None", "c": "5", "d": "only the one for h"},
)

# %% tags=["check"]
check("04.5")

# %% [markdown]
# Stuck, or surprised? Each hint says more than the one before it.

# %%
hint("04.5")

# %% [markdown]
# ## For the curious: what autograd.grad asks for
#
# `autograd.grad(y, x)` asks for one gradient only. **Predict.** Does `backward` see
# that in its flags, so that it can skip the gradient for `w`?


# %% tags=["predict", "Q76"]
class Product(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, grad_output):
        print("backward sees", ctx.needs_input_grad)
        x, w = ctx.saved_tensors
        return grad_output * w, grad_output * x


x, w = mg.tensor(2.0, requires_grad=True), mg.tensor(5.0, requires_grad=True)
y = Product.apply(x, w)
mg.autograd.grad(y, x)

# %% [markdown]
# It doesn't. The flags were set before forward ran, and they say what each argument
# requires, not what you ask for later. So the gradient for `w` is computed and thrown
# away. If that matters, pass `w.detach()`.

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/04_who_needs_a_gradient.ipynb): answer each
# recall card before you open it. Then
# [lesson 05](../../notebooks/05_how_backward_finds_its_way.ipynb): how does backward
# find its way?
