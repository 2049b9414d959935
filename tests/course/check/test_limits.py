"""Answers that hang, leave or talk: stopped in time, and nothing is left changed."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import Function
from minigrad.course import Verdict, examine
from minigrad.course.check import examination, limits
from minigrad.tracing.listening import free_tools


class Saves(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y


class LoopsInForward(Saves):
    @staticmethod
    def forward(ctx, x, y):
        while True:
            pass


class SwallowsExceptions(Saves):
    @staticmethod
    def backward(ctx, g):
        while True:
            with contextlib.suppress(Exception):
                time.sleep(0.01)


class Leaves(Saves):
    @staticmethod
    def forward(ctx, x, y):
        raise SystemExit(3)


class IsInterrupted(Saves):
    @staticmethod
    def forward(ctx, x, y):
        raise KeyboardInterrupt


class Talks(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        print("to stdout")
        print("to stderr", file=sys.stderr)
        warnings.warn("a warning", stacklevel=1)
        return g * y, g * x


class SwallowsEverything(Saves):
    """Catches what stops it three times, and goes on."""

    @staticmethod
    def backward(ctx, g):
        for _ in range(3):
            with contextlib.suppress(BaseException):
                time.sleep(20)
        return g, g


class ComputesForLong(Saves):
    """One call into compiled code cannot be stopped before it returns."""

    @staticmethod
    def backward(ctx, g):
        np.linalg.svd(np.ones((500, 500)))
        return g, g


class Allocates(Saves):
    @staticmethod
    def forward(ctx, x, y):
        kept = []
        while True:
            kept.append(np.ones(10**7))


class Recurses(Saves):
    @staticmethod
    def forward(ctx, x, y):
        return Recurses.forward(ctx, x, y)


class PrintsWithoutEnd(Saves):
    @staticmethod
    def forward(ctx, x, y):
        while True:
            print("more")


def in_a_thread(answer: type[Function]) -> Verdict:
    found: list[Verdict] = []
    thread = threading.Thread(
        target=lambda: found.append(examine("01.4", answer, seconds=30.0))
    )
    thread.start()
    thread.join(40.0)
    assert found
    return found[0]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms here")
@pytest.mark.parametrize(
    ("answer", "phase"),
    [
        (LoopsInForward, "forward"),
        (PrintsWithoutEnd, "forward"),
        (SwallowsExceptions, "backward"),
        # These come to their end, too late: the next stretch is not begun.
        (SwallowsEverything, "ward"),
        (ComputesForLong, "ward"),
    ],
)
def test_answer_that_never_ends_is_stopped_with_case_and_phase(
    answer: type[Function], phase: str
) -> None:
    began = time.monotonic()
    verdict = examine("01.4", answer, seconds=0.3)
    assert time.monotonic() - began < 10.0  # on a busy machine; it would never end
    assert verdict.state == "crashed"
    assert "for three numbers, " in verdict.message
    assert f"{phase} was still running" in verdict.message
    assert "0.3 seconds" in verdict.message


class NeverExpands(Function):
    @staticmethod
    def forward(ctx, x, axis, n):
        ctx.axis = axis
        return mg.stack([x] * n, axis)

    @staticmethod
    def backward(ctx, grad):
        while True:
            pass


class ExpandsFlatOnly(NeverExpands):
    @staticmethod
    def forward(ctx, x, axis, n):
        while x.ndim > 2:  # the cases have no such x, the adjoint test has
            pass
        return NeverExpands.forward(ctx, x, axis, n)

    @staticmethod
    def backward(ctx, grad):
        return grad.sum(ctx.axis), None, None


class Sums(Function):
    @staticmethod
    def forward(ctx, x, axis):
        ctx.axis, ctx.n = axis, x.shape[axis]
        return x.sum(axis)

    @staticmethod
    def backward(ctx, grad):
        return mg.stack([grad] * ctx.n, ctx.axis), None


def waits_for_ever(g, shape):
    time.sleep(60.0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms here")
@pytest.mark.parametrize(
    ("exercise", "answer", "who", "where", "seconds"),
    [
        ("06.4", [NeverExpands, Sums], "backward", "NeverExpands.backward", 0.3),
        ("06.2", waits_for_ever, "your answer", "waits_for_ever", 0.3),
        # Their cases are right; the time is up in what the exercise tries after them.
        ("06.4", [ExpandsFlatOnly, Sums], "your answer", "Expand, Sum", 1.5),
    ],
)
def test_what_never_ends_is_named_by_its_own_name(
    exercise: str, answer: Any, who: str, where: str, seconds: float
) -> None:
    (finding,) = examine(exercise, answer, seconds=seconds).findings
    assert f"{who} was still running" in finding.what
    assert finding.where == where


@pytest.mark.skipif(not free_tools(), reason="Python 3.12 has sys.monitoring")
@pytest.mark.parametrize(
    ("answer", "phase"),
    [(LoopsInForward, "forward"), (SwallowsExceptions, "backward")],
)
def test_without_alarms_code_is_stopped_where_it_loops_or_calls(
    answer: type[Function], phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_HAS_ALARM", False)
    tools = free_tools()
    assert examine("01.4", Talks, seconds=30.0).state == "solved"
    verdict = examine("01.4", answer, seconds=0.3)
    assert f"{phase} was still running" in verdict.message
    assert free_tools() == tools


def test_check_works_in_a_thread_where_no_alarm_can_ring() -> None:
    assert in_a_thread(Talks).state == "solved"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms here")
@pytest.mark.parametrize("answer", [Talks, LoopsInForward])
def test_alarm_and_handler_are_as_before(answer: type[Function]) -> None:
    def mine(*_: object) -> None:
        raise AssertionError("rang")

    before = signal.signal(signal.SIGALRM, mine)
    signal.setitimer(signal.ITIMER_REAL, 60.0)
    try:
        examine("01.4", answer, seconds=0.3)
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 40.0 < left <= 60.0
        assert signal.getsignal(signal.SIGALRM) is mine
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_answer_that_exits_python_has_crashed() -> None:
    verdict = examine("01.4", Leaves)
    assert verdict.state == "crashed"
    assert "SystemExit: 3" in verdict.message
    assert "raise SystemExit(3)" in verdict.message


def test_interrupt_of_the_learner_goes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        examine("01.4", IsInterrupted)


def test_nothing_that_the_answer_says_is_shown(
    capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    assert examine("01.4", Talks).state == "solved"
    assert capsys.readouterr() == ("", "")
    assert not recwarn.list


def test_answer_that_recurses_has_crashed() -> None:
    verdict = examine("01.4", Recurses)
    assert verdict.state == "crashed"
    assert "RecursionError" in verdict.message


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux")
def test_answer_that_takes_all_memory_is_refused_more_and_the_limit_is_undone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    monkeypatch.setattr(examination, "MEMORY", 3 * 10**8)
    verdict = examine("01.4", Allocates)
    assert verdict.state == "crashed"
    assert "MemoryError" in verdict.message
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_random_numbers_of_the_learner_go_on_as_if_nothing_had_happened() -> None:
    def drawn() -> list[float]:
        return [float(mg.rand(())), float(np.random.random())]

    mg.manual_seed(1)
    np.random.seed(1)
    expected = [drawn(), drawn()]
    mg.manual_seed(1)
    np.random.seed(1)
    first = drawn()
    examine("01.4", Talks)
    assert [first, drawn()] == expected
