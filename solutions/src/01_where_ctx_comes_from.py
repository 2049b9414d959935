# %% [markdown]
# # Exercises: Where does ctx come from?
#
# You will
# * say which objects are the same and which are new, and put `apply` together,
# * repair a Function whose calls overwrite each other's state,
# * write a Function with two inputs, and step through your own code.
#
# The lesson is [here](../../notebooks/01_where_ctx_comes_from.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 01.1 Same or new?
#
# Five statements. Choose for each, then press *Commit*. (About 6 minutes.)

# %% tags=["solution"]
check("01.1", ["false", "true", "true", "false", "false"])

# %% [markdown]
# ## 01.2 Assemble apply
#
# Put the lines in order: drag them into your program. Without a mouse, *Add* (or Enter)
# moves the selected line there, *Remove* (or Enter) takes it out again, *Earlier* and
# *Later* (or Alt+↑ and Alt+↓) move it up and down. (About 10 minutes.)

# %% tags=["solution"]
check("01.2", ["f", "m", "b", "k", "c", "h", "a", "j", "l"])

# %% [markdown]
# ## 01.3 The method that stole ctx
#
# The class below runs, but two calls of it get mixed up. Repair it: each call should
# keep its own factor, and the code should say that the first argument is a ctx. (About
# 8 minutes.)


# %% tags=["exercise"]
# shipped Scaled


# %% tags=["solution"]
class Scaled(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None


# %% [markdown]
# Two calls, then backward through the first one, which was made with a factor of 2.
# What gradient do you get, before your repair and after it?

# %% tags=["Q58"]
x = mg.tensor(1.0, requires_grad=True)
first, second = Scaled.apply(x, 2.0), Scaled.apply(x, 3.0)
mg.autograd.grad(first, x)

# %% [markdown]
# ## 01.4 Mul, your first Function
#
# Write `Mul`, which multiplies two tensors of the same shape. `backward` gets the
# upstream gradient and returns two gradients, one for `x` and one for `y`. What are the
# two local derivatives of a product?
#
# `ctx.save_for_backward(a, b, ...)` keeps tensors; in `backward` you get them back as
# the tuple `ctx.saved_tensors`. Replace each `raise` line. (About 12 minutes.)


# %% tags=["exercise"]
class Mul(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        # region solution: keep what backward will need, then return x * y
        ctx.save_for_backward(x, y)
        return x * y
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: return the gradient for x and the gradient for y
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x
        # endregion


# %% [markdown]
# Run the cell above after every change, then check. The check picks its own inputs and
# upstream gradients, tells you what it saw, and names the mistake if it's a known one.

# %% tags=["check"]
check("01.4", Mul)

# %% [markdown]
# Stuck? Run the next cell for a hint. Each hint says more than the one before it;
# between two hints, try something and check it.

# %%
hint("01.4")

# %% [markdown]
# ## Watch your own class
#
# Here's your `Mul`, once forward and once backward, with an upstream gradient that's
# easy to recognise.
#
# **Predict** the two gradients first. Then step: where does `1.0, 0.5, -1.0` enter
# your code, and what is it multiplied by there?


# %% tags=["step"]
def there_and_back(x, y):
    product = Mul.apply(x, y)
    product.backward(mg.tensor([1.0, 0.5, -1.0]))
    return x.grad, y.grad


x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = mg.tensor([10.0, 20.0, 30.0], requires_grad=True)
mg.step(there_and_back, x, y)

# %% [markdown]
# ## 01.5 Two calls, one class
#
# Write the mistake, then the right way: `Leaky` keeps its factor on the class, `Clean`
# keeps it on ctx. Both multiply a tensor by a plain number. The check calls each of
# them twice and then runs backward through the first call. (Extra: about 10 minutes.)


# %% tags=["exercise"]
class Leaky(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        # region solution: keep factor on the class Leaky, then return the product
        Leaky.factor = factor
        return x * factor
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: use the factor that the class keeps
        return grad_output * Leaky.factor, None
        # endregion


class Clean(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        # region solution: keep factor on ctx, then return the product
        ctx.factor = factor
        return x * factor
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: use the factor that ctx keeps
        return grad_output * ctx.factor, None
        # endregion


# %% [markdown]
# ## For the curious: two calls that people ask about
#
# Old programs made an object of a Function and called it. What's refused is *calling an
# object*; the rest of the message is left over from an older torch, and so
# `@staticmethod` wouldn't help. Write `Triple.apply(...)`.


# %% tags=["raises-exception", "Q01"]
class Triple(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor=3):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None


Triple()(mg.tensor(8.0))

# %% [markdown]
# The second one passes an argument by name. That works here and in torch 2.13. Older
# versions of torch refuse it, so put `apply` into a function of your own if your
# program has to run there.

# %% tags=["Q18"]
Triple.apply(mg.tensor(8.0), factor=4)

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/01_where_ctx_comes_from.ipynb): answer each
# recall card before you open it. Then
# [lesson 02](../../notebooks/02_what_should_ctx_remember.ipynb): what should ctx keep?
