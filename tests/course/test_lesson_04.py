"""The exercises of lesson 04: right answers pass, wrong ones are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.course import catalogue, examine
from minigrad.course.exercises.ex04_2 import counted_products
from tests.course.test_first_lessons import made


def test_flags_and_visits_are_what_a_run_shows() -> None:
    assert list(catalogue.load("04.1").spec.truth().values()) == [
        "(True, False)",
        "(True, False)",
        "(True, False)",
        "(True, True)",
        "(True, True)",
    ]
    assert catalogue.load("04.5").spec.truth() == {
        "a": "3",
        "b": "None",
        "c": "5",
        "d": "only the one for h",
    }
    for name in ("04.1", "04.5"):
        for question in catalogue.load(name).questions:
            right = catalogue.load(name).spec.truth()[question.id]
            assert not question.choices or right in question.choices
            assert right not in question.wrong


FROZEN = ["3", "None", "5", "only the one for h"]


@pytest.mark.parametrize(
    ("place", "said", "says"),
    [
        (0, "5", "The branch of the frozen weight is counted"),
        (0, "2", "A leaf that learns has a node, too"),
        (1, "b", "Nothing is recorded that cannot be needed"),
        (2, "3", "A frozen layer is not a wall"),
        (2, "4", "A leaf that learns has a node, too"),
        (3, "both", "What nobody reads need not be computed"),
    ],
)
def test_wrong_way_through_a_frozen_layer_is_named(
    place: int, said: str, says: str
) -> None:
    assert examine("04.5", FROZEN).state == "solved"
    verdict = examine("04.5", [*FROZEN[:place], said, *FROZEN[place + 1 :]])
    assert verdict.state == "wrong"
    assert says in verdict.message


def linear(backward: Any) -> Any:
    def forward(ctx: Any, x: Any, w: Any, b: Any) -> Any:
        ctx.save_for_backward(x, w)
        return x @ w.T + b

    return made("Linear", forward, backward)


def frugal(ctx: Any, g: Any) -> Any:
    x, w = ctx.saved_tensors
    needed = ctx.needs_input_grad
    return (
        g @ w if needed[0] else None,
        g.T @ x if needed[1] else None,
        g.sum(0) if needed[2] else None,
    )


def by_einsum(ctx: Any, g: Any) -> Any:
    x, w = ctx.saved_tensors
    needed = ctx.needs_input_grad
    for_x = mg.einsum("bo,oi->bi", g, w) if needed[0] else None
    return for_x, g.t().mm(x) if needed[1] else None, g.sum(0) if needed[2] else None


def computes_all(ctx: Any, g: Any) -> Any:
    x, w = ctx.saved_tensors
    return g @ w, g.T @ x, g.sum(0)


def computes_all_and_hides_it(ctx: Any, g: Any) -> Any:
    found = computes_all(ctx, g)
    pairs = zip(found, ctx.needs_input_grad, strict=True)
    return tuple(value if needed else None for value, needed in pairs)


def test_flags_read_at_the_wrong_place_are_not_called_ignored() -> None:
    assert examine("04.2", linear(flags_of_others)).mistakes == ("A06",)


def calls_the_flags(ctx: Any, g: Any) -> Any:
    x, w = ctx.saved_tensors
    needed = ctx.needs_input_grad
    return g @ w if needed(0) else None, g.T @ x, g.sum(0)


def test_flags_that_are_called_are_not_taken_for_saved_tensors() -> None:
    verdict = examine("04.2", linear(calls_the_flags))
    assert verdict.state == "crashed"
    assert verdict.mistakes == ()
    assert "print what it names" in verdict.message


@pytest.mark.parametrize(
    ("forward", "says"),
    [
        (lambda ctx, x, k: np.multiply(x, k), "Which method of the tensor"),
        (lambda ctx, x, k: x * k if x > 0 else x, "wants a single one"),
    ],
)
def test_exceptions_of_forward_have_a_question(forward: Any, says: str) -> None:
    verdict = examine("04.4", made("Scale", forward))
    assert verdict.state == "crashed"
    assert says in verdict.message


def two_for_three(ctx: Any, g: Any) -> Any:
    return frugal(ctx, g)[:2]


def bias_not_summed(ctx: Any, g: Any) -> Any:
    for_x, for_w, for_b = frugal(ctx, g)
    return for_x, for_w, None if for_b is None else g


def flags_of_others(ctx: Any, g: Any) -> Any:
    x, w = ctx.saved_tensors
    needed = ctx.needs_input_grad
    return (
        g @ w if needed[1] else None,
        g.T @ x if needed[0] else None,
        g.sum(0) if needed[2] else None,
    )


@pytest.mark.parametrize("backward", [frugal, by_einsum])
def test_linear_that_skips_passes(backward: Any) -> None:
    for seed in range(3):
        verdict = examine("04.2", linear(backward), seed=seed)
        assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("backward", "mistake", "says"),
    [
        (computes_all, "A07", ""),
        (
            computes_all_and_hides_it,
            "A07",
            "only x requires grad, and backward makes 2",
        ),
        (two_for_three, "A01", ""),
        (bias_not_summed, "R01", ""),
        (flags_of_others, "A06", ""),
    ],
)
def test_linear_that_does_needless_work_or_errs_is_named(
    backward: Any, mistake: str, says: str
) -> None:
    verdict = examine("04.2", linear(backward))
    assert verdict.state in ("wrong", "crashed")
    assert mistake in verdict.mistakes, verdict.message
    assert says in verdict.message


def test_products_are_counted_however_they_are_written() -> None:
    a, b = mg.ones(2, 3), mg.ones(3, 2)
    with counted_products() as count:
        _ = a @ b, a.mm(b), mg.einsum("ij,jk->ik", a, b), a * 2
    assert count == [3]
    _ = a @ b
    assert count == [3]


SHIPPED = catalogue.load("04.3").spec.SHIPPED
REPAIRS = [
    ("return grad_output * ctx.k\n", "return grad_output * ctx.k, None\n"),
    ("grad_output.sum()", "grad_output.sum(0)"),
    (
        "return grad_output * (1 - ctx.t), grad_output * ctx.t, None",
        "return grad_output * (1 - ctx.t), None, grad_output * ctx.t",
    ),
]
NAMES = ("Scale", "Shift", "Mix")


def three(*changes: tuple[str, str]) -> list[Any]:
    source = SHIPPED
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    names: dict[str, Any] = {"mg": mg}
    exec(source, names)
    return [names[name] for name in NAMES]


def test_three_repaired_backwards_pass() -> None:
    for seed in range(3):
        verdict = examine("04.3", three(*REPAIRS), seed=seed)
        assert (verdict.state, verdict.remarks) == ("solved", ())
    left_to_the_engine = ("grad_output.sum()", "grad_output")
    verdict = examine("04.3", three(REPAIRS[0], left_to_the_engine, REPAIRS[2]))
    assert verdict.state == "solved"
    assert [remark.id for remark in verdict.remarks] == ["R01"]
    assert "has shape (2, 3); by has shape (3,)" in verdict.message


def test_three_as_shipped_are_not_tried() -> None:
    assert examine("04.3", three()).state == "not tried"


@pytest.mark.parametrize(
    ("changes", "state", "mistake", "says"),
    [
        (REPAIRS[1:], "crashed", "A01", "expected 2, got 1"),
        (REPAIRS[::2], "crashed", "R11", "Over which axis did it meet the rows?"),
        (REPAIRS[:2], "crashed", "A02", "Which argument is a plain number?"),
        (
            [
                *REPAIRS[:2],
                ("ctx.t, None", "ctx.t"),
                ("(1 - ctx.t), ", "(1 - ctx.t), "),
            ],
            "crashed",
            "A01",
            "expected 3, got 2",
        ),
        (
            [REPAIRS[0], REPAIRS[1], ("grad_output * ctx.t, None", "None, None")],
            "wrong",
            "A05",
            "argument 3 requires grad and got none",
        ),
        (
            [REPAIRS[0], ("grad_output.sum()", "grad_output.mean(0)"), REPAIRS[2]],
            "wrong",
            "",
            "the gradient for argument 2 is",
        ),
    ],
)
def test_half_repaired_is_named(
    changes: Any, state: str, mistake: str, says: str
) -> None:
    verdict = examine("04.3", three(*changes))
    assert verdict.state == state, verdict.message
    assert (*verdict.mistakes, "")[0] == mistake
    assert says in verdict.message


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (three(*REPAIRS)[:2], "check was given 2 things, not 3"),
        (three(*REPAIRS)[0], "check was given 1 thing, not 3"),
        ([1, 2, 3], "check was given a int, not a class"),
    ],
)
def test_three_have_to_be_handed_over(answer: Any, says: str) -> None:
    verdict = examine("04.3", answer)
    assert verdict.state == "wrong"
    assert says in verdict.message


def scale(backward: Any, keep: Any = None) -> Any:
    def forward(ctx: Any, x: Any, k: Any) -> Any:
        (keep or (lambda ctx, k: setattr(ctx, "k", k)))(ctx, k)
        return x * k

    return made("Scale", forward, backward)


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (scale(lambda ctx, g: (g * ctx.k, None)), ""),
        (scale(lambda ctx, g: g * ctx.k), "A01"),
        (scale(lambda ctx, g: (g * ctx.k, g)), "A02"),
        (scale(lambda ctx, g: (g, None)), "C03"),
        (
            scale(
                lambda ctx, g: (g * ctx.saved_tensors[0], None),
                lambda ctx, k: ctx.save_for_backward(k),
            ),
            "A14",
        ),
    ],
)
def test_scale_by_a_number(answer: Any, mistake: str) -> None:
    verdict = examine("04.4", answer)
    assert (*verdict.mistakes, "")[0] == mistake, verdict.message
    assert (verdict.state == "solved") == (mistake == "")
