# %% [markdown]
# # Exercises: Trading memory for time
#
# You will
# * TODO: predict,
# * TODO: repair,
# * TODO: write.
#
# The lesson is [here](../../notebooks/12_trading_memory_for_time.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()

# %% [markdown]
# ## 12.1 TODO: a short title
#
# TODO: what to look at first, then: answer, and press *Commit*.

# %% tags=["exercise"]
exercise("12.1")

# %% tags=["solution"]
check("12.1", ["TODO: one"])

# %% tags=["check"]
check("12.1")

# %% [markdown]
# ## 12.2 TODO: a short title
#
# TODO: what is asked for, as in the text file, in 8 to 80 words.


# %% tags=["exercise"]
class TODO2(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return what is asked for
        return x.clone()
        # endregion


# %% [markdown]
# TODO: say in a sentence what the check tries, and on what.

# %% tags=["check"]
check("12.2", TODO2)

# %% [markdown]
# Stuck, or surprised? Each hint is more direct than the one before.

# %%
hint("12.2")

# %% [markdown]
# ## 12.3 TODO: a short title
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
check("12.3", TODO3)

# %% [markdown]
# Stuck, or surprised? Each hint is more direct than the one before.

# %%
hint("12.3")

# %% [markdown]
# ## 12.4 TODO: a short title
#
# TODO: what to look at first, then: answer, and press *Commit*.

# %% tags=["exercise"]
exercise("12.4")

# %% tags=["solution"]
check("12.4", ["a"])

# %% tags=["check"]
check("12.4")

# %% [markdown]
# Stuck, or surprised? Each hint is more direct than the one before.

# %%
hint("12.4")

# %% [markdown]
# ## 12.5 TODO: a short title
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
check("12.5", TODO5)

# %% [markdown]
# Stuck, or surprised? Each hint is more direct than the one before.

# %%
hint("12.5")

# %% [markdown]
# ## 12.6 TODO: a short title
#
# TODO: what is asked for, as in the text file, in 8 to 80 words.


# %% tags=["exercise"]
class TODO6(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return what is asked for
        return x.clone()
        # endregion


# %% [markdown]
# TODO: say in a sentence what the check tries, and on what.

# %% tags=["check"]
check("12.6", TODO6)

# %% [markdown]
# Stuck, or surprised? Each hint is more direct than the one before.

# %%
hint("12.6")
