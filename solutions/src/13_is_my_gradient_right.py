# %% [markdown]
# # Exercises: Is my gradient right?
#
# You will
# * say what gradcheck notices, and write your own,
# * get a wrong rule past a weak check,
# * cure four programs, and test one that differences can't.
#
# The lesson is [here](../../notebooks/13_is_my_gradient_right.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 13.1 Pass or fail?

# %% tags=["solution"]
check("13.1", ["fails", "fails", "passes", "passes", "passes", "fails"])

# %% [markdown]
# ## 13.2 Your own gradcheck


# %% tags=["exercise"]
def gradcheck(f, x):
    # region solution: compare what backward finds with slopes that you measure
    y = f(x)
    g = mg.randn(y.shape, dtype=y.dtype)
    (found,) = mg.autograd.grad(y, x, g)
    for i in range(x.numel()):
        step = mg.zeros(x.shape, dtype=x.dtype)
        step.view(-1)[i] = 1e-6
        up, down = f(x.detach() + step), f(x.detach() - step)
        slope = ((g * (up - down)).sum() / 2e-6).item()
        if abs(found.view(-1)[i].item() - slope) > 1e-5 + 1e-3 * abs(slope):
            return False
    return True
    # endregion


# %% [markdown]
# Try it on one right rule and on one that detach has spoilt: True and False.

# %% tags=["raises-exception"]
x = mg.tensor([0.5, -1.5, 2.0], dtype=mg.float64, requires_grad=True)
gradcheck(lambda x: x * x, x), gradcheck(lambda x: x * x.detach(), x)

# %% [markdown]
# ## 13.3 Fool a weak check


# %%
def weak(function, x):
    x.grad = None
    function.apply(x).sum().backward()
    return mg.allclose(x.grad, 2 * x.detach())


# %% [markdown]
# forward stays as it is; what can be wrong in backward, unnoticed?


# %% tags=["exercise"]
class Fooled(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        # region solution: return something that's right only where grad_output is 1
        return 2 * x * grad_output**2
        # endregion


# %% [markdown]
# ## 13.4 Clinic 1 and 2

# %% tags=["exercise"]
# shipped Linear


# shipped Gap

# %% tags=["solution"]
# shipped Linear with grad_output.T @ x for x.T @ grad_output


# shipped Gap with made - wanted for wanted - made

# %% [markdown]
# The test takes the shapes of the inputs. Read the error of each: its last line is the
# one that helps most.


# %%
# shipped passes

# %% tags=["raises-exception"]
passes(Linear, (4, 3), (2, 3))

# %% tags=["raises-exception"]
passes(Gap, (2, 3), (2, 3))

# %% [markdown]
# Repair both, run their cell and the tests again, and hand over all three.

# %% [markdown]
# ## 13.5 Clinic 3 and 4


# %%
class Sine(mg.autograd.Function):
    @staticmethod
    def forward(x):
        return mg.tensor(mg.sin(x).tolist(), dtype=x.dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.cos()


# %% [markdown]
# The questions of the card: 1 is it in the graph, 2 shapes and dtypes, 3 gradcheck, 4
# two calls, 5 anomaly mode. Put two numbers into `found_by`: the first question that
# says no for `Swish`, then for `residual`.

# %% tags=["exercise"]
# shipped Swish


# shipped residual


found_by = [0, 0]


# %% tags=["solution"]
class Swish(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x / (1 + (-x).exp())

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = 1 / (1 + (-x).exp())
        return grad_output * s * (1 + x * (1 - s))


# shipped residual with apply for forward


found_by = [4, 1]

# %% [markdown]
# ## 13.6 When differences cannot help


# %% tags=["exercise"]
def is_adjoint(f, x):
    # region solution: draw u and v, and compare two sums of products
    u = mg.randn(x.shape, dtype=x.dtype, requires_grad=True)
    v = mg.randn(x.shape, dtype=x.dtype)
    y = f(u)
    (back,) = mg.autograd.grad(y, u, v)
    apart = (v * y).sum() - (back * u).sum()
    return apart.abs().item() <= 1e-3 * (v * y).abs().sum().item()
    # endregion


# %% [markdown]
# ## For the curious: mixed precision
#
# In mixed precision a part of the model computes in float16, to be faster; here it's
# the square. **Predict.** Which dtype do the saved x and the gradient that arrives
# have? And which gradient does the second element of x get, where the slope of the loss
# is 4e-9? The cell runs it with the loss as it is, then with the loss times 4096.


# %% tags=["predict"]
def slopes(scale):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x.half() ** 2
    y.register_hook(lambda g: print("arrives:", g.dtype, g.tolist()))
    print("saved:", y.grad_fn._saved_self.dtype)
    (scale * (y.float() * mg.tensor([0.5, 1e-9])).sum()).backward()
    return x.grad.dtype, (x.grad / scale).tolist()


slopes(1), slopes(4096)

# %% [markdown]
# float16 both times, and 0 at first: 1e-9 is too small for float16. 4096 times as much
# isn't: divided by 4096 in float32, it's right to one percent. That's why people
# multiply the loss by a large number in mixed precision (*loss scaling*). Too large a
# number, and float16 overflows to inf.

# %% [markdown]
# ## For the curious: which of my saved tensors is wrong?
#
# gradcheck names an input, not the saved tensor behind it. A saved-tensor hook (lesson
# 12) can double one at a time. At x = 6 and y = 2 the gradients of x / y are 0.5 and
# -1.5. The cell shows both gradients as this backward gives them, then with the saved x
# doubled, then with the saved y. **Predict.** Which of the two is used wrongly?


# %%
class Quotient(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x / y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output / y, -grad_output * x / y


# %% tags=["predict", "Q86"]
def with_doubled(which):
    places = iter(range(2))
    x, y = (mg.tensor(v, requires_grad=True) for v in (6.0, 2.0))
    with mg.autograd.graph.saved_tensors_hooks(
        lambda t: t * (2 if next(places) == which else 1), lambda packed: packed
    ):
        quotient = Quotient.apply(x, y)
    quotient.backward()
    return x.grad.item(), y.grad.item()


with_doubled(None), with_doubled(0), with_doubled(1)

# %% [markdown]
# y's gradient should be -x / y². Twice the y should leave a quarter of it, and leaves
# half: y is used once too seldom. And a tensor that you can double without any change
# in a gradient needn't be saved.

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/13_is_my_gradient_right.ipynb), to its recall
# cards: open each one only after you have answered it.
