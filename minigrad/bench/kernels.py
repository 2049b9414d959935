"""The rows of the kernels: beside torch, and beside the same in plain NumPy."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from minigrad.bench.harness import Program, Ratio, agree, interleaved
from minigrad.bench.layers import (
    Case,
    in_numpy,
    layer_cases,
    our_kernels,
    our_program,
)
from minigrad.bench.products import product_cases
from minigrad.bench.rows import Row, Task, compared, judged

Side = Callable[[Case], Program]

GOALS = {("kernel", "torch"): (1.0, 0.40), ("kernel", "plain NumPy"): (0.9, 0.30)}
"""For each ratio, and for the geometric mean of all."""


def cases() -> list[Case]:
    """All kernels."""
    return [*layer_cases(), *product_cases()]


def kernel_tasks(torch: Any, seconds: float, quick: bool = False) -> Iterator[Task]:
    """Each kernel forward and backward, small and large, and the means.

    Beside torch twice: the kernels alone, which the goals are for, and (unless it is to
    be quick) as a user calls them, with the graph and its backward.
    """
    every = cases()
    if torch is not None:
        alone: Side = lambda case: case.in_torch(torch)  # noqa: E731  a pair of them
        used: Side = lambda case: case.program(torch)  # noqa: E731
        yield from beside("kernel", "torch", (our_kernels, alone), every, seconds)
        if not quick:
            both = our_program, used
            yield from beside("in a graph", "torch", both, every, seconds)
    yield from beside("kernel", "plain NumPy", (our_kernels, in_numpy), every, seconds)


def beside(
    kind: str,
    against: str,
    sides: tuple[Side, Side],
    cases: list[Case],
    seconds: float,
) -> Iterator[Task]:
    """A row for each case on two sides, and one for their geometric mean."""
    found: list[float] = []
    for case in cases:
        run = partial(case_row, kind, against, sides, case, seconds, found)
        yield Task(f"{kind}, beside {against}: {case.name}", run)
    yield Task("geometric mean", partial(mean_row, kind, against, found))


def case_row(
    kind: str,
    against: str,
    sides: tuple[Side, Side],
    case: Case,
    seconds: float,
    found: list[float],
) -> Iterator[Row]:
    """One case; its ratio counts in the mean unless it has a goal of its own."""
    goals = GOALS.get((kind, against))
    has_its_own = case.goal is not None and against == "torch"
    goal = case.goal if has_its_own else goals and goals[0]
    ours, theirs = sides
    row = compared(
        f"{kind}: {case.name}",
        ours(case),
        theirs(case),
        goal if goals else None,
        against,
        seconds=seconds,
        same=same_zeros if case.random else agree,
    )
    if row.ratio is not None and case.goal is None:
        found.append(row.ratio.median)
    if goals and has_its_own and row.ratio is not None and case.products is not None:
        row = replace(row, note=bound(case.products(), theirs(case), seconds / 3))
    yield row


def bound(products: Program, theirs: Program, seconds: float) -> str:
    """How long the matrix products alone take, beside all of the other side."""
    programs = {"products": products, "theirs": theirs}
    # They are a part of the whole: the two need not agree.
    found = interleaved(programs, seconds=seconds, rounds=5, same=lambda *_: True)
    share = found["products"].ratio_to(found["theirs"]).median
    return f"a bound: its matrix products alone, by NumPy's BLAS, take {share:.2f}"


def mean_row(kind: str, against: str, found: list[float]) -> Iterator[Row]:
    """The geometric mean of the ratios that were found; the best and the worst."""
    if not found:
        return
    mean = statistics.geometric_mean(found)
    low, high = np.quantile(found, (0.25, 0.75))
    goals = GOALS.get((kind, against))
    yield Row(
        f"{kind}: geometric mean of {len(found)}",
        against=against,
        ratio=Ratio(mean, min(found), max(found), float(low), float(high)),
        goal=judged(mean, goals and goals[1]),
        limit=goals and goals[1],
    )


def same_zeros(ours: Any, theirs: Any) -> bool:
    """Whether as many elements are 0 on both sides, to a twentieth of all.

    It is what random results, drawn from other numbers, have in common.
    """
    return all(
        [
            np.shape(one) == np.shape(other)
            and abs(np.mean(one == 0) - np.mean(other == 0)) <= 0.05
            for one, other in zip(ours, theirs, strict=True)
        ]
    )
