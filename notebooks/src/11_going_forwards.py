# %% [markdown] tags=["slide"]
# # Going forwards
#
# You will
# * send a derivative through a program in the direction in which its values go,
# * write the rule for that, and test it against backward,
# * find out what the other direction costs, and when you'd want both at once.

# %%
import time

import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("11")

# %% [markdown] tags=["slide"]
# ## What's a tangent?
#
# Backward tells you how one result depends on every input. Now you want something else:
# you change an input, and ask how fast everything after it changes. How fast a value
# changes along the direction that you chose is its **tangent**. A Function's rule for
# tangents is a method called **jvp**.


# %% tags=["slide"]
class Mul(mg.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t


# %% [markdown] tags=["slide"]
# backward gets one gradient for each output. jvp gets one tangent for each input: `x_t`
# for x, `y_t` for y; zeros for a tensor that doesn't change. It returns the tangent of
# the result, a sum of two terms: one because x changes, one because y does.
# (`save_for_forward` comes later.)
#
# **Look.** `make_dual` gives x the tangent 1; b gets none. Tangents are drawn in
# purple. When does each one appear: with its value, or after all values are there?

# %% tags=["step", "slide"]
# %%step --level picture
a = mg.tensor(4.0, requires_grad=True)
b = mg.tensor(0.5)
with mg.autograd.forward_ad.dual_level():
    x = mg.autograd.forward_ad.make_dual(a, mg.tensor(1.0))
    y = Mul.apply(x, b) ** 3

# %% [markdown] tags=["explain", "slide"]
# With its value. `apply` runs forward, and right after it jvp, so the tangent 0.5 is
# there before the power is computed. The power has a jvp of its own: at 2, the cube has
# the slope 3 · 2² = 12, and 12 times 0.5 is 6. When the last value is there, its
# derivative is there, too. A value together with its tangent is called a **dual
# number**. It's one inside the `dual_level` block only; there, `unpack_dual(y)` gives
# you both parts. (`view` makes x from a. `a` requires grad so that the picture has
# nodes; what they keep for backward isn't used here.)

# %% [markdown] tags=["slide"]
# You'll rarely write that block. `mg.func.jvp(f, inputs, tangents)` does the same: it
# runs `f` once, on dual numbers, and returns the value and the tangent of the result.
# Both arguments are tuples, with one entry for each argument of `f`.


# %% tags=["slide"]
def f(x):
    return Mul.apply(x, mg.tensor(0.5)) ** 3


mg.func.jvp(f, (mg.tensor(4.0),), (mg.tensor(1.0),))

# %% [markdown]
# **Try.** What happens to the last tangent if the first one is 2 instead of 1? And with
# 0, or -1? Say it first, then move the slider.


# %% tags=["try"]
def along(tangent=1.0):
    a = mg.tensor(4.0, requires_grad=True)
    with mg.autograd.forward_ad.dual_level():
        x = mg.autograd.forward_ad.make_dual(a, mg.tensor(tangent))
        y = Mul.apply(x, mg.tensor(0.5)) ** 3
    return y


mg.live(along, tangent=1.0)

# %% [markdown] tags=["explain"]
# It doubles, vanishes, and changes its sign, while the values stay as they are. A jvp
# is linear in the tangents, as backward is linear in the upstream gradient.

# %% [markdown] tags=["slide"]
# ## What does no_grad do to a slope?
#
# `cube` returns the cube of x. Without the `with` line, both derivatives at 3 would be
# 27. `grad` takes the one in reverse, and `jvp` the one going forwards.


# %% tags=["slide"]
def cube(x):
    with mg.no_grad():
        square = x * x
    return x * square


def both_ways():
    x = mg.tensor(3.0)
    slope_reverse = mg.func.grad(cube)(x)
    _, slope_forward = mg.func.jvp(cube, (x,), (mg.tensor(1.0),))
    return slope_reverse.item(), slope_forward.item()


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "11.no_grad",
    "What does both_ways() return: the slope in reverse, and the slope forward?",
    ["9 and 9", "27 and 27", "9 and 27", "9 and 0"],
    then=both_ways,
    so=lambda ran: "{:g} and {:g}".format(*ran.value),
    why="no_grad switches off the recording that backward needs. A tangent is computed "
    "at once, with its value, and isn't recorded for anybody.",
    at="has the tangent 6",
)

# %% [markdown] tags=["explain", "slide"]
# In reverse, `square` has no node, so backward takes it for a constant: 9. Going
# forwards, no node is needed: `square` got its tangent 6 with its value 9, and the
# product gets 1 · 9 + 3 · 6 = 27. Forward mode ignores `requires_grad` and `no_grad`,
# and keeps nothing for later. If you want a value to count as a constant in both
# directions, use `detach()`, which drops the tangent, too.


# %% tags=["slide"]
def cut(x):
    return x * (x * x).detach()


x = mg.tensor(3.0)
mg.func.grad(cut)(x), mg.func.jvp(cut, (x,), (mg.tensor(1.0),))[1]

# %% [markdown] tags=["slide"]
# ## What does jvp find in saved_tensors?
#
# Here's exp with a jvp. It saves its result as in lesson 02, where backward read it
# from `saved_tensors` (we leave that backward out here). Now jvp reads it. What's in
# there?


# %% tags=["slide"]
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def jvp(ctx, x_t):
        (result,) = ctx.saved_tensors
        return x_t * result


# %% tags=["raises-exception", "slide", "Q23"]
mg.func.jvp(Exp.apply, (mg.tensor(0.0),), (mg.tensor(1.0),))

# %% [markdown] tags=["explain", "slide"]
# Nothing. ctx keeps two lists, since the two rules run at different times. What
# backward needs has to wait, maybe for long. What jvp needs is used right away and
# dropped. And they need not be the same tensors. `ctx.saved_tensors` shows the list of
# the rule that runs: in jvp, what `save_for_forward` was given.


# %% tags=["slide", "Q23"]
class Saved(Exp):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)


mg.func.jvp(Saved.apply, (mg.tensor(0.0),), (mg.tensor(1.0),))

# %% [markdown] tags=["explain", "slide"]
# Don't make this save depend on `ctx.needs_input_grad`. That's about backward only: for
# an input with a tangent, but without `requires_grad`, it's False, and jvp still runs.
#
# For an argument that isn't a tensor, jvp gets None. And if a Function has no jvp at
# all, you get an error as soon as a tangent reaches it, not zeros.

# %% [markdown] tags=["slide"]
# ## Do jvp and backward agree?
#
# You've written one derivative twice. All slopes of a Function make its Jacobian, the
# matrix J: a row for each output, a column for each input. jvp multiplies J with
# the tangents v. backward multiplies the transposed matrix Jᵀ with the upstream
# gradients g. Neither builds the matrix. Here's a Function with two outputs.


# %% tags=["slide"]
class SumAndProduct(Mul):
    @staticmethod
    def forward(x, y):
        return x + y, x * y

    @staticmethod
    def backward(ctx, g_sum, g_product):
        x, y = ctx.saved_tensors
        return g_sum + g_product * y, g_sum + g_product * x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x_t + y_t, x_t * y + x * y_t


# %% [markdown] tags=["slide"]
# If both rules belong to the same J, then g · (Jv) and (Jᵀg) · v are the same number:
# in both, each slope is multiplied with one g and one v, and all are added. That's the
# **dot-product test**; for a linear forward it's the adjoint test of lesson 06.
# (`mg.func.vjp` returns the value, and a function that maps your g to Jᵀg.)


# %% tags=["slide"]
def dot(these, those):
    return sum([(a * b).sum() for a, b in zip(these, those, strict=True)]).item()


def dot_product_test(function):
    inputs = mg.tensor([2.0, 3.0]), mg.tensor([5.0, 7.0])
    v = mg.tensor([1.0, 0.5]), mg.tensor([-1.0, 2.0])
    g = mg.tensor([4.0, 1.0]), mg.tensor([2.0, -3.0])
    Jv = mg.func.jvp(function.apply, inputs, v)[1]
    _, pull_back = mg.func.vjp(function.apply, *inputs)
    JTg = pull_back(g)
    return dot(g, Jv), dot(JTg, v)


dot_product_test(SumAndProduct)

# %% [markdown]
# **Try.** This backward has x and y exchanged. Which of the two numbers changes? And if
# jvp were wrong in the same way, would you notice?


# %% tags=["try"]
class Exchanged(SumAndProduct):
    @staticmethod
    def backward(ctx, g_sum, g_product):
        x, y = ctx.saved_tensors
        return g_sum + g_product * x, g_sum + g_product * y


dot_product_test(Exchanged)

# %% [markdown] tags=["explain"]
# The second: only it uses backward. If both rules belong to the same wrong J, the
# numbers agree, and you notice nothing; comparing with small steps helps (lesson 13).

# %% [markdown] tags=["slide"]
# ## Another function called jvp
#
# `Square` has rules for both directions, and each counts its calls. (It saves x for
# both, as `Mul` does.) The function `mg.autograd.functional.jvp(f, x, v)` returns f's
# value and its derivative along v.


# %% tags=["slide"]
calls = {"backward": 0, "jvp": 0}


class Square(Mul):
    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        calls["backward"] += 1
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x

    @staticmethod
    def jvp(ctx, x_t):
        calls["jvp"] += 1
        (x,) = ctx.saved_tensors
        return x_t * 2 * x


# %% tags=["predict", "hide-input", "step", "slide"]
def functional():
    calls.update(backward=0, jvp=0)
    x, v = mg.tensor(3.0), mg.tensor(1.0)
    mg.autograd.functional.jvp(Square.apply, x, v)
    return calls["backward"], calls["jvp"]


course.predict(
    "11.functional",
    "autograd.functional.jvp(Square.apply, x, v) is called for x = 3 and v = 1. The "
    "slope is 6, as it should be. How often was each rule called?",
    [
        "backward 0 times, jvp once",
        "backward once, jvp once",
        "backward once, jvp 0 times",
        "backward twice, jvp 0 times",
    ],
    then=functional,
    so=lambda ran: "backward {}, jvp {}".format(
        *[["0 times", "once", "twice"][n] for n in ran.value]
    ),
    why="It transposes twice: it runs backward and records it, and then goes back "
    "through what backward computed.",
    at="backward begins with 1",
)

# %% [markdown] tags=["explain", "slide"]
# Think of backward as a function of g, with x fixed. It maps g to Jᵀg. That's linear in
# g, so its Jacobian is the matrix Jᵀ, for every g. A backward pass multiplies with the
# transpose of a Jacobian. So when you differentiate Jᵀg with respect to g, not x, and
# use v as the upstream gradient, you get (Jᵀ)ᵀ v, and that's Jv. Here it is by hand:


# %% tags=["slide"]
x, v = mg.tensor(3.0, requires_grad=True), mg.tensor(1.0)
g = mg.tensor(0.0, requires_grad=True)
(JTg,) = mg.autograd.grad(Square.apply(x), x, g, create_graph=True)
mg.autograd.grad(JTg, g, v)

# %% [markdown] tags=["explain", "slide"]
# The first `grad` runs your backward, and records grad_output · 2 · x. g can be 0,
# because the slope of that in g is 2x, whatever g is. The second `grad` goes through
# the recorded multiplications, not through your backward. Your jvp isn't needed, so
# this works for a Function that has none. jvp runs only when a tangent comes along, as
# in `mg.func.jvp`.

# %% tags=["because", "hide-input"]
course.because(
    "11.because",
    "Does autograd.functional.jvp return the right slope if only backward is wrong? If "
    "only jvp is? Say why, in one sentence; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## Which direction is cheaper?
#
# One jvp gives one column of J, or whatever mix of columns v asks for. One backward
# gives one row. `wide` maps 3 numbers to 1000. Here's its Jacobian, built both ways.


# %% tags=["slide"]
def wide(x):
    return (mg.linspace(0, 1, 3000).reshape(1000, 3) @ x).sin()


def forwards(x):
    return [mg.func.jvp(wide, (x,), (v,))[1] for v in mg.eye(len(x))]


def backwards(x):
    y, pull_back = mg.func.vjp(wide, x)
    return [pull_back(g)[0] for g in mg.eye(len(y))]


# %% [markdown] tags=["slide"]
# Both lists hold all 3000 slopes. **Predict.** How long does `backwards` take: about as
# long as `forwards`, or more than 2, 5 or 50 times as long? `seconds` takes the best of
# three runs.


# %% tags=["predict", "slide"]
def seconds(run):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        run(mg.ones(3))
        times.append(time.perf_counter() - start)
    return min(times)


ratio = seconds(backwards) / seconds(forwards)
{times: ratio > times for times in (2, 5, 50)}

# %% [markdown] tags=["explain", "slide"]
# 1000 passes against 3. (Look at `ratio` for the number on your computer.) In general:
#
# | you want | passes forward | passes in reverse |
# |---|---|---|
# | all of J, n inputs and m outputs | n | m |
# | the gradient of a loss, m = 1 | n | 1 |
# | how all outputs change along one v | 1 | m, or 2 with `functional.jvp` |
#
# Training has millions of parameters and one loss, so it goes in reverse. Forward mode
# wins with few inputs, or with one direction; and it keeps no saved tensors, however
# long the program is. `mg.func.jacfwd` and `mg.func.jacrev` build J each way, without a
# loop of yours.

# %% [markdown] tags=["slide"]
# ## Forward over reverse
#
# The gradient of a function is a program, too. So you can send a tangent through it.
# The gradient has n inputs and n outputs, its Jacobian is the Hessian H of lesson 10,
# and jvp multiplies that with v in one pass. Here h is x0² · x1, at (3, 5).


# %% tags=["slide"]
def h(x):
    return x[0] * x[0] * x[1]


x, v = mg.tensor([3.0, 5.0]), mg.tensor([1.0, 2.0])
mg.func.jvp(mg.func.grad(h), (x,), (v,))

# %% [markdown] tags=["explain", "slide"]
# First the gradient (30, 9), then H times v: [[10, 6], [6, 0]] times (1, 2) is (22, 6).
# Lesson 10 ran backward twice for that, and had to record the first backward pass. Here
# h runs on dual numbers. What it saves for backward is dual, too, so each gradient that
# backward computes from it gets its tangent at once. (Those saved tensors wait, as in
# any backward pass; nothing more is kept for jvp.) If Functions of yours are in `h`,
# they need a jvp, and a backward made of tensor operations.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now give a Function both of its rules, test one against the other, and choose
# a direction. Answer each card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>What does jvp get, and what does it return?</summary>
#
# One tangent for each argument of forward: zeros for a tensor that doesn't change. It
# returns one tangent for each output.
#
# </details>
#
# <details><summary>Why is saved_tensors empty in my jvp?</summary>
#
# In jvp it shows what `save_for_forward` was given. `save_for_backward` fills it for
# backward only.
#
# </details>
#
# <details><summary>Which direction is cheaper?</summary>
#
# Forward takes a pass for each input, or for each direction you ask about; reverse
# takes one for each output. A loss has one output.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same, with one exception: a jvp of a jvp. PyTorch 2.13 runs
# your jvp with tangents switched off, so a second derivative that goes forward twice
# through your Function comes out as 0, without a word. Here it's right. Go forward over
# reverse, and both agree.
#
# ## Now you
#
# [Six exercises](../exercises/11_going_forwards/11_exercises.ipynb) wait for you;
# in 11.2 you write forward mode yourself, in 20 lines. They link back to this lesson.
# Where you stand:

# %%
course.progress("11")
