# ruff: noqa: E501, RUF059  (tables in prose; a program quoted as it was asked)

# %% [markdown] tags=["slide"]
# # Where does ctx come from?
#
# You will
# * see the line that makes `ctx`, and when it runs,
# * find out what `ctx` is, and how it gets back to you in `backward`,
# * tell `ctx` from `self`.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% [markdown] tags=["slide"]
# ## The question, as it was asked
#
# Somebody in the PyTorch forum wrote: *"I have no idea how the ctx variable gets
# passed for custom Functions. Where in the source code are you passing the ctx to the
# forward() and backward() methods?"* This is their program. Only the import is ours.


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
# `forward` computes. `setup_context` then gets a `ctx` and may put things on it.
# Nothing in this program makes that object.
#
# **Predict.** What is the name of its class: `FunctionCtx`, `MulConstant` or
# `MulConstantBackward`? Decide, then run.

# %% tags=["predict", "slide"]
tensor = mg.ones((5, 1), requires_grad=True)
result = MulConstant.apply(tensor, 10)

# %% [markdown] tags=["explain", "slide"]
# It is a `MulConstantBackward`: a class that you did not write. It was made at the
# moment the `class` statement ran. (The warning is from teaching mode: the program
# runs without `@staticmethod`, and the section *And self?* says why.)

# %% tags=["explain", "slide"]
MulConstant._backward_cls

# %% [markdown] tags=["slide"]
# ## The line that makes it
#
# So the class is there early. The object cannot be: `ctx.constant` is different for
# every call.
#
# Commit a prediction, and the recording opens below it, at the step that decides. Step
# back once: what's in the ctx pane before it?


# %% tags=["predict", "hide-input", "step", "slide", "Q42"]
def call():
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
)

# %% [markdown] tags=["explain", "slide"]
# Before. `apply` makes it, so whoever calls `apply` has a ctx. These are its six
# phases:
#
# | phase | what happens |
# |---|---|
# | collect inputs | does any argument require a gradient? |
# | create ctx | a new `MulConstantBackward`: **this is the line** |
# | run forward | your code, without recording |
# | wrap outputs | each result becomes a tensor that can have a history |
# | wire edges | ctx becomes the result's `grad_fn`, and so joins the graph |
# | take what was saved | ctx keeps what your code gave `save_for_backward` |

# %% [markdown]
# **Try.** Here nothing requires a gradient, so nothing will be recorded. Is there a
# ctx all the same? Guess, step to the end, and look at the graph: what is missing
# there? To follow the lines of `apply` itself, choose the level *Everything* in the
# player.

# %% tags=["try"]
mg.step(MulConstant.apply, mg.ones(3), 10)

# %% [markdown] tags=["slide"]
# ## Same or new?
#
# A Function may also take `ctx` in `forward` and do without `setup_context`; both
# styles get the same object. This one keeps every ctx it meets in a list. (In real
# code do not keep them: a ctx holds on to memory.)

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
# `seen[0] is a.grad_fn`, `seen[1] is b.grad_fn`? (`grad_fn` is the node of the graph
# that made a tensor.)

# %% tags=["predict", "slide"]
seen.clear()
x = mg.tensor([1.0, 2.0], requires_grad=True)
a = Double.apply(x)
b = Double.apply(x)

# %% tags=["step", "slide"]
seen[0] is seen[1], seen[0] is a.grad_fn, seen[1] is b.grad_fn

# %% [markdown] tags=["explain", "slide"]
# Every call has a ctx of its own, and **ctx is the node**: the object you put things
# on is the one that the result carries as `grad_fn`. The phase *wire edges* is where
# it got there. So what you leave on ctx lives as long as the result does.

# %% tags=["explain", "slide"]
result.grad_fn, result.grad_fn.constant

# %% tags=["because"]
course.because(
    "01.because",
    "Why would one ctx for the whole class not do, once two calls are under way? One "
    "sentence; it is for you and nobody grades it.",
)

# %% [markdown] tags=["slide"]
# ## How it comes back in backward
#
# Now nobody calls your `backward` by hand either.
#
# **Predict.** After `a.sum().backward()` there will be a third entry in `seen`. Is it
# a new object, or one of the two that are there? (`%%step` on top of a cell shows the
# run of that cell in the player.)

# %% tags=["step", "slide"]
# %%step
a.sum().backward()

# %% tags=["step", "slide"]
seen[2] is seen[0], seen[2] is a.grad_fn

# %% [markdown] tags=["explain", "slide"]
# The same object that `forward` was given in that call. The engine walks from node to
# node, and the node it stands on *is* ctx, so it has it at hand. It repeats five phases:
# **pick the newest ready node · call its backward · check what it returned · add into
# the receivers · release**. The last receiver, `AccumulateGrad`, adds to `x.grad`.

# %% tags=["explain", "slide"]
x.grad

# %% [markdown]
# **Try.** `a.sum()` sent back a gradient of ones. Send another one, through the
# second call this time. Which entry of `seen` will be met, and what will `x.grad` be
# after it? (It adds to what is there.) Then leave the brackets empty: `b` has two
# numbers, and nobody says how much each of them counts.

# %% tags=["try", "Q26", "Q31"]
b.backward(mg.tensor([100.0, 0.5]))
seen[3] is seen[1], x.grad

# %% [markdown] tags=["slide"]
# ## And self?
#
# In a method, Python fills the first parameter, usually called `self`, with the
# object the method was called on. Here is a `forward` with a `self` and no decorator.
#
# **Predict.** What is `self`: a `Halve`, the class `Halve`, or something else?


# %% tags=["predict", "slide"]
class Halve(mg.autograd.Function):
    def forward(self, x):
        self.note = "written through self"
        return x / 2

    def backward(self, grad_output):
        return grad_output / 2


# %% tags=["step", "slide", "Q43", "Q35"]
half = Halve.apply(mg.tensor(8.0, requires_grad=True))
half.grad_fn, half.grad_fn.note

# %% [markdown] tags=["explain", "slide"]
# `self` is ctx. `apply` looks `forward` up on the *class* and hands it ctx as the
# first argument, so no object of type `Halve` ever exists. Which name you give to the
# parameter does not matter. `@staticmethod` says so openly: *nobody fills in self
# here*. torch's documentation asks for it, and teaching mode reminds you.

# %% [markdown]
# **Try.** Two ways to call that people ask about. The first makes an object of the
# class and calls it, as old code does; the second names an argument. Guess which of
# them works. Then let the class decorate `forward` with `@staticmethod`, as `Double`
# does: does the first work now?

# %% tags=["try", "raises-exception", "Q01"]
Halve()(mg.tensor(8.0))

# %% tags=["try", "Q18"]
MulConstant.apply(tensor, constant=3)

# %% [markdown]
# ## Where in torch's source
#
# The answer the forum got: `Function.apply` creates it, "deep in the C++ guts". The
# names on the left are the Python functions you have just stepped through.
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
# `apply`, once for each call, before `forward` runs; also when nothing will be
# recorded.
#
# </details>
#
# <details><summary>What is ctx, once the call is over?</summary>
#
# The node of the graph: `result.grad_fn is ctx`. The engine finds it there and hands
# the same object to `backward`.
#
# </details>
#
# <details><summary>What is <code>self</code> in a <code>forward</code> without @staticmethod?</summary>
#
# ctx. There is no object of your Function's class.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same: put `import torch as mg` in the first cell, leave
# out the lines that teach (`teaching`, `course` and the stepper), and every answer
# above stays as it is. Only the module name in the printed class begins with `torch`.
#
# ## Now you
#
# [Five exercises](../exercises/01_where_ctx_comes_from/01_where_ctx_comes_from.ipynb)
# wait for you; in 01.4 you write a Function of your own. They link back to this lesson,
# so you can return at any time. Where you stand:

# %%
course.progress()
