# %% [markdown] tags=["slide"]
# # Shapes that stretched
#
# You will
# * see one number meet three rows, and what comes back to it from each,
# * say for two shapes which axes stretched, and add up along just these,
# * know which wrong shapes the engine repairs in silence, and which it refuses.

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("06")

# %% [markdown] tags=["slide"]
# ## One bias for every row
#
# A layer adds its bias to each row of a batch: `x` has the shape (3, 4), `b` only (4,).
# NumPy *stretches* the smaller one: `b` is used as if there were three copies of it,
# one for each row. That is **broadcasting**, and here it is the same. But there is one
# `b`, and one `b.grad`.


# %% tags=["slide"]
def bias_and_back():
    x = mg.zeros(3, 4)
    b = mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True)
    (x + b).sum().backward()
    return b.grad


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "06.bias",
    "x is (3, 4), b is (4,). After (x + b).sum().backward(), what is b.grad?",
    [
        "shape (4,), and each number is 1",
        "shape (4,), and each number is 3",
        "shape (3, 4), and each number is 1",
    ],
    then=bias_and_back,
    so=lambda ran: (
        f"shape {tuple(ran.value.shape)}, and each number is {ran.value.max().item():g}"
    ),
    why="Each number of `b` was used in three rows, and their three gradients add up.",
    at="b.grad was empty",
)

# %% [markdown] tags=["explain", "slide"]
# **3**, in the shape of `b`. Let `b[0]` grow by 1: then it grows in all three rows, and
# the sum grows by 3. A number that was used three times gets three gradients, and they
# add up, as in any graph where a tensor is used more than once.

# %% [markdown] tags=["slide"]
# ## Gathered back
#
# Ones hide where each of them came from. So here is the same addition as a Function of
# our own, and a gradient `g` that has another number at each place. `y.backward(g)`
# begins with `g` where `.sum()` began with ones. (`reshape` has something to do for a
# `b` in two brackets, of shape (1, 4); here it has not.)


# %% tags=["slide"]
class AddBias(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, b):
        ctx.shape = b.shape
        return x + b

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output.sum(0).reshape(ctx.shape)


x = mg.zeros(3, 4)
g = mg.tensor(
    [[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0], [100.0, 200.0, 300.0, 400.0]]
)

# %% [markdown] tags=["slide"]
# **Predict.** Which four numbers will `b.grad` be? Then step to the end, and look at
# ctx on the way: what does it keep of the twelve numbers of `x`? At the end click on
# AccumulateGrad in the graph, then on the 111 that comes up below it: the player says
# which sum it is. (The level *Story* makes the steps fewer.)


# %% tags=["predict", "step", "slide"]
def there_and_back(b):
    y = AddBias.apply(x, b)
    y.backward(g)


trace = mg.step(there_and_back, mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True))
trace

# %% tags=["explain"]
trace.explain("b.grad", (0,))

# %% [markdown] tags=["explain", "slide"]
# 111 = 1 + 10 + 100: the first column of `g`. Each copy sends its own gradient back;
# nothing is lost, and nothing is averaged. Nine terms are 0, because `b[0]` never met
# the other columns. And behind each dot stands a slope of 1, whatever `x` and `b` hold:
# so ctx keeps no array. **An addition keeps shapes.**

# %% [markdown]
# **Try.** With `*` for `+` the slopes are no longer 1. Guess what stands behind the
# dots now, then run. So which array does a product keep, and what comes first, the
# product or the sum over the rows?

# %% tags=["try"]
x = mg.tensor([[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0]])
b = mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True)
mg.step(lambda: (x * b).backward(g)).explain("b.grad", (0,))

# %% [markdown] tags=["explain"]
# The first column of `x` stands there, so a product keeps `x`. And the product comes
# first, each gradient with its own factor; then the sum over the rows. After `g.sum(0)`
# nobody knows any more which gradient belonged to which row.

# %% [markdown] tags=["slide"]
# ## Which axes stretched?
#
# Now `c` has the shape (3, 1): one number for each row, used in all four columns. Each
# number of `c` met one row of `g`, so we add up along axis 1.
#
# **Predict.** Is that all? (To save you the whole class, a line puts another backward
# into it.)

# %% tags=["predict", "raises-exception", "slide"]
AddBias.backward = staticmethod(lambda ctx, g: (g, g.sum(1)))
c = mg.tensor([[5.0], [6.0], [7.0]], requires_grad=True)
AddBias.apply(x, c).backward(g)

# %% [markdown] tags=["explain", "slide"]
# The numbers were right: 10, 100 and 1000. But `sum` takes the axis away, and three
# numbers in a row are no column. `keepdim=True` leaves an axis of length 1 where the
# sum was taken.

# %% tags=["slide"]
AddBias.backward = staticmethod(lambda ctx, g: (g, g.sum(1, keepdim=True)))
AddBias.apply(x, c).backward(g)
c.grad

# %% [markdown] tags=["explain", "slide"]
# Write both shapes below each other, **flush right**. An axis stretched where the small
# shape has nothing, or has 1 and the result has more. Along these axes the gradient is
# added up.
#
# | | | stretched | gathered by |
# |---|---|---|---|
# | result | `3  4` | | |
# | (4,) | `·  4` | axis 0, which is new | `g.sum(0)` |
# | (3, 1) | `3  1` | axis 1, of length 1 | `g.sum(1, keepdim=True)` |
# | () | `·  ·` | both | `g.sum()` |

# %% [markdown]
# **Try.** Type another `b` here, of another shape: a column `[[5.0], [6.0], [7.0]]`,
# one number `5.0`, one row in two brackets. Say first which axes stretch and what
# `b.grad` will be. Which `b` does the addition refuse?


# %% tags=["try"]
def added(b):
    y = x + b
    y.backward(g)


mg.live(added, b=mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True))

# %% [markdown]
# ## The other way round
#
# The gradient of a stretch is a sum. And the gradient of a sum? Each of the numbers
# that were added up gets the same. This Function changes nothing; it shows how the
# gradient that arrives lies in memory. `stride()` says how many elements further the
# next row is, and the next column.


# %%
class Look(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad_output):
        print(tuple(grad_output.shape), grad_output.stride())
        return grad_output


# %% [markdown]
# **Predict.** The sum of twelve numbers: its gradient has the shape (3, 4). Are there
# twelve numbers in memory, and steps of 4 and 1 between them?

# %% tags=["predict", "Q03"]
twelve = mg.ones(3, 4, requires_grad=True)
Look.apply(twelve).sum().backward()

# %% [markdown] tags=["explain"]
# Steps of 0: **one** number stands at all twelve places. That is how the backward of a
# sum stretches, and it costs no memory. So each is the other's backward: *stretch* and
# *sum*. (And never write into `grad_output`: one write would be seen at twelve places.)

# %% [markdown]
# **Try.** A transpose moves no numbers either: it exchanges the steps. Code in C that
# gets the memory alone knows no steps; `ravel("K")` reads as it would. The first row
# that comes home should be [1, 2, 3, 4], both times. Is it? Then put
# `grad_output.contiguous()` in place of `grad_output`: a copy that lies as its shape
# says.


# %% tags=["try", "Q03"]
class InMemory(Look):
    @staticmethod
    def backward(ctx, grad_output):
        numbers = grad_output.numpy().ravel("K")
        return mg.tensor(numbers).reshape(grad_output.shape)


(straight,) = mg.autograd.grad(InMemory.apply(twelve), twelve, g)
(turned,) = mg.autograd.grad(InMemory.apply(twelve).T, twelve, g.T.contiguous())
straight[0], turned[0]

# %% [markdown] tags=["explain"]
# [1, 10, 100, 2]: all twelve numbers, in another order, and no error. Such a backward
# is right until somebody transposes its result. With a sum behind it, C would read one
# number and then eleven that are not there. (`np.frombuffer` refuses to read either:
# *not C-contiguous*.)

# %% [markdown] tags=["slide"]
# ## The bias that learned n times too fast
#
# Copies add up: so does a bias in a batch of 1000 rows learn 1000 times as fast as with
# one? Not if the loss is a *mean* over the rows. Then each row's gradient arrives
# divided by n. Somebody has to do that. Here somebody forgot.


# %% tags=["slide"]
class MeanSquare(mg.autograd.Function):
    @staticmethod
    def forward(ctx, y, target):
        ctx.save_for_backward(y, target)
        return ((y - target) ** 2).mean()

    @staticmethod
    def backward(ctx, grad_output):
        y, target = ctx.saved_tensors
        return grad_output * 2 * (y - target), None


def mean_square(y, target):
    return ((y - target) ** 2).mean()


# %% [markdown] tags=["slide"]
# **Predict.** The bias starts at 0 and should become 1, in each of 8 rows.
# `mean_square` gives it a gradient of -2. What does `MeanSquare` give?


# %% tags=["predict", "slide", "Q77"]
def bias_gradient(loss, bias=0.0, rows=8):
    b = mg.tensor([bias], requires_grad=True)
    loss(mg.zeros(rows, 1) + b, mg.ones(rows, 1)).backward()
    return b.grad.item()


bias_gradient(mean_square), bias_gradient(MeanSquare.apply)

# %% [markdown]
# Eight times too much. A training step moves the bias against its gradient, here by an
# eighth of it: 0.125 is the *learning rate*. **Predict** what nine steps look like,
# with either loss. Where is the bias after the first one, and after the second?


# %%
def learn(loss, rows=8):
    path = [0.0]
    for _ in range(9):
        path.append(path[-1] - 0.125 * bias_gradient(loss, path[-1], rows))
    return path


# %% tags=["explain", "slide"]
mg.plot_lines(
    range(10),
    {"1/n forgotten": learn(MeanSquare.apply), "right": learn(mean_square)},
    x="training steps",
    y="the bias, which should become 1",
    says="The right one comes nearer with each step; the other one jumps over it.",
)

# %% [markdown] tags=["explain", "slide"]
# Over the target and back again, for ever. Which of the two was wrong: the addition,
# which adds up 8 gradients, or the mean, which forgot to divide? The mean: **who copies
# adds up, who averages divides.** A learning rate eight times smaller would hide it,
# for batches of 8. Put `rows=9` into both calls of `learn`: which line changes?

# %% tags=["because"]
course.because(
    "06.because",
    "Somebody mends it with grad_output.mean(0) in the addition. For which loss is "
    "that wrong? One sentence; it is for you and nobody grades it.",
)

# %% [markdown] tags=["slide"]
# ## What the engine does for you
#
# In a hurry one returns `grad_output` for everything. `b` is (4,) again, and each of
# the next backwards returns something of a wrong shape for it.


# %% tags=["slide"]
def is_refused(rule):
    AddBias.backward = staticmethod(rule)
    b = mg.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True)
    try:
        AddBias.apply(mg.zeros(3, 4), b).backward(g)
    except RuntimeError:
        return True
    return False


# %% tags=["predict", "hide-input", "step", "slide", "Q63"]
def both():
    return is_refused(lambda ctx, g: (g, g)), is_refused(lambda ctx, g: (g, g.sum()))


course.predict(
    "06.engine",
    "For b of shape (4,) one backward returns (3, 4), another returns (). Which of the "
    "two does the engine refuse?",
    ["both", "only the larger one", "only the smaller one", "neither"],
    then=both,
    so=lambda ran: {
        (True, True): "both",
        (True, False): "only the larger one",
        (False, True): "only the smaller one",
        (False, False): "neither",
    }[ran.value],
    why="A gradient too large is summed down; one too small is refused.",
    at="GradientShapeError",
)

# %% [markdown] tags=["explain", "slide"]
# Too large is **summed**, without a word (but for teaching mode's). Too small is
# **refused**: should the one number be copied to four places, or shared out, or is it a
# mistake? So an addition may leave the work to the engine; a sum may not. JAX, for one,
# refuses both: the same class would be an error there.

# %% [markdown] tags=["slide"]
# **Predict.** And a gradient that has the right shape by chance? `x` is square now, and
# this backward adds up along the wrong axis. Refused, repaired, or taken?

# %% tags=["predict", "slide"]
AddBias.backward = staticmethod(lambda ctx, g: (g, g.sum(1)))
b = mg.tensor([5.0, 6.0, 7.0], requires_grad=True)
AddBias.apply(mg.zeros(3, 3), b).backward(g[:, :3])
b.grad

# %% [markdown] tags=["explain", "slide"]
# Taken: [6, 60, 600] where [111, 222, 333] is right. The engine sees shapes, no sums.
# That is why the exercises, and your own tests, use sizes that are all different.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# You can now say where the gradients of copies go. Answer each card in your own words
# before you open it.

# %% [markdown] tags=["recall", "slide"]
# <details><summary>An input of shape (4,) met a result of (3, 4). What is its
# gradient?</summary>
#
# The sum over the axis that stretched, here axis 0: each copy sends its own, and they
# add up.
#
# </details>
#
# <details><summary>Which axes stretched?</summary>
#
# Write the shapes flush right: where the small one has nothing, and where it has 1 and
# the result has more. `keepdim=True` for the second kind.
#
# </details>
#
# <details><summary>Where does 1/n of a mean belong?</summary>
#
# In the backward of the one that averages. Whoever copies adds up, and divides by
# nothing.
#
# </details>

# %% [markdown]
# **In PyTorch this is** the same: too large is summed in silence, too small raises
# *invalid gradient at index 1*. Put `import torch as mg` in the first cell, leave out
# the lines that teach (`teaching`, `course` and the stepper), and every value above
# stays as it is. (torch's `sum_to_size` does what you write in 06.2.)

# %% [markdown]
# ## Now you
#
# [Six exercises](../exercises/06_shapes_that_stretched/06_shapes_that_stretched.ipynb)
# wait for you; in 06.5 a bias learns too fast, and the weight beside it does not. They
# link back to this lesson. Where you stand:

# %%
course.progress()
