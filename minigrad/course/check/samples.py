"""Gradients seen beside the right ones: one sample for each slot and backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from minigrad.course.check.casefile import CaseFile, error_of
from minigrad.course.check.facts import Array, Facts, Pass, Trial

LINEAR = ("plain", "double", "negative", "zero")
"""The trials that differ in nothing but the upstream gradient."""

COARSE = 1e-5
"""A relative error above this is no rounding, not even that of float32."""


@dataclass(frozen=True)
class Sample:
    """One gradient of one slot: as it was returned, as it arrived, as it should be.

    ``raw`` is None where backward returned none, ``arrived`` where the engine refused
    it; both may be missing.
    """

    fact: Facts
    trial: Trial
    run: Pass
    slot: int
    raw: Array | None
    arrived: Array | None
    right: Array
    tolerance: float

    @property
    def got(self) -> Array | None:
        """The gradient, before the engine changed its shape if its shape was right."""
        if self.raw is not None and self.raw.shape == self.right.shape:
            return self.raw
        return self.arrived if self.arrived is not None else self.raw

    @cached_property
    def error(self) -> float:
        """How far the gradient is off."""
        return float("inf") if self.got is None else error_of(self.got, self.right)

    @property
    def is_wrong(self) -> bool:
        """Whether this is another number, and not one with fewer digits."""
        return self.error > coarse(self.tolerance)

    def fits(self, told: Array | None) -> bool:
        """Whether a story predicts just this; None: it has nothing to say here.

        What cancels in the story leaves the rounding of numbers as large as the right.
        """
        if told is None:
            return not self.is_wrong
        return any(
            seen is not None
            and seen.shape == told.shape
            and error_of(seen, told, self.right) <= close_to(self.tolerance)
            for seen in self._seen
        )

    @cached_property
    def _seen(self) -> list[Array | None]:
        """As it was returned and as it arrived, once if both are the same."""
        raw, arrived = self.raw, self.arrived
        if raw is None or arrived is None or raw.dtype != arrived.dtype:
            return [raw, arrived]
        return [raw] if np.array_equal(raw, arrived) else [raw, arrived]


def samples_of(case: CaseFile, *names: str) -> dict[int, list[Sample]]:
    """The samples of every slot, from the trials with these names."""
    found: dict[int, list[Sample]] = {}
    for fact, trial, run in case.passes(*names):
        for sample in of_pass(case, fact, trial, run):
            found.setdefault(sample.slot, []).append(sample)
    return found


def of_pass(case: CaseFile, fact: Facts, trial: Trial, run: Pass) -> Iterator[Sample]:
    """The samples of one pass: one for each gradient that could be looked at."""
    for i, right in enumerate(case.truth(trial, run)):
        if right is None or not trial.needed[i]:
            continue
        raw = run.returned[i].value if i < len(run.returned) else None
        if i < len(run.returned) and run.returned[i].kind != "Tensor":
            raw = None
        arrived = run.gradients[i] if i < len(run.gradients) else None
        if run.crash is not None:
            arrived = None
        if raw is not None or arrived is not None:
            yield Sample(
                fact, trial, run, i, raw, arrived, right, case.tolerance(trial)
            )


def coarse(tolerance: float) -> float:
    """An error above this is no loss of digits."""
    return max(COARSE, 10 * tolerance)


def rounding(tolerance: float) -> float:
    """The error that is forgiven: of float32, which is tried once, a little more."""
    return tolerance if tolerance < COARSE else coarse(tolerance)


def close_to(tolerance: float) -> float:
    """How near two arrays have to be to count as the same story."""
    return max(1e-6, 10 * tolerance)
