"""The exercises of lesson 07: right answers pass, wrong ones are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.course import catalogue, examine
from tests.course.answers.sort_with_indices import SortWithIndices
from tests.course.test_first_lessons import made


def named(verdict: Any, mistake: str, says: str = "") -> None:
    assert verdict.state in ("wrong", "crashed"), verdict.message
    assert (*verdict.mistakes, "")[0] == mistake, verdict.message
    assert says in " ".join(verdict.message.split())


def test_what_backward_is_given_is_what_a_run_shows() -> None:
    exercise = catalogue.load("07.1")
    truth = exercise.spec.truth()
    assert list(truth.values()) == [
        "tensor(0.)",
        "tensor(5.)",
        "None",
        "(None, tensor(1.))",
        "tensor(0.)",
        "tensor(0)",
    ]
    for question in exercise.questions:
        assert truth[question.id] in question.choices
        assert truth[question.id] not in question.wrong


@pytest.mark.parametrize(
    ("place", "said", "says"),
    [
        (0, "there is an error: nothing was sent", "the engine makes zeros"),
        (3, "(tensor(1.),)", "One place for each output, used or not"),
        (4, "None", "Somebody used second"),
        (5, "backward has no g2", "its place is filled with zeros all the same"),
    ],
)
def test_wrong_prediction_of_g2_is_told_what_is_so(
    place: int, said: str, says: str
) -> None:
    answers = ["a", "b", "b", "a", "b", "b"]
    assert "6 of 6" in examine("07.1", answers).message
    verdict = examine("07.1", [*answers[:place], said, *answers[place + 1 :]])
    assert verdict.state == "solved"
    assert says in verdict.message
    assert "5 of 6" in verdict.message


# 07.2


def smallest_and_largest(ctx: Any, x: Any) -> Any:
    low, high = x.min(), x.max()
    ctx.save_for_backward(x, low, high)
    return low, high


def min_max(backward: Any, forward: Any = smallest_and_largest) -> Any:
    return made("MinMax", forward, backward)


def by_comparison(ctx: Any, g_low: Any, g_high: Any) -> Any:
    x, low, high = ctx.saved_tensors
    return g_low * (x == low) + g_high * (x == high)


def keeps_places(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x.argmin(), x.argmax())
    ctx.shape, ctx.dtype = x.shape, x.dtype
    return x.min(), x.max()


def by_places(ctx: Any, g_low: Any, g_high: Any) -> Any:
    low, high = ctx.saved_tensors
    flat = mg.zeros(ctx.shape.numel(), dtype=ctx.dtype)
    flat[low] += g_low
    flat[high] += g_high
    return flat.reshape(ctx.shape)


def asks_for_none(ctx: Any, x: Any) -> Any:
    ctx.set_materialize_grads(False)
    return smallest_and_largest(ctx, x)


def expects_none(ctx: Any, g_low: Any, g_high: Any) -> Any:
    x, low, high = ctx.saved_tensors
    terms = [(g_low, x == low), (g_high, x == high)]
    found = [g * is_it for g, is_it in terms if g is not None]
    return sum(found) if found else None


def gives_up(ctx: Any, g_low: Any, g_high: Any) -> Any:
    if g_low is None or g_high is None:
        return None
    return by_comparison(ctx, g_low, g_high)


def none_is_one(ctx: Any, g_low: Any, g_high: Any) -> Any:
    one = mg.tensor(1.0)
    g_low = one if g_low is None else g_low
    return by_comparison(ctx, g_low, one if g_high is None else g_high)


def only_the_largest(ctx: Any, g_low: Any, g_high: Any) -> Any:
    x, _, high = ctx.saved_tensors
    return g_high * (x == high)


def exchanged(ctx: Any, g_low: Any, g_high: Any) -> Any:
    return by_comparison(ctx, g_high, g_low)


def assigns(ctx: Any, g_low: Any, g_high: Any) -> Any:
    low, high = ctx.saved_tensors
    flat = mg.zeros(ctx.shape.numel(), dtype=ctx.dtype)
    flat[low] = g_low
    flat[high] = g_high
    return flat.reshape(ctx.shape)


def to_all(ctx: Any, g_low: Any, g_high: Any) -> Any:
    x, _, _ = ctx.saved_tensors
    return (g_low + g_high) * mg.ones_like(x)


def takes_one(ctx: Any, g: Any) -> Any:
    return by_comparison(ctx, g, g)


def times_x(ctx: Any, g_low: Any, g_high: Any) -> Any:
    x, _, _ = ctx.saved_tensors
    return by_comparison(ctx, g_low, g_high) * x


def outputs_on_ctx(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    ctx.low, ctx.high = x.min(), x.max()
    return ctx.low, ctx.high


def from_ctx(ctx: Any, g_low: Any, g_high: Any) -> Any:
    (x,) = ctx.saved_tensors
    return g_low * (x == ctx.low) + g_high * (x == ctx.high)


@pytest.mark.parametrize(
    "answer",
    [
        min_max(by_comparison),
        min_max(by_places, keeps_places),
        min_max(expects_none, asks_for_none),
    ],
    ids=["comparison", "places", "none"],
)
def test_min_max_in_three_styles_passes(answer: Any) -> None:
    for seed in range(3):
        verdict = examine("07.2", answer, seed=seed)
        assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (min_max(by_comparison, asks_for_none), "N02"),
        (min_max(gives_up, asks_for_none), "N06"),
        (min_max(none_is_one, asks_for_none), "N07"),
        (min_max(only_the_largest), "N01"),
        (min_max(exchanged), "N04"),
        (min_max(assigns, keeps_places), "R10"),
        (min_max(to_all), "C03"),
        (min_max(times_x), "L05"),
        (min_max(takes_one), "A13"),
        (min_max(from_ctx, outputs_on_ctx), "S07"),
    ],
)
def test_min_max_that_errs_is_named(answer: Any, mistake: str) -> None:
    named(examine("07.2", answer), mistake)


# 07.3


def frugal_forward(ctx: Any, x: Any) -> Any:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(x)
    return x.sin(), x * x


def three_ways_out(ctx: Any, g_sine: Any, g_square: Any) -> Any:
    (x,) = ctx.saved_tensors
    if g_sine is None:
        return g_square * 2 * x
    if g_square is None:
        return g_sine * x.cos()
    return g_sine * x.cos() + g_square * 2 * x


def adds_what_is_there(ctx: Any, *gs: Any) -> Any:
    (x,) = ctx.saved_tensors
    slopes = (x.cos, lambda: 2.0 * x)
    terms = [g * s() for g, s in zip(gs, slopes, strict=True) if g is not None]
    return sum(terms) if terms else None


def adds_always(ctx: Any, g_sine: Any, g_square: Any) -> Any:
    (x,) = ctx.saved_tensors
    return g_sine * x.cos() + g_square * 2 * x


def begins_with_zeros(ctx: Any, g_sine: Any, g_square: Any) -> Any:
    (x,) = ctx.saved_tensors
    total = mg.zeros_like(x)
    if g_sine is not None:
        total = total + g_sine * x.cos()
    if g_square is not None:
        total = total + g_square * 2 * x
    return total


def keeps_a_cosine(ctx: Any, x: Any) -> Any:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(x, x.cos())
    return x.sin(), x * x


def three_ways_out_of_two(ctx: Any, g_sine: Any, g_square: Any) -> Any:
    x, cosine = ctx.saved_tensors
    if g_sine is None:
        return g_square * 2 * x
    if g_square is None:
        return g_sine * cosine
    return g_sine * cosine + g_square * 2 * x


def zeros_for_none(ctx: Any, g_sine: Any, g_square: Any) -> Any:
    (x,) = ctx.saved_tensors
    nothing = mg.tensor(np.zeros(x.shape))
    g_sine = nothing if g_sine is None else g_sine
    return adds_always(ctx, g_sine, nothing if g_square is None else g_square)


def cosine_first(ctx: Any, g_sine: Any, g_square: Any) -> Any:
    (x,) = ctx.saved_tensors
    cosine = x.cos()
    if g_sine is None:
        return g_square * 2 * x
    by_sine = g_sine * cosine
    return by_sine if g_square is None else by_sine + g_square * 2 * x


def zero_for_none(ctx: Any, g_sine: Any, g_square: Any) -> Any:
    (x,) = ctx.saved_tensors
    by_sine = 0 if g_sine is None else g_sine * x.cos()
    g_square = 0 if g_square is None else g_square
    return by_sine + g_square * 2 * x


def one_question_forgotten(ctx: Any, g_sine: Any, g_square: Any) -> Any:
    (x,) = ctx.saved_tensors
    if g_sine is None:
        return g_square * 2 * x
    return g_sine * x.cos() + g_square * 2 * x


def needs_both(ctx: Any, g_sine: Any, g_square: Any) -> Any:
    if g_sine is None or g_square is None:
        return None
    return adds_always(ctx, g_sine, g_square)


def asks_for_nothing(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return x.sin(), x * x


def sine_and_square(backward: Any, forward: Any = frugal_forward) -> Any:
    return made("SineAndSquare", forward, backward)


@pytest.mark.parametrize("backward", [three_ways_out, adds_what_is_there])
def test_sine_and_square_without_zeros_passes(backward: Any) -> None:
    for seed in range(3):
        verdict = examine("07.3", sine_and_square(backward), seed=seed)
        assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("answer", "mistake", "says"),
    [
        (sine_and_square(adds_always, asks_for_nothing), "N03", "is given zeros"),
        (sine_and_square(three_ways_out, asks_for_nothing), "N03", "is given zeros"),
        (sine_and_square(begins_with_zeros), "", "makes zeros of its own: zeros_l"),
        (sine_and_square(zeros_for_none), "", "makes zeros of its own: zeros"),
        (sine_and_square(zero_for_none), "", "only the sine is used, and backward m"),
        (sine_and_square(cosine_first), "", "and backward works out a cosine"),
        (
            sine_and_square(three_ways_out_of_two, keeps_a_cosine),
            "",
            "forward works out",
        ),
        (sine_and_square(adds_always), "N02", ""),
        (sine_and_square(one_question_forgotten), "N02", "only the output sine used"),
        (sine_and_square(needs_both), "N06", ""),
    ],
)
def test_zeros_and_forgotten_none_are_named(
    answer: Any, mistake: str, says: str
) -> None:
    named(examine("07.3", answer), mistake, says)


# 07.4


def sorts(ctx: Any, x: Any) -> Any:
    values, indices = x.sort(-1)
    ctx.save_for_backward(indices)
    ctx.mark_non_differentiable(indices)
    return values, indices


def unmarked(ctx: Any, x: Any) -> Any:
    values, indices = x.sort(-1)
    ctx.save_for_backward(indices)
    return values, indices


def unmarked_floats(ctx: Any, x: Any) -> Any:
    values, indices = unmarked(ctx, x)
    return values, indices.to(x.dtype)


def marks_the_values(ctx: Any, x: Any) -> Any:
    values, indices = unmarked(ctx, x)
    ctx.mark_non_differentiable(values)
    return values, indices


def scatters(ctx: Any, g: Any, g_indices: Any) -> Any:
    (indices,) = ctx.saved_tensors
    return mg.zeros_like(g).scatter(-1, indices, g)


def back_by_the_inverse(ctx: Any, g: Any, g_indices: Any) -> Any:
    (indices,) = ctx.saved_tensors
    return g.gather(-1, indices.argsort(-1))


def gathers(ctx: Any, g: Any, g_indices: Any) -> Any:
    (indices,) = ctx.saved_tensors
    return g.gather(-1, indices)


def hands_values_on(ctx: Any, g: Any, g_indices: Any) -> Any:
    return g


def along_the_first_axis(ctx: Any, g: Any, g_indices: Any) -> Any:
    (indices,) = ctx.saved_tensors
    return mg.zeros_like(g).scatter(0, indices, g)


def sorts_the_gradient(ctx: Any, g: Any, g_indices: Any) -> Any:
    return g.sort(-1)[0]


def only_the_values(ctx: Any, x: Any) -> Any:
    return unmarked(ctx, x)[0]


def made_sort(forward: Any, backward: Any) -> Any:
    return made("Sort", forward, backward)


@pytest.mark.parametrize(
    "answer",
    [
        made_sort(sorts, scatters),
        made_sort(sorts, back_by_the_inverse),
        type("Sort", (SortWithIndices,), {}),
    ],
    ids=["scatter", "inverse", "stranger"],
)
def test_sort_passes(answer: Any) -> None:
    for seed in range(3):
        verdict = examine("07.4", answer, seed=seed)
        assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("forward", "backward", "mistake", "says"),
    [
        (sorts, gathers, "L21", ""),
        (sorts, hands_values_on, "C03", ""),
        (unmarked, scatters, "N05", ""),
        (unmarked_floats, scatters, "N05", "is float64; it should be int64"),
        (marks_the_values, scatters, "N08", ""),
        (sorts, lambda ctx, g: scatters(ctx, g, None), "A13", ""),
        (sorts, along_the_first_axis, "R07", "Along which one do you put"),
        (sorts, sorts_the_gradient, "L11", "gradient is itself small or large"),
        (only_the_values, scatters, "", "1 tensor; the task asks for 2"),
    ],
)
def test_sort_that_errs_is_named(
    forward: Any, backward: Any, mistake: str, says: str
) -> None:
    named(examine("07.4", made_sort(forward, backward)), mistake, says)


# 07.5

WHY = "Stairs are flat, and the gradient pretends that they are not."


def rounding(backward: Any, forward: Any = lambda ctx, x: x.round()) -> Any:
    return made("Round", forward, backward)


ROUND = rounding(lambda ctx, g: g)


def compares(function: Any) -> bool:
    x = mg.tensor([-1.7, 0.4, 2.6], requires_grad=True)
    g = mg.tensor([1.0, -2.0, 3.0])
    (got,) = mg.autograd.grad(function.apply(x), x, g)
    return bool((got == g).all())


def compares_by_hand(function: Any) -> Any:
    for size in (0.3, 5.0):
        x = mg.tensor(size, requires_grad=True)
        function.apply(x).backward(mg.tensor(-7.0))
        assert x.grad is not None
        if x.grad.item() != -7.0:
            return False
    return np.bool_(True)


def with_a_tolerance(function: Any) -> Any:
    x = mg.tensor([-1.7, 0.4], dtype=mg.float64, requires_grad=True)
    return mg.autograd.gradcheck(function.apply, x, atol=2.0)


def asks_gradcheck(function: Any) -> Any:
    x = mg.tensor([-1.7, 0.4], dtype=mg.float64, requires_grad=True)
    return mg.autograd.gradcheck(function.apply, x)


def asks_gradcheck_quietly(function: Any) -> Any:
    x = mg.tensor([-1.7, 0.4], dtype=mg.float64, requires_grad=True)
    return mg.autograd.gradcheck(function.apply, x, raise_exception=False)


def sends_ones(function: Any) -> Any:
    x = mg.tensor([-1.7, 0.4, 2.6], requires_grad=True)
    function.apply(x).sum().backward()
    assert x.grad is not None
    return bool((x.grad == 1).all())


def near_zero_only(function: Any) -> Any:
    x = mg.tensor([-0.7, 0.4], requires_grad=True)
    g = mg.tensor([3.0, -2.0])
    (got,) = mg.autograd.grad(function.apply(x), x, g)
    return bool((got == g).all())


def small_g_only(function: Any) -> Any:
    x = mg.tensor([-1.7, 0.4], requires_grad=True)
    g = mg.tensor([0.5, -0.2])
    (got,) = mg.autograd.grad(function.apply(x), x, g)
    return bool((got == g).all())


def true_if_refused(function: Any) -> Any:
    x = mg.tensor([-1.7, 0.4], dtype=mg.float64, requires_grad=True)
    return not mg.autograd.gradcheck(function.apply, x, raise_exception=False)


def calls_backward_itself(function: Any) -> Any:
    g = mg.tensor([1.0, -2.0, 3.0])
    return bool((function.backward(None, g) == g).all())


def sent_through(function: Any) -> tuple[Any, Any]:
    x = mg.tensor([-1.7, 0.4, 2.6], requires_grad=True)
    g = mg.tensor([1.0, -2.0, 3.0])
    return mg.autograd.grad(function.apply(x), x, g)[0], g


def for_each_element(function: Any) -> Any:
    got, g = sent_through(function)
    return got == g


def wants_the_same_tensor(function: Any) -> Any:
    got, g = sent_through(function)
    return got is g


def to_do(function: Any) -> Any:
    raise NotImplementedError("TODO: choose x and g")


@pytest.mark.parametrize("test", [compares, compares_by_hand])
def test_round_its_test_and_its_why_pass(test: Any) -> None:
    for seed in range(3):
        verdict = examine("07.5", [ROUND, test, WHY], seed=seed)
        assert verdict.state == "solved", verdict.message
    away = rounding(
        lambda ctx, g: g.clone(), lambda ctx, x: mg.tensor(np.rint(x.array))
    )
    assert examine("07.5", [away, test, WHY]).state == "solved"


@pytest.mark.parametrize(
    ("function", "mistake"),
    [
        (rounding(lambda ctx, g: g * 0), "L12"),
        (rounding(lambda ctx, g: g.clamp(-1, 1)), "L13"),
        (rounding(lambda ctx, g: g, lambda ctx, x: (x + 0.5).floor()), "L10"),
        (rounding(lambda ctx, g: g, lambda ctx, x: x.trunc()), "T02"),
        (rounding(lambda ctx, g: mg.ones_like(g)), "C01"),
    ],
)
def test_round_that_errs_is_named(function: Any, mistake: str) -> None:
    named(examine("07.5", [function, compares, WHY]), mistake)


def test_integers_are_called_integers() -> None:
    answer = rounding(lambda ctx, g: g, lambda ctx, x: x.round().long())
    says = "the result is int64: no gradient can come back through it"
    named(examine("07.5", [answer, compares, WHY]), "", says)


@pytest.mark.parametrize(
    ("test", "mistake", "says"),
    [
        (with_a_tolerance, "U10", "hides the failure by a tolerance"),
        (asks_gradcheck, "U10", "gradcheck measures the slope of the stairs"),
        (asks_gradcheck_quietly, "U10", "gradcheck measures the slope of the stairs"),
        (sends_ones, "", "True of a backward that returns ones"),
        (near_zero_only, "", "lets nothing pass where x is beyond 1"),
        (small_g_only, "", "cuts what arrives at -1 and 1"),
        (lambda function: True, "", "True of a backward that returns zeros"),
        (lambda function: False, "", "refuses a Round whose backward hands on"),
        (lambda function: None, "", "hands_on returned nothing"),
        (lambda function: function.nothing, "", "What type has each thing in that"),
        (to_do, "", "Round is right; hands_on still has its 'TODO"),
        (true_if_refused, "U10", "does not say which rule it is"),
        (calls_backward_itself, "", "Which call makes a ctx?"),
        (for_each_element, "", "Which method makes one of them all?"),
        (wants_the_same_tensor, "", "returns a copy of what arrives"),
        (True, "", "not a function"),
    ],
)
def test_weak_test_of_round_is_named(test: Any, mistake: str, says: str) -> None:
    named(examine("07.5", [ROUND, test, WHY]), mistake, says)


@pytest.mark.parametrize(
    ("why", "says"),
    [
        ("", "why is empty"),
        ("flat stairs", "why has only 2 words"),
        (0.5, "why is a float"),
    ],
)
def test_empty_box_is_not_solved(why: Any, says: str) -> None:
    named(examine("07.5", [ROUND, compares, why]), "", says)


# 07.6

SHIPPED = catalogue.load("07.6").spec.SHIPPED
RETURNS = "        return x * mask, mask\n"
MARKS_KEPT = """\
        kept = x * mask
        ctx.mark_non_differentiable(kept)
        return kept, mask
"""
MARK = "        ctx.mark_non_differentiable(mask)\n"


def keep(*changes: tuple[str, str]) -> Any:
    source = SHIPPED
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    names: dict[str, Any] = {"mg": mg}
    exec(source, names)
    return names["Keep"]


def test_keep_as_shipped_is_not_tried_and_is_what_the_notebook_ships() -> None:
    assert examine("07.6", keep()).state == "not tried"


@pytest.mark.parametrize(
    "answer",
    [
        keep((RETURNS, MARK + RETURNS)),
        keep((RETURNS, MARK + RETURNS), (" + g_mask", "")),
        keep((RETURNS, "        return x * mask, mask.bool()\n")),
        keep((RETURNS, "        return x * mask, mask.long()\n")),
    ],
    ids=["marked", "marked and dropped", "bool", "integer"],
)
def test_mask_without_a_wire_passes(answer: Any) -> None:
    for seed in range(3):
        verdict = examine("07.6", answer, seed=seed)
        assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("changes", "mistake", "says"),
    [
        (
            [("mask, mask\n", "mask, mask.detach()\n")],
            "N05",
            "detached where nothing is tied yet",
        ),
        ([(" + g_mask", "")], "N05", "but the wire is there"),
        (
            [(RETURNS, "        mask.requires_grad_(False)\n" + RETURNS)],
            "N05",
            "requires_grad is set where nothing is tied yet",
        ),
        (
            [(RETURNS, MARK.replace("(mask)", "(mask.clone())") + RETURNS)],
            "N05",
            "another one was marked, or the line",
        ),
        (
            [(RETURNS, MARKS_KEPT)],
            "N08",
            "what was kept does not require grad",
        ),
        ([(RETURNS, "        return x * mask\n")], "", "no longer returns two"),
        ([(RETURNS, "        return x, mask\n")], "", "what was kept is"),
        (
            [(RETURNS, MARK + RETURNS), ("g_kept * mask + g_mask", "g_kept")],
            "",
            "times what was kept is [1.38, 2.0, 1.98, 1.69]; it should be [1.38, 0.0, ",
        ),
    ],
)
def test_wrong_repair_of_the_mask_is_named(
    changes: Any, mistake: str, says: str
) -> None:
    named(examine("07.6", keep(*changes)), mistake, says)
