# ruff: noqa: E501, RUF059  (tables in prose; a program quoted as it was asked)

# %% [markdown] tags=["slide"]
# # Where does ctx come from?
#
# You will
# * see who makes `ctx`, and when,
# * find out what `ctx` is, and how it gets back to you in `backward`,
# * say what `grad_output` is for.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% [markdown] tags=["slide"]
# ## The question, as it was asked
#
# From the PyTorch forum: *"I have no idea how the ctx variable gets passed for custom
# Functions. Where in the source code are you passing the ctx to the forward() and
# backward() methods?"* Below is the program that came with it; only the import and the
# comments are ours.


# %% tags=["slide"]
class MulConstant(mg.autograd.Function):
    def forward(tensor, constant):
        return tensor * constant

    def setup_context(ctx, inputs, output):
        tensor, constant = inputs
        print(ctx, type(ctx), ctx.__class__.__name__, sep="\n")
        ctx.constant = constant

    def backward(ctx, grad_output):
        # One value for each argument of forward; None for the plain number.
        return grad_output * ctx.constant, None


# %% [markdown] tags=["slide"]
# *ctx* is short for **context**. Most Functions take it in `forward`, as `Product` did
# in lesson 00. This one has a `setup_context`, which gets ctx instead: then `forward` is
# an ordinary function of its inputs, as transforms need it (lesson 09). It also runs
# without `@staticmethod`; more on that below.
#
# But nothing here makes that object. Which class does it belong to? The program prints
# it. (`mg.teaching()` turns on advice about your code; here it would say too much.)

# %% tags=["slide"]
tensor = mg.ones((5, 1), requires_grad=True)
with mg.teaching(False):
    result = MulConstant.apply(tensor, 10)

# %% [markdown] tags=["explain", "slide"]
# It's a `MulConstantBackward`: a class you didn't write. It was created for you when
# the `class` statement ran, as for every subclass of `Function`.

# %% [markdown] tags=["slide"]
# ## Which line makes ctx?
#
# The class exists from the start. And the object? Say what you think, and press
# *Commit*. The player opens below, at the step that answers the question; go back one
# step: is there a box for ctx yet?


# %% tags=["predict", "hide-input", "step", "slide", "Q42"]
def call():
    with mg.teaching(False):
        return MulConstant.apply(tensor, 10)


course.predict(
    "01.when",
    "When is the object made?",
    ["before forward runs", "after forward", "when backward is called"],
    then=call,
    so=lambda ran: ran.first(
        {
            "before forward runs": "apply creates ctx",
            "after forward": "apply runs MulConstant.forward",
        }
    ),
    why="`apply` makes it, before it runs anything of yours.",
    at="apply creates ctx",
    level="phases",
)

# %% [markdown] tags=["explain", "slide"]
# `apply` makes ctx before it runs any of your code (press **e** in the player to see
# the line). Why so early, if only `setup_context` uses it? Because `forward` usually
# takes it, and `apply` does the same for both, even if no input requires a gradient.
#
# `backward` needs a way back from the result. So `apply` records every call in a
# **graph**. A **node** of the graph is one call, and an **edge** leads from it to the
# node that made its input. `apply` works in six phases, and the player names each:
#
# | phase | what happens |
# |---|---|
# | collect inputs | does any argument require a gradient, and which node made it? These are the edges |
# | create ctx | a new `MulConstantBackward` |
# | run forward | your code, not recorded: your `backward` is used for the whole call |
# | wrap outputs | each result becomes a tensor that can have a history |
# | link outputs | the result is linked to this call; from there the edges lead on |
# | take what was saved | ctx stores the tensors you gave to `save_for_backward` |

# %% [markdown] tags=["slide"]
# ## Same or new?
#
# This Function takes `ctx` in `forward` and leaves `setup_context` out. It collects
# every ctx it meets in a list. (Don't do that in real code: a ctx holds on to memory.)
# We call it twice.

# %% tags=["slide"]
seen = []


class Double(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        seen.append(ctx)
        return x * 2

    @staticmethod
    def backward(ctx, grad_output):
        seen.append(ctx)
        return grad_output * 2


def two_calls():
    seen.clear()
    a, b = Double.apply(pair), Double.apply(pair)
    return seen[0] is seen[1], seen[0] is a.grad_fn, seen[1] is b.grad_fn


pair = mg.tensor([1.0, 2.0], requires_grad=True)

# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "01.same",
    "seen[0] is seen[1], seen[0] is a.grad_fn, seen[1] is b.grad_fn: which are True?",
    [
        "False, False, False",
        "True, False, False",
        "True, True, True",
        "False, True, True",
    ],
    then=two_calls,
    so=lambda ran: ", ".join(map(str, ran.value)),
    why="Each call gets its own ctx, and that's the `grad_fn` of its result.",
    at="ties the box to",
)

# %% [markdown] tags=["explain", "slide"]
# Each call gets its own ctx, and in the phase *link outputs* it becomes the `grad_fn` of
# the result: **ctx is the node.** You can look into it there:

# %% tags=["explain", "slide"]
result.grad_fn, result.grad_fn.constant

# %% [markdown] tags=["slide"]
# ## How does ctx get back into backward?
#
# You don't call `Double.backward` yourself either: the **engine** does, the code that
# carries out `a.sum().backward()`. It goes through the graph from node to node,
# beginning at the result. (In which order: lesson 05.) And the node is the ctx of the
# call, so it has the right one at hand, of however many calls:

# %% tags=["explain", "slide"]
a, b = Double.apply(pair), Double.apply(pair)
a.sum().backward()
seen[-1] is a.grad_fn, seen[-1] is b.grad_fn

# %% tags=["because"]
course.because(
    "01.because",
    "When does it matter whether two calls share a ctx or have one each? One sentence, "
    "for yourself; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## What is grad_output?
#
# Each `backward` so far multiplies by its argument `grad_output`. Why isn't the
# derivative of `Double`, 2, enough? Here's a call of it with one more step behind it.
# Read the last row from the right. Then find the same three numbers in the graph: where
# does 5 arrive, and where does it become 10?
#
# | | x | Double | y | times 5 | L |
# |---|---|---|---|---|---|
# | forward | 3 | → | 6 | → | 30 |
# | if its input grows by 1 | | y grows by 2 | | L grows by 5 | |
# | backward | **10** | ← times 2 | **5** | ← times 5 | **1** |

# %% tags=["step", "slide", "Q31"]
# %%step
x = mg.tensor(3.0, requires_grad=True)
y = Double.apply(x)
L = y * 5
L.backward()

# %% [markdown] tags=["explain", "slide"]
# If `y` grows by 1, `L` grows by 5: that's the **upstream gradient**, and it's what
# `Double.backward` gets as `grad_output`. If `x` grows by 1, `y` grows by 2: the
# **local derivative**, the only thing `Double` itself knows. So if `x` grows by 1, `L`
# grows by 5 · 2 = 10. That's the **chain rule**, and each `backward` is one use of it:
#
# > gradient for the input = upstream gradient · local derivative

# %% [markdown] tags=["slide"]
# It's tempting to return just the local derivative, as this `backward` does.
# `gradients` tries it on its own, and then with the step behind it. (`mg.autograd.grad`
# returns the gradients as a tuple and leaves `.grad` alone; `[0]` takes the first.)


# %% tags=["slide"]
class ForgetsUpstream(Double):
    @staticmethod
    def backward(ctx, grad_output):
        return mg.tensor(2.0)


def gradients(function):
    x = mg.tensor(3.0, requires_grad=True)
    alone = mg.autograd.grad(function.apply(x), x)[0]
    inside = mg.autograd.grad(function.apply(x) * 5, x)[0]
    return alone.item(), inside.item()


# %% tags=["predict", "hide-input", "step", "slide", "Q31"]
def forgetful():
    return gradients(ForgetsUpstream)


course.predict(
    "01.upstream",
    "First for y = ForgetsUpstream.apply(x) alone, then for y * 5: which gradients?",
    ["2, then 10", "2, then 2", "2, then 5", "2, then an error"],
    then=forgetful,
    so=lambda ran: (
        "2, then an error" if ran.error else "{:g}, then {:g}".format(*ran.value)
    ),
    why="It returns 2 whatever arrives. That's right only while the upstream gradient is 1.",
    at=["ForgetsUpstream.backward, line"] * 2,
)

# %% [markdown] tags=["explain", "slide"]
# 2 both times, and no error. If you test a `backward` on its own, the upstream gradient
# is 1 and the mistake doesn't show; inside a model it does, where 10 is right.

# %% [markdown]
# Where does the first upstream gradient come from? If the result has one number, the
# engine starts with 1. This result has two numbers, so *you* say how much each of them
# counts: 2 · 100 and 2 · 0.5. (With nothing in the brackets you'd get an error, *grad
# can be implicitly created only for scalar outputs*: a scalar is a single number.)

# %% tags=["explain", "Q26"]
pair.grad = None  # forget what came from earlier cells
Double.apply(pair).backward(mg.tensor([100.0, 0.5]))
pair.grad

# %% [markdown] tags=["explain"]
# For several numbers the local derivatives form a table, the **Jacobian**: a row for
# each number of the result, a column for each number of the input. `Double` has
# [[2, 0], [0, 2]], and the chain rule is [100, 0.5] · [[2, 0], [0, 2]] = [200, 1]. With
# those zeros you only need 2 times each number, so `backward` never builds the table.

# %% [markdown]
# ## Find the bug
#
# **Try.** This is a `CustomFunction` from a blog post, with the decorators added. First
# the comma: `ctx.saved_tensors` is a tuple, and `(x,) = ...` takes the one tensor out
# of a tuple of length 1. Run it, read the last line of the error, and repair the class.


# %% tags=["try", "raises-exception", "Q92"]
class CustomFunction(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # Save the input for the backward pass
        return x * 2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2


CustomFunction.apply(mg.tensor(1.0, requires_grad=True)).backward()

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# Nothing was saved, so the tuple is empty: *expected 1, got 0*. Call
# `ctx.save_for_backward(x)` in `forward`, or delete the line with the comma: a local
# derivative of 2 doesn't need `x`.
#
# </details>

# %% [markdown] tags=["slide"]
# ## What is self?
#
# When you call a method on an object, Python passes that object as the first argument,
# usually named `self`. Here's a `forward` that has a `self` and no decorator.


# %% tags=["slide"]
class Halve(mg.autograd.Function):
    def forward(self, x):
        self.note = "written through self"
        return x / 2

    def backward(self, grad_output):
        return grad_output / 2


def halved():
    return Halve.apply(mg.tensor(8.0, requires_grad=True))


# %% tags=["predict", "hide-input", "slide", "Q43", "Q35"]
course.predict(
    "01.self",
    "Halve.apply(x) runs this forward. What is self?",
    ["an object of type Halve", "the class Halve", "the ctx of this call", "x"],
    then=halved,
    so=lambda ran: (
        "the ctx of this call"
        if hasattr(ran.value.grad_fn, "note")
        else "the class Halve"
    ),
    why="Without `setup_context`, `apply` passes ctx as the first argument of `forward`, "
    "whatever its name. The note is on the result's node.",
    at="apply runs Halve.forward",
)

# %% [markdown] tags=["explain", "slide"]
# `self` is ctx. `apply` calls `forward` through the *class*, and never makes an object
# of type `Halve`. The first argument is ctx, whatever you named it; only in a class
# with `setup_context`, such as `MulConstant`, it's the first input. `@staticmethod`
# says openly that there's no `self`. torch's documentation asks for it, and teaching
# mode reminds you.

# %% [markdown] tags=["slide"]
# ## Function or Module?
#
# An `nn.Module` has a `forward` too, and it looks alike. But a Module is an object that
# *keeps* things between calls, its weights, so `self` is right there. It needs no
# `backward`: the engine records what its `forward` does. A Function has no object and
# keeps nothing but ctx. Here are both, and a direct call of `Double.forward`, with None
# for ctx: which node does each result have?


# %% tags=["slide"]
class Layer(mg.nn.Module):
    def forward(self, x):
        return Double.apply(x)


model, x = Layer(), mg.tensor(8.0, requires_grad=True)
print("model(x):      ", model(x).grad_fn.name())
print("Double.forward:", Double.forward(None, x).grad_fn.name())

# %% [markdown] tags=["explain", "slide"]
# | you write | what runs |
# |---|---|
# | `model(x)` | the Module's `forward`, with its hooks (lesson 05) |
# | `model.forward(x)` | the same without hooks: prefer `model(x)` |
# | `Double.apply(x)` | `forward`, not recorded; later your `backward` |
# | `Double.forward(None, x)` | an ordinary function: its product is recorded, your `backward` never runs |

# %% [markdown]
# ## Where in torch's source
#
# The forum's answer: `Function.apply` creates it, "deep in the C++ guts". This table is
# for the day on which you want to read those.
#
# <details><summary>Each phase: our function, and torch's</summary>
#
# | phase | here, in `minigrad/engine/core/` | in torch |
# |---|---|---|
# | class statement | `FunctionMeta`, `ctx.py` | `FunctionMeta.__init__`, `torch/autograd/function.py` |
# | the call | `Function.apply`, `function.py` | `Function.apply`, then `THPFunction_apply`, `torch/csrc/autograd/python_function.cpp` |
# | collect inputs | `collect_edges`, `node.py` | `unpack_input`, same file |
# | create ctx | `Function._create_ctx`, `function.py` | in `THPFunction_apply` |
# | run forward | `Function.apply`, `function.py` | in `THPFunction_apply`, grad mode off |
# | wrap outputs | `wrap_outputs`, `function.py` | `process_outputs`, then `_wrap_outputs`, `custom_function.cpp` |
# | link outputs | `BackwardCFunction._link_outputs`, `ctx.py` | `_process_backward_mode_ad` and `set_history`, `custom_function.cpp` |
# | take what was saved | `BackwardCFunction._take_what_was_saved`, `ctx.py` | `_save_variables`, `python_function.cpp`; `saved_variable.cpp` |
# | pick the next ready node | `GraphTask.run`, `backward.py` | `compute_dependencies` and `evaluate_function`, `engine.cpp` |
# | call its backward | `BackwardCFunction._run_backward`, `ctx.py` | `call_function`, `PyNode::apply`, `BackwardCFunction.apply`, then your method |
# | check what it returned | `GraphTask._check_returned`, `backward.py` | `validate_outputs`, `engine.cpp` |
# | add into the receivers | `GraphTask.run`, `backward.py` | `InputBuffer::add` |
# | release | `GraphTask.run`, `backward.py` | `PyNode::release_variables`, `python_function.cpp` |
# | at a leaf | `AccumulateGrad._run_backward`, `node.py` | `AccumulateGrad::apply`, `functions/accumulate_grad.cpp` |
#
# </details>

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say who makes ctx, when, and what it is. Answer each card in your own
# words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>Who makes ctx, and when?</summary>
#
# `apply`, once per call, before `forward` runs.
#
# </details>
#
# <details><summary>What is ctx once the call is over?</summary>
#
# If the call was recorded, its node in the graph: `result.grad_fn is ctx`. The engine
# finds it there and passes the same object to `backward`.
#
# </details>
#
# <details><summary>Why does every <code>backward</code> multiply by <code>grad_output</code>?</summary>
#
# Chain rule: the gradient for the input is the upstream gradient times the local
# derivative.
#
# </details>

# %% [markdown]
# In PyTorch this is the same. To run it there, put `import torch as mg` in the first
# cell and leave out what torch doesn't have: `%%step`, `course`, `teaching`, and in
# later lessons `mg.live`. (Unindent after `with mg.teaching(False):`.) Only the
# module name in the printed class begins with
# `torch`.
#
# ## Now you
#
# [Five exercises](../exercises/01_where_ctx_comes_from/01_exercises.ipynb)
# (01.5 is extra). In 01.4 you write a
# Function of your own. Then [lesson 02](02_what_should_ctx_remember.ipynb). Your
# progress, and what's next on your path:

# %%
course.progress("01")
