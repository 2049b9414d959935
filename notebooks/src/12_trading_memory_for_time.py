# ruff: noqa: E501  (a link)

# %% [markdown] tags=["slide"]
# # Trading memory for time
#
# You will
# * put two functions of your own between ctx and what it saves,
# * run a part of forward again instead of saving it, and measure what that's worth,
# * find out how often hooks run, and in which grad mode.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("12")

# %% [markdown] tags=["slide"]
# ## Saved-tensor hooks
#
# Saved tensors stay in memory until backward (lesson 03). In a large model that's most
# of the memory. You can store them in another form, with **saved-tensor hooks**: two
# functions, in force in a `with` block. Each tensor that's saved there goes through the
# first one, `pack`. The second one, `unpack`, is called when backward reads it. Here
# float32 numbers are kept as float16, which takes half the bytes.


# %% tags=["slide"]
def to_half(tensor):
    return tensor.to(mg.float16)


def to_single(packed):
    return packed.to(mg.float32)


def sine(x):
    with mg.autograd.graph.saved_tensors_hooks(to_half, to_single):
        y = x.sin()
    y.sum().backward()
    return x.grad


# %% [markdown] tags=["slide"]
# **Look.** The slope of a sine is the cosine, so `sin` saves its input. What's in its
# box after forward, and how many bytes does it take? (The strip *Memory in boxes and
# .grad* is below the picture.) When is `to_single` called, and is the `with` block over by then?

# %% tags=["step", "slide"]
# %%step --level picture --memory
sine(mg.tensor([0.1, 2.0], requires_grad=True))

# %% [markdown] tags=["explain", "slide"]
# What `pack` returned is in the box, 4 bytes instead of 8, and the first number isn't
# quite 0.1 any more. `unpack` runs in backward, long after the block.
#
# Are operations in these two functions recorded? In `pack`, never. In `unpack`, that
# depends on who reads the value. Three readers: an ordinary backward, one under
# `create_graph` (lesson 10), and you, by hand.


# %% tags=["explain", "slide"]
def mode_in_unpack(read):
    modes = []

    def noting_mode(packed):
        modes.append(mg.is_grad_enabled())
        return to_single(packed)

    x = mg.tensor(1.0, requires_grad=True)
    with mg.autograd.graph.saved_tensors_hooks(to_half, noting_mode):
        y = x.sin()
    read(y, x)
    return modes


by_backward = mode_in_unpack(lambda y, x: mg.autograd.grad(y, x))
by_create_graph = mode_in_unpack(lambda y, x: mg.autograd.grad(y, x, create_graph=True))
by_hand = mode_in_unpack(lambda y, x: y.grad_fn._saved_self)
by_backward, by_create_graph, by_hand

# %% [markdown] tags=["explain", "slide"]
# Off, on, on: `unpack` runs in the reader's grad mode. So an `unpack` that should never
# be recorded needs a `no_grad` of its own.

# %% [markdown]
# **Try.** You can type other numbers for `x`. Which of these three survives `to_half`?
# 0.1, 3001 and 70000: set them one after the other, or all at once, and compare the
# box with `x`. What does the gradient say?

# %% tags=["try"]
mg.live(sine, x=mg.tensor([0.1, 3001.0], requires_grad=True))

# %% [markdown] tags=["explain"]
# None of them. 0.1 loses digits that hardly matter. 3001 becomes 3000 (from 2048 to
# 4096, float16 only has the even numbers), and the gradient is -0.98 instead of -0.71.
# 70000 is above the largest float16, so it's `inf`, and the gradient is `nan`.

# %% [markdown] tags=["slide"]
# ## A pair that returns its argument
#
# Now `pack` and `unpack` both return their argument as it is. `exp` saves its result,
# `y`, for backward. And after `exp` has saved it, `y` is changed in place.


# %% tags=["slide"]
def same(saved):
    return saved


def changed_later():
    x = mg.tensor([0.0, 1.0], requires_grad=True)
    with mg.autograd.graph.saved_tensors_hooks(same, same):
        y = x.exp()
    y.mul_(10)
    y.sum().backward()
    return x.grad


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "12.same",
    "What does changed_later() return? (e is 2.718.)",
    ["nothing: backward raises an error", "[10, 27.18]", "[1, 2.718]", "[100, 271.8]"],
    then=changed_later,
    so=lambda ran: (
        "nothing: backward raises an error"
        if ran.error
        else str([float(f"{g:.4g}") for g in ran.value.tolist()]).replace(".0", "")
    ),
    why="What pack returned is all that's kept, and no version is compared.",
    at="The box of exp has its value again",
)

# %% [markdown] tags=["explain", "slide"]
# Right would be 10 and 27.18: the upstream gradient, 10 from `mul_`, times what `exp`
# saved, 1 and 2.718. But `pack` returned `y` itself, and `mul_` wrote into it, so the
# saved numbers are 10 times too large by then. Without hooks the engine compares
# versions in backward, and you'd get an error (lesson 08). With hooks it keeps what
# `pack` returned, which may be anything. (Teaching mode warns about such a `pack`.
# PyTorch doesn't.) If `pack` returns a copy, you get 10 and 27.18.

# %% [markdown] tags=["slide"]
# ## Which values go through pack?
#
# `Gate` keeps three things: a saved tensor, a tensor as an attribute, and a number.
# `pack` writes down what it gets. **Predict.** Which of the three is that?


# %% tags=["slide"]
class Gate(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.mask = x > 0
        ctx.scale = scale
        return x * x * ctx.mask * scale

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x * ctx.mask * ctx.scale, None


# %% tags=["predict", "slide", "Q29"]
def noting(tensor):
    packed.append(tensor.tolist())
    return to_half(tensor)


packed = []
with mg.autograd.graph.saved_tensors_hooks(noting, to_single):
    Gate.apply(mg.tensor([2.0, -3.0], requires_grad=True), 5.0)
packed

# %% [markdown] tags=["explain", "slide"]
# Only the saved tensor. The engine doesn't pack attributes (lesson 02, and the
# warning), so hooks can't move them to disk, and a checkpoint can't drop them.

# %% [markdown] tags=["slide"]
# ## How often is unpack called?
#
# This Function saves three tensors, and backward takes them out of `ctx.saved_tensors`
# one at a time. Imagine that `pack` has written each of them to a file.


# %% tags=["slide"]
class Volume(mg.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, c):
        ctx.save_for_backward(a, b, c)
        return a * b * c

    @staticmethod
    def backward(ctx, grad_output):
        a = ctx.saved_tensors[0]
        b = ctx.saved_tensors[1]
        c = ctx.saved_tensors[2]
        return grad_output * b * c, grad_output * a * c, grad_output * a * b


# %% [markdown] tags=["slide"]
# How often would a file be read? Here `pack` is `to_half`, and `unpack` counts.
# **Predict.** Forward and backward run once each. What does the last line show: 1, 3, 6
# or 9?


# %% tags=["predict", "slide", "Q66", "Q98"]
def counting(packed):
    reads.append(1)
    return to_single(packed)


reads = []
a, b, c = (mg.tensor(v, requires_grad=True) for v in (2.0, 3.0, 4.0))
with mg.autograd.graph.saved_tensors_hooks(to_half, counting):
    volume = Volume.apply(a, b, c)
volume.backward()
len(reads)

# %% [markdown] tags=["explain", "slide"]
# 9. `ctx.saved_tensors` is made anew at each read, with all its values: kept, they'd
# take up the memory that the hooks freed. So read once: `a, b, c = ctx.saved_tensors`.
# That's 3. A second backward reads again, and so does a look in a debugger. An `unpack`
# that deletes its file fails then.

# %% [markdown] tags=["slide"]
# Files aren't the only place. What does each one gain, and what does it cost?
#
# | `pack` returns | memory | it costs |
# |---|---|---|
# | a float16 copy | half | digits, and numbers above 65504 |
# | a copy on the CPU, for a tensor on a GPU | none on the GPU | two transfers |
# | the name of a file | almost none | writing once, reading at each read |
#
# For the CPU there's a ready-made pair, `mg.autograd.graph.save_on_cpu()`. A tensor
# that's on the CPU already isn't copied, so with it that pair is like `same` above.

# %% [markdown] tags=["slide"]
# ## Not saving at all
#
# The other way is to keep nothing of a part of forward but its inputs. When backward
# needs a value from inside, it runs that part again. That's a **checkpoint**:
# `checkpoint(function, x)` returns `function(x)`. (`use_reentrant=False` chooses the
# newer of PyTorch's two versions. It's made of saved-tensor hooks. The older one starts
# a backward inside backward: it's *reentrant*.)
#
# A checkpoint can be inside another one. `runs` counts how often `f` runs.


# %% tags=["slide"]
checkpoint, runs = mg.utils.checkpoint.checkpoint, []


def f(x):
    runs.append(1)
    return x.sin()


def inner(x):
    return checkpoint(f, x, use_reentrant=False)


def nested():
    runs.clear()
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = checkpoint(inner, x, use_reentrant=False).sum()
    y.backward()
    return len(runs)


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "12.nested",
    "How often does f run, forward and backward together?",
    ["1", "2", "3", "4"],
    then=nested,
    so=lambda ran: f"{ran.value}",
    why="The outer second run only fetches inner's x, so it ends before f is called.",
    at="What the checkpoint left out is there again",
)

# %% [markdown] tags=["explain", "slide"]
# Twice. A second run ends as soon as everything that the first one saved is there again.
#
# | | the outer checkpoint | the inner checkpoint | f has run |
# |---|---|---|---|
# | forward | runs `inner`; drops the x that the inner one saves | runs `f`; drops what the sine saves | once |
# | backward | runs `inner` again until that x is saved, and stops | is about to run `f` | once |
# | | is done | has its x, runs `f` again | twice |
#
# The inner checkpoint saves x because it needs its argument to run `f` again.

# %% tags=["because", "hide-input"]
course.because(
    "12.because",
    "Which runs of f does backward need here, and which not? One sentence, for "
    "yourself; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# **Look.** Now one checkpoint, around two sines. What's in their boxes after forward?
# Which of the two sines runs again? Then look at *Memory in boxes and .grad*: when is
# the most kept?


# %% tags=["step", "slide"]
# %%step --level picture --memory
def two_sines(x):
    return x.sin().sin()


x = mg.ones(1000, requires_grad=True)
y = checkpoint(two_sines, x, use_reentrant=False)
y.backward(mg.ones(1000))

# %% [markdown] tags=["explain", "slide"]
# After forward no box holds a value. (The checkpoint itself keeps x. It's no node, so
# the strip doesn't count that.) In backward the first sine runs again, in a graph of
# its own. That gives the second one its input; nothing after it was saved, so the second
# doesn't run. Your two nodes get what was computed, and now the most is kept: two
# arrays, 8,000 bytes.

# %% [markdown] tags=["slide"]
# ## How many checkpoints?
#
# Say 64 layers save one array each, so 64 arrays are alive when backward begins. Now
# cut the layers into equal segments, each of them a checkpoint. What's kept through
# forward is the input of each segment. And while backward is in a segment, that
# segment's values are back.


# %% tags=["slide"]
def layers(count):
    def run(x):
        for _ in range(count):
            x = x.sin()
        return x

    return run


def train(segments):
    y = x
    for _ in range(segments):
        y = checkpoint(layers(64 // segments), y, use_reentrant=False)
    y.sum().backward()


# %% [markdown] tags=["slide"]
# **Predict.** Without a checkpoint the peak is about 64 arrays. With which number of
# segments is it lowest: 1 (a checkpoint around everything), 8, 32, or 64 (a checkpoint
# around each layer)? And is there one for which it isn't lower than 64? Then run both
# cells: the second one draws what the first one has measured.

# %% tags=["slide"]
x = mg.ones(100_000, requires_grad=True)
counts = [1, 2, 4, 8, 16, 32, 64]
none = course.peak_bytes(lambda: layers(64)(x).sum().backward()) / x.nbytes
peaks = [course.peak_bytes(train, n) / x.nbytes for n in counts]

# %% tags=["predict", "hide-input", "slide"]
lowest = counts[peaks.index(min(peaks))]
mg.plot_lines(
    counts,
    {"measured": peaks, "segments + 64 / segments": [n + 64 / n for n in counts]},
    x="number of segments",
    y="arrays alive at most",
    says=f"The peak is lowest with {lowest} segments. "
    f"Without a checkpoint it's {none:.0f}.",
)

# %% [markdown] tags=["explain", "slide"]
# n segments keep n inputs, and one segment has 64 / n values: n + 64 / n. That's lowest
# where both parts are equal, at n = 8, the square root of 64. One checkpoint gains
# nothing, as in backward all 64 values are back at once. Nor do 64: they keep 64
# inputs. With the best n, 10,000 layers need about 200 arrays.

# %% [markdown] tags=["slide"]
# ## What does a second run need?
#
# You can write a checkpoint as a Function (the reentrant version is one). forward saves
# x alone. backward makes a leaf of x, cut off from its history, runs the function on it
# again, and goes backward through that. The leaf's `.grad` is what it returns. Two
# things have to be right. First, the grad mode. Here a backward looks around: is
# recording on, and has a new result a graph, without and with `enable_grad`?


# %% tags=["slide", "Q54"]
class LooksAround(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        leaf = mg.ones(1, requires_grad=True)
        seen.append((mg.is_grad_enabled(), leaf.sin().requires_grad))
        with mg.enable_grad():
            seen.append((mg.is_grad_enabled(), leaf.sin().requires_grad))
        return grad_output


seen = []
LooksAround.apply(mg.ones(1, requires_grad=True)).backward()
seen

# %% [markdown] tags=["explain", "slide"]
# Unless you ask for `create_graph`, recording is off in backward, so what you compute
# there has no graph. Inside `enable_grad` it has one. Second, random numbers: dropout
# that draws again drops other elements. PyTorch's checkpoint notes the random state
# before the first run, and sets it again before the second. You can switch that off.
# Each gradient should equal the result it belongs to. With the switch on, then off:


# %% tags=["explain", "slide"]
def dropout(x):
    return x * (mg.rand(1000) < 0.5)


def agrees(preserve):
    x = mg.ones(1000, requires_grad=True)
    y = checkpoint(dropout, x, use_reentrant=False, preserve_rng_state=preserve)
    y.sum().backward()
    return (x.grad == y).all().item()


agrees(True), agrees(False)

# %% [markdown] tags=["explain", "slide"]
# And the weights that the function uses? The backward inside goes down to them, so
# `y.backward()` writes their `.grad`. But `autograd.grad(y, weight)` finds no path to a
# weight, because it isn't an argument of the Function. And if x doesn't require grad,
# neither does y, so the weights get nothing. The newer `checkpoint` has neither problem.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now keep saved tensors elsewhere or not at all, and say what that costs.
# Answer each card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>What do you give up if hooks are in force?</summary>
#
# The version check. What pack returned is all that's kept, so a tensor that's changed
# later gives wrong numbers without an error, unless pack made a copy.
#
# </details>
#
# <details><summary>When does unpack run?</summary>
#
# At each read of a saved value: once for each tensor each time you read saved_tensors,
# and again in another backward. Never for attributes.
#
# </details>
#
# <details><summary>How many checkpoints do n equal layers need?</summary>
#
# About the square root of n. The peak is then about twice that, in arrays, and forward
# runs once more: recorded, and with the same random numbers.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same: nine calls, and the silent 100 and 271.8. Put
# `import torch as mg` in the first cell, leave out the lines that teach (`teaching`,
# `course`, `live`, `plot_lines` and the stepper), and every other value above stays as
# it is. Instead of `peak_bytes` you'd measure GPU memory:
# `torch.cuda.max_memory_allocated()`.
#
# ## Now you
#
# [Six exercises](../exercises/12_trading_memory_for_time/12_exercises.ipynb)
# wait for you; in 12.5 you write a checkpoint that's right for dropout. They link back
# to this lesson. Where you stand:

# %%
course.progress("12")
