# %% [markdown]
# # Exercises: Going forwards
#
# You will
# * count passes, in both directions,
# * write forward mode yourself: as a class of numbers, and as rules,
# * repair a jvp, measure which direction is cheaper, and combine the two.
#
# The lesson is [here](../../notebooks/11_going_forwards.ipynb).

# %%
import math
import time

import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 11.1 How many passes?

# %% tags=["solution"]
check("11.1", ["3", "1000", "1000", "1", "1", "1"])

# %% [markdown]
# ## 11.2 Dual numbers


# %% tags=["exercise"]
class Dual:
    def __init__(self, value, slope):
        self.value, self.slope = value, slope

    def __add__(self, other):
        # region solution: return a Dual: the sum, and the slope of the sum
        return Dual(self.value + other.value, self.slope + other.slope)
        # endregion

    def __mul__(self, other):
        # region solution: return a Dual: the product, and the slope of the product
        slope = self.slope * other.value + self.value * other.slope
        return Dual(self.value * other.value, slope)
        # endregion

    def exp(self):
        # region solution: return a Dual; math.exp gives the value
        value = math.exp(self.value)
        return Dual(value, self.slope * value)
        # endregion


# %% [markdown]
# x² has the slope 2x, so this shows 9 and 6. A slope of 1 at the start means: how does
# the result change with x itself?

# %% tags=["raises-exception"]
x = Dual(3.0, 1.0)
square = x * x
square.value, square.slope

# %% [markdown]
# ## 11.3 jvp for Mul, Exp, Sum


# %% tags=["exercise"]
class Mul(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        # region solution: return the tangent of x * y
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t
        # endregion


# %% tags=["exercise"]
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        ctx.save_for_forward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result

    @staticmethod
    def jvp(ctx, x_t):
        # region solution: return the tangent of exp(x)
        (result,) = ctx.saved_tensors
        return x_t * result
        # endregion


# %% tags=["exercise"]
class Sum(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.sum()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.expand(ctx.shape)

    @staticmethod
    def jvp(ctx, x_t):
        # region solution: return the tangent of the sum
        return x_t.sum()
        # endregion


# %% [markdown]
# This is the dot-product test of the lesson, for all three at once. The two numbers
# should agree.

# %% tags=["raises-exception"]
x, v = mg.tensor([[1.0, 2.0, 3.0], [0.5, 0.1, 0.7]])
g = mg.tensor(0.3)


def f(x):
    return Sum.apply(Mul.apply(x, Exp.apply(x)))


Jv, (JTg,) = mg.func.jvp(f, (x,), (v,))[1], mg.func.vjp(f, x)[1](g)
(g * Jv).item(), (JTg * v).sum().item()

# %% [markdown]
# ## 11.4 Nothing saved

# %% tags=["exercise"]
# shipped Sigmoid


# %% tags=["solution"]
class Sigmoid(mg.autograd.Function):
    @staticmethod
    def forward(x):
        return 1 / (1 + (-x).exp())

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (s,) = ctx.saved_tensors
        return grad_output * s * (1 - s)

    @staticmethod
    def jvp(ctx, x_t):
        (s,) = ctx.saved_tensors
        return x_t * s * (1 - s)


# %% [markdown]
# At 0 the value is 0.5 and the slope 0.25. Run this before and after your repair.

# %% tags=["raises-exception"]
mg.func.jvp(Sigmoid.apply, (mg.tensor(0.0),), (mg.tensor(1.0),))

# %% [markdown]
# ## 11.5 The cheaper direction

# %% tags=["exercise"]
choices = ["?", "?", "?"]


def seconds(run):
    # region solution: return how long one call of run takes, as a rule
    run()
    times = []
    for _ in range(10):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)
    # endregion


# %% tags=["solution"]
choices = ["forward", "reverse", "forward"]

# %% [markdown]
# Measure the second task: forward, a pass for each of 400 inputs; in reverse, one pass.


# %% tags=["raises-exception"]
def loss(x):
    return (x * x).sum()


def forward():
    return [mg.func.jvp(loss, (x,), (direction,)) for direction in mg.eye(400)]


x = mg.ones(400)
seconds(forward), seconds(lambda: mg.func.grad(loss)(x))

# %% [markdown]
# ## 11.6 Hessian-vector, the other way
#
# In lesson 10 you multiplied a Hessian with a vector by going back twice. Now go back
# once, and forward through that. For h below, the Hessian at (3, 5) is [[10, 6], [6,
# 0]], and v is (1, 2). (About 9 minutes.)


# %%
# shipped Square


# %% [markdown]
# Three ways, each a line: forward over reverse, reverse over reverse, and forward
# twice. Put `f` in the place of `h` to count how often `Square.backward` runs.


# %%
# shipped h


# shipped f


x, v = mg.tensor([3.0, 5.0]), mg.tensor([1.0, 2.0])
Square.calls = 0
way = mg.func.jvp(mg.func.grad(h), (x,), (v,))
# way = mg.func.grad(lambda x: (mg.func.grad(h)(x) * v).sum())(x)
# way = mg.func.jvp(lambda x: mg.func.jvp(h, (x,), (v,))[1], (x,), (v,))
way, Square.calls

# %% [markdown]
# In each of the three, say first what comes out: a vector, or a number?

# %% tags=["exercise"]
exercise("11.6")

# %% tags=["solution"]
check("11.6", ["22, 6", "34", "the gradient of h", "2", "3"])

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/11_going_forwards.ipynb), to its recall cards:
# open each one only after you have answered it.
