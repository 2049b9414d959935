# %% [markdown]
# # Exercises: Differentiating the derivative
#
# You will
# * say which backwards can be differentiated again,
# * repair one that can't, and mark one that can't be repaired,
# * use second derivatives: a Hessian times a vector, and a training step.
#
# The lesson is [here](../../notebooks/10_differentiating_the_derivative.ipynb).

# %%
import numpy as np

import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 10.1 Which can be differentiated?

# %% tags=["solution"]
check("10.1", ["48", "another number", "another number", "an error", "48"])

# %% [markdown]
# ## 10.2 Cube twice


# %% tags=["exercise"]
class Cube(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: save what backward needs, return the cube
        ctx.save_for_backward(x)
        return x**3
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return the gradient for x
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2
        # endregion


# %% [markdown]
# At 2 the slope is 12. The second derivative, 6x, is 12 as well.

# %% tags=["raises-exception"]
x = mg.tensor(2.0, requires_grad=True)
(slope,) = mg.autograd.grad(Cube.apply(x), x, create_graph=True)
slope.item(), mg.autograd.grad(slope, x)[0].item()

# %% [markdown]
# ## 10.3 1.65 instead of 4.12

# %% tags=["exercise"]
# shipped Steep


# %% tags=["solution"]
class Steep(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.exp()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (1 + x) * x.exp()


# %% [markdown]
# At 0.5 the second derivative, (2 + x) * exp(x), is 4.1218. Run this cell before and
# after your repair.

# %% tags=["raises-exception"]
x = mg.tensor(0.5, requires_grad=True)
(slope,) = mg.autograd.grad(Steep.apply(x), x, create_graph=True)
mg.autograd.grad(slope, x)

# %% [markdown]
# ## 10.4 Say no politely

# %% tags=["exercise"]
# shipped Arctan


# %% tags=["solution"]
class Arctan(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.arctan(x.numpy()))

    @staticmethod
    @mg.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        slope = 1 / (1 + x.numpy() ** 2)
        return mg.tensor(grad_output.numpy() * slope)


# %% [markdown]
# Run this cell before and after. The second derivative of x * arctan(x) at 0 is 2. At
# first you'll see a 1, without a word; then the refusal should come. (Why `backward()`
# and not `grad`? The lesson says.)

# %% tags=["raises-exception"]
x = mg.tensor([0.0], requires_grad=True)
y = x * Arctan.apply(x)
(slope,) = mg.autograd.grad(y, x, create_graph=True)
slope.backward()
x.grad

# %% [markdown]
# ## 10.5 Hessian times vector


# %% tags=["exercise"]
def hvp(f, x, v):
    # region solution: the slopes, then what v makes of their slopes
    (slopes,) = mg.autograd.grad(f(x), x, create_graph=True)
    (result,) = mg.autograd.grad((slopes * v).sum(), x)
    return result
    # endregion


# %% [markdown]
# For the sum of x³, H has 6x on its diagonal and zeros elsewhere. So here H times v is
# 6, -12, 0.

# %% tags=["raises-exception"]
x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
hvp(lambda x: (x**3).sum(), x, mg.tensor([1.0, -1.0, 0.0]))

# %% [markdown]
# ## 10.6 Gradient penalty


# %% tags=["exercise"]
def train_step(critic, x, rate):
    # region solution: the slopes, the loss, and one step
    x = x.detach().requires_grad_()
    scores = critic(x)
    (slopes,) = mg.autograd.grad(scores.sum(), x, create_graph=True)
    lengths = (slopes**2).sum(1).sqrt()
    loss = scores.mean() + ((lengths - 1) ** 2).mean()
    for parameter in critic.parameters():
        parameter.grad = None
    loss.backward()
    with mg.no_grad():
        for parameter in critic.parameters():
            parameter -= rate * parameter.grad
    # endregion


# %% [markdown]
# A critic for a start. The bias of the last layer moves by -0.1 whatever happens,
# because it's in every score and in no slope.

# %% tags=["raises-exception"]
critic = mg.nn.Sequential(mg.nn.Linear(3, 4), mg.nn.Tanh(), mg.nn.Linear(4, 1))
before = critic[2].bias.item()
train_step(critic, mg.ones(5, 3), 0.1)
round(critic[2].bias.item() - before, 4)

# %% [markdown]
# ## For the curious: several calls, and which backward runs first
#
# Each call of a Function has its own node. `Named` writes down whose backward runs, for
# three calls, one inside the other. **Predict** the names in the first pass, and those
# that the second pass adds.


# %% tags=["predict", "Q90"]
class Named(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, name):
        ctx.save_for_backward(x)
        ctx.name = name
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        ran.append(ctx.name)
        return grad_output * 2 * x, None


ran = []
x = mg.tensor(1.5, requires_grad=True)
y = Named.apply(Named.apply(Named.apply(x, "first"), "second"), "third")
(slope,) = mg.autograd.grad(y, x, create_graph=True)
first_pass = list(ran)
mg.autograd.grad(slope, x)
first_pass, ran[3:]

# %% [markdown]
# Third, second, first: in a chain, each node needs the gradient from the one before. In
# the second pass, graph 2 leads into the first graph wherever a call saved what another
# returned. Third saved second's result, and second saved first's, so these two run
# again. Nothing saved third's result, so no edge leads to its node.

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/10_differentiating_the_derivative.ipynb), to its
# recall cards: open each one only after you have answered it.
