"""The rows of the kernels: beside torch, and beside the same in plain NumPy."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minigrad.bench.harness import interleaved
from minigrad.bench.layers import (
    Case,
    in_numpy,
    layer_cases,
    our_kernels,
    our_program,
)
from minigrad.bench.products import product_cases
from minigrad.bench.rows import Row, judged, ratio_row

Program = Callable[[], Any]
Side = Callable[[Case], Program]
Goals = tuple[float, float] | None

AGAINST_TORCH = 1.0, 0.40
AGAINST_NUMPY = 0.9, 0.30
"""The goals: for each ratio, and for the geometric mean of all."""


def cases() -> list[Case]:
    """All kernels."""
    return [*layer_cases(), *product_cases()]


def kernel_rows(torch: Any, seconds: float) -> Iterator[Row]:
    """Each kernel forward and backward, small and large, and the means.

    Beside torch twice: the kernels alone, which the goals are for, and as a user calls
    them, with the graph and its backward.
    """
    sides: list[tuple[str, Side, Side, Goals]] = []
    if torch is not None:
        alone: Side = lambda case: case.in_torch(torch)  # noqa: E731  a pair of them
        used: Side = lambda case: case.program(torch)  # noqa: E731
        sides.append(("kernel", our_kernels, alone, AGAINST_TORCH))
        sides.append(("in a graph", our_program, used, None))
    sides.append(("kernel, to plain NumPy", our_kernels, in_numpy, AGAINST_NUMPY))
    for kind, ours, theirs, goals in sides:
        yield from compared(kind, ours, theirs, goals, seconds)


def compared(
    kind: str, ours: Side, theirs: Side, goals: Goals, seconds: float
) -> Iterator[Row]:
    """A row for each case on two sides, and one for their geometric mean."""
    each, mean_goal = goals or (None, None)
    found = []
    for case in cases():
        name = f"{kind}: {case.name}"
        programs = {"ours": ours(case), "theirs": theirs(case)}
        if not same(programs["ours"](), programs["theirs"](), case.random):
            yield Row(name, "-", "-", "different results", "-")
            continue
        times = interleaved(programs, 1, seconds)
        goal = each if case.goal is None or theirs is in_numpy else case.goal
        row = ratio_row(name, times["ours"], times["theirs"], goals and goal)
        if row.ratio is not None and case.goal is None:
            found.append(row.ratio.median)
        yield row
    if found:
        mean = statistics.geometric_mean(found)
        name = f"{kind}: geometric mean of {len(found)}"
        yield Row(name, "-", "-", f"{mean:.2f}", judged(mean, mean_goal))


def same(ours: Any, theirs: Any, random: bool) -> bool:
    """Whether two sides computed the same, up to the last places of float32.

    Of random ones, whether as many elements are 0, to a twentieth of all.
    """
    for one, other in zip(ours, theirs, strict=True):
        if np.shape(one) != np.shape(other):
            return False
        if random:
            if abs(np.mean(one == 0) - np.mean(other == 0)) > 0.05:
                return False
        elif not np.allclose(one, other, rtol=1e-3, atol=1e-5):
            return False
    return True
