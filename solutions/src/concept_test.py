# %% [markdown]
# # Concept test: what does it print?
#
# You will
# * say of twelve short programs what each prints, without running any,
# * get a file with your answers, and read what's in it,
# * do the same with twelve others after the course.
#
# This is no exam. The test asks about one feature of ctx after the other, so that you,
# or who teaches you, can see which ideas need more time. Take form A before lesson 01
# and form B when you've finished, each in one go (about 15 minutes).

# %%
import minigrad as mg
from minigrad.course import concept_test

mg.teaching()

# %% [markdown]
# ## Form A, before the course
#
# Most of these will be new to you. That's what it's for: say *I don't know* as often
# as it is true. You can change an answer until you press Commit.

# %%
concept_test("A")

# %% [markdown]
# ## Form B, after the course
#
# The same ideas in other programs. Your file goes beside the first one, with the same
# code, so that the two can be compared without your name.

# %%
concept_test("B")

# %% [markdown] tags=["solution"]
# ## For instructors: what each answer stands for
#
# The first column is what form A prints and what form B prints. An answer that isn't
# right has the mistake that it comes from, and the belief behind it.

# %% tags=["solution"]
from minigrad.course.notebook import concepts

print(concepts.key())
