"""check and hint, as a learner meets them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor
from minigrad._workspace import SHIPPED
from minigrad.autograd import Function
from minigrad.course import CheckFailed, check, examine, hint
from minigrad.course.check.verdict import Verdict
from minigrad.course.exercises import catalogue as exercises
from minigrad.course.notebook import journal
from minigrad.kernels import _jit
from minigrad.mistakes import TABLE


class Right(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


class Wrong(Right):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return y, x


class Remarked(Right):
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y


def test_check_shows_a_solved_exercise(capsys: pytest.CaptureFixture[str]) -> None:
    check("01.4", Right)
    assert capsys.readouterr().out == (
        "✓ 01.4 Mul, your first Function: solved (4 points)\n"
    )


def test_check_raises_the_whole_message_where_nothing_is_displayed() -> None:
    with pytest.raises(CheckFailed, match="upstream gradient ignored") as seen:
        check("01.4", Wrong, strict=True)
    assert seen.value.verdict.state == "wrong"
    assert isinstance(seen.value, AssertionError)


def test_check_shows_and_returns_its_verdict_and_lets_the_notebook_run_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    verdict = check("01.4", Wrong)
    assert (verdict.state, verdict.mistakes) == ("wrong", ("C01",))
    assert capsys.readouterr().out == f"{verdict}\n"
    assert check("01.4", Right, strict=True).state == "solved"


def test_traceback_in_a_notebook_is_one_line() -> None:
    with pytest.raises(CheckFailed) as seen:
        check("01.4", Wrong, strict=True)
    lines = seen.value._render_traceback_()
    assert lines == ["CheckFailed: 01.4 Mul, your first Function: wrong, see above"]


def test_every_check_draws_new_numbers_from_a_seed_it_keeps_to_itself() -> None:
    seen = []
    for _ in range(3):
        with pytest.raises(CheckFailed) as caught:
            check("01.4", Wrong, strict=True)
        verdict = caught.value.verdict
        seen.append(verdict.seed)
        assert "seed" not in verdict.message
        again = examine("01.4", Wrong, seed=verdict.seed)
        assert again.evidence == verdict.evidence
        assert again.mistakes == verdict.mistakes
    assert len(set(seen)) > 1


def test_message_has_four_parts_in_order() -> None:
    text = examine("01.4", Wrong).message
    parts = ["what happened: ", "where: ", "looks like: ", "try: "]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_message_says_element_values_and_upstream() -> None:
    verdict = examine("01.4", Wrong)
    (seen,) = verdict.evidence
    for number in (seen.got, seen.expected, seen.upstream):
        assert f"{number:.6g}" in verdict.message


def test_html_says_what_the_text_says_and_is_escaped() -> None:
    verdict = Verdict("01.4", "01.4 <b>Mul</b>", "not tried", note="a < b & c")
    html = verdict._repr_html_()
    assert "<b>Mul" not in html
    assert "&lt;b&gt;Mul&lt;/b&gt;: not tried" in html
    assert "a &lt; b &amp; c" in html
    html = examine("01.4", Wrong)._repr_html_()
    assert 'data-state="wrong" data-mistakes="C01"' in html
    assert "upstream gradient ignored. " in html


def test_remark_is_shown_on_a_solved_exercise() -> None:
    text = examine("01.4", Remarked).message
    assert text.startswith("✓ 01.4")
    assert "remark: forward isn't a static method." in text


def test_no_message_holds_the_solution() -> None:
    loaded = exercises.load("01.4")
    texts = [*loaded.hints, *loaded.mistake_hints.values(), loaded.statement]
    texts.append(loaded.half_step)
    texts += [e.looks_like + e.hint for e in TABLE.values()]
    for text in texts:
        for given_away in ("* y", "* x", "*y", "*x", "grad_output *"):
            assert given_away not in text


def test_hints_follow_one_another_with_a_check_in_between() -> None:
    hints = [" ".join(h.split()) for h in exercises.load("01.4").hints]
    assert len(hints) == 3
    for expected in hints:
        assert str(hint("01.4")) == expected
        with pytest.raises(CheckFailed):
            check("01.4", Wrong, strict=True)
    assert str(hint("01.4")).startswith(hints[2])
    assert "no more direct hint" in str(hint("01.4"))


def test_hint_without_a_check_repeats_itself() -> None:
    first = str(hint("01.4"))
    again = str(hint("01.4"))
    assert again.startswith(first)
    assert "try something and check it first" in again


def test_hint_never_says_how_many_are_left() -> None:
    loaded = exercises.load("01.4")
    assert not any("hint" in text for text in loaded.hints)


def test_unknown_exercise_says_which_exist() -> None:
    with pytest.raises(exercises.ExerciseUnknownError, match=r"use one of 00\.1, "):
        check("99.9", Right)


def test_every_mistake_of_an_exercise_is_in_the_table() -> None:
    for name in exercises.names():
        loaded = exercises.load(name)
        assert loaded.id == name
        assert set(loaded.mistake_hints) <= set(TABLE)
        assert (loaded.remarks or set()) <= set(TABLE)
        assert loaded.minutes > 0


def test_half_a_step_comes_after_the_same_mistake_three_times() -> None:
    shown = []
    for answer in (Wrong, Wrong, Wrong, Wrong):
        with pytest.raises(CheckFailed) as caught:
            check("01.4", answer, strict=True)
        shown.append("half a step: For one element" in caught.value.verdict.message)
    assert shown == [False, False, True, True]


def test_half_a_step_keeps_the_lines_of_code_and_no_others() -> None:
    prose = exercises.load("01.4").half_step
    assert "\n" not in prose
    assert "(fill this in) times as fast" in prose
    assert exercises.load("06.4").half_step.count("\n") == 1
    code = exercises.load("05.5").half_step
    assert code.startswith("waiting = {root: g}\nfor node in")
    assert "\n    gradient = waiting.pop(node)\n" in code
    formula = exercises.load("gym.LayerNorm").half_step.splitlines()
    assert [line.startswith("    s * (h") for line in formula] == [False, True, False]


def test_another_mistake_in_between_takes_the_half_step_away() -> None:
    shown = []
    for answer in (Wrong, Wrong, Swapped, Wrong, Wrong):
        with pytest.raises(CheckFailed) as caught:
            check("01.4", answer, strict=True)
        shown.append(bool(caught.value.verdict.half_step))
    assert not any(shown)


def test_check_is_kept_and_examine_is_not() -> None:
    examine("01.4", Right)
    assert journal.entries() == []
    check("01.4", Right)
    (entry,) = journal.entries()
    assert (entry["exercise"], entry["state"]) == ("01.4", "solved")


def test_hints_are_remembered_across_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / SHIPPED).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    first = str(hint("01.4"))
    check("01.4", Right)
    monkeypatch.setattr(journal, "_unkept", [])
    assert str(hint("01.4")) != first
    assert len(journal.entries("01.4", journal.HINTED)) == 2


class Swapped(Right):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * x, g * y


def test_hint_shrinks_to_one_question_when_the_mistake_comes_back() -> None:
    said = []
    for answer in (Wrong, Wrong, Wrong, Swapped, Wrong):
        with pytest.raises(CheckFailed) as caught:
            check("01.4", answer, strict=True)
        said.append(caught.value.verdict.findings[0].next_step)
    whole, second, third, other, again = said
    assert whole == again
    assert len(second) < len(whole)
    assert second in whole
    assert third in whole
    assert second.endswith("?")
    assert second.count("?") == third.count("?") == 1
    assert other not in whole


def test_no_kernel_is_compiled_for_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def note(loop: Any, *_: Any) -> Any:
        compiled.append(loop.__name__)
        return loop

    monkeypatch.setattr(_jit, "compile_loop", note)
    softmax = _jit.kernel(lambda x: x * 2, _jit.like_the_first)(lambda x, out: None)

    class Double(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return Tensor(softmax(x.numpy()))

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return Tensor(softmax(grad_output.numpy()))

    assert examine("00.2", Double).state == "solved"
    assert compiled == []
    softmax(np.ones(2))
    assert compiled == ["<lambda>"]
