# %% [markdown]
# # Exercises: Start here
#
# You will
# * say three times what comes next,
# * repair one line and have it checked,
# * read what the player shows.
#
# The lesson is [here](../../notebooks/00_start_here.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint, reset

mg.teaching()

# %% [markdown]
# ## 00.1 Which step is next?
#
# Choose three answers and press *Commit*. (About 4 minutes.)

# %% tags=["solution"]
check("00.1", {"a": "b", "b": "b", "c": "b"})

# %% [markdown]
# What you committed is kept. The next cell looks it up. (A check that finds nothing, or
# something wrong, ends in a red line. Only the words above that line matter.)

# %% [markdown]
# ## 00.2 Fix one line
#
# `Double.forward` lacks a line. Write it in the place of the `raise` line, **run the
# cell**, then run the check below it. (About 5 minutes.)


# %% tags=["exercise"]
class Double(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return twice x, in one line
        return x * 2
        # endregion

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2


# %% tags=["check"]
check("00.2", Double)

# %% [markdown]
# Hints come one by one; between two of them, try something and check it.

# %%
hint("00.2")

# %% [markdown]
# Gone astray? Save the notebook, take the `#` away and run the cell. The exercise goes
# back into its first form, and what you wrote is kept in the folder `attempts`. Then
# choose *File, Reload Notebook from Disk*.

# %%
# reset("00.2")

# %% [markdown]
# ## 00.3 Read the box
#
# Step to the end of `apply`, then answer. (About 4 minutes.)


# %% tags=["step"]
class Stretch(mg.autograd.Function):
    @staticmethod
    def forward(ctx, matrix, weights):
        ctx.save_for_backward(matrix, weights)
        return matrix * weights

    @staticmethod
    def backward(ctx, grad_output):
        matrix, weights = ctx.saved_tensors
        return grad_output * weights, grad_output * matrix


matrix = mg.ones(2, 3, requires_grad=True)
weights = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
mg.step(Stretch.apply, matrix, weights)

# %% tags=["exercise"]
exercise("00.3")

# %% tags=["solution"]
check("00.3", {"a": "(3,)", "b": "the ctx of this call"})

# %% tags=["check"]
check("00.3")

# %% [markdown]
# ## Where next
#
# On to [lesson 01](../../notebooks/01_where_ctx_comes_from.ipynb): where does ctx come
# from?
