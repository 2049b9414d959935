# %% [markdown] tags=["slide"]
# # Forward without ctx
#
# You will
# * step through an `apply` that hands forward no ctx,
# * find out which of three versions of a Function `grad` and `vmap` accept,
# * decide where each value that backward needs should live.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("09")

# %% [markdown] tags=["slide"]
# ## When is ctx filled?
#
# So far your `forward` had two jobs: compute the result, and fill ctx for backward.
# There's a second style with a method for each job, and `grad` and `vmap`, further
# down, take only that one. `forward` computes and takes no ctx. `setup_context(ctx,
# inputs, output)` fills ctx. `backward` stays what it was. You choose this style by
# defining `setup_context`.


# %% tags=["slide"]
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(x, factor):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, factor = inputs
        ctx.factor = factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None


# %% [markdown] tags=["slide"]
# **Look.** The player opens where `setup_context` is called. Go back to the step that
# makes ctx, then forward again: at which line does the first entry appear in the box,
# and what has `forward` done by then?


# %% tags=["step", "slide"]
def call():
    x = mg.tensor(2.0, requires_grad=True)
    y = Scale.apply(x, 10.0)
    y.backward()


mg.step(call).open_at("Scale.setup_context is called")

# %% [markdown] tags=["explain", "slide"]
# `apply` makes ctx before `forward`, as always; it just doesn't hand it over. When
# `forward` has returned, `apply` calls `setup_context` with ctx, with *all* the
# arguments as one tuple (the number too), and with what `forward` returned. There
# `ctx.factor` appears. After that nothing is new: wrap the output, link it, take
# what was saved.

# %% [markdown]
# **Try.** Are `inputs` the caller's own tensors? Does `output` have a `grad_fn` while
# `setup_context` runs? This one leaves its answers on ctx, and they're read from the
# result's `grad_fn`: is that the same object?


# %% tags=["try"]
class Watched(Scale):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.answers = inputs[0] is x, output.grad_fn is not None


x = mg.tensor(2.0, requires_grad=True)
Watched.apply(x, 10.0).grad_fn.answers

# %% [markdown] tags=["explain"]
# Yes, no, and yes. Both styles fill the same kind of object, one per call, and backward
# can't tell which of them you used. `output` is added to the graph only afterwards.

# %% [markdown] tags=["slide"]
# ## What are inputs and output?
#
# Here's `Scale` again with another `setup_context`: it names its parameters like those
# of `forward`. forward and backward are inherited. What changes, if anything?


# %% tags=["slide"]
class Renamed(Scale):
    @staticmethod
    def setup_context(ctx, x, factor):
        ctx.factor = factor


def renamed():
    x = mg.tensor(2.0, requires_grad=True)
    Renamed.apply(x, 10.0).backward()
    return x.grad


# %% tags=["predict", "hide-input", "step", "slide", "Q73"]
course.predict(
    "09.renamed",
    "x is 2 and the factor is 10, so x.grad should be 10. What does renamed() return?",
    ["10", "20", "2", "nothing: it raises an error"],
    then=renamed,
    so=lambda ran: f"{ran.value.item():g}",
    why="The third parameter is forward's output, whatever you call it, so what was "
    "kept as ctx.factor is the result, 20.",
    at="Renamed.setup_context, line",
)

# %% [markdown] tags=["explain", "slide"]
# Python matches arguments to parameters by position, and three go to three, so nothing
# complains. Here `x` is the tuple `(x, 10.0)` and `factor` the output. At x = 1 the
# output equals the factor, so a test with ones would have passed. (Teaching mode warns
# about an output that's kept as an attribute. PyTorch says nothing.) Unpack `inputs`.

# %% [markdown] tags=["slide"]
# ## Which Functions work under grad and vmap?
#
# Why would you want the second style? Because of functions that transform functions.
# `mg.func.grad(f)` computes the gradient of `f`; `mg.vmap(f)` runs `f`, written for one
# sample, on a whole batch (lesson 15). Here's one Function in both styles, with one
# backward.


# %% tags=["slide"]
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x


# %% tags=["slide", "Q14"]
class Split(Square):
    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)


mg.func.grad(Split.apply)(mg.tensor(3.0))

# %% [markdown] tags=["slide"]
# That's the slope 2x at 3. The first style raises an error. Its words before *fix* are
# PyTorch's own, so you can search the web for them.

# %% tags=["raises-exception", "slide", "Q14"]
mg.func.grad(Square.apply)(mg.tensor(3.0))

# %% [markdown] tags=["explain", "slide"]
# Why so strict? A transform runs forward on tensors of its own making, so what you
# save has to be exchanged, too: for backward, it must be the tensor that the transform
# knows. That works for inputs and outputs. A forward with ctx could save anything from
# its middle, so every one is refused, even one as harmless as `Square`.
# (`Square.apply(x).backward()` goes on working: no transform is involved.)

# %% [markdown] tags=["slide"]
# Now `vmap`, with a third version. `generate_vmap_rule` is a promise: my methods use
# tensor operations only, so you may run them on a batch. `accepted` tries all three on
# a batch of three numbers.


# %% tags=["slide"]
class Ruled(Split):
    generate_vmap_rule = True


def accepted():
    names = []
    for function in (Square, Split, Ruled):
        try:
            mg.vmap(function.apply)(mg.tensor([1.0, 2.0, 3.0]))
            names.append(function.__name__)
        except RuntimeError:
            pass
    return ", ".join(names) or "none of them"


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "09.vmap",
    "Which of the three does vmap accept?",
    ["none of them", "Ruled", "Split, Ruled", "Square, Split, Ruled"],
    then=accepted,
    so=lambda ran: ran.value,
    why="Square is refused for its forward with ctx, and Split because nothing says "
    "how to run it on a batch.",
    at=["stops with TransformError"] * 2,
)

# %% [markdown] tags=["explain", "slide"]
# `vmap` has two conditions. It wants a `setup_context`, as `grad` does. And it needs to
# know how your methods run on a batch: by that promise, or by a `vmap` method that you
# write yourself, say because forward calls NumPy (lesson 15). With both in place you
# can stack them: `vmap(grad(Ruled.apply))` gives 2, 4, 6, a gradient for each sample.
# (Side effects go unseen: a forward that counts its calls counts 1 for the batch.)

# %% [markdown] tags=["slide"]
# ## A value from the middle of forward
#
# The cube of x needs x² on the way, and backward needs it again: the slope is 3x².
# `setup_context` sees inputs and outputs, not forward's local names. To keep x² without
# computing it twice, `forward` returns it as a second output. Then a gradient may
# arrive for it, too (zeros if x² isn't used), and since x² has the slope 2x, backward
# adds 2x times that gradient.


# %% tags=["slide"]
class Cube(mg.autograd.Function):
    @staticmethod
    def forward(x):
        square = x * x
        return square * x, square

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        _, square = output
        ctx.save_for_backward(x, square)

    @staticmethod
    def backward(ctx, g, g_square):
        x, square = ctx.saved_tensors
        return g * 3 * square + g_square * 2 * x


# %% [markdown] tags=["slide"]
# Callers want the cube alone, `Cube.apply(x)[0]`. They don't use x², so why not mark
# it as non-differentiable (lesson 07)? `second` multiplies the cube by x and
# differentiates twice, with `create_graph` (lesson 10). That's the fourth power of x:
# at 2 the slope is 32, and the second derivative 48.


# %% tags=["slide"]
class Marked(Cube):
    @staticmethod
    def setup_context(ctx, inputs, output):
        Cube.setup_context(ctx, inputs, output)
        ctx.mark_non_differentiable(output[1])


def second(function):
    x = mg.tensor(2.0, requires_grad=True)
    y = x * function.apply(x)[0]
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return slope.item(), mg.autograd.grad(slope, x)[0].item()


# %% tags=["predict", "hide-input", "step", "slide"]
def second_of_marked():
    return second(Marked)


course.predict(
    "09.marked",
    "Cube gives 32 and 48. What does Marked give?",
    ["32 and 48", "32 and 24", "16 and 24", "an error at the second derivative"],
    then=second_of_marked,
    so=lambda ran: "{:g} and {:g}".format(*ran.value),
    why="The slope 3x² is right as a number, but a marked x² counts as a constant, and "
    "the second derivative loses that part without a word.",
    at="Output 1 can't have a gradient",
)

# %% [markdown] tags=["explain", "slide"]
# A marked output has no `grad_fn`, so in the second pass nothing goes back through x².
# Unmarked, x² comes out of `saved_tensors` with this node as its `grad_fn`: the second
# pass calls `Cube.backward` again, with `g_square` filled, and that brings the missing
# 24. (In the first style, x² saved inside `forward` is a constant as well: 24.)

# %% tags=["because", "hide-input"]
course.because(
    "09.because",
    "When would you mark an extra output? One sentence, for yourself; it isn't graded.",
)

# %% [markdown]
# **Try.** May `setup_context` compute tensors itself? This one doesn't use `output` at
# all. Which of Cube's 32 and 48 changes, if any?


# %% tags=["try"]
class Early(Cube):
    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x, x * x)


second(Early)

# %% [markdown] tags=["explain"]
# It may, and the 48 becomes 24. Nothing is recorded while `setup_context` runs, so its
# x² is a constant for the second derivative. Save inputs and outputs, and mark an
# output only if no derivative goes through it: a mask, an index, a count. Or save x
# alone and compute x² in backward: `create_graph` records that, so you get 48.

# %% [markdown] tags=["slide"]
# ## self, ctx, or an argument?
#
# A Module's `self` is one more place to keep things. How do you choose? Ask how long a
# value lives, and whether a gradient should reach it. Here's a Function that has a
# gradient for both of its arguments. (It inherits a `setup_context` that saves them.)


# %% tags=["slide"]
class Product(Split):
    @staticmethod
    def forward(x, gain):
        return x * gain

    @staticmethod
    def backward(ctx, grad_output):
        x, gain = ctx.saved_tensors
        return grad_output * gain, grad_output * x


# %% [markdown]
# **Try.** Both Modules keep a parameter on `self` and multiply x by it. `Gain` passes
# it to `apply`, `ByNumber` passes its value as a plain number. Which one gets a
# gradient for its parameter, and what happens to the other one?


# %% tags=["try"]
class Gain(mg.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = mg.nn.Parameter(mg.tensor(3.0))

    def forward(self, x):
        return Product.apply(x, self.gain)


class ByNumber(Gain):
    def forward(self, x):
        return Scale.apply(x, self.gain.item())


models = Gain(), ByNumber()
for model in models:
    model(mg.tensor(2.0, requires_grad=True)).backward()
[model.gain.grad for model in models]

# %% [markdown] tags=["explain", "slide"]
# Only `Gain`. The graph has an edge to each tensor among the arguments, and a plain
# number is a constant: `gain` would never change, and no message says so.
#
# | the value | belongs |
# |---|---|
# | has to live as long as the model: parameters, settings | on `self` of a Module |
# | has to live from one forward to its backward | on ctx |
# | should get a gradient, or differs each call | in an argument of `apply`, too |

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now write a Function in either style, and say which one `vmap` will take.
# Answer each card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>What does setup_context get, and when?</summary>
#
# Right after forward: ctx, all arguments of apply as one tuple, and what forward
# returned. In that order, whatever you call them.
#
# </details>
#
# <details><summary>When do you need the second style?</summary>
#
# As soon as `grad`, `vmap` or another function of `mg.func` meets your Function. `vmap`
# also wants `generate_vmap_rule = True` or a `vmap` method.
#
# </details>
#
# <details><summary>What if backward needs a value from the middle of forward?</summary>
#
# Return it as an extra output and save it from there. Leave it unmarked if a derivative
# goes through it, and use the gradient that arrives for it.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same (since 2.0). Put `import torch as mg` in the first
# cell, leave out the lines that teach (`teaching`, `course` and the stepper), and every
# value above stays as it is.
#
# ## Now you
#
# [Five exercises](../exercises/09_forward_without_ctx/09_exercises.ipynb)
# wait for you; in 09.4 you repair a class whose conversion stopped halfway. They link
# back to this lesson. Where you stand:

# %%
course.progress("09")
