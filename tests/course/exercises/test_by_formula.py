"""Exercises that a text states as formulas."""

from __future__ import annotations

import copy
import tomllib
from importlib import resources
from typing import Any

import numpy as np
import pytest

from minigrad.course.check import Contract, error_of
from minigrad.course.exercises import by_formula, catalogue
from minigrad.mistakes import MistakeTableError

MEANT = {"02.4", "gym.GradientReversal"}
"""Their gradients are not the slopes of their results, as the task says."""


def text_of(name: str) -> dict[str, Any]:
    *folder, stem = catalogue.stem_of(name).split(".")
    room = resources.files("minigrad.course.exercises").joinpath(*folder)
    return tomllib.loads(room.joinpath(f"{stem}.toml").read_text("utf8"))


STATED = [
    name
    for name in [*catalogue.names(), *catalogue.gym_names()]
    if "right" in text_of(name)
]


def weighted(stated: by_formula.Stated, inputs: tuple[Any, ...], gs: Any) -> float:
    found = stated.reference(*inputs)
    ys = found if isinstance(found, tuple) else (found,)
    return sum(float((g * y).sum()) for g, y in zip(gs, ys, strict=True))


def off(name: str, text: dict[str, Any]) -> list[str]:
    """The arguments whose stated gradient isn't the slope that is measured."""
    loaded = catalogue.load(name)
    exercise = (loaded.parts or [loaded])[0]
    contract, cases = exercise.contract, exercise.cases(np.random.default_rng(3))
    stated = by_formula.Stated(text, contract, name)
    wrong = []
    for case in cases:
        # A kink has no slope, and single precision is too coarse to measure one.
        x = case.inputs[0]
        if x.dtype != np.float64 or not x.all() or "on the bounds" in case.name:
            continue
        if case.is_corner:  # a step is too wide for near ties, too narrow for 1000
            continue
        gs = case.upstreams
        told = stated.gradients(gs if len(gs) > 1 else gs[0], *case.inputs)
        for place in case.differentiable:
            slope = np.empty(case.inputs[place].shape)
            for at in np.ndindex(slope.shape):
                ends = []
                for step in (1e-6, -1e-6):
                    moved = copy.deepcopy(list(case.inputs))
                    moved[place][at] += step
                    ends.append(weighted(stated, tuple(moved), gs))
                slope[at] = (ends[0] - ends[1]) / 2e-6
            found = told[place]
            if found is None or error_of(found, slope) > 1e-5:
                wrong.append(contract.arguments[place])
    return wrong


@pytest.mark.parametrize("name", [n for n in STATED if n not in MEANT])
def test_stated_gradients_are_the_slopes_of_the_stated_results(name: str) -> None:
    assert off(name, text_of(name)) == []


def test_a_wrong_formula_is_not_the_slope() -> None:
    text = text_of("gym.Exp")
    text["right"]["x"] = "g * exp(x) * 1.001"
    assert "x" in off("gym.Exp", text)


def stated(result: str, x: str, **more: Any) -> by_formula.Stated:
    contract = Contract("F", ("x", "c"))
    text = {"right": {"result": result, "x": x}, **more}
    return by_formula.Stated(text, contract, "a.toml")


def test_single_precision_stays_so_unless_it_meets_double() -> None:
    made = stated("2 * x * c", "2 * g * c")
    x, g = np.ones(2, np.float32), np.ones(2, np.float32)
    (for_x, for_c) = made.gradients(g, x, 3.0)
    assert np.asarray(made.reference(x, 3.0)).dtype == np.float32
    assert for_x is not None
    assert (for_x.dtype, for_c) == (np.float32, None)
    # A second derivative is measured by moving g in double precision.
    (finer, _) = made.gradients(g.astype(np.float64), x, 3.0)
    assert finer is not None
    assert finer.dtype == np.float64


def test_wrong_rules_factors_and_results_are_told_apart() -> None:
    made = stated(
        "x * c",
        "g * c",
        wrong={"L04": ["g * x"], "T02": [{"result": "x * trunc(c)"}]},
        factors={"C07": ["1 / c"]},
    )
    x, g = np.array([2.0, 3.0]), np.array([1.0, 10.0])
    (of_gradient,) = made.wrong_gradients(g, x, 2.5)
    assert of_gradient[0] == "L04"
    assert of_gradient[1][0] is not None
    assert of_gradient[1][0].tolist() == [2.0, 30.0]
    (of_result,) = made.wrong_results(x, 2.5)
    assert of_result[0] == "T02"
    assert np.asarray(of_result[1]).tolist() == [[4.0, 6.0]]
    assert list(made.factors(x, 2.5)) == [("C07", 0.4)]
    assert list(made.factors(x, 0.0)) == []  # 1 / 0 is nobody's factor


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ({"result": "x * c", "x": "g * d"}, {}, r"[right]: 'g * d' has the name 'd'"),
        ({"x": "g * c"}, {}, "[right]: [right] has x"),
        ({"result": "x", "y": "g"}, {}, "[right]: [right] has result, y"),
        ({"result": "x"}, {"L99": ["g"]}, "[wrong] number 1 (L99): this id"),
        ({"result": "x"}, {"L04": ["g *"]}, "(L04): 'g *' is not a formula"),
    ],
)
def test_what_a_text_states_wrongly_is_said(
    right: dict[str, str], wrong: dict[str, list[str]], says: str
) -> None:
    contract = Contract("F", ("x", "c"))
    with pytest.raises(MistakeTableError) as told:
        by_formula.Stated({"right": right, "wrong": wrong}, contract, "a.toml")
    assert str(told.value).startswith("a.toml, ")
    assert says in str(told.value)


def test_cases_have_a_plain_value_each_and_say_it() -> None:
    also = [{"name": "two zeros", "x": [0.0, 0.0], "c": 9, "dtype": "float32"}]
    values = {"c": [1, 2, 3, 4, 5, 6, 7], "with_axes": True, "also": also}
    made = stated("sum(x) * c", "c * g * ones_like(x)")
    drawn = by_formula.Drawn(values, made.contract, made.reference)
    cases = drawn.cases(np.random.default_rng(0))
    assert [case.inputs[1] for case in cases] == [1, 2, 3, 4, 5, 6, 9]
    assert cases[-1].name == "two zeros, c = 9"
    assert all(case.inputs[0].ndim for case in cases)
    assert cases[-1].inputs[0].dtype == np.float32
    assert {np.shape(case.upstream) for case in cases} == {()}
