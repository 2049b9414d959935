"""``replay``: to the bit what the step computes, or a refusal that says why."""

import functools
import gc
import itertools
import pickle
import random
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad
from minigrad import errors, nn
from minigrad.bench import models
from minigrad.transforms.replay import Replay, replay
from tests.ops.laws import called, floating, leaves, rows, variables

F = nn.functional
func, autograd = minigrad.func, minigrad.autograd


def mlp() -> Any:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def dropping() -> Any:
    return nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.3), nn.GELU(), nn.Linear(16, 4))


def normalized() -> Any:
    return nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.SiLU(), mlp_end())


def mlp_end() -> Any:
    return nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 4))


def vectors(dtype: Any = np.float32, number: int = 50) -> list[tuple[Any, Any]]:
    numbers = np.random.default_rng(0)
    return [
        (
            minigrad.tensor(numbers.standard_normal((6, 8)).astype(dtype)),
            minigrad.tensor(numbers.integers(0, 4, 6)),
        )
        for _ in range(number)
    ]


def training(
    model: Any, kind: str, **options: Any
) -> tuple[Any, Callable[[Any, Any], Any]]:
    """An optimizer, and a step with it."""
    optimizer = getattr(minigrad.optim, kind)(model.parameters(), 0.01, **options)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        scores = model(x)
        loss = F.cross_entropy(scores, y)
        loss.backward()
        optimizer.step()
        return loss, scores

    return optimizer, step


def everything_in(model: Any, optimizer: Any) -> dict[str, Any]:
    """All that training changes."""
    found = {f"model.{name}": one for name, one in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        found[f"{name}.grad"] = parameter.grad
        for key, value in optimizer.state[parameter].items():
            found[f"{name}.{key}"] = value
    return found


def assert_equal(one: Any, other: Any, what: Any = "") -> None:
    """Values, dtype, layout: to the bit."""
    if one is None or other is None:
        assert one is other, what
        return
    a, b = one.numpy(), other.numpy()
    assert (a.dtype, a.shape, a.strides) == (b.dtype, b.shape, b.strides), what
    assert a.tobytes() == b.tobytes(), what


def assert_trains_alike(
    make: Callable[[], Any], batches: list[Any], kind: str, **options: Any
) -> Replay:
    """The same model twice: by the step, and by its replay."""
    sides = []
    for side in range(2):
        minigrad.manual_seed(0)
        model = make()
        optimizer, step = training(model, kind, **options)
        run = replay(step) if side else step
        minigrad.manual_seed(1)
        results = [[one.detach() for one in run(*batch)] for batch in batches]
        versions = [parameter._version for parameter in model.parameters()]
        drawn = minigrad.rand(1)
        sides.append((results, everything_in(model, optimizer), versions, drawn, run))
    (losses, state, *rest, _), (replayed, copies, *others, run) = sides
    for number, (one, other) in enumerate(zip(losses, replayed, strict=True)):
        for a, b in zip(one, other, strict=True):
            assert_equal(a, b, f"step {number}")
    for name in state:
        assert_equal(state[name], copies[name], name)
    assert rest[0] == others[0]
    assert_equal(rest[1], others[1], "the next random number")
    assert run.is_recorded
    return run


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("make", "kind", "options"),
    [
        (mlp, "SGD", {}),
        (mlp, "SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        (mlp, "Adam", {}),
        (mlp, "Adam", {"amsgrad": True, "weight_decay": 0.01, "maximize": True}),
        (mlp, "AdamW", {}),
        (dropping, "Adam", {}),
        (normalized, "Adam", {}),
    ],
)
def test_fifty_steps_are_equal_to_the_bit(
    make: Any, kind: str, options: Any, dtype: Any
) -> None:
    def converted() -> Any:
        return make().to(minigrad.tensor(dtype(0)).dtype)

    assert_trains_alike(converted, vectors(dtype), kind, **options)


@pytest.mark.parametrize("model", models.models(), ids=lambda model: model.name)
def test_models_of_the_bench_are_equal_to_the_bit(model: models.Model) -> None:
    batches = [
        (minigrad.tensor(x[:8]), minigrad.tensor(y.reshape(64, -1)[:8].reshape(-1)))
        for x, y in itertools.islice(itertools.cycle(model.batches), 12)
    ]
    assert_trains_alike(lambda: model.make(minigrad), batches, "Adam")


def test_every_operation_is_replayed_to_the_bit() -> None:
    every = [
        (row, sample)
        for name, row, sample in rows(differentiable=True)
        if name.endswith("-0")
    ]
    sides = []
    for side in range(2):
        inputs = [leaves(variables(sample), np.float32) for _, sample in every]
        given = [leaf for some in inputs for leaf in some]

        def step(x: Any, inputs: Any = inputs, given: Any = given) -> Any:
            outputs = []
            for (row, sample), some in zip(every, inputs, strict=True):
                outputs += floating(called(row, sample, [leaf * x for leaf in some]))
            for leaf in given:
                leaf.grad = None
            sum([(one * one).sum() for one in outputs if one.requires_grad]).backward()
            return outputs

        run = replay(step) if side else step
        results = [run(minigrad.tensor(1 + n / 8)) for n in range(4)][-1]
        sides.append([*results, *[leaf.grad for leaf in given]])
    for number, (one, other) in enumerate(zip(*sides, strict=True)):
        assert_equal(None if one is None else one.detach(), other, number)


# Small steps on a leaf w and an input x, each made by itself and by its replay.


class Cubed(autograd.Function):
    """With NumPy in it, on copies of the values."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return minigrad.tensor(np.power(x.detach().numpy(), 3).copy())

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        values = ctx.saved_tensors[0].detach().numpy()
        return grad * minigrad.tensor(3 * values * values)


class Square(autograd.Function):
    """In the newer style, and for transforms."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * grad


def backward_of(value: Any, w: Any) -> None:
    w.grad = None
    value.sum().backward()


def double_backward(w: Any, x: Any) -> Any:
    w.grad = None
    (slope,) = autograd.grad(Square.apply(w * x * w).sum(), w, create_graph=True)
    (slope * slope).sum().backward()
    norm = nn.utils.clip_grad_norm_([w], 3.0)
    with minigrad.no_grad():
        w.sub_(0.1 * w.grad)
    return norm


def parts_in_place(w: Any, x: Any) -> Any:
    y = w * x
    y[0:1].mul_(w[1:2])
    y[1:].exp_()
    total = (y * y).sum()
    total.mul_(w[0])
    backward_of(total, w)
    return y, total


def checkpointed(w: Any, x: Any) -> None:
    part = minigrad.utils.checkpoint.checkpoint
    y = part(lambda a: (a * a).exp().sin(), w * x, use_reentrant=False)
    backward_of(y, w)


def dual(w: Any, x: Any) -> Any:
    with autograd.forward_ad.dual_level():
        y = (autograd.forward_ad.make_dual(x, x * 3) * w).exp()
        return autograd.forward_ad.unpack_dual(y).tangent


def several_roots(w: Any, x: Any) -> None:
    w.grad = None
    y = w * x
    total = y.sum()
    autograd.backward([total, total, total, y], [None, None, None, x])


def leaf_of_its_own(w: Any, x: Any) -> Any:
    a = minigrad.ones(3, requires_grad=True)
    a.itself = a  # it stays until the garbage is collected
    (a * a * w * x).sum().backward()
    w.grad = None
    return a.grad


def twice(w: Any, x: Any) -> None:
    y = (w * x).exp().sum()
    y.backward(retain_graph=True)
    y.backward()


def parts_are_counted(w: Any, x: Any) -> None:
    with minigrad.no_grad():
        w[0].add_(x[0])
    w.detach()[1:].mul_(2)
    w.data.add_(x)


def other_order(w: Any, x: Any) -> Any:
    y = minigrad.outer(w, x)
    z = (y.T * y).T.sum(0) + y.t().exp().mean(1)
    backward_of(z * z, w)
    return z, y.T * y, y.T + y


def dropped(w: Any, x: Any) -> Any:
    y = F.dropout(w * x, 0.5, inplace=True)
    backward_of(y + F.dropout(w * x, 0.3), w)
    return y


SMALL: dict[str, Callable[[Any, Any], Any]] = {
    "gradients add up": lambda w, x: (w * x).sum().backward(),
    "NumPy in a Function": lambda w, x: backward_of(Cubed.apply(w * x), w),
    "Function under vmap": lambda w, x: func.vmap(Square.apply)(w * x),
    "grad and vmap": lambda w, x: func.vmap(func.grad(lambda a, b: (a * b).sin()))(
        w.detach(), x
    ),
    "hessian": lambda w, x: func.hessian(lambda a: (a * a * a * x).sum())(x),
    "jvp": lambda w, x: func.jvp(lambda a: (a * w).sin(), (x,), (x * 2,)),
    "autograd.grad": lambda w, x: autograd.grad((w * w * x).sum(), [w]),
    "grad is set": lambda w, x: setattr(w, "grad", x * 2) or w.grad + 1,
    "flags": lambda w, x: ((x > 0).all(), (x < 1).all(), (x > x.mean()).sum()),
    "order": lambda w, x: (x.argsort(), w[x.argsort()], x.sort().values, x.max()),
    "places": lambda w, x: ((x != 7).nonzero(), w[x < 7] * 2, w[0], w[-1:]),
    "constants": lambda w, x: w * minigrad.tensor([1.0, 2.0, 3.0]) + minigrad.arange(3),
    "w itself": lambda w, x: (w, w.detach(), x * w, 3),
    "no reading": lambda w, x: (x.shape, len(x), x.dtype, w.requires_grad, x.ndim),
    **{
        one.__name__.replace("_", " "): one
        for one in (
            double_backward,
            parts_in_place,
            checkpointed,
            dual,
            several_roots,
            leaf_of_its_own,
            twice,
            parts_are_counted,
            other_order,
            dropped,
        )
    },
}


@pytest.mark.parametrize("step", SMALL.values(), ids=SMALL)
def test_small_steps_are_equal_to_the_bit(step: Any) -> None:
    sides = []
    for side in range(2):
        minigrad.manual_seed(0)
        w = minigrad.tensor([1.0, 2.0, -0.5], requires_grad=True)

        def run(x: Any, w: Any = w) -> Any:
            return step(w, x)

        run = replay(run) if side else run
        found = []
        for number in range(7):
            numbers = np.random.default_rng(number).standard_normal(3)
            result = run(minigrad.tensor(numbers.astype(np.float32)))
            results = result if isinstance(result, tuple) else (result,)
            found += [
                one.detach().clone() if isinstance(one, minigrad.Tensor) else one
                for one in (*results, w, w.grad, w._version)
            ]
        sides.append(found)
    assert run.is_recorded
    for number, (one, other) in enumerate(zip(*sides, strict=True)):
        if isinstance(one, minigrad.Tensor):
            assert_equal(one, other, number)
        else:
            assert one == other


UNARY: list[Callable[[Any], Any]] = [
    lambda x: x.tanh(),
    lambda x: x.T * 2,
    lambda x: x.reshape(-1).cumsum(0).reshape(x.shape),
    lambda x: x.clone().mul_(0.5),
    lambda x: x - x.mean(0, keepdim=True),
    lambda x: F.softmax(x, 1),
    lambda x: minigrad.where(x > 0, x, x * 0.1),
    lambda x: x[[0, 1, 2]] + x.flip(0),
    lambda x: x.sort(1).values,
    lambda x: F.dropout(x, 0.25),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x @ y,
    lambda x, y: x + y.T,
    lambda x, y: minigrad.maximum(x, y),
    lambda x, y: x.clone().add_(y),
    lambda x, y: minigrad.cat([x, y])[1:4],
    lambda x, y: x / (1 + y * y),
]
PROGRAMS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(UNARY), st.integers(0, 9)),
        st.tuples(st.sampled_from(BINARY), st.integers(0, 9), st.integers(0, 9)),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=10, deadline=None)
@given(PROGRAMS)
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_random_programs_are_replayed_to_the_bit(program: list[Any]) -> None:
    sides = []
    for side in range(2):
        minigrad.manual_seed(0)
        w = minigrad.linspace(-1, 1, 9).reshape(3, 3).requires_grad_()

        def step(x: Any, w: Any = w) -> Any:
            values = [x, w]
            for operation, *places in program:
                chosen = [values[place % len(values)] for place in places]
                values.append(operation(*chosen))
            backward_of(values[-1] * w, w)
            with minigrad.no_grad():
                w -= 0.01 * w.grad
            return values[-1]

        run = replay(step) if side else step
        numbers = np.random.default_rng(1)
        batches = numbers.standard_normal((6, 3, 3)).astype(np.float32)
        sides.append([*[run(minigrad.tensor(x)) for x in batches], w, w.grad])
    for one, other in zip(*sides, strict=True):
        assert_equal(one.detach(), other.detach())


def test_sorted_columns_lie_in_memory_as_the_plain_step_leaves_them() -> None:
    def step(x: Any) -> Any:
        return (x.T * 2).sort(1).values

    run = replay(step)
    for seed in range(5):
        x = minigrad.tensor(np.random.default_rng(seed).standard_normal((3, 3)))
        assert_equal(run(x), step(x))


# What is between the calls, or around them.


def lower(model: Any, optimizer: Any, step: Any, batch: Any) -> None:
    optimizer.param_groups[0].update(lr=0.5, maximize=True)


def run_the_step_itself(model: Any, optimizer: Any, step: Any, batch: Any) -> None:
    step(*[one[:3].clone() for one in batch])  # the last batch of an epoch


def load(model: Any, optimizer: Any, step: Any, batch: Any) -> None:
    saved = {k: minigrad.ones_like(v) for k, v in model.state_dict().items()}
    model.load_state_dict(saved)
    optimizer.load_state_dict(optimizer.state_dict())


@pytest.mark.parametrize("between", [lower, run_the_step_itself, load])
def test_options_and_values_may_change_between_calls(between: Any) -> None:
    sides = []
    for side in range(2):
        minigrad.manual_seed(0)
        model = dropping()
        optimizer, step = training(model, "Adam")
        run = replay(step) if side else step
        for number, batch in enumerate(vectors(number=9)):
            if number == 6:
                between(model, optimizer, step, batch)
            run(*batch)
        sides.append(everything_in(model, optimizer))
    for name, value in sides[0].items():
        assert_equal(value, sides[1][name], name)


def test_results_have_no_graph_and_stay_when_the_next_call_comes() -> None:
    _, step = training(mlp(), "SGD")
    run, kept = replay(step), []
    for batch in vectors(number=6):
        loss, scores = run(*batch)
        assert not loss.requires_grad
        assert not scores.requires_grad
        kept.append((scores, scores.tolist()))
    assert all([scores.tolist() == values for scores, values in kept])


def test_it_is_the_python_code_that_does_not_run_any_more() -> None:
    calls = []

    def step(x: Any) -> Any:
        calls.append(1)
        return x * 2

    run = replay(step)
    assert [run(minigrad.tensor([float(n)])).item() for n in range(6)] == [
        *range(0, 12, 2)
    ]
    assert len(calls) == 3
    assert "v1 = Mul_forward(v0, 2)" in run.text


def test_gradients_that_are_filled_with_zeros_stay_the_same_tensors() -> None:
    model = mlp()
    optimizer = minigrad.optim.SGD(model.parameters(), 0.1)

    def step(x: Any) -> None:
        optimizer.zero_grad(set_to_none=False)
        model(x).square().mean().backward()
        optimizer.step()

    run = replay(step)
    batches = vectors(number=8)
    run(batches[0][0])
    kept = [parameter.grad for parameter in model.parameters()]
    for x, _ in batches:
        run(x)
    for one, parameter in zip(kept, model.parameters(), strict=True):
        assert one is parameter.grad
    assert run.is_recorded


def test_optimizer_keeps_no_more_than_in_the_step() -> None:
    optimizer, step = training(mlp(), "SGD")
    run = replay(step)
    for batch in vectors(number=5):
        run(*batch)
    assert not optimizer.state


def test_replay_inside_of_a_step_is_a_part_of_it() -> None:
    inner = replay(lambda x: x * 2)
    outer = replay(lambda x: inner(x) + 1)
    found = [outer(minigrad.tensor(float(n))).item() for n in range(5)]
    assert found == [1, 3, 5, 7, 9]
    assert outer.is_recorded


def test_recorded_values_are_not_kept() -> None:
    made = []

    def step(x: Any) -> Any:
        y = x * 2
        made.append(weakref.ref(y))
        return y + 1

    run = replay(step)
    for _ in range(4):
        run(minigrad.ones(2))
    gc.collect()
    assert [found() for found in made] == [None] * 3


def test_other_threads_compute_as_always_while_a_step_is_recorded() -> None:
    found = []

    def other() -> None:
        w = minigrad.tensor([1.0, 2.0], requires_grad=True)
        (w * w).sum().backward()
        found.append((w.tolist(), float(w.sum()), w.grad.tolist()))

    def step(x: Any) -> Any:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return x * 2

    run = replay(step)
    assert [run(minigrad.tensor(float(n))).item() for n in range(5)] == [0, 2, 4, 6, 8]
    assert found == [([1.0, 2.0], 3.0, [2.0, 4.0])] * 3


def snapshot_of_the_package() -> dict[tuple[str, str], int]:
    """What every module and class of the package has under its names."""
    found: dict[tuple[str, str], int] = {}
    for name, module in sys.modules.items():
        if name.startswith("minigrad."):
            for key, value in vars(module).items():
                if callable(value):
                    found[name, key] = id(value)
                if isinstance(value, type) and value.__module__ == name:
                    for inner, one in vars(value).items():
                        found[f"{name}.{key}", inner] = id(one)
    return found


def test_recording_replaces_no_function_of_the_package() -> None:
    before = snapshot_of_the_package()
    during = []
    model = dropping()
    _, step = training(model, "Adam")

    def watched(x: Any, y: Any) -> Any:
        results = step(x, y)
        during.append(snapshot_of_the_package())
        return results

    run = replay(watched)
    for batch in vectors(number=4):
        run(*batch)
    assert len(during) == 3
    for found in during:  # the package may have loaded more meanwhile
        assert {key: found.get(key) for key in before} == before


# A step that reads values, or that Python code decides about.


def refusal_of(step: Any, *args: Any) -> str:
    """The message; the first call runs as it is."""
    run, args = replay(step), args or (minigrad.tensor([1.0, 2.0]),)
    run(*[one.clone() for one in args])

    def record_and_try() -> None:
        run(*[one.clone() for one in args])
        run(*[one.clone() for one in args])

    with pytest.raises(errors.ReplayError) as caught:
        record_and_try()
    assert not run.is_recorded
    return str(caught.value)


READERS: dict[str, Callable[[Any], Any]] = {
    "float": lambda x: float(x.sum()),
    "item": lambda x: x.sum().item(),
    "if": lambda x: x * 2 if x.sum() > 0 else x,
    "tolist": lambda x: (x * 2).tolist(),
    "index": lambda x: x[int((x * 0).sum())],
    "tensor index": lambda x: x[(x * 0).sum().long()],
    "narrow": lambda x: x.narrow(0, (x * 0).sum().long(), 1),
    "asarray": lambda x: np.asarray(x * 2),
    "array": lambda x: np.array((x * 2).numpy()),
    "tensor": lambda x: minigrad.tensor(x * 2),
    "format": lambda x: f"{x.sum()}",
    "repr": lambda x: repr(x * 2),
    "equal": lambda x: minigrad.equal(x, x * 2),
    "allclose": lambda x: minigrad.allclose(x, x * 2),
    "range": lambda x: list(range(x.sum().long())),
    "in": lambda x: 2.0 in x * 1,
    "pickle": lambda x: pickle.dumps(x * 2),
    "returned": lambda x: (x * 2).numpy(),
}


@pytest.mark.parametrize("reads", READERS.values(), ids=READERS)
def test_step_that_reads_a_value_is_refused(reads: Any) -> None:
    assert "into Python" in refusal_of(lambda x: (reads(x + 1), x)[1])


def test_refusal_that_the_step_catches_is_one_all_the_same() -> None:
    def step(x: Any) -> Any:
        try:
            return x * float(x)
        except RuntimeError:
            return x

    assert "item() reads a value" in refusal_of(step, minigrad.tensor(2.0))


def changed(w: Any, x: Any) -> Any:
    w.data = w.data + x
    return w * 1


def carried(found: dict[str, Any], x: Any) -> Any:
    found["h"] = found["h"] * 0.5 + x
    return found["h"]


def numbered(numbers: Any, x: Any) -> Any:
    return x * next(numbers)


def branched(flags: Any, x: Any) -> Any:
    return x * 2 if next(flags) else x + 2


def counting() -> Callable[[Any], Any]:
    count = 0

    def step(x: Any) -> Any:
        nonlocal count
        count += 1
        return x * 2

    return step


def hooked(w: Any, x: Any, where: str) -> None:
    y = w * x
    if where == "step":
        y.register_hook(lambda grad: None)
    y.sum().backward()


def with_hook(where: str) -> Callable[[Any], Any]:
    w = minigrad.ones(2, requires_grad=True)
    if where == "before":
        w.register_hook(lambda grad: None)
    return lambda x: hooked(w, x, where)


OTHER_VALUES = "computes other values than the next call of the step: result 1"
W = minigrad.ones(2)
UNFIT: dict[str, tuple[Callable[[], Callable[[Any], Any]], str]] = {
    "number": (
        lambda: functools.partial(numbered, itertools.count(1)),
        OTHER_VALUES,
    ),
    "branch": (lambda: functools.partial(branched, iter([1, 1, 0])), OTHER_VALUES),
    "carried": (
        lambda: functools.partial(carried, {"h": minigrad.zeros(2)}),
        OTHER_VALUES,
    ),
    "made and written": (lambda: lambda x: minigrad.zeros(2).add_(x), OTHER_VALUES),
    "past the operations": (
        lambda: lambda x: (np.add(W.array, x.array, out=W.array), W * 1)[1],
        OTHER_VALUES,
    ),
    "count": (counting, "count, which the step names is 2"),
    "random tensor": (lambda: lambda x: x + minigrad.rand(2), "and not by dropout"),
    "seed": (
        lambda: lambda x: minigrad.manual_seed(0) and F.dropout(x),
        "random numbers are begun anew",
    ),
    "random": (
        lambda: lambda x: x * 2 if random.random() < 2 else x,
        "random numbers of Python or NumPy",
    ),
    "numpy.random": (
        lambda: lambda x: x * 2 if np.random.rand() < 2 else x,
        "random numbers of Python or NumPy",
    ),
    "input changed": (lambda: lambda x: x.mul_(2), "of shape (2,) is changed in place"),
    "input requires grad": (
        lambda: lambda x: autograd.grad((x.requires_grad_() ** 2).sum(), x),
        "is made to require grad in place",
    ),
    "values exchanged": (
        lambda: functools.partial(changed, minigrad.ones(2)),
        "are replaced by others in other memory",
    ),
    "hook": (lambda: with_hook("step"), "a hook, "),
    "hook from before": (lambda: with_hook("before"), "is called; a replay has no"),
}


@pytest.mark.parametrize(("make", "message"), UNFIT.values(), ids=UNFIT)
def test_step_that_cannot_be_replayed_is_refused(make: Any, message: str) -> None:
    assert message in refusal_of(make())


def test_argument_that_requires_grad_is_refused() -> None:
    run = replay(lambda x: x * 2)
    run(minigrad.ones(2, requires_grad=True))
    with pytest.raises(errors.ReplayError, match=r"an argument of shape .* requires"):
        run(minigrad.ones(2, requires_grad=True))


@pytest.mark.parametrize("call", [2, 3])
def test_refusal_puts_everything_back(call: int) -> None:
    model, numbers = dropping(), itertools.count(1)
    optimizer, step = training(model, "Adam")

    def with_number(x: Any, y: Any) -> Any:
        loss, _ = step(x, y)
        return loss.item() if call == 2 else loss * next(numbers)

    run = replay(with_number)
    batch = vectors(number=1)[0]
    for _ in range(call - 1):
        run(*batch)
    before = {k: v.clone() for k, v in everything_in(model, optimizer).items()}
    versions = [parameter._version for parameter in model.parameters()]
    state = minigrad.get_rng_state()
    line = r"`return loss\.item\(\).*`: .* into Python" if call == 2 else "result 1"
    with pytest.raises(errors.ReplayError, match=line):
        run(*batch)
    for name, value in everything_in(model, optimizer).items():
        assert_equal(value, before[name], name)
    assert [parameter._version for parameter in model.parameters()] == versions
    assert minigrad.equal(minigrad.get_rng_state(), state)


def test_refusal_leaves_no_state_of_an_optimizer_that_had_none() -> None:
    optimizer, step = training(mlp(), "Adam")
    run = replay(lambda x, y: float(step(x, y)[0]))
    batch = vectors(number=1)[0]
    run(*batch)
    optimizer.state.clear()
    with pytest.raises(errors.ReplayError, match="into Python"):
        run(*batch)
    assert not optimizer.state


# A call that is not like the recorded one.


class Recorded:
    """A step that is recorded, with all that may change."""

    def __init__(self) -> None:
        self.model = nn.Sequential(nn.Linear(8, 4), nn.Dropout(0.5))
        self.scale = 2.0
        self.optimizer = minigrad.optim.SGD(self.model.parameters(), 0.1)
        self.run = replay(self.step)
        self.x = minigrad.ones(3, 8)
        for _ in range(4):
            self.run(self.x, 1.5)

    def step(self, x: Any, factor: float) -> Any:
        self.optimizer.zero_grad()
        loss = (self.model(x) * factor * self.scale).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def __call__(self) -> Any:
        return self.run(self.x, 1.5)


CHANGES: dict[str, tuple[Callable[[Recorded], Any], str]] = {
    "shape": (
        lambda r: r.run(minigrad.ones(4, 8), 1.5),
        r"is a tensor of shape \(4, 8\)",
    ),
    "dtype": (lambda r: r.run(r.x.double(), 1.5), "float64"),
    "layout": (lambda r: r.run(minigrad.ones(8, 3).T, 1.5), r"strides \(4, 12\)"),
    "number": (lambda r: r.run(r.x, 2.5), "argument 2 is 2.5; when .*: 1.5"),
    "kind": (lambda r: r.run(2.0, 1.5), "argument 1 is 2.0; when .*: a tensor of"),
    "missing": (lambda r: r.run(r.x), r"nested as \(\(\*\), \{\}\)"),
    "by name": (lambda r: r.run(r.x, factor=1.5), "nested as"),
    "requires grad": (lambda r: r.run(r.x.requires_grad_(), 1.5), "requires grad"),
    "eval": (lambda r: r.model.eval() and r(), "training of .* is False and was True"),
    "option": (
        lambda r: setattr(r.model[1], "p", 0.1) or r(),
        "p of Dropout is 0.1 and",
    ),
    "own number": (
        lambda r: setattr(r, "scale", 3.0) or r(),
        "scale of Recorded is 3.0",
    ),
    "frozen": (
        lambda r: r.model[0].requires_grad_(False) and r(),
        r"requires_grad of a tensor of shape \(4, 8\) is False and was True",
    ),
    "replaced": (
        lambda r: setattr(r.model[0].weight, "data", minigrad.ones(4, 8)) or r(),
        r"values of a tensor of shape \(4, 8\) were replaced",
    ),
    "converted": (lambda r: r.model.double() and r(), "were replaced by others"),
    "new parameter": (
        lambda r: setattr(r.model[0], "bias", nn.Parameter(minigrad.ones(4))) or r(),
        "bias of Linear is",
    ),
    "new layer": (
        lambda r: setattr(r.model, "0", nn.Linear(8, 4)) or r(),
        "0 of Sequential is",
    ),
    "another group": (
        lambda r: (
            r.optimizer.add_param_group({"params": [nn.Parameter(minigrad.ones(2))]})
            or r()
        ),
        r"SGD has groups of \[2, 1\] parameters and had \[2\]",
    ),
    "hook": (
        lambda r: r.model[0].weight.register_hook(lambda grad: None) and r(),
        r"tensor of shape \(4, 8\) has a hook",
    ),
    "no grad": (
        lambda r: inside(minigrad.no_grad(), r),
        r"are \(False, False, .*\(True",
    ),
    "inference": (lambda r: inside(minigrad.inference_mode(), r), r"are \(.*, True, "),
    "anomaly": (
        lambda r: inside(minigrad.autograd.detect_anomaly(), r),
        "anomaly mode is on",
    ),
    "recorder": (lambda r: inside(minigrad.record(), r), "a recording is running"),
    "forward mode": (
        lambda r: inside(minigrad.autograd.forward_ad.dual_level(), r),
        "a level of forward mode is open",
    ),
    "saved hooks": (
        lambda r: inside(
            minigrad.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x), r
        ),
        "hooks for saved tensors are in force",
    ),
    "vmap": (
        lambda r: minigrad.func.vmap(lambda x: r())(minigrad.ones(2)),
        "vmap, or another transform, is open",
    ),
}


def inside(block: Any, run: Recorded) -> None:
    with block:
        run()


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
@pytest.mark.filterwarnings("ignore:detect_anomaly")
def test_call_that_is_not_like_the_recorded_is_refused(
    recorded: Recorded, change: Any, message: str
) -> None:
    recorded()
    weight = recorded.model[0].weight
    before = weight.detach().clone()
    with pytest.raises(errors.ReplayError, match=message):
        change(recorded)
    if weight.shape == before.shape and weight.dtype == before.dtype:
        assert weight.tolist() in (before.tolist(), [[1.0] * 8] * 4)


def test_shape_that_depends_on_values_is_refused_when_it_changes() -> None:
    run = replay(lambda x: x[x > 0] * 2)
    for _ in range(4):
        assert run(minigrad.tensor([1.0, -1.0])).tolist() == [2.0]
    message = r"Index.forward gives the shape \(2,\) now and gave \(1,\)"
    with pytest.raises(errors.ReplayError, match=message):
        run(minigrad.tensor([1.0, 1.0]))


def test_wrong_class_is_refused_by_the_loss_as_always() -> None:
    _, step = training(mlp(), "SGD")
    run = replay(step)
    for x, y in vectors(number=4):
        run(x, y)
    with pytest.raises(errors.IndexingError, match="Target 9 is out of bounds"):
        run(x, y * 0 + 9)


def test_gradient_that_was_none_has_to_be_none() -> None:
    w = minigrad.ones(2, requires_grad=True)
    run = replay(lambda x: (w * x).sum().backward())
    for _ in range(4):
        run(minigrad.ones(2))
        w.grad = None
    run(minigrad.ones(2))
    with pytest.raises(
        errors.ReplayError, match=r"\.grad of .* is not None, as it was"
    ):
        run(minigrad.ones(2))


class Options:
    """What a program might keep its numbers in; also a step with its own."""

    def __init__(self) -> None:
        self.weight, self.epoch = 2.0, 1

    def __call__(self, x: Any) -> Any:
        return x * self.weight


FACTOR = 2.0


def scaled(x: Any) -> Any:
    return x * FACTOR


def test_numbers_that_the_step_names_are_watched(monkeypatch: Any) -> None:
    options, table = Options(), {"bias": 0.0, "epoch": 1}
    steps = {
        r"FACTOR of .* is 3\.0 and was 2\.0": replay(lambda x: scaled(x) * 1),
        r"weight of Options is 3\.0 and was": replay(options),
        r"bias of dict is 3\.0 and was": replay(
            lambda x: x * options.weight + table["bias"]
        ),
    }
    for run in steps.values():
        for _ in range(4):
            assert run(minigrad.tensor(1.0)).item() == 2
    options.epoch = table["epoch"] = 2
    for run in steps.values():
        assert run(minigrad.tensor(1.0)).item() == 2
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    for message, run in steps.items():
        table["bias"] = 3.0
        options.weight = 3.0 if "weight" in message else 2.0
        with pytest.raises(errors.ReplayError, match=message):
            run(minigrad.tensor(1.0))
