# %% [markdown]
# # Exercises: To PyTorch and back
#
# You will
# * say what carries over, and translate PyTorch's errors,
# * port two Functions, and repair a port that stopped,
# * write a Function of your own and review it first.
#
# The lesson is [here](../../notebooks/17_to_pytorch_and_back.ipynb).

# %%
import minigrad as mg
import minigrad as torch
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 17.1 Same or different?
#
# Answer from memory, without running anything, then press *Commit*. (About 5 minutes.)

# %% tags=["solution"]
check("17.1", ["b", "a", "a", "b", "b", "a"])

# %% [markdown]
# ## 17.2 Port two, both ways


# %% tags=["exercise"]
class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: log(1 + exp(x)), with no NumPy
        ctx.save_for_backward(x)
        return x.exp().log1p()
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / (1 + torch.exp(-x))


class Hypot(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        # region solution: the square root of x² + y², saved as the third
        result = (x * x + y * y).sqrt()
        ctx.save_for_backward(x, y, result)
        return result
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        x, y, length = ctx.saved_tensors
        return grad_output * x / length, grad_output * y / length


# %% [markdown]
# ## 17.3 Translate the error
#
# Try as many repairs as you like here, then press *Commit*. (About 7 minutes.)

# %% tags=["solution"]
check("17.3", ["b", "b", "c", "a", "c", "c", "b", "a"])

# %% [markdown]
# ## 17.4 The port that stopped working


# %% tags=["exercise"]
# shipped RowSums


# %% tags=["solution"]
class RowSums(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        weights = x.new_tensor([1.0, 2.0, 4.0])
        return (x.reshape(-1, 3) @ weights).reshape(x.shape[:-1])

    @staticmethod
    def backward(ctx, grad_output):
        weights = grad_output.new_tensor([1.0, 2.0, 4.0])
        return (grad_output.reshape(-1, 1) * weights).reshape(ctx.shape)


# %% [markdown]
# ## 17.5 Your own Function


# %% tags=["exercise"]
class Mine(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, width):
        # region solution: the result, and what backward will need
        ctx.save_for_backward(x)
        ctx.width = width
        return (x / width).cosh().log() * width
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        # region solution: one gradient for each argument of forward
        (x,) = ctx.saved_tensors
        return grad_output * (x / ctx.width).tanh(), None
        # endregion


def example():
    # region solution: what Mine.apply takes, a few elements each
    return mg.tensor([0.5, -1.0, 2.0]), 3.0
    # endregion


# %% [markdown]
# The ten questions: 1 does forward return what you mean, 2 do slopes agree, 3 is there
# one gradient an argument, 4 is only what's needed kept, 5 do two calls leave each
# other alone, 6 does it write only where it may, 7 frozen inputs and unused outputs,
# 8 the second derivative, 9 dtype, order, device, 10 do forward mode and vmap work, or
# refuse. Answer each with "yes", "no" or "-", before you check. Repair each "no".

# %% tags=["exercise"]
review = ["?", "?", "?", "?", "?", "?", "?", "?", "?", "?"]

# %% tags=["solution"]
review = ["yes"] * 9 + ["-"]

# %% [markdown]
# ## Where next
#
# Back to [the lesson](../../notebooks/17_to_pytorch_and_back.ipynb), to its recall
# cards, and to the page that you can print.
