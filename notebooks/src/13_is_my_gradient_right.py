# %% [markdown] tags=["slide"]
# # Is my gradient right?
#
# You will
# * measure a slope without any backward, and compare,
# * let gradcheck do it, and say what its answer means,
# * go through a card of five questions when a gradient looks wrong.

# %%
import math

import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("13")

# %% [markdown] tags=["slide"]
# ## How do you measure a slope?
#
# The engine checks shapes; it can't check your formula. But you can: a slope says how
# much the result changes when an input changes a little. So change the input a little
# and see. Move one element up by a small step, then down by the same, and divide the
# difference of the results by the distance. That's a **finite difference**.


# %% tags=["slide"]
class Cube(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2


# %% [markdown] tags=["slide"]
# **Look.** x is [2, -1], and the step is 0.001 for element 0 alone. Follow what goes
# into each of the two calls and what comes out. Which numbers differ, and by how much?
# The slope 3x² is 12 at 2 and 3 at -1. What are the two elements of `slope`?

# %% tags=["step", "slide"]
# %%step --level picture
x = mg.tensor([2.0, -1.0], dtype=mg.float64, requires_grad=True)
step = mg.tensor([0.001, 0.0], dtype=mg.float64)
up, down = Cube.apply(x + step), Cube.apply(x - step)
slope = (up - down) / 0.002

# %% tags=["slide"]
up, down, slope

# %% [markdown] tags=["explain", "slide"]
# The results differ in element 0 alone: 8.012 and 7.988. Their difference is 0.024, and
# divided by 0.002 that's 12, up to a millionth. Element 1 didn't move, so its 3 isn't
# found: that takes two more calls, with its own step. Two calls of forward for each
# element are far too slow for training, and just right for a test.

# %% [markdown] tags=["slide"]
# ## How small should the step be?
#
# The function is y = x, so its slope is 1 everywhere. Here the slope is measured with a
# step of one millionth, once in float64 and once in float32.


# %% tags=["slide"]
def slope_of_x(dtype, eps=1e-6):
    x = mg.tensor(20.0, dtype=dtype, requires_grad=True)
    up, down = x + eps, x - eps
    return round((up - down).item() / (2 * eps), 2)


slope_of_x(mg.float64)


# %% tags=["predict", "hide-input", "step", "slide"]
def both_slopes():
    return slope_of_x(mg.float64), slope_of_x(mg.float32)


course.predict(
    "13.float32",
    "In float64 it's 1.0. What does slope_of_x(mg.float32) return?",
    ["1.0", "0.95", "1.91", "0.0"],
    then=both_slopes,
    so=lambda ran: f"{ran.value[1]}",
    why="Near 20, float32 numbers are 1.9e-6 apart, so each step of 1e-6 is rounded to "
    "one of 1.9e-6; together 3.8e-6.",
    at=["20 - 20 = "] * 2,
)

# %% [markdown] tags=["explain", "slide"]
# It's off by 91 %, and near 100 the step would vanish altogether. So check in float64,
# whose numbers are half a billion times closer together. Even there a step can be too
# small, or too large: here's the error of the cube's slope at 2 for each step, both as
# powers of ten.


# %% tags=["slide"]
def measured(exponent):
    x, eps = mg.tensor(2.0, dtype=mg.float64), 10.0**exponent
    up, down = Cube.apply(x + eps).item(), Cube.apply(x - eps).item()
    return up, down, (up - down) / (2 * eps)


exponents = list(range(-12, 0))
errors = [math.log10(abs(measured(k)[2] - 12)) for k in exponents]

# %% tags=["explain", "hide-input", "slide"]
curve = mg.plot_lines(
    exponents,
    {"float64": errors},
    x="step, as a power of ten",
    y="error, as a power of ten",
    says="The error of the slope for each step: it has a lowest point.",
)
curve

# %% [markdown]
# **Try.** Move the slider: it's the step's power of ten, and the ring goes where this
# step is on the curve. Where is the error smallest? At -12, look at the two results
# that are subtracted: to how many digits do they agree? At -1 rounding hardly matters.
# Why is the slope off by 0.01?


# %% tags=["try"]
def difference(exponent=-6):
    up, down, slope = measured(exponent)
    print("up", up, "down", down, "slope", slope, "error", abs(slope - 12))
    return curve.marked(exponent, math.log10(abs(slope - 12)))


mg.live(difference, exponent=(-12, -1))

# %% [markdown] tags=["explain"]
# Smallest at -5. At -12, 8.000000000012001 and 7.999999999987999 differ by 2.4e-11: the
# slope is made of the last five of sixteen digits. At -1 x³ itself bends within the
# step. Most checks take 1e-6, in float64.

# %% [markdown] tags=["slide"]
# ## What does gradcheck notice?
#
# `mg.autograd.gradcheck` measures the slope of every output by every element of x, and
# compares them with those that backward gives. It answers True, or raises an error (or
# answers False, if it's asked to). These are three more ways to write x³.


# %% tags=["slide"]
class OnClass(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        OnClass.slope = 3 * x**2
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * OnClass.slope


class OnCtx(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 3 * ctx.x**2


# %% tags=["slide"]
class InPlace(Cube):
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_output *= 3 * x**2
        return grad_output


def verdicts():
    x = mg.tensor([0.5, -1.5, 2.0], dtype=mg.float64, requires_grad=True)
    for f in (OnClass, OnCtx, InPlace):
        yield str(mg.autograd.gradcheck(f.apply, x, raise_exception=False))


# %% tags=["predict", "hide-input", "step", "slide", "Q71"]
def two_calls_of_OnClass():
    x = mg.tensor(1.0, requires_grad=True)
    w = mg.tensor(5.0, requires_grad=True)
    y = OnClass.apply(x)
    OnClass.apply(w)
    y.backward()


course.predict(
    "13.verdicts",
    "gradcheck is asked about OnClass, OnCtx and InPlace, in this order. What does it "
    "answer?",
    [
        "True, True, True",
        "False, True, True",
        "False, True, False",
        "True, True, False",
    ],
    then=two_calls_of_OnClass,
    so=lambda ran: ", ".join(verdicts()),
    why="It makes one call at a time, at nearly one place, and no other code holds the "
    "same tensors. Below, two calls of OnClass: one gets the other's slope.",
    at="The box opens",
)

# %% [markdown] tags=["explain", "slide"]
# **True, True, True.** The slopes are right at this point. Each of these Functions goes
# wrong only together with something else: a call at a different x, a change in place,
# code that still needs the gradient it sent. So test those, too. If all is well, the
# two functions below give 3 and 1.


# %% tags=["slide", "Q71"]
def changed_in_between(f):
    x = mg.tensor(1.0, requires_grad=True)
    inner = x * 1
    y = f(inner)
    inner += 4
    return mg.autograd.grad(y, x)[0].item()


def after_being_sent(f):
    x, g = mg.tensor(1.0, requires_grad=True), mg.tensor(1.0)
    f(x).backward(g)
    return g.item()


changed_in_between(OnCtx.apply), after_being_sent(InPlace.apply)

# %% [markdown] tags=["explain", "slide"]
# 75 and 3. `OnCtx` reads x when it has changed; a saved tensor would have raised an
# error (lesson 08). `InPlace` writes into a tensor that isn't its own: your g is 3
# now, not 1. (The warnings are teaching mode's. PyTorch says nothing.)

# %% tags=["because", "hide-input"]
course.because(
    "13.because",
    "What would you test besides what gradcheck tries? One sentence, for yourself; it "
    "isn't graded.",
)

# %% [markdown]
# **Try.** This backward clamps what arrives, "to be on the safe side". `jacobian` finds
# nine slopes, of three results by three elements (that table is the *Jacobian*): for
# each result it sends back a 1 for that one and 0 for the others. Are all nine right?
# And does gradcheck accept -3 times this Function?


# %% tags=["try"]
class Clamped(Cube):
    @staticmethod
    def backward(ctx, grad_output):
        return Cube.backward(ctx, grad_output.clamp(-1, 1))


x = mg.tensor([0.5, -1.5, 2.0], dtype=mg.float64, requires_grad=True)
nine = mg.autograd.functional.jacobian(Clamped.apply, x)
right = mg.allclose(nine, (3 * x**2).diag())
right, mg.autograd.gradcheck(lambda x: -3 * Clamped.apply(x), x, raise_exception=False)

# %% [markdown] tags=["explain"]
# All nine are right, as 0 and 1 aren't clamped. gradcheck says False: it sends -3
# through the clamp. In training, any gradient below -1 or above 1 would be clamped,
# too. (Without the -3, PyTorch's gradcheck says True. Ours still says False: it
# sends random numbers as well.)

# %% [markdown] tags=["slide"]
# ## What does a failure of gradcheck mean?
#
# "Jacobian mismatch for output 0 with respect to input 0": measured slopes and those of
# backward differ. The rule needn't be wrong. Here are four ways to write the larger of
# x and 0. At 0 there's no one slope: a way may return 1, 0 or something between; the
# differences measure 0.5 for all four. **Predict** which of the four pass, then run it:
# it shows gradient and verdict.

# %% tags=["predict", "slide", "Q16"]
zero = mg.tensor(0.0, dtype=mg.float64)
ways = [
    lambda x: x.relu(),
    lambda x: mg.maximum(x, zero),
    lambda x: x.clamp(min=0),
    lambda x: mg.where(x >= 0, x, zero),
]
x = mg.tensor(0.0, dtype=mg.float64, requires_grad=True)
slopes = [mg.autograd.grad(f(x), x)[0].item() for f in ways]
slopes, [mg.autograd.gradcheck(f, x, raise_exception=False) for f in ways]

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# Only the one that says 0.5, by luck. None of the four is wrong. Move the point, and
# all of them pass.
#
# </details>

# %% [markdown] tags=["explain", "slide"]
# Now two failures without a corner. First, an input whose two elements share one place
# in memory: moving one moves both. Then a backward that's right only once.


# %% tags=["raises-exception", "slide", "Q62"]
x = mg.ones(1, dtype=mg.float64).expand(2).requires_grad_()
mg.autograd.gradcheck(lambda x: x * x, x)


# %% tags=["slide"]
class Counts(Cube):
    @staticmethod
    def backward(ctx, grad_output):
        ctx.calls = getattr(ctx, "calls", 0) + 1
        return Cube.backward(ctx, grad_output) * ctx.calls


# %% tags=["raises-exception", "slide", "Q20"]
x = mg.tensor([0.5, -1.5], dtype=mg.float64, requires_grad=True)
mg.autograd.gradcheck(Counts.apply, x)

# %% [markdown] tags=["explain", "slide"]
# *Not reentrant* means: the same question, asked twice, got two answers. So this rule
# is wrong. (At -1.5 the slope is 6.75; calls 2 and 4 ask for it, and get 13.5, then
# 27.) A right rule also fails in float32, and if forward draws random numbers. So a
# failure isn't yet a wrong rule. And a True says little if
#
# * inputs are equal, so two exchanged gradients are equal, too,
# * slopes are below 0.00001, the tolerance,
# * an input doesn't require grad: its gradient isn't checked,
# * no two calls were under way at once, as those of `OnClass` above.

# %% [markdown] tags=["slide"]
# ## Which dtype does a gradient have?
#
# x is float32. Four times, a float64 tensor turns up where a float32 gradient belongs:
# a backward returns one, one is sent back, a hook (lesson 05) returns one in the place
# of what it was given, and one is assigned. **Predict** which of the four raise errors.


# %% tags=["slide"]
class Double(Cube):
    @staticmethod
    def backward(ctx, grad_output):
        return Cube.backward(ctx, grad_output).double()


def hooked(x):
    x.register_hook(lambda g: g.double())
    (x * 2).sum().backward()


# %% tags=["predict", "slide"]
two = mg.ones(2, dtype=mg.float64)
programs = [
    lambda x: Double.apply(x).sum().backward(),
    lambda x: (x * 2).backward(two),
    hooked,
    lambda x: setattr(x, "grad", two),
]
refused = []
for number, program in enumerate(programs, 1):
    try:
        program(mg.tensor([1.0, 2.0], requires_grad=True))
    except RuntimeError:
        refused.append(number)
refused

# %% [markdown] tags=["explain"]
# <details><summary>Answer</summary>
#
# The last two: what replaces a gradient, by a hook or by hand, has to be float32.
# What enters backward or comes out of a rule is cast without a word.
#
# </details>

# %% [markdown] tags=["explain", "slide"]
# So `x.grad` is always float32 for a float32 x. What's *saved* isn't cast: it has the
# dtype that it had in forward. In mixed precision that's float16, and a small gradient
# becomes 0: the end of the exercises shows how, and what people do about it.

# %% [markdown] tags=["slide"]
# ## Where does nan come from?
#
# nan means *not a number*; 0 / 0 is one. *Anomaly mode* looks for nan in backward. It's
# slow, so it's only for debugging. Here it's on while forward and backward run. The
# slope of the square root is infinite at 0.


# %% tags=["slide"]
def two_roots():
    x = mg.tensor(0.0, requires_grad=True)
    with mg.autograd.set_detect_anomaly(True):
        loss = x.sqrt() - 3 * x.sqrt()
        loss.backward()
    return x.grad.item()


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "13.roots",
    "What happens when two_roots() is called?",
    [
        "an error that names SqrtBackward0",
        "an error that names AccumulateGrad",
        "no error: it returns nan",
        "no error: it returns -inf",
    ],
    then=two_roots,
    so=lambda ran: (
        f"no error: it returns {ran.value}"
        if ran.error is None
        else "an error that names SqrtBackward0"
        if "SqrtBackward0" in str(ran.error)
        else "an error that names AccumulateGrad"
    ),
    why="inf and -inf are added on their way to the leaf. Anomaly mode looks only at "
    "what a node returns, and no node returned nan.",
    at="= nan",
)

# %% [markdown] tags=["explain", "slide"]
# Anomaly mode looks at what each node returns in backward, and only for nan. The roots
# returned inf and -inf; their sum in `x.grad` isn't looked at, nor is forward. If a
# node does return nan, an error names the node, and a warning the line of forward that
# made it. Here's one that it finds, though the loss is 2.

# %% tags=["raises-exception", "slide", "Q94"]
x = mg.tensor([0.0, 4.0], requires_grad=True)
with mg.autograd.set_detect_anomaly(True):
    loss = mg.where(x > 0, x.sqrt(), x).sum()
    loss.backward()

# %% [markdown] tags=["explain", "slide"]
# Where x is 0, `where` sends sqrt the gradient 0, and 0 times its slope inf is nan:
# `where` chooses among results, so both branches get a gradient. The cure is a second
# `where`, before the root: where x is 0, sqrt gets 1 instead.

# %% tags=["slide"]
x = mg.tensor([0.0, 4.0], requires_grad=True)
safe = mg.where(x > 0, x, mg.ones(2))
mg.where(x > 0, safe.sqrt(), x).sum().backward()
x.grad.tolist()

# %% [markdown] tags=["slide"]
# ## The card
#
# When training goes wrong and you suspect a Function, ask these in their order, as each
# relies on those before it. The first *no* tells you where to look.
#
# 1. **Is it in the graph?** A node has your Function's name: the result's `grad_fn`, or
#    one to which its `next_functions` lead. Only `apply` makes such a node.
# 2. **Do shape and dtype fit?** Of each gradient, those of its input.
# 3. **Does gradcheck pass,** for -3 times the Function, too? float64, all inputs
#    different, away from corners.
# 4. **Do two calls pass?** Both forwards, then both backwards; what you sent back must
#    be unchanged. And if an input changes in place before backward, you get the right
#    gradient or an error.
# 5. **Is anomaly mode silent,** and are the loss and all gradients finite, so neither
#    nan nor inf?

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now test a gradient, and say what the test doesn't cover. Answer each card in
# your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>Why float64 and a step of 1e-6?</summary>
#
# A larger step sees the function bend; a smaller one drowns in rounding, which in
# float32 is half a billion times coarser.
#
# </details>
#
# <details><summary>gradcheck passes. What may still be wrong?</summary>
#
# What it never tried: two calls before a backward, a change in place in between, values
# far from its point, and in PyTorch upstream gradients other than 0 and 1.
#
# </details>
#
# <details><summary>What does anomaly mode look for?</summary>
#
# nan in what a node returns in backward. Not inf, not nan in forward, and not the sum
# of what arrives at a leaf.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same, but its `gradcheck` sends no random upstream
# gradient. Put `import torch as mg` in the first cell, leave out the lines that teach
# (`teaching`, `course`, the stepper, the plot), and every number stays as it is.
#
# ## Now you
#
# [Six exercises](../exercises/13_is_my_gradient_right/13_exercises.ipynb) wait for you;
# 13.4 and 13.5 are a clinic: four programs to cure, with the card. Where you stand:

# %%
course.progress("13")
