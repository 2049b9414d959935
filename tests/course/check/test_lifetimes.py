"""Which tensors live, and how many bytes of them at one time."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad as mg
from minigrad import course, errors
from minigrad.course import examine
from minigrad.course.check.probes import chains
from minigrad.lint import is_teaching


def test_watching_keeps_nothing_alive() -> None:
    x = mg.ones(10, dtype=mg.float64, requires_grad=True)
    y = x.exp()
    view = y[2:]
    watched = course.watch(y=y, part=view, node=y.grad_fn)
    del y
    assert watched.alive() == {"y": True, "part": True, "node": True}
    assert repr(watched).splitlines()[1] == "part  alive, 80 bytes"
    del view
    assert watched.alive() == {"y": False, "part": False, "node": False}


def test_what_cannot_be_watched_is_refused() -> None:
    with pytest.raises(errors.ArgumentTypeError, match="n is a int"):
        course.watch(n=3)
    with pytest.raises(errors.ArgumentValueError, match="nothing to watch"):
        course.watch()


def test_peak_counts_what_lives_at_one_time() -> None:
    x = mg.ones(100_000, dtype=mg.float64)

    def one_after_the_other() -> None:
        for _ in range(5):
            x.exp()

    def all_at_once() -> None:
        kept = [x.exp() for _ in range(5)]
        kept.clear()

    size = x.array.nbytes
    assert course.peak_bytes(one_after_the_other) < 2.2 * size
    assert 5 * size < course.peak_bytes(all_at_once) < 5.5 * size


def test_teaching_mode_does_not_count() -> None:
    x = mg.ones(1000, dtype=mg.float64, requires_grad=True)

    def back() -> None:
        chains.Damped.apply(x).sum().backward()

    without = course.peak_bytes(back)
    with mg.teaching():
        assert abs(course.peak_bytes(back) - without) < 2000
        assert is_teaching()


def test_peaks_are_measured_one_at_a_time() -> None:
    with pytest.raises(errors.ArgumentValueError, match="traced already"):
        course.peak_bytes(lambda: course.peak_bytes(lambda: None))


def test_peak_that_somebody_disturbed_is_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    traced_peak, disturbed = chains.traced_peak, iter([7, 7, 7, 2])

    def measured(run: Any) -> int:
        return traced_peak(run) * next(disturbed, 1)

    monkeypatch.setattr(chains, "traced_peak", measured)
    verdict = examine("03.4", lambda n, size: 8 * (2 * n + 3) * size)
    assert verdict.state == "solved", verdict.message
    assert examine("03.4", lambda n, size: 8 * n * size).state == "wrong"
    assert examine("03.4", lambda n, size: float("nan")).state == "wrong"


def test_chain_of_the_notebook_is_the_one_that_is_measured() -> None:
    x = mg.tensor([0.5, -1.0], dtype=mg.float64, requires_grad=True)
    y = chains.Damped.apply(x)
    assert mg.autograd.gradcheck(chains.Damped.apply, x)
    assert len(y.grad_fn.saved_tensors) == 2
