# %% [markdown]
# # Exercises: Forward without ctx
#
# You will
# * TODO: predict,
# * TODO: repair,
# * TODO: write.
#
# The lesson is [here](../../notebooks/09_forward_without_ctx.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 09.1 TODO: a short title
#
# TODO: what to look at first, then: answer, and press *Commit*.

# %% tags=["exercise"]
exercise("09.1")

# %% tags=["solution"]
check("09.1", ["TODO: one"])

# %% tags=["check"]
check("09.1")

# %% [markdown]
# ## 09.2 TODO: a short title
#
# TODO: what to look at first, then: answer, and press *Commit*.

# %% tags=["exercise"]
exercise("09.2")

# %% tags=["solution"]
check("09.2", ["a"])

# %% tags=["check"]
check("09.2")

# %% [markdown]
# Stuck, or surprised? Each hint is more direct than the one before.

# %%
hint("09.2")

# %% [markdown]
# ## 09.3 TODO: a short title
#
# TODO: what is asked for, as in the text file, in 8 to 80 words.


# %% tags=["exercise"]
class TODO3(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return what is asked for
        return x.clone()
        # endregion


# %% [markdown]
# TODO: say in a sentence what the check tries, and on what.

# %% tags=["check"]
check("09.3", TODO3)

# %% [markdown]
# Stuck, or surprised? Each hint is more direct than the one before.

# %%
hint("09.3")

# %% [markdown]
# ## 09.4 TODO: a short title
#
# TODO: what is asked for, as in the text file, in 8 to 80 words.


# %% tags=["exercise"]
class TODO4(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return what is asked for
        return x.clone()
        # endregion


# %% [markdown]
# TODO: say in a sentence what the check tries, and on what.

# %% tags=["check"]
check("09.4", TODO4)

# %% [markdown]
# Stuck, or surprised? Each hint is more direct than the one before.

# %%
hint("09.4")

# %% [markdown]
# ## 09.5 TODO: a short title
#
# TODO: what is asked for, as in the text file, in 8 to 80 words.


# %% tags=["exercise"]
class TODO5(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return what is asked for
        return x.clone()
        # endregion


# %% [markdown]
# TODO: say in a sentence what the check tries, and on what.

# %% tags=["check"]
check("09.5", TODO5)

# %% [markdown]
# Stuck, or surprised? Each hint is more direct than the one before.

# %%
hint("09.5")
