"""The exercises of lesson 02: right answers pass, wrong ones are named."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad as mg
from minigrad.course import catalogue, examine
from tests.course.answers import exp
from tests.course.test_first_lessons import made

Function = mg.autograd.Function


def test_shelves_are_those_of_versions_that_are_right() -> None:
    truth = catalogue.load("02.1").spec.truth()
    assert list(truth.values()) == [
        "not kept",
        "saved",
        "not kept",
        "an attribute",
        "an attribute",
        "saved",
        "not kept",
    ]
    for question in catalogue.load("02.1").questions:
        assert set(question.wrong) <= set(question.choices) - {truth[question.id]}


def test_saving_everything_is_told_what_is_so() -> None:
    verdict = examine("02.1", ["saved"] * 7)
    assert verdict.state == "solved"
    assert "2 of 7 as you said" in verdict.message


def exp_that_keeps(*names: str, rule: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        values = {"x": x, "y": y, "copy": y.clone(), "slope": mg.exp(x)}
        ctx.save_for_backward(*[values[name] for name in names])
        return y

    return made("Exp", forward, lambda ctx, g: g * rule(*ctx.saved_tensors))


@pytest.mark.parametrize("seed", range(3))
def test_exp_that_keeps_its_result_passes(seed: int) -> None:
    in_two_steps = made(
        "Exp",
        lambda x: x.exp(),
        lambda ctx, g: ctx.saved_tensors[0] * g,
        setup_context=staticmethod(
            lambda ctx, i, output: ctx.save_for_backward(output)
        ),
    )
    for answer in (exp_that_keeps("y", rule=lambda y: y), in_two_steps):
        assert examine("02.2", answer, seed=seed).state == "solved"


@pytest.mark.parametrize(
    ("names", "rule", "mistake", "says"),
    [
        (("x",), lambda x: x.exp(), "K01", r"ctx keeps x ("),
        (("x", "y"), lambda x, y: y, "K01", r"ctx keeps x ("),
        (("copy",), lambda y: y, "K01", "ctx keeps a copy of result ("),
        (("y", "slope"), lambda y, s: s, "K01", "backward can do with result alone"),
        (("x",), lambda x: x, "L05", ""),
        (("y",), lambda y: 1, "C03", ""),
        (("x", "y"), lambda x, y: x * y, "L03", ""),
    ],
)
def test_exp_that_keeps_more_or_is_wrong_is_named(
    names: tuple[str, ...], rule: Any, mistake: str, says: str
) -> None:
    verdict = examine("02.2", exp_that_keeps(*names, rule=rule))
    assert verdict.state == "wrong"
    assert verdict.mistakes[0] == mistake
    assert says in verdict.message


def test_answers_to_the_gym_that_keep_the_input_are_refused_here() -> None:
    assert examine("gym.Exp", exp.ComputesAgain).state == "solved"
    assert examine("02.2", exp.ComputesAgain).mistakes == ("K01",)
    assert examine("02.2", exp.SavesItsResult).state == "solved"


def clip(keep: Any, rule: Any, forward: Any = None) -> Any:
    def run(ctx: Any, x: Any, lo: Any, hi: Any) -> Any:
        keep(ctx, x, lo, hi)
        return (forward or mg.clamp)(x, lo, hi)

    return made("Clip", run, rule)


def on_ctx(ctx: Any, x: Any, lo: Any, hi: Any) -> None:
    ctx.save_for_backward(x)
    ctx.lo, ctx.hi = lo, hi


def passing(ctx: Any, g: Any) -> Any:
    (x,) = ctx.saved_tensors
    return g * ((x >= ctx.lo) & (x <= ctx.hi)), None, None


def keep_mask(ctx: Any, x: Any, lo: Any, hi: Any) -> None:
    ctx.save_for_backward((x >= lo) & (x <= hi))


RIGHT_CLIPS = [
    clip(on_ctx, passing),
    clip(keep_mask, lambda ctx, g: (g * ctx.saved_tensors[0], None, None)),
    clip(
        on_ctx,
        passing,
        lambda x, lo, hi: x.maximum(mg.tensor(lo, dtype=x.dtype)).clamp(max=hi),
    ),
    clip(
        on_ctx,
        lambda ctx, g: (
            mg.where(
                (ctx.saved_tensors[0] < ctx.lo) | (ctx.saved_tensors[0] > ctx.hi),
                mg.zeros_like(g),
                g,
            ),
            None,
            None,
        ),
    ),
]


@pytest.mark.parametrize("answer", RIGHT_CLIPS)
def test_right_clip_passes(answer: Any) -> None:
    for seed in range(3):
        verdict = examine("02.3", answer, seed=seed)
        assert verdict.state == "solved", verdict.message


def as_tensors(ctx: Any, x: Any, lo: Any, hi: Any) -> None:
    ctx.save_for_backward(x, mg.tensor(lo), mg.tensor(hi))


def passing_tensors(ctx: Any, g: Any) -> Any:
    x, lo, hi = ctx.saved_tensors
    return g * ((x >= lo) & (x <= hi)), None, None


def keep_on_class(ctx: Any, x: Any, lo: Any, hi: Any) -> None:
    ctx.save_for_backward(x)
    Shared.lo, Shared.hi = lo, hi


class Shared:
    """State that all calls share."""

    lo: float
    hi: float


def rule(inside: Any) -> Any:
    return lambda ctx, g: (
        g * inside(ctx.saved_tensors[0], ctx.lo, ctx.hi, g),
        None,
        None,
    )


WRONG_CLIPS = [
    (clip(lambda ctx, x, lo, hi: ctx.save_for_backward(x, lo, hi), passing), "A14"),
    (clip(on_ctx, lambda ctx, g: passing(ctx, g)[0]), "A01"),
    (clip(on_ctx, lambda ctx, g: (passing(ctx, g)[0], g, g)), "A02"),
    (clip(on_ctx, rule(lambda x, lo, hi, g: (x > lo) & (x < hi))), "L10"),
    (clip(on_ctx, rule(lambda x, lo, hi, g: x >= lo)), "R08"),
    (clip(on_ctx, rule(lambda x, lo, hi, g: (x < lo) | (x > hi))), "L01"),
    (clip(on_ctx, lambda ctx, g: (g, None, None)), "C03"),
    (clip(as_tensors, passing_tensors), "A14"),
    (clip(on_ctx, lambda ctx, g: (g.clamp(ctx.lo, ctx.hi), None, None)), "L11"),
    (clip(on_ctx, rule(lambda x, lo, hi, g: (g >= lo) & (g <= hi))), "L11"),
    (
        clip(
            on_ctx,
            lambda ctx, g: (((passing(ctx, g)[0]) != 0).to(g.dtype), None, None),
        ),
        "C01",
    ),
    (clip(on_ctx, passing, lambda x, lo, hi: x.clamp(min=lo)), "R08"),
    (
        clip(
            keep_on_class,
            lambda ctx, g: (
                g
                * (
                    (ctx.saved_tensors[0] >= Shared.lo)
                    & (ctx.saved_tensors[0] <= Shared.hi)
                ),
                None,
                None,
            ),
        ),
        "S05",
    ),
]


@pytest.mark.parametrize(("answer", "mistake"), WRONG_CLIPS)
def test_wrong_clip_is_named(answer: Any, mistake: str) -> None:
    for seed in range(3):
        verdict = examine("02.3", answer, seed=seed)
        assert verdict.state in ("wrong", "crashed")
        assert (*verdict.mistakes, "")[0] == mistake, verdict.message


def test_bounds_on_a_class_are_noticed_whatever_is_drawn() -> None:
    # With these the random numbers do not tell one call's bounds from the next one's.
    for seed in (18, 21, 30):
        verdict = examine("02.3", WRONG_CLIPS[-1][0], seed=seed)
        assert verdict.mistakes == ("S05",), verdict.message


def test_number_saved_as_a_tensor_is_a_remark_where_nobody_asks() -> None:
    answer = made(
        "Scale",
        lambda ctx, x, k: ctx.save_for_backward(x.new_tensor(k)) or x * k,
        lambda ctx, g: (g * ctx.saved_tensors[0], None),
    )
    verdict = examine("04.4", answer)
    assert verdict.state == "solved"
    assert [remark.id for remark in verdict.remarks] == ["A14"]
    assert "k came in as a number" in verdict.message
    refused = examine("02.3", clip(as_tensors, passing_tensors))
    assert "lo and hi came in as numbers" in refused.message


def scale(keep: Any, get: Any, forward: Any = None, backward: Any = None) -> Any:
    def run(ctx: Any, x: Any, factor: Any) -> Any:
        keep(ctx, factor)
        return x * factor if forward is None else forward(x, factor)

    return made("Scale", run, backward or (lambda ctx, g: (g * get(ctx), None)))


def save(ctx: Any, factor: Any) -> None:
    ctx.save_for_backward(factor)


def test_scale_that_saves_passes() -> None:
    verdict = examine("02.4", scale(save, lambda ctx: ctx.saved_tensors[0]))
    assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("keep", "mistake", "says"),
    [
        (lambda ctx, f: (save(ctx, f), setattr(ctx, "f", f)), "S06", "kept as ctx.f."),
        (
            lambda ctx, f: ctx.save_for_backward(f, mg.ones(3)),
            "K01",
            "2 tensors are saved; backward can do with factor alone.",
        ),
    ],
)
def test_scale_that_keeps_more_is_right_with_a_remark(
    keep: Any, mistake: str, says: str
) -> None:
    verdict = examine("02.4", scale(keep, lambda ctx: ctx.saved_tensors[0]))
    assert verdict.state == "solved"
    assert [remark.id for remark in verdict.remarks] == [mistake]
    assert says in verdict.message


def test_exception_in_a_repaired_class_has_its_line_and_a_hint() -> None:
    verdict = examine("02.4", scale(save, lambda ctx: ctx.saved_tensors))
    assert verdict.state == "crashed"
    assert verdict.mistakes == ("A11",)
    assert "g * get(ctx), None" in verdict.findings[0].where
    other = examine("02.4", scale(save, lambda ctx: ctx.factor))
    assert other.mistakes == ()
    assert "print what it names" in other.message


def test_scale_as_shipped_is_not_tried() -> None:
    shipped = catalogue.load("02.4").spec.SHIPPED
    names: dict[str, Any] = {"mg": mg}
    exec(shipped, names)
    assert examine("02.4", names["Scale"]).state == "not tried"


@pytest.mark.parametrize(
    ("answer", "mistake", "says"),
    [
        (
            scale(lambda ctx, f: setattr(ctx, "kept", f), lambda ctx: ctx.kept),
            "S06",
            "reads it too late",
        ),
        (
            scale(lambda ctx, f: setattr(ctx, "f", f.clone()), lambda ctx: ctx.f),
            "K01",
            "called a repair",
        ),
        (
            scale(
                lambda ctx, f: ctx.save_for_backward(f.clone()),
                lambda ctx: ctx.saved_tensors[0],
            ),
            "K01",
            "called a repair",
        ),
        (
            scale(lambda ctx, f: setattr(ctx, "f", f.detach()), lambda ctx: ctx.f),
            "S06",
            "reads it too late",
        ),
        (scale(save, lambda ctx: 1), "", "nobody changed the factor"),
        (
            scale(save, lambda ctx: ctx.saved_tensors[0], lambda x, f: x + f),
            "",
            "forward gives",
        ),
    ],
)
def test_scale_that_hears_nothing_is_named(
    answer: Any, mistake: str, says: str
) -> None:
    verdict = examine("02.4", answer)
    assert verdict.state == "wrong"
    assert (*verdict.mistakes, "")[0] == mistake
    assert says in verdict.message


def tanh(name: str, kept: Any, rule: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        y = x.tanh()
        ctx.save_for_backward(*kept(x, y))
        return y

    return made(name, forward, lambda ctx, g: g * rule(*ctx.saved_tensors))


def from_input(name: str) -> Any:
    return tanh(name, lambda x, y: [x], lambda x: 1 - x.tanh() ** 2)


def from_output(name: str) -> Any:
    return tanh(name, lambda x, y: [y], lambda y: 1 - y * y)


FROM_INPUT, FROM_OUTPUT = from_input("TanhFromInput"), from_output("TanhFromOutput")


def test_both_tanhs_and_their_bytes_pass() -> None:
    for seed in range(3):
        verdict = examine("02.5", [FROM_INPUT, FROM_OUTPUT, [8000, 0]], seed=seed)
        assert (verdict.state, verdict.points) == ("solved", 4), verdict.message


@pytest.mark.parametrize(
    ("answer", "mistake", "says"),
    [
        ([FROM_INPUT, FROM_OUTPUT, [8000, 8000]], "", "alive anyway"),
        ([FROM_INPUT, FROM_OUTPUT, [1000, 0]], "", "numbers were counted, not bytes"),
        ([FROM_INPUT, FROM_OUTPUT, [0, 0]], "", "for TanhFromInput you say 0 bytes"),
        ([FROM_INPUT, FROM_OUTPUT, [0, 8000]], "", "for TanhFromInput you say 0 bytes"),
        ([FROM_INPUT, FROM_OUTPUT, "8000"], "", "not a list of two numbers"),
        ([FROM_INPUT, FROM_OUTPUT], "", "check was given 2 things, not 3"),
        (FROM_INPUT, "", "check was given 1 thing, not 3"),
        ([FROM_OUTPUT, FROM_INPUT, [8000, 0]], "", "TanhFromOutput in the place of"),
        (
            [from_output("TanhFromInput"), FROM_OUTPUT, [8000, 0]],
            "K01",
            "ctx keeps result",
        ),
        ([FROM_INPUT, from_input("TanhFromOutput"), [8000, 0]], "K01", "ctx keeps x ("),
        (
            [
                tanh("TanhFromInput", lambda x, y: [x], lambda x: 1 - x * x),
                FROM_OUTPUT,
                [8000, 0],
            ],
            "L05",
            "",
        ),
        (
            [
                FROM_INPUT,
                tanh("TanhFromOutput", lambda x, y: [y], lambda y: 1 - y.tanh() ** 2),
                [8000, 0],
            ],
            "L05",
            "",
        ),
        (
            [
                FROM_INPUT,
                tanh("TanhFromOutput", lambda x, y: [1 - y * y], lambda s: s),
                [8000, 0],
            ],
            "K01",
            "ctx keeps an array of shape (3,)",
        ),
        ([FROM_INPUT, 3, [8000, 0]], "", "check was given a int, not a class"),
    ],
)
def test_wrong_tanhs_and_bytes_are_named(answer: Any, mistake: str, says: str) -> None:
    verdict = examine("02.5", answer)
    assert verdict.state == "wrong"
    assert (*verdict.mistakes, "")[0] == mistake, verdict.message
    assert says in verdict.message
