# %% [markdown] tags=["slide"]
# # Start here: predict, step, inspect
#
# You will
# * see that everything works on this computer,
# * predict what a small program does, and then watch it do that,
# * read the three panes of the player.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% [markdown]
# ## Before anything else
#
# A grey box with code is a *cell*. Click into it and press Shift+Enter to run it. Run
# the one above first: it loads the course, and makes minigrad warn of common mistakes
# (*teaching mode*). The next cell tries everything that the course needs. Every line
# should begin with ✓; one that does not says how to mend it.

# %%
course.doctor()

# %% [markdown]
# The last thing to try is a button. The course has many of them. Run the cell, then
# press the button: a line with ✓ should appear below it.

# %%
course.try_a_button()

# %% [markdown] tags=["slide"]
# ## Predict
#
# This is the habit that the course is built on: **say what will happen before it
# happens**. A wrong guess costs nothing, and those who guess see more.
#
# Here is a small program. It multiplies two numbers in `forward`. `backward` then says
# how fast the product changes when each of them changes: its *gradient*.
# `requires_grad=True` asks for it. A *tensor* is an array, here of one number.


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
# Run the next cell: it asks. Choose an answer and press *Commit*; then the program
# runs. You can do it without a mouse, too: Control+Enter runs a cell and stays there,
# Tab moves on to the answers, Space chooses and presses, and Shift+Enter takes you to
# the next cell.

# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "00.value",
    "What are the product `y`, and the gradient for `x`?",
    ["y = 10, gradient 2", "y = 10, gradient 5", "y = 7, gradient 1"],
    then=program,
    so=lambda ran: "y = {:g}, gradient {:g}".format(*map(float, ran.value[:2])),
    why="When `x` grows by 1, the product grows by `w`, and `w` is 5.",
    at="x.grad was empty",
)

# %% [markdown] tags=["explain", "slide"]
# The program returns three numbers: the product, 10; the gradient for `x`, 5; and the
# gradient for `w`, 2. When `x` grows by 1, the product grows by 5, because `w` is 5.
# (Lesson 01 explains the `grad_fn` that the player speaks of.)
#
# Your prediction was kept. When you open this notebook again tomorrow, it will be
# there.

# %% [markdown] tags=["slide"]
# ## Step
#
# Below your answer is the *player*: a recording of the program, opened at the step that
# decides. (`apply` calls a Function: it runs `forward`.)
#
# * Click into it. **Space** or **→** (or *Step*) goes forward, **←** (or *Back*) goes
#   back.
# * The line at the top says what just happened.
# * Left is the code, in the middle the graph (the way the gradients will take), right
#   the ctx. A step is marked in one colour in all three.

# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "00.order",
    "`Product.apply(x, w)` is about to run. Which of these will you see first?",
    ["the lines of forward", "a new ctx", "the lines of backward"],
    then=program,
    so=lambda ran: ran.first(
        {
            "the lines of forward": "Product.forward, line",
            "a new ctx": "apply creates ctx",
            "the lines of backward": "Product.backward, line",
        }
    ),
    why="`forward` is handed the ctx as its first argument, so the ctx comes first.",
    at="apply creates ctx",
)

# %% [markdown] tags=["explain", "slide"]
# First a box called `ctx` is made, and only then `forward` runs: it is handed that box
# as its first argument. Who makes it is the subject of lesson 01. For now it is enough
# that there is a box.

# %% [markdown]
# ## Inspect
#
# **Try.** Change one number in the next cell and run it. Step to the end of `apply`,
# and find the rows called *saved* in the right pane. Which of your numbers stand
# there?

# %% tags=["try"]
mg.step(Product.apply, mg.tensor(3.0, requires_grad=True), mg.tensor(-1.0))

# %% [markdown] tags=["explain", "slide"]
# Both numbers that `forward` gave to `ctx.save_for_backward`, in that order. Only one
# of them `requires_grad`; it is the one that has a place in the graph.

# %% tags=["because"]
course.because(
    "00.because",
    "Why does `backward` need numbers that only `forward` was given? One sentence, "
    "for yourself; nobody grades it.",
)

# %% [markdown]
# What you wrote there is kept too. `course.review()` makes a ten-minute notebook from
# it, with questions on what you missed. Try it in a day or two: the notebook appears in
# the topmost folder of the file list on the left.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now predict, step, and read the panes. Answer each card before you open
# it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>Where do you see what ctx holds?</summary>
#
# The right pane of the player.
#
# </details>
#
# <details><summary>Does <code>apply</code> run <code>backward</code>?</summary>
#
# No. It runs when somebody asks for a gradient, here with `y.backward()`.
#
# </details>
#
# <details><summary>Which key takes one step back?</summary>
#
# The left arrow.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same program with `import torch as mg`; torch has no
# player, so leave out the lines with `teaching`, `course` and `mg.step`.
#
# ## Now you
#
# Three short [exercises](../exercises/00_start_here/00_start_here.ipynb), to get to
# know the checker. Then [lesson 01](01_where_ctx_comes_from.ipynb). With a question of
# your own, such as why memory grows, ask `course.answers("memory")`: it names the cell
# that shows the answer. Where you stand:

# %%
course.progress()
