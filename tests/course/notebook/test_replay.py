"""Stepping through the case that a check failed on."""

from __future__ import annotations

import pytest

import minigrad as mg
from minigrad import errors
from minigrad.autograd import Function
from minigrad.course import check, examine, step_through
from minigrad.course.check.verdict import CheckFailed
from minigrad.course.notebook import replay


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


def test_case_of_a_verdict_is_made_again_with_the_right_values_beside() -> None:
    verdict = examine("gym.Power", Cube, seed=5)
    (seen, *_) = verdict.evidence
    again = replay.replay_of(verdict, Cube)
    rows = {row.name: row for row in again.rows}
    assert not rows["result"].differs
    assert rows["gradient for x"].differs
    assert seen.case in again.title
    assert f"{seen.got:.3f}"[:4] in rows["gradient for x"].yours
    assert f"{seen.expected:.3f}"[:4] in rows["gradient for x"].right
    assert len(again.recording) > 10
    page = again._repr_mimebundle_()["text/html"]
    assert "≠" in page
    assert "gradient for x" in page


def test_case_that_raises_is_recorded_up_to_there() -> None:
    verdict = examine("gym.Power", Breaks)
    assert verdict.state == "crashed"
    again = replay.replay_of(verdict, Breaks)
    (gradient,) = [row for row in again.rows if row.name == "gradient for x"]
    assert gradient.yours == "None"
    assert "no idea" in str(again.recording.data)


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
    rows = {row.name: row for row in replay.replay_of(verdict, Scale).rows}
    assert not rows["result"].differs
    assert rows["gradient for x"].differs
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


def test_values_that_differ_far_behind_the_point_are_shown_so() -> None:
    verdict = examine("gym.Power", Rounds)
    assert verdict.mistakes[:1] == ("T01",)
    rows = {row.name: row for row in replay.replay_of(verdict, Rounds).rows}
    assert rows["gradient for x"].differs
    assert rows["gradient for x"].yours != rows["gradient for x"].right


class InAList(Cube):
    @staticmethod
    def forward(ctx, x, n):
        return [x**n]


def test_result_that_is_no_tensor_is_no_exception_of_ours() -> None:
    verdict = examine("gym.Power", InAList)
    assert verdict.mistakes[:1] == ("A17",)
    assert verdict.case is None or "AttributeError" not in str(
        replay.replay_of(verdict, InAList).recording.data
    )
