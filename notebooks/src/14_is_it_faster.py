# %% [markdown] tags=["slide"]
# # Is it faster?
#
# You will
# * put a compiled loop behind a Function, forward and backward,
# * measure two programs so that you could bet on the result,
# * find out what compiling can't speed up, and what it can break.

# %%
import itertools
import math
import threading
from functools import partial

import numpy as np

import minigrad as mg
from minigrad import course
from minigrad.bench import interleaved
from minigrad.utils import jit

mg.teaching()

# %% tags=["recall"]
course.recall("14")

# %% [markdown] tags=["slide"]
# ## A kernel is not a Function
#
# A **kernel** is a loop over the numbers of arrays. It knows nothing of tensors, graphs
# or gradients. `jit` has it compiled to machine code by Numba, the first time it's
# called. (Numba calls that `njit(nogil=True)`. Jupyter's kernel is something else.)


# %% tags=["slide"]
@jit
def triple(x):
    out = np.empty_like(x)
    for i in range(x.size):
        out[i] = 3 * x[i]
    return out


# %% [markdown] tags=["slide"]
# To take part in backward, a kernel needs a Function around it. The slope of 3x is 3
# everywhere, so here backward can use the same kernel. `triple.py_func` is the loop as
# you wrote it, in plain Python.


# %% tags=["slide"]
class Triple(mg.autograd.Function):
    kernel = triple.py_func

    @staticmethod
    def forward(ctx, x):
        return mg.from_numpy(Triple.kernel(x.detach().numpy()))

    @staticmethod
    def backward(ctx, grad_output):
        return mg.from_numpy(Triple.kernel(grad_output.numpy()))


# %% [markdown] tags=["slide"]
# **Look.** What does ctx hold, and which of the two is in the graph: the kernel or the
# Function? Then choose *Phases* below the picture: now it also stops at your own lines.
# How often does the line `out[i] = 3 * x[i]` come up, in forward and in backward
# together?

# %% tags=["step", "slide"]
# %%step --level picture
x = mg.tensor([2.0, -1.0], requires_grad=True)
y = Triple.apply(x)
y.backward(mg.tensor([1.0, 10.0]))

# %% [markdown] tags=["explain", "slide"]
# ctx holds nothing, and the graph has one node, TripleBackward. The line comes up once
# for each of the two numbers, in forward and in backward: four times.

# %% [markdown]
# **Try.** The same with the compiled kernel. Choose *Phases* again: how many of the
# kernel's lines do you see now? Give x four numbers: does the number of steps change?


# %% tags=["try"]
def compiled(x):
    Triple.kernel = triple
    y = Triple.apply(x)
    y.backward(mg.ones(y.shape))
    return x.grad


mg.live(compiled, x=mg.tensor([2.0, -1.0], requires_grad=True))

# %% [markdown] tags=["explain"]
# You see none of them, and four numbers take as many steps as two: machine code doesn't
# report its lines. To step through a kernel, use its `py_func`. (Without Numba, or with
# `MINIGRAD_JIT=0`, `jit` leaves the loop as it is, and you see every line.)

# %% [markdown] tags=["slide"]
# ## Warm-up
#
# The first call compiles: that takes 0.1 s or more, and the second call a few
# microseconds. (In 14.1 you work out when it pays.) So before you measure, you call
# everything once, as a **warm-up**. Numba compiles a version of a kernel for the types
# of its arguments, and `signatures` lists these versions. Here the kernel is called
# four times in all: in two forwards and two backwards, each time with 8 float32
# numbers. Each backward gets ones.


# %% tags=["slide"]
fresh = jit(triple.py_func)  # the same kernel, not compiled yet
Triple.kernel = fresh
eight = mg.ones(8, requires_grad=True)
Triple.apply(eight).backward(mg.ones(8))  # the warm-up


def timed_run():
    Triple.apply(eight).sum().backward()
    return len(fresh.signatures)


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "14.versions",
    "How many versions of the kernel does Numba compile?",
    ["1", "2", "4", "8"],
    then=timed_run,
    so=lambda ran: f"{ran.value}",
    why="What sum sends back looks like 8 ones, but in memory it's a single one.",
    at="Triple gets",
)

# %% [markdown] tags=["explain", "slide"]
# The second version is for the backward of `timed_run`. The slope of a sum is 1 for
# every number, so `sum` sends back a single 1 that's read 8 times: an array whose next
# number is 0 bytes further on. For Numba a type is the dtype, the number of axes, and
# the order in memory; 8 numbers in a row, 4 bytes apart, are another order. That call
# wasn't warmed up: a clock would've measured the compiler.

# %% tags=["slide"]
g = mg.ones(1).expand(8)
g.numpy().strides, g.contiguous().numpy().strides

# %% tags=["because", "hide-input"]
course.because(
    "14.because",
    "A warm-up has numbers of the right dtype and shape. What else has to be as in the "
    "real run, and why? One sentence, for yourself; it isn't graded.",
)

# %% [markdown] tags=["slide"]
# ## How do I wrap a kernel in C++, CUDA or Triton?
#
# In the same way: one kernel for forward and one for backward, behind a Function. But
# such a kernel gets an address and a count. It reads what follows there in memory,
# whatever the shape says. `in_memory` returns a tensor's numbers in the order in which
# they are in memory.


# %% tags=["slide"]
def in_memory(tensor):
    return tensor.detach().numpy().ravel(order="K")


class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(in_memory(x) ** 2).reshape(x.shape)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        slopes = 2 * in_memory(x) * in_memory(grad_output)
        return mg.tensor(slopes).reshape(x.shape)


# %% [markdown] tags=["slide"]
# Two tests: one compares the result with a slow reference, `x * x`; the other is
# gradcheck. On a matrix as it was made, `Square` passes both. `turned` is a transpose:
# the same memory, read in another order. `repaired` calls `.contiguous()` before the
# kernel: that copies a tensor whose numbers don't follow each other in the order of its
# shape, and returns any other as it is.


# %% tags=["slide", "Q41"]
def tests(square, x):
    gradcheck = mg.autograd.gradcheck(square, (x,), raise_exception=False)
    return mg.allclose(square(x), x * x), gradcheck


def repaired(x):
    return Square.apply(x.contiguous())


m = mg.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=mg.float64)
turned = m.T.requires_grad_()
tests(Square.apply, m.requires_grad_())


# %% tags=["predict", "hide-input", "slide", "Q41"]
def both_tests():
    found = [*tests(Square.apply, turned), *tests(repaired, turned)]
    return ", ".join(["yes" if passed else "no" for passed in found])


def square_of_turned():
    y = Square.apply(turned)
    y.sum().backward()
    return y.detach()


course.predict(
    "14.turned",
    "What do reference and gradcheck say of turned, with Square, then with repaired?",
    ["no, no, yes, yes", "no, yes, yes, yes", "no, no, yes, no", "yes, no, yes, yes"],
    then=square_of_turned,
    so=lambda _: both_tests(),
    why="The kernel reads 1, 2, 3, 4 from memory; turned means 1, 3, 2, 4. The squares "
    "are right, and in the wrong places.",
    at="Its work is done",
    level="picture",
)

# %% [markdown] tags=["explain", "slide"]
# gradcheck changes one number of x, and the result changes in another place than
# backward says. With `repaired` both tests say yes.

# %% [markdown] tags=["slide"]
# You need both tests: the reference can't see a backward that mixes up its numbers, and
# gradcheck can't see a forward that adds 1 to everything. Do the two together see
# everything? Here the result of `repaired` is transposed before it's used, so a
# transposed gradient comes back. The gradient of x should be 2x times the weight of the
# same number: `[[2, 12], [12, 32]]`.

# %% tags=["slide", "Q41"]
x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=mg.float64, requires_grad=True)
weights = mg.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=mg.float64)
(repaired(x).T * weights).sum().backward()
x.grad

# %% [markdown] tags=["slide"]
# Twice 12 was right, and it's 8 and 18. `grad_output` needs `.contiguous()` as much as
# x does; gradcheck can't tell, because it only sends gradients that lie in order. And
# the 1 that `sum` sends back is a single number in memory: a real kernel that's told to
# read 8 reads on past it. (`in_memory` is kinder: NumPy copies it 8 times.)

# %% [markdown] tags=["slide"]
# ## Median, spread and turns
#
# One call takes 2 ms now and 5 ms when the computer is busy. So time many calls, in
# rounds, and run both programs in each round: then a busy moment hits both. One slow
# round doesn't move the **median** of the rounds' ratios. The lowest and the highest,
# its **band**, say how far to trust it: if the band reaches across 1, you can't say
# which is faster. `interleaved` does that after two warm-ups, if both results agree.


# %% tags=["slide"]
draw = np.random.default_rng(0).standard_normal


@jit
def plus(x, y, out):
    for i in range(x.size):
        out[i] = x[i] + y[i]


@jit
def smooth(x, out):
    mean = 0.0
    for i in range(x.size):
        mean = 0.9 * mean + 0.1 * x[i]
        out[i] = mean


# %% tags=["slide"]
@jit
def product(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            out[i, j] = total


def filled(kernel, *arrays):
    def run():
        out = np.empty_like(arrays[0])
        kernel(*arrays, out)
        return out

    return run


# %% [markdown] tags=["slide"]
# `cases` has each kernel beside what you'd have without it: NumPy, or the same loop in
# plain Python. `smooth` gets 2,000 numbers, `plus` 200,000, `few` is `plus` with ten
# numbers, and `product` multiplies matrices of 60 by 60. `gains` measures the four
# pairs, prints each ratio with its band (10.00 is: 10 times as fast), and returns which
# kernels are more than 3 times as fast.

# %% tags=["slide"]
ten, many, a = draw(10), draw(200_000), draw((60, 60))
cases = {
    "smooth": (smooth, smooth.py_func, many[:2000]),
    "plus": (plus, np.add, many, many),
    "few": (plus, np.add, ten, ten),
    "product": (product, np.matmul, a, a),
}


def gains():
    fast = []
    for name, (kernel, without, *arrays) in cases.items():
        pair = {"without": filled(without, *arrays)}
        pair["with"] = filled(kernel, *arrays)
        found = interleaved(pair, seconds=0.1)
        ratio = found["without"].ratio_to(found["with"])
        print(f"{name:7}", ratio)
        fast += [name] * (ratio.median > 3)
    return ", ".join(fast) or "none"


# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "14.gains",
    "Which of the four kernels are more than 3 times as fast?",
    ["smooth", "smooth, product", "smooth, plus, product", "all four", "none"],
    so=lambda _: gains().replace("smooth, plus, few, product", "all four"),
    why="NumPy's operations are compiled already. What gains is a loop in Python.",
)

# %% [markdown] tags=["explain", "slide"]
# Only `smooth` gains much: it was a Python loop. `np.add` is a compiled loop already,
# and with 200,000 numbers both spend most of their time waiting for the memory. With 10
# numbers the call itself takes the time, and calling a kernel takes a little longer
# than calling `np.add`: it loses. `@` is more than three loops. It works on blocks that
# fit into the cache, the small fast memory inside the processor. (Without Numba, Python
# is compared with itself or with NumPy.)

# %% [markdown] tags=["slide"]
# And before you write a kernel, find out what share of your step it would replace. A
# kernel that replaces 2 % can't save more than 2 %.

# %% [markdown] tags=["slide"]
# ## Fused kernels
#
# In NumPy the root of `x * x + y * y` is four loops, and three of them write an array
# that's read once and thrown away. A **fused kernel** does all of it in one loop,
# without these arrays. `peaks` measures the most memory that each way needs at one
# time, in arrays of x's size, x and y not counted.


# %% tags=["slide"]
@jit
def length(x, y, out):
    for i in range(x.size):
        out[i] = math.sqrt(x[i] * x[i] + y[i] * y[i])


def peaks():
    x, y = draw((2, 100_000))
    chain = course.peak_bytes(lambda: np.sqrt(x * x + y * y))
    fused = course.peak_bytes(filled(length, x, y))
    return round(chain / x.nbytes), round(fused / x.nbytes)


# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "14.peaks",
    "How many arrays does peaks() find, for NumPy's four loops and for the kernel?",
    ["4 and 1", "3 and 1", "2 and 1", "2 and 0"],
    so=lambda _: "{} and {}".format(*peaks()),
    why="NumPy writes into arrays that aren't used again; the result itself is one.",
)

# %% [markdown] tags=["explain", "slide"]
# Two and one. If you said three, you counted `x * x`, `y * y` and their sum. But NumPy
# sees that `x * x` isn't used again, and writes the sum into its memory. (Not every
# build of NumPy does: then it's three.) And `y * y` is gone before the root is taken.

# %% [markdown] tags=["slide"]
# The kernel also reads x and y only once, and writes once; memory is what long arrays
# wait for. In 14.3 you fuse a whole loss: softmax, logarithm and mean.

# %% [markdown] tags=["slide"]
# ## A race
#
# Python code runs in one thread at a time: it needs Python's lock, the GIL. A kernel
# compiled by `jit` doesn't hold it, so two can run at once, one on each core. Here both
# add five million ones to the same `total`: that should make ten million. Five runs
# (`is_compiled` is False without Numba):


# %% tags=["slide"]
@jit
def add_up(numbers, total):
    for i in range(numbers.size):
        total[0] += numbers[i]


def in_two_threads(count):
    total, ones = np.zeros(1), np.ones(count)
    pair = [threading.Thread(target=add_up, args=(ones, total)) for _ in range(2)]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join()
    return int(total[0])


# %% tags=["slide"]
add_up(np.ones(1), np.zeros(1))  # the warm-up
count = 5_000_000 if add_up.is_compiled else 500
try:
    print([in_two_threads(count) for _ in range(5)])
except RuntimeError as error:  # a browser's Python has a single thread
    print(f"{error}: no race here. Go on, the next one is run by hand.")

# %% [markdown] tags=["slide"]
# The totals differ. (If yours don't, your threads never met: on one core, on a busy
# computer, or without Numba.) So let's run it by hand. `+=` is two steps, a read and a
# write, and between them the other thread may go on. That's what `yield` stands for.
# Each thread of this program adds 1 twice. Each has four steps, so there are 70 orders
# in which the two can take turns. `total_of` runs one of them.


# %% tags=["slide"]
def adder(shared):
    for _ in range(2):
        read = shared[0]
        yield
        shared[0] = read + 1
        yield


def total_of(order):
    shared = [0]
    threads = [adder(shared), adder(shared)]
    for k in order:
        next(threads[k])
    return shared[0]


orders = set(itertools.permutations([0, 0, 0, 0, 1, 1, 1, 1]))
total_of([0, 0, 0, 0, 1, 1, 1, 1])  # thread 0 does all it has to do, then 1

# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "14.race",
    "All 70 orders are run. Which totals come out?",
    ["4", "3, 4", "2, 3, 4", "1, 2, 3, 4"],
    so=lambda _: ", ".join(sorted({str(total_of(order)) for order in orders})),
    why="A write that's based on an old read throws away what was added in between.",
)

# %% [markdown] tags=["explain", "slide"]
# How can it be 2? A reads 0. B adds 1. A writes 1. B reads 1. A adds 1, and B writes 2.

# %% [markdown] tags=["slide"]
# When the result depends on which thread comes first, that's **a race**. With fewer
# numbers a race is rarer, not gone. It's cured when no two threads write to the same
# place: each adds up its own part in a place of its own, and one of them adds the parts
# at the end (14.4).

# %% [markdown] tags=["slide"]
# ## The step without the graph
#
# Much of a training step's time is Python: for each operation the engine makes a ctx, a
# node and edges, and throws them away after backward. The next step does exactly the
# same. `mg.nn.replay(step)` writes down once which arrays are computed from which, and
# then repeats only that.


# %% tags=["slide"]
def make_step(width):
    mg.manual_seed(0)
    layers = mg.nn.Linear(8, width), mg.nn.Tanh(), mg.nn.Linear(width, 1)
    model = mg.nn.Sequential(*layers)
    optimizer = mg.optim.SGD(model.parameters(), lr=1e-4)

    def step(x, y):
        runs.append(1)
        optimizer.zero_grad()
        loss = Square.apply(model(x) - y).mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


x, y, runs = mg.randn(32, 8), mg.randn(32, 1), []


# %% [markdown] tags=["slide"]
# Ten steps, once as they are and once replayed. (`Square` is your own Function from
# above; its methods run in a replay, too.) `ten_steps` returns how many of the ten
# losses are equal to the last bit, and how often `step` ran, in all 20 calls.


# %% tags=["slide"]
def ten_steps():
    runs.clear()
    step, replayed = make_step(16), mg.nn.replay(make_step(16))
    losses = [(step(x, y).item(), replayed(x, y).item()) for _ in range(10)]
    return sum(one == other for one, other in losses), len(runs)


# %% tags=["predict", "hide-input", "slide"]
course.predict(
    "14.replay",
    "How many of the ten losses are equal, and how often does step run in 20 calls?",
    ["10 and 20", "10 and 13", "10 and 11", "fewer than 10, and 11"],
    so=lambda _: "{} and {}".format(*ten_steps()),
    why="replay runs step once as it is, once to write it down, and once to compare.",
)

# %% [markdown] tags=["explain", "slide"]
# All ten, and 13 times: 10 as they are, and 3 of the replayed ones. The first of these
# runs as it is, the second is recorded, and the third is compared with the recording.
# From then on a `print` in `step` is silent, as with `jax.jit`.

# %% [markdown] tags=["slide"]
# Whatever changes from step to step has to be an argument: that's the price of a
# replay. Here's what's gained, with few numbers in each operation, and with many:

# %% tags=["slide"]
for width in (16, 1000):
    step, replayed = make_step(width), mg.nn.replay(make_step(width))
    for _ in range(3):
        step(x, y), replayed(x, y)
    programs = {"step": partial(step, x, y), "replay": partial(replayed, x, y)}
    found = interleaved(programs, seconds=1)
    print(f"width {width:4}", found["step"].ratio_to(found["replay"]))

# %% [markdown] tags=["slide"]
# If a band reaches across 1, don't bet on that line: measure for longer (`seconds`). A
# replay saves Python and does the same arithmetic, whose share grows with the numbers.
# That's where fused kernels are worth writing.
#
# ## What to remember
#
# Answer each card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>What's a fair comparison of two programs?</summary>
#
# Both warm (with arguments of the same dtype, number of axes and order in memory as
# later), both with the same result, in turns, over many rounds; reported as a median
# with a band.
#
# </details>
#
# <details><summary>When does a compiled kernel lose?</summary>
#
# When it's called too rarely to pay for compiling, when it replaces a good compiled
# loop (`@`, one NumPy operation), on a few numbers, or where little time was spent
# anyway.
#
# </details>
#
# <details><summary>What does a Function around a kernel have to do?</summary>
#
# Hand over contiguous arrays, keep what backward needs, and have a second kernel for
# backward. The kernel itself isn't in the graph, and leaves none.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same up to the race, with `import torch as mg`: `jit` only
# sees arrays. `torch.utils.benchmark` measures with warm-up and median, and
# `torch.cuda.synchronize()` makes the clock wait for the GPU. Instead of `nn.replay`
# there are CUDA graphs and `torch.compile`, which also fuses loops.
#
# ## Now you
#
# [Five exercises](../exercises/14_is_it_faster/14_exercises.ipynb)
# wait for you; in 14.3 you write a fused loss. Where you stand:

# %%
course.progress("14")
