"""The facts of one answer beside its exercise, and the ways to look at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from minigrad.course.catalogue import Exercise, slopes
from minigrad.course.facts import Array, Crash, Facts, Pass, Trial


class CaseFile:
    """What was seen on all cases; what is right is worked out here, on this side."""

    def __init__(self, facts: Sequence[Facts], exercise: Exercise) -> None:
        self.facts, self.exercise = facts, exercise
        self.declared = facts[0].declared
        self.name = self.declared.name

    def trials(self, *names: str) -> Iterator[tuple[Facts, Trial]]:
        """The trials with these names (all, without names), case by case."""
        for fact in self.facts:
            for trial in fact.trials:
                if not names or trial.name in names:
                    yield fact, trial

    def passes(self, *names: str) -> Iterator[tuple[Facts, Trial, Pass]]:
        """The backward passes of those trials."""
        for fact, trial in self.trials(*names):
            for run in trial.passes:
                yield fact, trial, run

    def truth(self, trial: Trial, upstream: Array) -> tuple[Array, ...]:
        """The right gradients."""
        return slopes(self.exercise.reference, trial.inputs, upstream)

    def slot(self, i: int) -> str:
        """Where the gradient for argument ``i`` comes from."""
        which = ("first", "second", "third", "fourth")[i]
        return f"{self.name}.backward, {which} value returned (for {self.argument(i)})"

    def argument(self, i: int) -> str:
        """The name of argument ``i`` of forward."""
        return self.exercise.arguments[i]


def thrown(crash: Crash) -> str:
    """The exception in one line, as Python would end its traceback."""
    return f"{crash.kinds[0]}: {crash.text}"


def is_todo(crash: Crash | None) -> bool:
    """Whether this is the exception that an untouched exercise raises."""
    return (
        crash is not None
        and "NotImplementedError" in crash.kinds
        and crash.text.startswith("TODO")
    )


def error_of(got: Array, right: Array) -> float:
    """The largest difference, relative to the largest right value."""
    if got.shape != right.shape:
        return float("inf")
    difference = np.abs(np.asarray(got, np.float64) - right)
    if not np.all(np.isfinite(difference)):
        return float("inf")
    return float(np.max(difference, initial=0.0)) / _size(right)


def _size(right: Array) -> float:
    return max(float(np.max(np.abs(right), initial=0.0)), 1e-3)


def tolerance(like: Array) -> float:
    """The error that rounding alone may cause for inputs like this one."""
    return 1e-5 if like.dtype == np.float32 else 1e-11


def worst(got: Array, right: Array) -> tuple[int, ...]:
    """The first element that is clearly off."""
    difference = np.abs(np.asarray(got, np.float64) - right)
    limit = 0.1 * float(np.nanmax(difference, initial=0.0))
    off = np.argwhere(~(difference <= limit))
    return tuple(int(n) for n in off[0]) if len(off) else (0,) * got.ndim


def index_text(at: tuple[int, ...]) -> str:
    """An index as a learner writes it."""
    return f"[{', '.join(str(n) for n in at)}]" if at else "(the only one)"
