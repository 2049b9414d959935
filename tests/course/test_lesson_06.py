"""The exercises of lesson 06: right answers pass, wrong ones are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.course import catalogue, examine
from minigrad.course.exercises import ex06_2
from minigrad.course.exercises.ex06_1 import stretched
from tests.course.test_first_lessons import made


def test_axes_and_outcomes_are_what_a_run_shows() -> None:
    assert catalogue.load("06.1").spec.truth() == {
        "a": "axis 0",
        "b": "axis 1",
        "c": "axes 0 and 1",
        "d": "axis 0",
        "e": "axes 0 and 2",
        "f": "none",
    }
    assert list(catalogue.load("06.6").spec.truth().values()) == OUTCOMES
    for name in ("06.1", "06.6"):
        for question in catalogue.load(name).questions:
            right = catalogue.load(name).spec.truth()[question.id]
            assert right in question.choices
            assert right not in question.wrong
            assert set(question.wrong) < set(question.choices)


def test_shapes_in_the_questions_are_those_that_are_run() -> None:
    for question in catalogue.load("06.1").questions:
        first, second = catalogue.load("06.1").spec.PAIRS[question.id]
        assert question.text == f"{first} in a sum with {second}"
    assert stretched((1,), (1,)) == []
    assert stretched((2, 3), (2, 3)) == []


OUTCOMES = [
    "the sums over the rows",
    "an error",
    "an error",
    "wrong numbers, and no word of it",
    "an error",
]


@pytest.mark.parametrize(
    ("place", "said", "says"),
    [
        (0, "g itself, of shape (3, 4)", "has the shape of its tensor"),
        (0, "an error", "the engine helps, in silence"),
        (1, "that number, four times", "does not stretch what is too small"),
        (1, "a quarter of that number, four times", "does not share out"),
        (2, "the first three of four numbers", "Could a b of shape (4,)"),
        (3, "an error", "this one fits, by chance"),
        (3, "the sums over the rows", "nothing is repaired"),
        (4, "each element gets it", "relies on the engine for sums"),
        (4, "it is lost", "somebody is told"),
    ],
)
def test_wrong_guess_of_what_the_engine_does_is_named(
    place: int, said: str, says: str
) -> None:
    assert examine("06.6", OUTCOMES).state == "solved"
    verdict = examine("06.6", [*OUTCOMES[:place], said, *OUTCOMES[place + 1 :]])
    assert verdict.state == "wrong"
    assert says in verdict.message


def by_loops(g: Any, shape: Any) -> Any:
    while g.ndim > len(shape):
        g = g.sum(0)
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.sum(axis, keepdim=True)
    return g


def by_axes(g: Any, shape: Any) -> Any:
    new = g.ndim - len(shape)
    axes = [*range(new), *[new + i for i, n in enumerate(shape) if n == 1]]
    return g.sum(axes, keepdim=True).reshape(shape) if axes else g


def from_the_right(g: Any, shape: Any) -> Any:
    lengths = (1,) * (g.ndim - len(shape)) + tuple(shape)
    for axis in range(g.ndim):
        if lengths[axis] != g.shape[axis]:
            g = g.sum(axis, keepdim=True)
    return g.reshape(shape)


def in_numpy(g: Any, shape: Any) -> Any:
    array = g.numpy()
    array = array.sum(tuple(range(array.ndim - len(shape))))
    ones = tuple(i for i, n in enumerate(shape) if n == 1)
    return mg.tensor(array.sum(ones, keepdims=True))


@pytest.mark.parametrize("answer", [by_loops, by_axes, from_the_right, in_numpy])
def test_unbroadcast_passes_in_several_styles(answer: Any) -> None:
    for seed in range(3):
        verdict = examine("06.2", answer, seed=seed)
        assert verdict.state == "solved", verdict.message


def test_thirty_pairs_are_tried_and_each_can_be_stretched() -> None:
    assert len(set(ex06_2.PAIRS)) == 30
    shapes = [shape for _, shape in ex06_2.PAIRS]
    assert () in shapes
    assert any(0 in large for large, _ in ex06_2.PAIRS)
    for large, shape in ex06_2.PAIRS:
        assert np.broadcast_shapes(large, shape) == large


def mean_by_mean(g: Any, shape: Any) -> Any:
    while g.ndim > len(shape):
        g = g.mean(0)
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.mean(axis, keepdim=True)
    return g


def flattened_in_a_loop(g: Any, shape: Any) -> Any:
    while g.ndim > len(shape):
        g = g.sum(0)
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.sum(axis)
    return g.reshape(shape)


def where_longer(g: Any, shape: Any) -> Any:
    while g.ndim > len(shape):
        g = g.sum(0)
    for axis, length in enumerate(shape):
        if length == 1 and g.shape[axis] > 1:
            g = g.sum(axis, keepdim=True)
    return g


def averaged(g: Any, shape: Any) -> Any:
    right = by_loops(g, shape)
    return right / max(1, g.numel() // max(1, right.numel()))


def counted(g: Any, shape: Any) -> Any:
    return by_loops(mg.ones_like(g), shape)


def only_new(g: Any, shape: Any) -> Any:
    while g.ndim > len(shape):
        g = g.sum(0)
    return g


def only_ones(g: Any, shape: Any) -> Any:
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.sum(axis + g.ndim - len(shape), keepdim=True)
    return g


def without_keepdim(g: Any, shape: Any) -> Any:
    new = g.ndim - len(shape)
    axes = [*range(new), *[new + i for i, n in enumerate(shape) if n == 1]]
    return g.sum(axes) if axes else g


def lost_in_a_loop(g: Any, shape: Any) -> Any:
    g = only_new(g, shape)
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.sum(axis)
    return g


def with_all_kept(g: Any, shape: Any) -> Any:
    new = g.ndim - len(shape)
    axes = [*range(new), *[new + i for i, n in enumerate(shape) if n == 1]]
    return g.sum(axes, keepdim=True) if axes else g


def last_axes(g: Any, shape: Any) -> Any:
    while g.ndim > len(shape):
        g = g.sum(-1)
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.sum(axis, keepdim=True)
    return g


def flush_left(g: Any, shape: Any) -> Any:
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.sum(axis, keepdim=True)
    return only_new(g, shape)


def no_axis_is_all(g: Any, shape: Any) -> Any:
    new = g.ndim - len(shape)
    axes = [*range(new), *[new + i for i, n in enumerate(shape) if n == 1]]
    return g.sum(axes, keepdim=True).reshape(shape)


def everything(g: Any, shape: Any) -> Any:
    return g if tuple(g.shape) == tuple(shape) else g.sum().expand(shape)


def first_copy(g: Any, shape: Any) -> Any:
    while g.ndim > len(shape):
        g = g[0]
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.narrow(axis, 0, min(1, g.shape[axis]))
    return g


def into_g(g: Any, shape: Any) -> Any:
    right = by_loops(g, shape).clone()
    g.mul_(2)
    return right


@pytest.mark.parametrize(
    ("answer", "state", "mistake", "says"),
    [
        (averaged, "wrong", "R04", "the copies sent"),
        (counted, "wrong", "C01", "Ones make it look right"),
        (only_new, "wrong", "R09", "it gives back the shape (2, 5), not (2, 1)"),
        (only_ones, "wrong", "R09", "it gives back the shape (3, 4), not (4,)"),
        (without_keepdim, "wrong", "R03", "it gives back the shape (2,), not (2, 1)"),
        (lost_in_a_loop, "wrong", "R03", "it gives back the shape (2,), not (2, 1)"),
        (with_all_kept, "wrong", "R03", "it gives back the shape (1, 4), not (4,)"),
        (last_axes, "wrong", "R02", "once flush right"),
        (flush_left, "wrong", "R02", "flush left"),
        (no_axis_is_all, "crashed", "R11", "what does g.sum(()) give?"),
        (everything, "wrong", "R11", "the copies sent"),
        (first_copy, "wrong", "R14", "send its gradient home"),
        (lambda g, shape: g, "wrong", "R01", "it gives back the shape (3, 4)"),
        (into_g, "wrong", "M01", "g holds other numbers after the call"),
        (lambda g, shape: by_loops(g, shape).numpy(), "wrong", "A12", "is no tensor"),
        (lambda g, shape: None, "wrong", "A12", "it gives back None"),
        (lambda g, shape: None, "wrong", "A12", "A gradient is a tensor"),
        (lambda g: g, "crashed", "", "TypeError"),
        (lambda g, shape: g.expand(shape), "crashed", "", "over which does yours?"),
        (lambda g, shape: -by_loops(g, shape), "wrong", "", "the copies sent"),
        (mean_by_mean, "wrong", "R04", "Is that an average?"),
        (flattened_in_a_loop, "crashed", "", "which number has each of them now?"),
        (where_longer, "wrong", "", "(3, 0), not (3, 1)"),
        (where_longer, "wrong", "", "What is the sum of no numbers?"),
        (7, "wrong", "", "was given 7, not the function unbroadcast"),
    ],
)
def test_wrong_unbroadcast_is_named(
    answer: Any, state: str, mistake: str, says: str
) -> None:
    verdict = examine("06.2", answer)
    assert verdict.state == state, verdict.message
    assert (*verdict.mistakes, "")[0] == mistake, verdict.message
    assert says in verdict.message


def test_unwritten_unbroadcast_is_not_tried() -> None:
    def unbroadcast(g: Any, shape: Any) -> Any:
        raise NotImplementedError("TODO: add up g")

    assert examine("06.2", unbroadcast).state == "not tried"


Undo = Callable[[Any, Any], Any]


def add(undo: Undo, keep: Any = None, shapes: Any = None) -> Any:
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        (keep or keep_shapes)(ctx, a, b)
        return a + b

    def backward(ctx: Any, g: Any) -> Any:
        return tuple(undo(g, s) for s in (shapes or (lambda ctx: ctx.shapes))(ctx))

    return made("Add", forward, backward)


def keep_shapes(ctx: Any, a: Any, b: Any) -> None:
    ctx.shapes = a.shape, b.shape


def keep_arrays(ctx: Any, a: Any, b: Any) -> None:
    ctx.save_for_backward(a, b)


def keep_tensors(ctx: Any, a: Any, b: Any) -> None:
    ctx.a, ctx.b = a, b


def only_what_is_needed(ctx: Any, g: Any) -> Any:
    pairs = zip(ctx.shapes, ctx.needs_input_grad, strict=True)
    return tuple(by_axes(g, shape) if needed else None for shape, needed in pairs)


def test_add_with_shapes_only_passes() -> None:
    frugal = made("Add", lambda ctx, a, b: _kept(ctx, a, b), only_what_is_needed)
    for answer in (add(by_loops), add(from_the_right), frugal):
        for seed in range(3):
            verdict = examine("06.3", answer, seed=seed)
            assert verdict.state == "solved", verdict.message


def _kept(ctx: Any, a: Any, b: Any) -> Any:
    keep_shapes(ctx, a, b)
    return a + b


@pytest.mark.parametrize(
    ("answer", "mistake", "says"),
    [
        (
            add(
                by_loops,
                keep_arrays,
                lambda ctx: [t.shape for t in ctx.saved_tensors],
            ),
            "K01",
            "backward can do without any array",
        ),
        (
            add(by_loops, keep_tensors, lambda ctx: (ctx.a.shape, ctx.b.shape)),
            "S06",
            "Would its shape be enough?",
        ),
        (add(lambda g, shape: g), "R01", "let your backward do"),
        (add(only_new), "R09", "pass 06.2"),
        (add(only_ones), "R09", "pass 06.2"),
        (add(averaged), "R04", "the five results grow together"),
        (
            add(by_loops, None, lambda ctx: ctx.shapes[::-1]),
            "A03",
            "which shape has a?",
        ),
        (add(by_loops, None, lambda ctx: ctx.shapes[:1]), "A01", "How many values"),
        (
            add(
                by_loops,
                lambda ctx, a, b: ctx.save_for_backward(a.shape, b.shape),
                lambda ctx: ctx.saved_tensors,
            ),
            "A14",
            "What kind of thing is a shape?",
        ),
    ],
)
def test_add_that_keeps_arrays_or_errs_is_named(
    answer: Any, mistake: str, says: str
) -> None:
    verdict = examine("06.3", answer)
    assert verdict.state in ("wrong", "crashed")
    assert (*verdict.mistakes, "")[0] == mistake, verdict.message
    assert says in verdict.message


def sum_and_expand(
    of_sum: Any = None, of_expand: Any = None, forward: Any = None
) -> list[Any]:
    """The pair, each other's backward unless another one is given."""

    def add_up(ctx: Any, x: Any, axis: int) -> Any:
        ctx.axis, ctx.n = axis, x.shape[axis]
        return x.sum(axis)

    def copy(ctx: Any, x: Any, axis: int, n: int) -> Any:
        ctx.axis, ctx.n, ctx.shape = axis, n, x.shape
        return (forward or stacked)(x, axis, n)

    def back_of_sum(ctx: Any, g: Any) -> Any:
        return expand.apply(g, ctx.axis, ctx.n), None

    def back_of_expand(ctx: Any, g: Any) -> Any:
        return sum.apply(g, ctx.axis), None, None

    sum = made("Sum", add_up, of_sum or back_of_sum)
    expand = made("Expand", copy, of_expand or back_of_expand)
    return [expand, sum]


def stacked(x: Any, axis: int, n: int) -> Any:
    return mg.stack([x] * n, axis)


def by_expanding(x: Any, axis: int, n: int) -> Any:
    one = x.unsqueeze(axis)
    lengths = list(one.shape)
    lengths[axis] = n
    return one.expand(lengths)


def of_sum_by_expanding(ctx: Any, g: Any) -> Any:
    return by_expanding(g, ctx.axis, ctx.n), None


def of_expand_by_sum(ctx: Any, g: Any) -> Any:
    return g.sum(ctx.axis), None, None


def test_sum_and_expand_pass() -> None:
    for answer in (
        sum_and_expand(),
        sum_and_expand(forward=by_expanding),
        sum_and_expand(of_sum_by_expanding, of_expand_by_sum, by_expanding),
    ):
        for seed in range(3):
            verdict = examine("06.4", answer, seed=seed)
            assert verdict.state == "solved", verdict.message


def of_two_axes(ctx: Any, g: Any) -> Any:
    axis = ctx.axis if ctx.axis >= 0 or g.ndim == 0 else ctx.axis + 2
    return by_expanding(g, axis, ctx.n), None


def of_an_own_kind(ctx: Any, g: Any) -> Any:
    right = g.sum(ctx.axis)
    return right if right.ndim < 3 else right * 2, None, None


def along_the_other(ctx: Any, g: Any) -> Any:
    axis = ctx.axis if g.ndim == 0 else 1 - ctx.axis % (g.ndim + 1)
    return by_expanding(g, axis, ctx.n), None


def by_stacking_last(x: Any, axis: int, n: int) -> Any:
    return mg.stack([x] * n, -1)


@pytest.mark.parametrize(
    ("answer", "mistake", "says"),
    [
        (sum_and_expand(lambda ctx, g: (g, None)), "R07", "get something"),
        (
            sum_and_expand(lambda ctx, g: (by_expanding(g, 0, ctx.n), None)),
            "R08",
            "Try axis 0, 1 and -1 in turn",
        ),
        (sum_and_expand(along_the_other), "R07", "get something"),
        (
            sum_and_expand(
                None, lambda ctx, g: (g.sum(0), None, None), by_stacking_last
            ),
            "",
            "Expand.forward",
        ),
        (
            sum_and_expand(
                lambda ctx, g: (by_expanding(g / ctx.n, ctx.axis, ctx.n), None)
            ),
            "R06",
            "Which of sum and mean divides?",
        ),
        (sum_and_expand(lambda ctx, g: of_sum_by_expanding(ctx, g)[0]), "A01", ""),
        (
            sum_and_expand(None, lambda ctx, g: (g.mean(ctx.axis), None, None)),
            "R04",
            "the four grow together",
        ),
        (sum_and_expand(None, lambda ctx, g: (g, None, None)), "R01", ""),
        (
            sum_and_expand(None, lambda ctx, g: (g.sum(0), None, None)),
            "R02",
            "do the copies of x[0] lie",
        ),
        (
            sum_and_expand(
                None,
                lambda ctx, g: (
                    g.sum(ctx.axis if ctx.axis >= 0 else ctx.axis + g.ndim - 1),
                    None,
                    None,
                ),
            ),
            "R08",
            "what does backward know of the others?",
        ),
        (
            sum_and_expand(
                None, lambda ctx, g: (g.sum(ctx.axis, keepdim=True), None, None)
            ),
            "R03",
            "still there",
        ),
        (
            sum_and_expand(None, lambda ctx, g: (g.select(ctx.axis, 0), None, None)),
            "R14",
            "come home",
        ),
        (sum_and_expand(of_two_axes), "", "How many axes has this x?"),
        (
            sum_and_expand(None, of_an_own_kind),
            "",
            "they have to be the same",
        ),
    ],
)
def test_wrong_sum_or_expand_is_named(answer: Any, mistake: str, says: str) -> None:
    verdict = examine("06.4", answer)
    assert verdict.state in ("wrong", "crashed"), verdict.message
    assert (*verdict.mistakes, "")[0] == mistake, verdict.message
    assert says in verdict.message


def test_lost_second_derivative_is_remarked() -> None:
    def cut(ctx: Any, g: Any) -> Any:
        return by_expanding(g, ctx.axis, ctx.n).detach(), None

    verdict = examine("06.4", sum_and_expand(cut))
    assert verdict.state == "solved"
    assert [remark.id for remark in verdict.remarks] == ["D02"]


def test_one_of_two_is_no_answer() -> None:
    verdict = examine("06.4", sum_and_expand()[0])
    assert "check was given 1 thing, not 2" in verdict.message


SHIPPED = catalogue.load("06.5").spec.SHIPPED
NO_MEAN = ("grad_output.T @ x / n", "grad_output.T @ x")
MEAN = ("2 * (y - target), None", "2 * (y - target) / len(y), None")


def three(*changes: tuple[str, str]) -> list[Any]:
    source = SHIPPED
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    names: dict[str, Any] = {"mg": mg}
    exec(source, names)
    return [names[name] for name in ("Linear", "MeanSquare", "rates")]


def test_bias_that_learned_too_fast_is_repaired_in_the_loss() -> None:
    assert examine("06.5", three()).state == "not tried"
    in_rows = (MEAN[0], "2 * (y - target) / y.shape[0], None")
    for change in (MEAN, in_rows):
        for seed in range(3):
            verdict = examine("06.5", three(NO_MEAN, change), seed=seed)
            assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("changes", "mistake", "says"),
    [
        ([('"b": 0.05', '"b": 0.0125')], "", "The learning rate is changed"),
        (
            [NO_MEAN, MEAN, ('"b": 0.05', '"b": 0.01')],
            "",
            "The learning rate is changed",
        ),
        ([NO_MEAN], "R05", "W moved 3 times as far as it should and b moved 3 times"),
        ([MEAN], "R04", "W moved 0.333 times as far as it should and b moved as it"),
        (
            [("grad_output.sum(0)", "grad_output.mean(0)")],
            "R04",
            "Two mistakes that cancel each other",
        ),
        (
            [MEAN, ("grad_output.sum(0)", "grad_output.mean(0)")],
            "R06",
            "The mean is taken twice",
        ),
        (
            [NO_MEAN, (MEAN[0], "2 * (y - target) / y.numel(), None")],
            "R06",
            "by the number of rows",
        ),
        (
            [("x / n, grad_output.sum(0)", "x / n, grad_output.sum(0) * 2")],
            "",
            "b moved 6 times as far",
        ),
        (
            [NO_MEAN, (MEAN[0], "(y - target) ** 2, None")],
            "",
            "moved in another direction",
        ),
        (
            [NO_MEAN, MEAN, (".sum() / len(y)", ".mean()")],
            "",
            "the loss of 4 rows is",
        ),
        ([NO_MEAN, MEAN, ("+ b", "+ b * 2")], "", "forward no longer gives"),
        (
            [NO_MEAN, MEAN, ("grad_output * 2", "2")],
            "C01",
            "y gets the gradient that belongs to 1",
        ),
        (
            [
                NO_MEAN,
                (MEAN[0], "2 * (y - target) / len(y) * y.shape[0] / len(y), None"),
                ("@ W,", "@ W * 2,"),
            ],
            "",
            "gives x a gradient that is 2 times",
        ),
        ([NO_MEAN, MEAN, ("@ W,", "@ W / n,")], "", "Is anything copied there"),
    ],
)
def test_bias_half_repaired_is_named(changes: Any, mistake: str, says: str) -> None:
    verdict = examine("06.5", three(*changes))
    assert verdict.state == "wrong", verdict.message
    assert (*verdict.mistakes, "")[0] == mistake, verdict.message
    assert says in verdict.message


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (three(NO_MEAN, MEAN)[:2], "check was given 2 things, not 3"),
        ([7, *three(NO_MEAN, MEAN)[1:]], "check was given a int, not a class"),
        (
            [three(NO_MEAN, MEAN)[place] for place in (1, 0, 2)],
            "check was given MeanSquare in the place of Linear",
        ),
    ],
)
def test_two_classes_and_the_rates_have_to_be_handed_over(
    answer: Any, says: str
) -> None:
    verdict = examine("06.5", answer)
    assert verdict.state == "wrong"
    assert says in verdict.message
