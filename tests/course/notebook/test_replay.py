"""Stepping through the case that a check failed on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import errors
from minigrad.autograd import Function
from minigrad.course import check, examine, step_through
from minigrad.course.check.verdict import CheckFailed
from minigrad.course.exercises import catalogue as exercises
from minigrad.course.notebook import replay
from minigrad.views.recording import Recording
from tests.answers import rows

GYM = [name for name in exercises.gym_names() if exercises.load(name).kind == "W"]


class Cube(Function):
    """Power with its exponent left as it is."""

    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x**ctx.n, None


class Breaks(Cube):
    @staticmethod
    def backward(ctx, g):
        raise ValueError("no idea")


def test_case_of_a_verdict_is_made_again_beside_the_right_rule() -> None:
    verdict = examine("gym.Power", Cube, seed=5)
    (seen, *_) = verdict.evidence
    again = replay.replay_of(verdict, Cube)
    assert seen.case in again.title
    assert again.inputs["n"] == "3"
    (found,) = again.differences
    assert found.what == "The gradient from Cube to x"
    assert f"{seen.got:.3f}"[:4] in str(found.first)
    assert f"{seen.expected:.3f}"[:4] in str(found.second)
    page = again._repr_mimebundle_()["text/html"]
    assert "<code>grad_output</code>" in page
    assert again.title in page
    assert again.sentence in repr(again)


def test_program_of_a_case_is_shown_as_one_would_write_it() -> None:
    again = replay.replay_of(examine("gym.Power", Cube), Cube)
    sources = [
        ["".join([text for _, text in line]) for line in source["tokens"]]
        for source in again._data()["traces"][0]["sources"]
    ]
    assert sources[0] == [
        "def case(x, n, grad_output):",
        "    result = Cube.apply(x, n)",
        "    autograd.backward(result, grad_output)",
        "    return result",
    ]


def test_right_rule_does_not_show_how_it_goes() -> None:
    again = replay.replay_of(examine("gym.Power", Cube), Cube)
    right = again._data()["traces"][1]
    assert "references" not in str(right["sources"])
    (kept,) = [
        c
        for part in right["graph"]["pictures"][-1]["parts"]
        for c in part.get("cells", ())
    ]
    assert kept[:2] == ["attr.rule", "rule 'not shown'"]
    assert "entry" not in {thing[0] for thing in again._things}


def test_case_that_raises_is_recorded_up_to_there() -> None:
    verdict = examine("gym.Power", Breaks)
    assert verdict.state == "crashed"
    again = replay.replay_of(verdict, Breaks)
    assert again.differences[0].sentence == "Here yours stops: ValueError: no idea"


@pytest.mark.parametrize("exercise", GYM)
def test_right_answer_differs_nowhere_from_the_right_rule(exercise: str) -> None:
    asked = exercises.load(exercise)
    names: dict[str, Any] = {}
    exec(f"{rows.HEAD}\n{rows.solution_of(exercise).source}", names)
    answer = eval(rows.solution_of(exercise).hands, names)
    for case in asked.cases(np.random.default_rng(3))[:2]:
        again = replay.replay(asked, answer, case)
        assert again.difference is None, again.sentence


def test_step_through_takes_the_last_check_and_nothing_else() -> None:
    with pytest.raises(errors.ArgumentValueError, match=r"run check\(\"gym.Exp\""):
        step_through("gym.Exp")
    with pytest.raises(CheckFailed):
        check("gym.Power", Cube, strict=True)
    assert "gym.Power" in step_through("gym.Power").title
    with pytest.raises(CheckFailed, match="not tried"):
        check("gym.Power", Todo, strict=True)
    with pytest.raises(errors.ArgumentValueError):
        step_through("gym.Power")


class Todo(Cube):
    @staticmethod
    def forward(ctx, x, n):
        raise NotImplementedError("TODO: write it")


def test_case_in_place_starts_from_a_leaf_that_stays_as_it_was() -> None:
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, c):
            ctx.c = c
            ctx.mark_dirty(x)
            return x.mul_(c)

        @staticmethod
        def backward(ctx, g):
            return g, None

    verdict = examine("gym.InplaceScale", Scale)
    assert verdict.state == "wrong"
    again = replay.replay_of(verdict, Scale)
    assert [one.what for one in again.differences[:1]] == [
        "The gradient from Scale to copy"
    ]
    assert mg.is_grad_enabled()


class Rounds(Cube):
    """Right but for what float32 cuts off."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if ctx.n == 0:
            return mg.zeros_like(x), None
        slope = ctx.n * x.to(mg.float32) ** (ctx.n - 1)
        return g * slope.to(g.dtype), None


def test_values_that_differ_far_behind_the_point_are_said_to_be_near() -> None:
    verdict = examine("gym.Power", Rounds)
    assert verdict.mistakes[:1] == ("T01",)
    again = replay.replay_of(verdict, Rounds)
    assert again.difference is None
    assert again.sentence.startswith("Nothing differs in the six digits")


def test_random_result_that_never_came_has_nothing_to_be_compared_with() -> None:
    asked = exercises.load("gym.Dropout")
    case = asked.cases(np.random.default_rng(3))[0]
    alone = replay.replay(asked, Todo, case)
    assert type(alone) is Recording
    assert "TODO" in str(alone.data["meta"]["error"])


class InAList(Cube):
    @staticmethod
    def forward(ctx, x, n):
        return [x**n]


def test_result_that_is_no_tensor_is_no_exception_of_ours() -> None:
    verdict = examine("gym.Power", InAList)
    assert verdict.mistakes[:1] == ("A17",)
    assert verdict.case is not None
    again = replay.replay_of(verdict, InAList)
    assert again.differences[0].sentence == "InAList is only in the right one."
    assert "AttributeError" not in str(again._data()["traces"][0])
