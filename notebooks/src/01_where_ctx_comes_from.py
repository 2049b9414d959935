# ruff: noqa: E501, RUF059  (tables in prose; a program quoted as it was asked)

# %% [markdown] tags=["slide"]
# # Where does ctx come from?
#
# You will
# * see the line that makes `ctx`, and when it runs,
# * find out what `ctx` is, and how it gets back to you in `backward`,
# * use the chain rule to say what `grad_output` is for.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% [markdown] tags=["slide"]
# ## The question, as it was asked
#
# From the PyTorch forum: *"I have no idea how the ctx variable gets passed for custom
# Functions. Where in the source code are you passing the ctx to the forward() and
# backward() methods?"* Below is the program that came with it. We only changed the
# import.


# %% tags=["slide"]
class MulConstant(mg.autograd.Function):
    def forward(tensor, constant):
        return tensor * constant

    def setup_context(ctx, inputs, output):
        tensor, constant = inputs
        print(ctx, type(ctx), ctx.__class__.__name__, sep="\n")
        ctx.constant = constant

    def backward(ctx, grad_output):
        # One gradient for each argument of forward; None for the plain number.
        return grad_output * ctx.constant, None


# %% [markdown] tags=["slide"]
# *ctx* is short for **context**. `forward` computes, then `setup_context` gets a `ctx`
# and can put things on it. Nothing in this program makes that object.
#
# **Predict.** What's the name of its class: `FunctionCtx`, `MulConstant` or
# `MulConstantBackward`? Decide, then run. (Teaching mode is off for this call: its
# advice would give a later question away.)

# %% tags=["predict", "slide"]
tensor = mg.ones((5, 1), requires_grad=True)
with mg.teaching(False):
    result = MulConstant.apply(tensor, 10)

# %% [markdown] tags=["explain", "slide"]
# It's a `MulConstantBackward`: a class you didn't write. It was created for you when
# the `class` statement ran, as for every subclass of `Function`.

# %% tags=["explain", "slide"]
MulConstant._backward_cls

# %% [markdown] tags=["slide"]
# ## Which line makes ctx?
#
# The class exists from the start. The object can't, because every call has its own
# `ctx.constant`. So when is it made?
#
# Commit a prediction. The player opens below it, at the step that decides. Then go back
# one step: is there a box for ctx yet?


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
# `apply` makes ctx before it runs any of your code. It works in six phases, and the
# player names each one:
#
# | phase | what happens |
# |---|---|
# | collect inputs | does any argument require a gradient? |
# | create ctx | a new `MulConstantBackward`: **this is the line** |
# | run forward | your code, without recording |
# | wrap outputs | each result becomes a tensor that can have a history |
# | wire edges | ctx becomes the result's `grad_fn`, and so joins the graph |
# | take what was saved | ctx stores the tensors you gave to `save_for_backward` |

# %% [markdown] tags=["slide"]
# ## Same or new?
#
# A Function can also take `ctx` in `forward` and leave `setup_context` out. Both styles
# get the same kind of object. This Function collects every ctx it meets in a list.
# (Don't do that in real code: a ctx holds on to memory.)

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


# %% [markdown] tags=["slide"]
# **Predict.** Two calls of one class. Which of these are True: `seen[0] is seen[1]`,
# `seen[0] is a.grad_fn`, `seen[1] is b.grad_fn`? (`grad_fn` is the *node* of the graph
# that made a tensor.)

# %% tags=["predict", "slide"]
leaf = mg.tensor([1.0, 2.0], requires_grad=True)
a = Double.apply(leaf)
b = Double.apply(leaf)
seen[0] is seen[1], seen[0] is a.grad_fn, seen[1] is b.grad_fn

# %% [markdown] tags=["explain", "slide"]
# Each call gets its own ctx, and **ctx is the node**: the object you put things on is
# the object the result carries as its `grad_fn`. That's the phase *wire edges*. It also
# means that everything on ctx stays in memory for as long as the result does.

# %% tags=["explain", "slide"]
result.grad_fn, result.grad_fn.constant

# %% tags=["because"]
course.because(
    "01.because",
    "Why isn't one ctx per class enough once two calls are in progress? One sentence, "
    "for yourself; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## How does ctx get back into backward?
#
# You don't call `backward` yourself either. **Predict.** After `a.sum().backward()`
# there's a third entry in `seen`. Is it a new object, or one of the two that are
# already there? (`%%step` on top of a cell shows the run of that cell in the player.)

# %% tags=["step", "slide"]
# %%step --level phases
a.sum().backward()

# %% tags=["explain", "slide"]
seen[2] is seen[0], seen[2] is a.grad_fn

# %% [markdown] tags=["explain", "slide"]
# It's the ctx of the first call. The engine goes through the graph from node to node,
# and a node *is* a ctx, so it has the right one at hand. For every node it repeats five
# phases: **pick the newest ready node · call its backward · check what it returned ·
# add into the receivers · release**. The last receiver adds to `leaf.grad`.

# %% [markdown] tags=["slide"]
# ## What is grad_output?
#
# Each `backward` so far multiplies by its argument `grad_output`. Why isn't the derivative
# of `Double`, 2, enough? Here's a call of it with one more step behind it. Read the last
# row from the right. Then find the same three numbers in the graph: where does 5 arrive,
# and where does it become 10?
#
# | | x | Double | y | times 5 | L |
# |---|---|---|---|---|---|
# | forward | 3 | → | 6 | → | 30 |
# | input + 1 means | | result + 2 | | result + 5 | |
# | backward | **10** | ← times 2 | **5** | ← times 5 | **1** |

# %% tags=["step", "slide", "Q31"]
# %%step
x = mg.tensor(3.0, requires_grad=True)
y = Double.apply(x)
L = y * 5
L.backward()

# %% [markdown] tags=["explain", "slide"]
# If `y` grows by 1, `L` grows by 5: that's the **upstream gradient**, and it's what
# `Double.backward` gets as `grad_output`. If `x` grows by 1, `y` grows by 2: the **local
# derivative**, the only thing `Double` itself knows. So if `x` grows by 1, `L` grows by
# 5 · 2 = 10. That's the **chain rule**, and each `backward` is one use of it:
#
# > gradient for the input = upstream gradient · local derivative

# %% [markdown] tags=["slide"]
# It's tempting to return just the local derivative. This rule does; `gradients` tries it
# on its own, and then with the step behind it.


# %% tags=["slide"]
class ForgetsUpstream(Double):
    @staticmethod
    def backward(ctx, grad_output):
        return mg.tensor(2.0)


def gradients(function):
    x = mg.tensor(3.0, requires_grad=True)
    (alone,) = mg.autograd.grad(function.apply(x), x)
    (inside,) = mg.autograd.grad(function.apply(x) * 5, x)
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
# 2 both times, and no error. If you test a rule on its own, the upstream gradient is 1
# and the mistake doesn't show; inside a model it does. `Double` gets both right:

# %% tags=["explain", "slide", "Q31"]
gradients(Double)

# %% [markdown]
# Where does the first upstream gradient come from? If the result has one number, the
# engine starts with 1. `b` has two numbers, so *you* say how much each of them counts.
# `a.sum()` has left [2, 2] in `leaf.grad`, and this adds 2 · 100 and 2 · 0.5. (Leave the
# brackets empty: *grad can be implicitly created only for scalar outputs*.)

# %% tags=["explain", "Q26"]
b.backward(mg.tensor([100.0, 0.5]))
seen[-1] is b.grad_fn, leaf.grad

# %% [markdown]
# ## Find the bug
#
# **Try.** This is a `CustomFunction` from a blog post, with the decorators added. First
# the comma: `ctx.saved_tensors` is a tuple, and `(x,) = ...` takes the one tensor out of
# a tuple of length 1. Run it, read the last line of the error, and repair the class.


# %% tags=["try", "raises-exception"]
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
#
# **Predict.** What is `self`: a `Halve`, the class `Halve`, or something else?


# %% tags=["predict", "slide"]
class Halve(mg.autograd.Function):
    def forward(self, x):
        self.note = "written through self"
        return x / 2

    def backward(self, grad_output):
        return grad_output / 2


# %% tags=["explain", "slide", "Q43", "Q35"]
half = Halve.apply(mg.tensor(8.0, requires_grad=True))
half.grad_fn, half.grad_fn.note

# %% [markdown] tags=["explain", "slide"]
# `self` is ctx. `apply` calls `forward` through the *class* and passes ctx as the first
# argument, whatever you named it. `apply` never makes an object of type `Halve`. With
# `@staticmethod` you say openly that there's no `self` here. torch's documentation asks
# for it, and teaching mode reminds you.

# %% [markdown]
# Two more calls that people ask about. Old programs made an object of the class and
# called it. Run the cell and read the error. Then decorate `Halve.forward` with
# `@staticmethod`, as the error seems to ask: it comes back. The wording is left over from
# an older torch. What's refused is *calling an object*, so use `Halve.apply`.

# %% tags=["explain", "raises-exception", "Q01"]
Halve()(mg.tensor(8.0))

# %% [markdown] tags=["explain"]
# The second call passes an argument by name. That works here and in torch 2.13; older
# versions of torch refuse it, so wrap `apply` in a function of your own if your program
# has to run there.

# %% tags=["explain", "Q18"]
MulConstant.apply(tensor, constant=3)

# %% [markdown] tags=["slide"]
# ## Function or Module?
#
# An `nn.Module` has a `forward` too, and it looks alike. But a Module is an object that
# *keeps* things between calls, its weights, so `self` is right there. It needs no
# `backward`: the engine records what its `forward` does. A Function has no object and
# keeps nothing but ctx. **Predict** the two names below: which node does a direct call
# of `forward` leave?


# %% tags=["predict", "slide"]
class Layer(mg.nn.Module):
    def forward(self, x):
        return Halve.apply(x)


model, x = Layer(), mg.tensor(8.0, requires_grad=True)
print("model(x):     ", model(x).grad_fn.name())
print("Halve.forward:", Halve.forward(model, x).grad_fn.name())

# %% [markdown] tags=["explain", "slide"]
# | you write | what runs |
# |---|---|
# | `model(x)` | the Module's hooks (lesson 05), and its `forward` |
# | `model.forward(x)` | `forward` alone, without hooks: prefer `model(x)` |
# | `Halve.apply(x)` | `forward`, not recorded; later your `backward` |
# | `Halve.forward(..., x)` | an ordinary function: its division is recorded, and your `backward` never runs |

# %% [markdown]
# ## Where in torch's source
#
# The answer the forum got: `Function.apply` creates it, "deep in the C++ guts". The
# functions on the left are the ones you've just stepped through.
#
# | phase | here, in `minigrad/engine/core/` | in torch |
# |---|---|---|
# | class statement | `FunctionMeta`, `ctx.py` | `FunctionMeta.__init__`, `torch/autograd/function.py` |
# | the call | `Function.apply`, `function.py` | `Function.apply`, then `THPFunction_apply`, `torch/csrc/autograd/python_function.cpp` |
# | collect inputs | `collect_edges`, `node.py` | `unpack_input`, same file |
# | create ctx | `Function._create_ctx`, `function.py` | in `THPFunction_apply` |
# | run forward | `Function.apply`, `function.py` | in `THPFunction_apply`, grad mode off |
# | wrap outputs | `wrap_outputs`, `function.py` | `process_outputs`, then `_wrap_outputs`, `custom_function.cpp` |
# | wire edges | `BackwardCFunction._wire_edges`, `ctx.py` | `_process_backward_mode_ad` and `set_history`, `custom_function.cpp` |
# | take what was saved | `BackwardCFunction._take_what_was_saved`, `ctx.py` | `_save_variables`, `python_function.cpp`; `saved_variable.cpp` |
# | pick the newest ready node | `GraphTask.run`, `backward.py` | `compute_dependencies` and `evaluate_function`, `engine.cpp` |
# | call its backward | `BackwardCFunction._run_backward`, `ctx.py` | `call_function`, `PyNode::apply`, `BackwardCFunction.apply`, then your method |
# | check what it returned | `GraphTask._check_returned`, `backward.py` | `validate_outputs`, `engine.cpp` |
# | add into the receivers | `GraphTask.run`, `backward.py` | `InputBuffer::add` |
# | release | `GraphTask.run`, `backward.py` | `PyNode::release_variables`, `python_function.cpp` |
# | at a leaf | `AccumulateGrad._accumulate`, `node.py` | `AccumulateGrad::apply`, `functions/accumulate_grad.cpp` |

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say who makes ctx, when, and what it is. Answer each card in your own
# words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>Who makes ctx, and when?</summary>
#
# `apply`, once per call, before `forward` runs; even when nothing will be recorded.
#
# </details>
#
# <details><summary>What is ctx once the call is over?</summary>
#
# The node of the graph: `result.grad_fn is ctx`. The engine finds it there and passes
# the same object to `backward`.
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
# **In PyTorch this is** the same: put `import torch as mg` in the first cell and leave
# out the lines that teach (`teaching`, `course` and the stepper). With torch 2.13 every
# answer above stays the same; with an older torch the call with `constant=3` is an error.
# Only the module name in the printed class begins with `torch`.
#
# ## Now you
#
# [Five exercises](../exercises/01_where_ctx_comes_from/01_where_ctx_comes_from.ipynb);
# in 01.4 you write a Function of your own. Then
# [lesson 02](02_what_should_ctx_remember.ipynb). Your progress so far:

# %%
course.progress()
