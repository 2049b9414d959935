# ruff: noqa: E501, RUF059  (a link; a program as PyTorch's documentation has it)

# %% [markdown] tags=["slide"]
# # Differentiating the derivative
#
# You will
# * watch a backward that is recorded, and differentiate what it computed,
# * find out what comes out when a backward leaves the graph, and who tells you,
# * compute second derivatives of a thousand numbers without making a million.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("10")

# %% [markdown] tags=["slide"]
# ## What does create_graph record?
#
# A slope changes with x, too, and how fast it does is the **second derivative**. To get
# it, you differentiate the slope, so the slope needs a graph of its own. You ask for
# one with `create_graph=True`. (`mg.autograd.grad(y, x)` returns a tuple, and leaves
# x.grad alone.)


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


# %% [markdown] tags=["slide"]
# **Look.** Step through this and watch for a second graph. Which line of which method
# makes its node? To which leaf does that node's edge lead? And which nodes does
# `slope.backward()` call?

# %% tags=["step", "slide"]
# %%step --level picture
x = mg.tensor(3.0, requires_grad=True)
y = Square.apply(x)
(slope,) = mg.autograd.grad(y, x, create_graph=True)
slope.backward()

# %% [markdown] tags=["explain", "slide"]
# `Square.backward` multiplied by 2 and then by x. Under `create_graph` the second of
# these was recorded like any other operation: a node of *graph 2*, whose edge leads to
# the same x, because x is what was saved. (The first one wasn't: neither 1 nor 2 needs
# a gradient.) So the slope is 2x as a graph, not just the number 6, and its own
# backward gives 2. `SquareBackward` isn't called again.

# %% [markdown]
# **Try.** Drag the 3 of x in the picture, or click it and type another number. Which
# number at the end stays the same? (The 2: the slope of 2x is 2 at every x.)

# %% [markdown] tags=["slide"]
# `mg.is_grad_enabled()` says whether operations are being recorded (PyTorch calls this
# the grad mode). This Square notes the mode inside its backward, and is asked for its
# slope in three ways. Each pair shows that mode, and whether the slope has a graph.

# %% tags=["slide", "Q65"]
modes = []


class Noting(Square):
    @staticmethod
    def backward(ctx, grad_output):
        modes.append(mg.is_grad_enabled())
        return Square.backward(ctx, grad_output)


def noted(**options):
    x = mg.tensor(3.0, requires_grad=True)
    (slope,) = mg.autograd.grad(Noting.apply(x), x, **options)
    return modes[-1], slope.requires_grad


noted(), noted(retain_graph=True), noted(create_graph=True)

# %% [markdown] tags=["explain", "slide"]
# Here backward ran with recording off, unless `create_graph` asked for it.
# `retain_graph` is something else: it keeps what the *first* graph saved, for another
# pass, and makes no second graph. (`create_graph` retains, too; you'll soon see why.)
#
# Now the call of `grad` is inside `no_grad`. What does that change, if anything?


# %% tags=["slide"]
def within_no_grad():
    x = mg.tensor(3.0, requires_grad=True)
    y = Noting.apply(x)
    with mg.no_grad():
        (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return modes[-1], slope.requires_grad


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "10.no_grad",
    "What does within_no_grad() return: the mode inside backward, and whether the slope "
    "has a graph?",
    ["False, False", "True, True", "True, False", "nothing: grad raises an error"],
    then=within_no_grad,
    so=lambda ran: (
        "nothing: grad raises an error" if ran.error else "{}, {}".format(*ran.value)
    ),
    why="Inside backward the engine sets the mode, by `create_graph` alone.",
    at="Its box keeps 2 for backward",
)

# %% [markdown] tags=["slide"]
# ## What does once_differentiable do?
#
# `@once_differentiable` marks a backward as not meant to be differentiated again. This
# Cube carries the mark. The program asks for the second derivative of u * Cube(u), the
# fourth power of u, at 2.


# %% tags=["slide"]
class Cube(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    @mg.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x * x


# %% tags=["slide"]
u = mg.tensor(2.0, requires_grad=True)
y = u * Cube.apply(u)
(u_slope,) = mg.autograd.grad(y, u, create_graph=True)


def last_call():
    (second,) = mg.autograd.grad(u_slope, u, retain_graph=True)
    return second


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "10.once",
    "What does last_call() return? (It retains the graph so that you can run the cell "
    "again.)",
    ["48", "24", "12", "nothing: it raises an error"],
    then=last_call,
    so=lambda ran: (
        "nothing: it raises an error" if ran.error else f"{ran.value.item():g}"
    ),
    why="There is a node that raises, but not on the way to u, so `grad` never runs it.",
    at="gets 1",
)

# %% [markdown] tags=["explain", "slide"]
# u_slope, the slope of u * Cube(u), is Cube(u) plus u times Cube's slope: 8 + 24. Its
# graph has two branches:
#
# ```
# u_slope = 8 + 24
#           |    |
#           |    +-- Error -------- a new leaf, made by the mark
#           |
#           +------- CubeBackward -- u
# ```
#
# * **8** is what forward returned, so its branch leads into the first graph (that's why
#   `create_graph` retains). Cube.backward runs again and gives **12**. The mark allows
#   that: running twice isn't being differentiated.
# * **24** is what the marked backward returned. The mark switches recording off inside,
#   so 24 has no path to u. In its place the mark puts a node, `Error`, which raises
#   when it runs.
#
# `grad` is asked for u alone, so it only runs nodes on a path to u. `Error` isn't on
# one, so it never runs, and 24's share, 36, is missing.

# %% [markdown]
# **Try.** `u_slope.backward()` isn't asked for u alone: it runs every node of the graph,
# down to every leaf. What will it do here? Decide, then run this.

# %% tags=["try", "raises-exception"]
u_slope.backward(retain_graph=True)

# %% [markdown] tags=["explain", "slide"]
# It runs into `Error`, which raises. But there isn't always an `Error`: the mark puts one
# only where `grad_output` requires grad. (What backward takes out of ctx, it can't see.)
# Above, `grad_output` was u. Below, the cube is added to x², so it's a plain 1. The right
# second derivative is 6x + 2, which is 14.

# %% tags=["explain", "slide"]
x = mg.tensor(2.0, requires_grad=True)
y = Cube.apply(x) + x**2
(slope,) = mg.autograd.grad(y, x, create_graph=True)
slope.backward()
x.grad

# %% [markdown] tags=["explain", "slide"]
# 2, and not even `backward()` raises. So an error from the mark is reliable: there is a
# marked backward on the way. Silence isn't. To be sure you have to measure: move an input
# a little, and see how much the result changes. `gradcheck` compares your backward with
# such measured slopes, and `gradgradcheck` does the same for second derivatives.

# %% [markdown] tags=["slide"]
# ## Why can't I call numpy() in backward?
#
# Which backward would you mark? One that leaves the graph, say for NumPy. (In forward
# nothing is recorded anyway.) Here both methods use it: that's how you make a NumPy
# function differentiable. The first derivative is right.


# %% tags=["slide", "Q36"]
class NumpyCube(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(x.numpy() ** 3)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return mg.tensor(grad_output.numpy() * 3 * x.numpy() ** 2)


x = mg.tensor(2.0, requires_grad=True)
mg.autograd.grad(NumpyCube.apply(x), x)

# %% [markdown] tags=["slide"]
# With `create_graph` the same backward raises: recording is on now, x requires grad, and
# what NumPy does with it would go unrecorded.

# %% tags=["raises-exception", "slide", "Q06"]
mg.autograd.grad(NumpyCube.apply(x), x, create_graph=True)

# %% [markdown] tags=["slide"]
# The message proposes `detach()`, so let's do that. `second` computes a second
# derivative at 2. That of x * Detached(x) should be 48 again.


# %% tags=["explain", "slide", "Q56"]
class Detached(NumpyCube):
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        slope = 3 * x.detach().numpy() ** 2
        return mg.tensor(grad_output.detach().numpy() * slope)


def second(f):
    x = mg.tensor(2.0, requires_grad=True)
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x)[0]


second(lambda x: x * Detached.apply(x))

# %% [markdown] tags=["explain", "slide"]
# 12, and no error. Again the slope is 8 + 24. The 24 came out of NumPy, so the graph has
# it as a constant, and the 36 are lost. With `detach()` no call ever raises; you'd need
# `gradgradcheck`. So put `@once_differentiable` above such a backward: recording is off
# inside, so you don't need `detach()`, and `backward()` raises where it can. (To make
# it right, let backward call a second Function, with a backward of its own.)

# %% tags=["because", "hide-input"]
course.because(
    "10.because",
    "How would you find out whether a second derivative is right? One sentence, for "
    "yourself; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## What if there are two arguments?
#
# `Func` is copied from PyTorch's documentation of `save_for_backward`, with one line
# left out. Both its gradients are right, and we differentiate each of them for the
# other argument.


# %% tags=["slide"]
class Func(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, z):
        w = x * z
        out = x * y + y * z + w * y
        ctx.save_for_backward(x, y, w, out)
        ctx.z = z
        return out

    @staticmethod
    def backward(ctx, grad_out):
        x, y, w, out = ctx.saved_tensors
        gx = grad_out * (y + y * ctx.z)
        gy = grad_out * (x + ctx.z + w)
        return gx, gy, None


# %% tags=["slide"]
a = mg.tensor(1.0, dtype=mg.float64, requires_grad=True)
b = mg.tensor(2.0, dtype=mg.float64, requires_grad=True)


def slopes_of(function):
    return mg.autograd.grad(function.apply(a, b, 4), (a, b), create_graph=True)


def both_orders(gx, gy):
    x_then_y = mg.autograd.grad(gx, b, retain_graph=True)[0]
    y_then_x = mg.autograd.grad(gy, a, retain_graph=True)[0]
    return x_then_y.item(), y_then_x.item()


# %% [markdown] tags=["slide"]
# For a smooth function like this one, the order doesn't matter: the slope for x,
# differentiated for y, equals the slope for y, differentiated for x: 1 + z.


# %% tags=["predict", "hide-input", "step", "slide"]
with mg.teaching(False):
    gx, gy = slopes_of(Func)


def orders_of_func():
    return both_orders(gx, gy)


course.predict(
    "10.func",
    "z is 4. What does both_orders return for the two slopes of Func?",
    ["5 and 5", "5 and 1", "1 and 5", "1 and 1"],
    then=orders_of_func,
    so=lambda ran: "{:g} and {:g}".format(*ran.value),
    why="gy is made with w, and for the graph w is a constant: forward made it.",
    at=["backward begins"] * 2,
)

# %% [markdown] tags=["explain", "slide"]
# w = x * z changes with x, but only forward knew. Inputs and outputs have a place in
# the graph; a value from the middle of forward has none. PyTorch can't tell you: to the
# engine w is a saved tensor like any other. `gradcheck` compares first derivatives only,
# and passes. Below it, `gradgradcheck` doesn't. (Here, teaching mode warns, too.)

# %% tags=["explain", "slide", "Q22"]
checks = (mg.autograd.gradcheck, mg.autograd.gradgradcheck)
[check(Func.apply, (a, b, 4), raise_exception=False) for check in checks]

# %% [markdown]
# **Try.** This one computes w in backward, from the x that was saved, and leaves the
# saved w alone. What do both orders give now?


# %% tags=["try"]
class Recomputes(Func):
    @staticmethod
    def backward(ctx, grad_out):
        x, y, _, _ = ctx.saved_tensors
        w = x * ctx.z
        return grad_out * (y + y * ctx.z), grad_out * (x + ctx.z + w), None


both_orders(*slopes_of(Recomputes))

# %% [markdown] tags=["explain"]
# 5 and 5. Under `create_graph` the line that makes w is recorded, with its edge to x. Two
# other repairs are right: return w as one more output, which gives it a place in the
# graph, or refuse. That's the line left out above, `@once_differentiable`, so PyTorch's
# Func may save what it likes.
#
# That was the first half: how a second derivative goes wrong. Take a break here, if you
# like. The rest is about right ones, and what they're good for.

# %% [markdown] tags=["slide"]
# ## Why is it None, zero, or an error?
#
# Not every strange answer is a mistake. Here are three, without any Function of your
# own. First the error: the slope of 3x is 3, whatever x is. So nothing of it was
# recorded, and there's nothing to differentiate. (Nor to fix.)


# %% tags=["raises-exception", "slide", "Q56"]
def slope_of(f):
    x = mg.tensor(2.0, requires_grad=True)
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return slope, x


slope, x = slope_of(lambda x: 3 * x)
mg.autograd.grad(slope, x)

# %% [markdown] tags=["slide"]
# None: the slope of w * x is w itself. It requires a gradient, but x isn't in its
# graph. (Without `allow_unused` that's an error, too.) A zero is different: the slope
# of relu has a graph that leads to x, and relu is straight there, so the rule says 0.

# %% tags=["slide", "Q56"]
w = mg.tensor(5.0, requires_grad=True)
none = mg.autograd.grad(*slope_of(lambda x: w * x), allow_unused=True)
zero = mg.autograd.grad(*slope_of(mg.relu))
none, zero

# %% [markdown] tags=["explain", "slide"]
# In all three cases the true second derivative is 0. But a cut graph gives the same
# error, and the same None. Worse, a graph that's cut in part gives a wrong number, like
# 12, 2 and 1 above. So if the slope does depend on x, or `gradgradcheck` fails, look for
# detach, NumPy, `no_grad`, a mark, or a value from the middle of forward.

# %% [markdown] tags=["slide"]
# ## What if x has a thousand numbers?
#
# Then there are a thousand slopes, and each has a thousand derivatives: H[i, j] is that
# of slopes[i] for x[j]. This matrix of a million numbers is the **Hessian**. You rarely
# need it whole. Multiply the slopes by weights v, add them up, and differentiate that
# one number for x[j]: you get the sum of all v[i] * H[i, j]. That's the Hessian times v,
# for the price of one more backward pass.

# %% tags=["slide"]
x = mg.ones(1000, requires_grad=True)
v = mg.zeros(1000)
v[0] = 1.0
y = (x**2).sum() ** 2
(slopes,) = mg.autograd.grad(y, x, create_graph=True)
(product,) = mg.autograd.grad((slopes * v).sum(), x)
slopes[:3], product[:3]

# %% [markdown] tags=["explain", "slide"]
# Each slope is 4 * sum(x²) * x, which is 4000 here. This v is 1 in one place, so the
# product is one row of the Hessian: how fast the first slope changes with each x.

# %% [markdown] tags=["slide"]
# ## How do I train on a slope?
#
# A model can be too steep: a small change of its input changes the result a lot. A
# **gradient penalty** adds the slope to the loss, so backward goes through the slope to
# the parameters. Here the penalty is all there is. (relu gets 6.1
# here, so this is far from its corner at 0.)


# %% tags=["slide"]
values = (2.0, 3.0, 0.1, 2.0, 0.1)
x, w1, b1, w2, b2 = (mg.tensor(value, requires_grad=True) for value in values)
y = mg.relu(x * w1 + b1) * w2 + b2
(slope,) = mg.autograd.grad(y, x, create_graph=True)


def without_grad():
    (slope**2).backward(retain_graph=True)
    four = {"w1": w1, "b1": b1, "w2": w2, "b2": b2}
    return [name for name, tensor in four.items() if tensor.grad is None]


# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "10.penalty",
    "Which does without_grad return: for which of the four is .grad still None?",
    ["none of them", "b2", "b1, b2", "w2, b2"],
    then=without_grad,
    so=lambda ran: ", ".join(ran.value) or "none of them",
    why="The slope doesn't depend on b2. Its graph leads to b1, with a 0.",
    at="b1.grad is 0",
)

# %% [markdown] tags=["explain", "slide"]
# b2 is added last, so the slope doesn't depend on it. b1 gets 0: the slope's graph leads
# to it through relu, whose second derivative is 0. Without `create_graph` the slope is a
# constant: add such a penalty to your usual loss, and it trains without an error, as if
# the penalty weren't there. In 10.6 you write the step.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say which backwards can be differentiated, and how you'd find out. Answer
# each card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>What does create_graph do to your backward?</summary>
#
# It runs with recording on. So its tensor operations, on inputs, outputs and
# grad_output, become a second graph, and the gradient has a grad_fn.
#
# </details>
#
# <details><summary>What silently drops out of a second derivative?</summary>
#
# Whatever was made where nothing was recorded: by NumPy or after detach in backward, or
# a value from the middle of forward that was saved.
#
# </details>
#
# <details><summary>When does once_differentiable speak up?</summary>
#
# When backward() comes to `Error`, the node that the mark made. The mark makes one only
# if the gradient that arrived requires grad, and grad(slope, x) doesn't run it.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same: the same 12 and 2 without a word, the same refusal
# from `backward()`, the same 5 and 1. Put `import torch as mg` in the first cell and
# leave out the lines that teach (`teaching`, `course` and the stepper).
#
# ## Now you
#
# [Six exercises](../exercises/10_differentiating_the_derivative/10_exercises.ipynb)
# wait for you; in 10.3 you repair a second derivative that's wrong without a word. They
# link back to this lesson. Where you stand:

# %%
course.progress("10")
