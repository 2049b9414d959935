"""``replay``: to the bit what the step computes, or a refusal that says why."""

import gc
import itertools
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
from minigrad.nn.replaying import Replay, replay
from tests.ops.laws import called, floating, leaves, rows, variables

STEPS = 50
F = nn.functional


def mlp() -> Any:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def dropping() -> Any:
    return nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.3), nn.GELU(), nn.Linear(16, 4))


def normalized() -> Any:
    return nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.SiLU(), mlp_end())


def mlp_end() -> Any:
    return nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 4))


def vectors(dtype: Any = np.float32, number: int = STEPS) -> list[tuple[Any, Any]]:
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
    ("kind", "options"),
    [
        ("SGD", {}),
        ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        ("Adam", {}),
        ("Adam", {"amsgrad": True, "weight_decay": 0.01, "maximize": True}),
        ("AdamW", {}),
    ],
)
def test_fifty_steps_are_equal_to_the_bit(kind: str, options: Any, dtype: Any) -> None:
    def make() -> Any:
        return mlp().to(minigrad.tensor(dtype(0)).dtype)

    assert_trains_alike(make, vectors(dtype), kind, **options)


@pytest.mark.parametrize("make", [dropping, normalized])
def test_dropout_and_running_statistics_go_on_as_in_the_step(make: Any) -> None:
    assert_trains_alike(make, vectors(), "Adam")


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


def test_results_have_no_graph_from_the_first_call_on() -> None:
    _, step = training(mlp(), "SGD")
    run = replay(step)
    for batch in vectors(number=5):
        for result in run(*batch):
            assert result.is_leaf
            assert not result.requires_grad


def test_results_of_a_call_stay_when_the_next_one_comes() -> None:
    _, step = training(mlp(), "SGD")
    run = replay(step)
    batches = vectors(number=6)
    for batch in batches[:4]:
        run(*batch)
    _, scores = run(*batches[4])
    kept = scores.tolist()
    run(*batches[5])
    assert scores.tolist() == kept


def test_it_is_the_python_code_that_does_not_run_any_more() -> None:
    calls = []

    def step(x: Any) -> Any:
        calls.append(1)
        return x * 2

    run = replay(step)
    assert [run(minigrad.tensor(float(n))).item() for n in range(6)] == [
        0,
        2,
        4,
        6,
        8,
        10,
    ]
    assert len(calls) == 3
    assert "v1 = Mul_forward(v0, 2)" in run.text


def test_options_of_the_optimizer_may_change() -> None:
    sides = []
    for side in range(2):
        minigrad.manual_seed(0)
        model = mlp()
        optimizer, step = training(model, "Adam")
        run = replay(step) if side else step
        for number, batch in enumerate(vectors(number=8)):
            if number == 5:
                optimizer.param_groups[0]["lr"] = 0.5
            run(*batch)
        sides.append(everything_in(model, optimizer))
    for name, value in sides[0].items():
        assert_equal(value, sides[1][name], name)


def test_step_itself_may_run_in_between() -> None:
    sides = []
    for side in range(2):
        minigrad.manual_seed(0)
        model = dropping()
        optimizer, step = training(model, "Adam")
        run = replay(step) if side else step
        for number, (x, y) in enumerate(vectors(number=9)):
            if number == 6:
                step(x[:3].clone(), y[:3].clone())  # the last batch of an epoch
            else:
                run(x, y)
        sides.append(everything_in(model, optimizer))
    for name, value in sides[0].items():
        assert_equal(value, sides[1][name], name)


def test_values_may_be_loaded_in_place() -> None:
    sides = []
    for side in range(2):
        minigrad.manual_seed(0)
        model = mlp()
        optimizer, step = training(model, "Adam")
        run = replay(step) if side else step
        batches = vectors(number=8)
        for batch in batches[:5]:
            run(*batch)
        saved = {k: minigrad.ones_like(v) for k, v in model.state_dict().items()}
        model.load_state_dict(saved)
        optimizer.load_state_dict(optimizer.state_dict())
        for batch in batches[5:]:
            run(*batch)
        sides.append(everything_in(model, optimizer))
    for name, value in sides[0].items():
        assert_equal(value, sides[1][name], name)


def test_gradients_that_nobody_sets_to_none_add_up() -> None:
    sides = []
    for side in range(2):
        w = minigrad.tensor([1.0, 2.0], requires_grad=True)

        def step(x: Any, w: Any = w) -> Any:
            (w * x).sum().backward()

        run = replay(step) if side else step
        for number in range(6):
            run(minigrad.tensor(float(number)))
        sides.append(w)
    assert_equal(sides[0].grad, sides[1].grad)
    assert sides[0].grad.tolist() == [15.0, 15.0]


def test_gradients_that_are_filled_with_zeros_stay_the_same_tensors() -> None:
    sides = []
    for side in range(2):
        minigrad.manual_seed(0)
        model = mlp()
        optimizer = minigrad.optim.SGD(model.parameters(), 0.1)

        def step(x: Any, model: Any = model, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad(set_to_none=False)
            model(x).square().mean().backward()
            optimizer.step()

        run = replay(step) if side else step
        batches = vectors(number=8)
        run(batches[0][0])
        kept = [parameter.grad for parameter in model.parameters()]
        for x, _ in batches:
            run(x)
        assert all(
            one is parameter.grad
            for one, parameter in zip(kept, model.parameters(), strict=True)
        )
        sides.append(kept)
    for one, other in zip(*sides, strict=True):
        assert_equal(one, other)


def test_transforms_inside_of_a_step_are_replayed() -> None:
    sides = []
    for side in range(2):
        w = minigrad.ones(3)

        def step(x: Any, w: Any = w) -> Any:
            slope = minigrad.func.grad(lambda w: (x @ w).square().mean())(w)
            w.sub_(0.1 * slope)
            return minigrad.func.vmap(lambda row: (row * w).sum())(x)

        run = replay(step) if side else step
        batches = [x[:, :3].clone() for x, _ in vectors(number=6)]
        sides.append([*[run(x) for x in batches], w])
    for one, other in zip(*sides, strict=True):
        assert_equal(one, other)


def test_clipping_and_double_backward_are_replayed() -> None:
    sides = []
    for side in range(2):
        w = minigrad.tensor([1.0, 2.0], requires_grad=True)

        def step(x: Any, w: Any = w) -> Any:
            w.grad = None
            (slope,) = minigrad.autograd.grad((w * w * x).sum(), w, create_graph=True)
            (slope * slope).sum().backward()
            norm = nn.utils.clip_grad_norm_([w], 30.0)
            with minigrad.no_grad():
                w.sub_(0.1 * w.grad)
            return norm

        run = replay(step) if side else step
        norms = [run(minigrad.tensor(n / 2)).item() for n in range(8)]
        sides.append((norms, w))
    assert sides[0][0] == sides[1][0]
    assert min(sides[0][0]) < 30 < max(sides[0][0])  # both sides of the bound
    assert_equal(sides[0][1].detach(), sides[1][1].detach())


# A step that reads values, or that Python code decides about.


def refused_while_recording(step: Any, *args: Any) -> str:
    """The message; the first call runs as it is."""
    run = replay(step)
    args = args or (minigrad.tensor([1.0, 2.0]),)

    def record_twice() -> None:
        run(*args)
        run(*args)

    run(*args)
    with pytest.raises(errors.ReplayError) as caught:
        record_twice()
    assert not run.is_recorded
    return str(caught.value)


READERS: dict[str, Callable[[Any], Any]] = {
    "float": lambda x: float(x.sum()),
    "item": lambda x: x.sum().item(),
    "if": lambda x: x * 2 if x.sum() > 0 else x,
    "tolist": lambda x: (x * 2).tolist(),
    "index": lambda x: x[int((x * 0).sum())],
    "asarray": lambda x: np.asarray(x * 2),
    "array": lambda x: np.array((x * 2).numpy()),
    "format": lambda x: f"{x.sum()}",
    "repr": lambda x: repr(x * 2),
    "equal": lambda x: minigrad.equal(x, x * 2),
    "range": lambda x: list(range(x.sum().long())),
    "in": lambda x: 2.0 in x * 1,
    "allclose": lambda x: np.allclose((x * 2).numpy(), 1.0),
    "copy": lambda x: np.zeros(2) + np.ascontiguousarray((x * 2).numpy()),
    "fill": lambda x: np.zeros(2).__setitem__(0, x.numpy()[0]),
    "pickle": lambda x: __import__("pickle").dumps(x * 2),
}


@pytest.mark.parametrize("reads", READERS.values(), ids=READERS)
def test_step_that_reads_a_value_is_refused(reads: Any) -> None:
    def step(x: Any) -> Any:
        y = x + 1
        reads(y)
        return y

    assert "into Python" in refused_while_recording(step)


def test_refusal_names_the_line_and_puts_everything_back() -> None:
    model = mlp()
    optimizer, step = training(model, "Adam")

    def with_print(x: Any, y: Any) -> Any:
        loss, _ = step(x, y)
        return loss.item()

    run = replay(with_print)
    batch = vectors(number=1)[0]
    run(*batch)
    before = {k: v.clone() for k, v in everything_in(model, optimizer).items()}
    versions = [parameter._version for parameter in model.parameters()]
    with pytest.raises(
        errors.ReplayError, match=r"`return loss\.item\(\)`: .* into Python"
    ):
        run(*batch)
    for name, value in everything_in(model, optimizer).items():
        assert_equal(value, before[name], name)
    assert [parameter._version for parameter in model.parameters()] == versions


def test_refusal_leaves_no_state_of_an_optimizer_that_had_none() -> None:
    optimizer, step = training(mlp(), "Adam")
    run = replay(lambda x, y: float(step(x, y)[0]))
    batch = vectors(number=1)[0]
    run(*batch)
    optimizer.state.clear()
    with pytest.raises(errors.ReplayError, match="into Python"):
        run(*batch)
    assert not optimizer.state


def test_refusal_that_the_step_catches_is_one_all_the_same() -> None:
    def step(x: Any) -> Any:
        try:
            return x * float(x)
        except RuntimeError:
            return x

    assert "item() reads a value" in refused_while_recording(step, minigrad.tensor(2.0))


def test_number_that_changes_from_call_to_call_is_refused() -> None:
    steps = itertools.count(1)

    def step(x: Any) -> Any:
        return x * next(steps)

    assert "computes from other numbers" in refused_while_recording(step)


def test_random_tensor_made_in_the_step_is_refused() -> None:
    def step(x: Any) -> Any:
        return x + minigrad.rand(2)

    assert "drawn, and not by dropout" in refused_while_recording(step)


def test_tensor_that_is_carried_along_is_refused() -> None:
    carried = {"h": minigrad.zeros(2)}

    def step(x: Any) -> Any:
        carried["h"] = carried["h"] * 0.5 + x
        return carried["h"]

    assert "other numbers or tensors" in refused_while_recording(step)


def test_count_in_the_step_is_refused() -> None:
    count = 0

    def step(x: Any) -> Any:
        nonlocal count
        count += 1
        return x * 2

    assert "count, which the step names is 2" in refused_while_recording(step)


def test_branch_taken_another_way_is_refused() -> None:
    flags = iter([True, True, False])

    def step(x: Any) -> Any:
        return (x * 2 if next(flags) else x + 2) * 1.0

    assert "computes from other numbers" in refused_while_recording(step)


def test_input_that_is_changed_is_refused() -> None:
    assert "an input of shape (2,) is changed in place" in refused_while_recording(
        lambda x: x.mul_(2)
    )


def test_tensor_made_in_the_step_and_written_is_refused() -> None:
    def step(x: Any) -> Any:
        return minigrad.zeros(2).add_(x)

    assert "makes from Python values, is changed in place" in refused_while_recording(
        step
    )


def test_values_exchanged_in_the_step_are_refused() -> None:
    w = minigrad.ones(2)

    def step(x: Any) -> Any:
        w.data = w.data + x
        return w * 1

    assert "are replaced by others in other memory" in refused_while_recording(step)


def test_hooks_are_refused() -> None:
    w = minigrad.ones(2, requires_grad=True)

    def step(x: Any) -> Any:
        y = w * x
        y.register_hook(lambda grad: None)
        y.sum().backward()

    assert "a hook is registered" in refused_while_recording(step)
    w.register_hook(lambda grad: None)
    assert "has a hook" in refused_while_recording(lambda x: (w * x).sum().backward())


def test_argument_that_requires_grad_is_refused() -> None:
    x = minigrad.ones(2, requires_grad=True)
    assert "requires grad" in refused_while_recording(lambda x: x * 2, x)


# A call that is not like the recorded ones.


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
    "direction": (
        lambda r: r.optimizer.param_groups[0].update(maximize=True) or r(),
        "maximize of SGD is True and was False",
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
    with pytest.raises(
        errors.ReplayError, match=r"gives the shape \(2,\) now and gave"
    ):
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
    x = minigrad.ones(2)
    for _ in range(4):
        run(x)
        w.grad = None
    run(x)
    with pytest.raises(
        errors.ReplayError, match=r"\.grad of .* is not None, as it was"
    ):
        run(x)


def test_recording_that_was_tampered_with_is_found_by_the_control_run() -> None:
    from minigrad.nn.replaying import recording

    _, step = training(mlp(), "SGD")
    run = replay(step)
    batches = vectors(number=3)
    run(*batches[0])
    run(*batches[1])
    assert run._candidate is not None
    program = run._candidate[1]
    relu = program._constants["Relu_forward"]
    program._constants["Relu_forward"] = lambda x: relu(x) + np.float32(1e-7)
    assert isinstance(program.recording, recording.Recording)
    with pytest.raises(errors.ReplayError, match="computes other values than the step"):
        run(*batches[2])


def test_flags_of_the_same_value_are_not_taken_for_each_other() -> None:
    def step(x: Any, y: Any) -> Any:
        one, other = (x > 0).all(), (y > 0).all()
        return one, other

    run = replay(step)
    up, down = minigrad.ones(2), -minigrad.ones(2)
    for _ in range(3):
        run(up, up)
    assert [flag.item() for flag in run(up, down)] == [True, False]
    assert [flag.item() for flag in run(down, up)] == [False, True]


def test_flags_of_numpy_are_not_taken_for_each_other() -> None:
    def step(x: Any, y: Any) -> Any:
        one, other = np.all(x.numpy() > 0), np.all(y.numpy() > 0)
        return minigrad.Tensor(one), minigrad.Tensor(other)

    run = replay(step)
    up, down = minigrad.ones(2), -minigrad.ones(2)
    for _ in range(3):
        run(up, up)
    assert [flag.item() for flag in run(up, down)] == [True, False]


def test_seed_that_the_step_sets_is_refused() -> None:
    def step(x: Any) -> Any:
        minigrad.manual_seed(0)
        return F.dropout(x)

    assert "random numbers are begun anew" in refused_while_recording(step)


@pytest.mark.parametrize("draw", [random.random, np.random.rand])
def test_branch_by_a_random_number_is_refused(draw: Any) -> None:
    def step(x: Any) -> Any:
        return x * 2 if draw() < 2 else x

    assert "random numbers of Python or NumPy" in refused_while_recording(step)


def test_input_that_is_made_to_require_grad_is_refused() -> None:
    def step(x: Any) -> Any:
        (slope,) = minigrad.autograd.grad((x.requires_grad_() ** 2).sum(), x)
        return slope

    run = replay(step)
    run(minigrad.ones(2))
    with pytest.raises(errors.ReplayError, match="is made to require grad in place"):
        run(minigrad.ones(2))


def test_change_of_a_part_is_counted_with_the_whole() -> None:
    w = minigrad.zeros(2)

    def step(x: Any) -> Any:
        w[0].add_(x)
        w.detach()[1:].mul_(2)

    run = replay(step)
    for number in range(1, 6):
        run(minigrad.tensor(1.0))
        assert w._version == 2 * number
    assert w.tolist() == [5.0, 0.0]


def test_optimizer_keeps_no_more_than_in_the_step() -> None:
    model = mlp()
    optimizer, step = training(model, "SGD")
    run = replay(step)
    for batch in vectors(number=5):
        run(*batch)
    assert not optimizer.state


def test_tensor_from_outside_is_returned_without_a_graph() -> None:
    w = minigrad.ones(2, requires_grad=True)
    run = replay(lambda x: (w, x * w))
    for _ in range(5):
        found, product = run(minigrad.ones(2))
        assert not found.requires_grad
        assert not product.requires_grad
        assert found.array is w.array


def test_array_that_is_returned_is_refused() -> None:
    assert "it returns an array of shape (2,)" in refused_while_recording(
        lambda x: (x * 2).numpy()
    )


class Stepping:
    """A step that is an object with a number of its own."""

    factor = 2.0

    def __init__(self) -> None:
        self.factor = 2.0

    def __call__(self, x: Any) -> Any:
        return x * self.factor


def test_number_of_an_object_that_is_called_is_watched() -> None:
    step = Stepping()
    run = replay(step)
    for _ in range(4):
        assert run(minigrad.tensor(1.0)).item() == 2
    step.factor = 3.0
    with pytest.raises(errors.ReplayError, match=r"factor of Stepping is 3\.0"):
        run(minigrad.tensor(1.0))


class Cubed(minigrad.autograd.Function):
    """A Function of a learner, with NumPy in it."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return minigrad.tensor(np.power(x.detach().numpy(), 3).copy())

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        values = x.detach().numpy()
        return grad * type(x)(3 * values * values)


class CubedInTensors(Cubed):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return minigrad.Tensor(np.power(x.detach().numpy(), 3))


def test_functions_with_numpy_in_them_are_replayed() -> None:
    sides = []
    for side in range(2):
        w = minigrad.tensor([1.0, 2.0], requires_grad=True)

        def step(x: Any, w: Any = w) -> Any:
            w.grad = None
            CubedInTensors.apply(w * x).sum().backward()

        run = replay(step) if side else step
        for number in range(6):
            run(minigrad.tensor(float(number)))
        sides.append(w)
    assert sides[1].grad.tolist() == [3 * 5.0**3, 3 * 4 * 5.0**3]
    assert_equal(sides[0].grad, sides[1].grad)


def test_values_copied_by_numpy_are_refused() -> None:
    x = minigrad.tensor([1.0, 2.0])
    assert "into Python" in refused_while_recording(lambda x: Cubed.apply(x), x)


def test_replay_inside_of_a_step_is_a_part_of_it() -> None:
    inner = replay(lambda x: x * 2)
    outer = replay(lambda x: inner(x) + 1)
    assert [outer(minigrad.tensor(float(n))).item() for n in range(5)] == [
        1,
        3,
        5,
        7,
        9,
    ]
    assert outer.is_recorded
    assert not inner.is_recorded


FACTOR = 2.0


def scaled(x: Any) -> Any:
    return x * FACTOR


def test_number_that_a_helper_names_is_watched(monkeypatch: Any) -> None:
    run = replay(lambda x: scaled(x) + 1)
    for _ in range(4):
        assert run(minigrad.tensor(1.0)).item() == 3
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    with pytest.raises(errors.ReplayError, match=r"FACTOR of .* is 3\.0 and was 2\.0"):
        run(minigrad.tensor(1.0))


class Options:
    """What a program might keep its numbers in."""

    def __init__(self) -> None:
        self.weight = 2.0
        self.epoch = 1


def test_numbers_in_objects_and_dicts_are_watched_if_the_step_names_them() -> None:
    options, table = Options(), {"bias": 1.0, "epoch": 1}
    run = replay(lambda x: x * options.weight + table["bias"])
    for _ in range(4):
        assert run(minigrad.tensor(1.0)).item() == 3
    options.epoch = table["epoch"] = 2
    assert run(minigrad.tensor(1.0)).item() == 3
    options.weight = 3.0
    with pytest.raises(errors.ReplayError, match=r"weight of Options is 3\.0 and was"):
        run(minigrad.tensor(1.0))
    options.weight, table["bias"] = 2.0, 0.0
    with pytest.raises(errors.ReplayError, match=r"bias of dict is 0\.0 and was 1"):
        run(minigrad.tensor(1.0))


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
        found.append((w.array.tolist(), float(w.sum()), w.grad.tolist()))

    def step(x: Any) -> Any:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return x * 2

    run = replay(step)
    assert [run(minigrad.tensor(float(n))).item() for n in range(5)] == [0, 2, 4, 6, 8]
    assert found == [([1.0, 2.0], 3.0, [2.0, 4.0])] * 3


def test_everything_is_put_back_after_a_recording() -> None:
    before = snapshot_of_the_package()
    refused_while_recording(lambda x: x * float(x.sum()))
    replay_four_times = replay(lambda x: x * 2)
    for _ in range(4):
        replay_four_times(minigrad.ones(2))
    after = snapshot_of_the_package()  # it may have loaded more meanwhile
    assert {key: after.get(key) for key in before} == before


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


@settings(max_examples=10)
@given(PROGRAMS)
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
            w.grad = None
            loss = (values[-1] * w).sum()
            loss.backward()
            with minigrad.no_grad():
                w -= 0.01 * w.grad
            return loss, values[-1]

        run = replay(step) if side else step
        numbers = np.random.default_rng(1)
        batches = numbers.standard_normal((6, 3, 3)).astype(np.float32)
        results = [one for x in batches for one in run(minigrad.tensor(x))]
        sides.append([*results, w, w.grad])
    for one, other in zip(*sides, strict=True):
        assert_equal(one.detach(), other.detach())
