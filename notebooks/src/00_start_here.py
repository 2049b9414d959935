# %% [markdown] tags=["slide"]
# # Start here: watch, predict, inspect
#
# You will
# * watch a small program run, forwards and then backwards,
# * predict what the next one does, and see whether it does,
# * look inside `ctx`.

# %% [markdown]
# A grey box with code is a *cell*. Click into it and press **Shift+Enter** to run it.
# This one loads the course:

# %%
import minigrad as mg
from minigrad import course

mg.teaching()
course.doctor(quiet=True)  # says something only if something is missing here

# %% [markdown] tags=["slide"]
# ## Watch
#
# A *tensor* is an array of numbers; these hold one number each. `backward()` asks: if
# `x` or `w` grew a little, how fast would `y` grow? The answer is called the
# *gradient*, and `requires_grad=True` says that we want it.
#
# Run the next cell and watch. Then go through it yourself: **Step** (or **→**) goes on,
# **Back** (or **←**) goes back.

# %% tags=["step", "slide"]
with mg.record("A product") as trace:
    x = mg.tensor(3.0, requires_grad=True)
    w = mg.tensor(4.0, requires_grad=True)
    y = x * w
    y.backward()
trace.playing()

# %% [markdown] tags=["explain", "slide"]
# Blue numbers went right: that was *forward*, and it gave 12. Orange ones came back
# left: that was *backward*, and it left a gradient for `x` and one for `w`. The green
# box kept what backward would need. That box is what this course is about.

# %% [markdown] tags=["slide"]
# ## Predict
#
# From now on we do one thing first, every time: **say what will happen before it
# happens**. A wrong guess costs nothing, and people who guess first notice more.
#
# Here's a product written by hand, of 2 and 5 this time. `forward` computes it.
# `backward` says how fast it changes with each of its inputs. (`grad_output` is 1 here;
# lesson 01 says what it's for.)


# %% tags=["slide"]
class Product(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        return grad_output * w, grad_output * x


def program():
    x = mg.tensor(2.0, requires_grad=True)
    w = mg.tensor(5.0, requires_grad=True)
    y = Product.apply(x, w)
    y.backward()
    return y, x.grad, w.grad


# %% [markdown]
# Run the next cell: it asks you something. Choose an answer and press *Commit*, and the
# program runs. It all works without a mouse, too: Control+Enter runs a cell and stays
# there, Tab moves to the answers, Space chooses and presses, and Shift+Enter takes you
# to the next cell.

# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "00.value",
    "What's `y`, and what gradient does `x` get?",
    ["y = 10, gradient 2", "y = 10, gradient 5", "y = 7, gradient 1"],
    then=program,
    so=lambda ran: "y = {:g}, gradient {:g}".format(*map(float, ran.value[:2])),
    why="When `x` grows by 1, the product grows by `w`, and `w` is 5.",
    at="x.grad is",
)

# %% [markdown] tags=["explain", "slide"]
# Each input's gradient is the *other* input. When `x` grows by 1, the product grows by
# `w`, so `x` gets 5. When `w` grows by 1, it grows by `x`, so `w` gets 2.

# %% [markdown] tags=["slide"]
# ## Step
#
# Below your answer is the *player*: a recording of the program, opened at the step that
# answers the question.
#
# * The sentence at the top says what just happened, and why.
# * *Picture*, *Phases* and *Everything* choose how finely you step: the same picture,
#   more stops. At *Phases* you see what `apply` does, the function that runs your
#   `forward`.

# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "00.order",
    "`y.backward()` is about to run. Which of these will you see first?",
    ["the lines of forward again", "x.grad gets its number", "the lines of backward"],
    then=program,
    so=lambda ran: ran.first(
        {
            "x.grad gets its number": "x.grad was empty",
            "the lines of backward": "Product.backward, line",
        }
    ),
    why="`backward` computes the gradients, from what `forward` put into ctx.",
    at="Product.backward, line",
)

# %% [markdown] tags=["explain", "slide"]
# `backward` runs first: what it returns becomes `x.grad` and `w.grad`. `forward`
# doesn't run again. What it saved, `backward` finds in the box called `ctx`, the first
# argument of both. (It's short for *context*.) Who makes that box? That's lesson 01.

# %% [markdown]
# ## Inspect
#
# **Try.** Change one number in the next cell and run it. Step until `forward` is done,
# and look into the box: which of your numbers are in it?

# %% tags=["try"]
mg.step(Product.apply, mg.tensor(3.0, requires_grad=True), mg.tensor(-1.0))

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# Both numbers that `forward` gave to `ctx.save_for_backward`, in that order. Only one
# of them has `requires_grad=True`, so only that one gets a place for a gradient.
#
# </details>

# %% tags=["because"]
course.because(
    "00.because",
    "Why does `backward` need numbers that only `forward` was given? One sentence, "
    "for yourself; it isn't graded.",
)

# %% [markdown]
# What you predict and write is kept. `course.review()` makes a ten-minute notebook from
# it, with questions about what you missed. Try it in a day or two: the notebook appears
# in the topmost folder of the file list on the left.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can watch a program, predict its next step, and look into `ctx`. Answer each card
# before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>Where do you see what ctx holds?</summary>
#
# In the box below the result: what's inside is what `forward` saved.
#
# </details>
#
# <details><summary>Does <code>apply</code> run <code>backward</code>?</summary>
#
# No. `backward` runs when you ask for gradients, here with `y.backward()`.
#
# </details>
#
# <details><summary>Which key takes one step back?</summary>
#
# The left arrow.
#
# </details>

# %% [markdown]
# In PyTorch this is the same program with `import torch as mg`. torch has no player, so
# leave out the lines with `teaching`, `record`, `step` and `course`.
#
# ## Now you
#
# Three short [exercises](../exercises/00_start_here/00_exercises.ipynb), to get to
# know the checker. Then [lesson 01](01_where_ctx_comes_from.ipynb). If a question comes
# up, such as why memory grows, ask `course.answers("memory")`: it names the cell that
# shows the answer. And this is where you are:

# %%
course.progress("00")
