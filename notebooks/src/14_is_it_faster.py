# %% [markdown] tags=["slide"]
# # Is it faster?
#
# You will
# * TODO: what they see for themselves,
# * TODO: what they find out,
# * TODO: what they can decide afterwards. (No goal gives an answer away.)

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("14")

# %% [markdown] tags=["slide"]
# ## TODO: what you'd search for, or the question this section answers
#
# TODO: why it matters, then a program of a few lines, in 20 to 80 words. The answer to
# the question below is nowhere on the screen before Commit: not here, not in a heading.


# %% tags=["slide"]
def run_first():
    x = mg.tensor(3.0, requires_grad=True)
    (x * x).backward()
    return x.grad


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "14.first",
    "TODO: what does run_first() return?",
    ["6", "TODO: what you'd say with the wrong idea"],
    then=run_first,
    so=lambda ran: f"{ran.value.item():g}",
    why="TODO: one sentence on why the run did this.",
    at="MulBackward0",
)

# %% [markdown] tags=["explain", "slide"]
# TODO: what happened, and why, in 20 to 80 words if code comes next. A reader opens it
# after the Commit; until then it's folded.

# %% [markdown] tags=["slide"]
# ## TODO: what you'd search for, or the question this section answers
#
# TODO: why it matters, then a program of a few lines, in 20 to 80 words. The answer to
# the question below is nowhere on the screen before Commit: not here, not in a heading.


# %% tags=["slide"]
def run_second():
    x = mg.tensor(3.0, requires_grad=True)
    (x * x).backward()
    return x.grad


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "14.second",
    "TODO: what does run_second() return?",
    ["6", "TODO: what you'd say with the wrong idea"],
    then=run_second,
    so=lambda ran: f"{ran.value.item():g}",
    why="TODO: one sentence on why the run did this.",
    at="MulBackward0",
)

# %% [markdown] tags=["explain", "slide"]
# TODO: what happened, and why, in 20 to 80 words if code comes next. A reader opens it
# after the Commit; until then it's folded.

# %% tags=["because", "hide-input"]
course.because(
    "14.because",
    "TODO: a question about the surprise. One sentence, for yourself; it isn't graded.",
)

# %% [markdown]
# **Try.** TODO: one thing to change in the cell below, and what to watch for while it
# runs again. Ask before you show: the answer goes right below.

# %% tags=["try"]
run_second()

# %% [markdown] tags=["explain"]
# TODO: the answer, right after it, in one line.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# TODO: what you can now do. Answer each card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>TODO: question 1</summary>
#
# TODO: its answer, in a line or two.
#
# </details>
#
# <details><summary>TODO: question 2</summary>
#
# TODO: its answer, in a line or two.
#
# </details>
#
# <details><summary>TODO: question 3</summary>
#
# TODO: its answer, in a line or two.
#
# </details>

# %% [markdown]
# **In PyTorch this is** TODO: the same, or what differs and since which version.
#
# ## Now you
#
# [The exercises](../exercises/14_is_it_faster/14_is_it_faster.ipynb)
# wait for you; TODO: say which one is the most rewarding. They link back to this
# lesson. Where you stand:

# %%
course.progress("14")
