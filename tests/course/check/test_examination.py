"""What a check shows of an answer, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import Function
from minigrad.course import examine
from minigrad.course.check import Faults, Finding, examination
from tests.answers import rows


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y


class InForward(Saves):
    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x


class NoUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return y, x


class NotStatic(Function):
    def forward(self, x, y):
        self.save_for_backward(x, y)
        return x * y

    def backward(self, g):
        x, y = self.saved_tensors
        return g * y, g * x


def test_wrong_forward_is_shown_with_its_inputs() -> None:
    class Sum(Saves):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x + y

    verdict = examine("01.4", Sum)
    (seen,) = verdict.evidence
    assert (verdict.state, verdict.mistakes) == ("wrong", ())
    assert seen.of == "result"
    assert f"it should be {seen.expected:.6g}" in verdict.message


def test_wrong_rule_without_a_name_still_shows_the_element() -> None:
    class Odd(Saves):
        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * (x + y), g * x

    verdict = examine("01.4", Odd)
    (seen,) = verdict.evidence
    assert verdict.mistakes == ()
    assert (seen.of, seen.case) == ("x", "three numbers")
    assert seen.got != pytest.approx(seen.expected)


def test_other_seeds_give_other_numbers() -> None:
    first, second = (examine("01.4", NoUpstream, seed=s).evidence[0] for s in (0, 1))
    assert first.expected != second.expected


def test_evidence_is_the_upstream_times_the_other_input() -> None:
    (seen,) = examine("01.4", NoUpstream).evidence
    assert seen.of == "x"
    assert seen.upstream is not None
    assert seen.expected == pytest.approx(seen.got * seen.upstream)


def test_check_leaves_class_grad_mode_and_random_state_alone() -> None:
    before = dict(vars(InForward)), dict(vars(InForward._backward_cls))
    mg.manual_seed(3)
    expected = mg.rand(2).array
    mg.manual_seed(3)
    np.random.seed(3)
    legacy = np.random.get_state()[1].copy()
    with mg.no_grad():
        assert examine("01.4", InForward).state == "solved"
        assert not mg.is_grad_enabled()
    assert (dict(vars(InForward)), dict(vars(InForward._backward_cls))) == before
    assert np.array_equal(mg.rand(2).array, expected)
    assert np.array_equal(np.random.get_state()[1], legacy)


def test_prints_and_warnings_of_the_answer_are_dropped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Talks(Saves):
        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            print("hello")
            return g * y, g * x

    with mg.teaching():
        assert examine("01.4", Talks).state == "solved"
        assert examine("01.4", NotStatic).state == "solved"
    assert capsys.readouterr().out == ""


def fast(g: object, idx: object, rows: int) -> None:
    """Stands for an answer to 16.5 that is handed over, and not run."""


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (fast, "1 thing, not 2"),
        ([fast, 3], "given 3, not the function speedup"),
        ([Saves, "fast"], "given 'fast', not the function speedup"),
    ],
)
def test_what_is_handed_over_has_to_be_of_its_kind(answer: object, says: str) -> None:
    verdict = examine("16.5", answer)
    assert verdict.state == "wrong"
    assert says in verdict.message


def test_nothing_is_looked_at_behind_the_first_fault() -> None:
    looked = []

    def faults() -> Faults:
        for name in ("", "first", "second"):
            looked.append(name)
            yield Finding((), name, "here") if name else None

    assert [found.what for found in examination.first_of(faults())] == ["first"]
    assert looked == ["", "first"]


def test_exception_of_another_call_is_told_apart_from_wrong_numbers() -> None:
    row = {
        "replace": [
            ["dtype=grad_output.dtype)", ")"],
            [
                "return table.index_add_(0, idx.reshape(-1), rows), None",
                "table[idx.reshape(-1)] = rows\nreturn table, None",
            ],
        ]
    }
    answer = rows.Answer("16.2", "crashed", 0, row).made_anew()
    (found, *_) = examine("16.2", answer, seed=0).findings
    assert found.id == "R10"
    numbers, _, rest = found.what.partition(" And for two rows, none twice: ")
    assert "it should be" in numbers
    assert rest.startswith("OperandError: index_put: Index put requires")
