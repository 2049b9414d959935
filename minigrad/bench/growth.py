"""How cost grows with the work: longer chains, larger tensors, batches and models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad.bench.harness import (
    DifferentResultsError,
    Measured,
    Program,
    interleaved,
)
from minigrad.bench.programs import builtin_chain
from minigrad.bench.rows import Growth, Row, Task, ratio_row, with_unit
from minigrad.bench.training import step_of


class Sweep(NamedTuple):
    """A program for each size; ``count`` is what the picture counts of it."""

    name: str
    make: Callable[[Any, int], Program]
    sizes: tuple[int, ...]
    count: Callable[[int], int] = int


def long_chain(torch: Any, length: int) -> Program:
    """Of vectors of 100 elements, forward and backward."""
    return builtin_chain(torch, 100, length, True)


def wide_chain(torch: Any, size: int) -> Program:
    """Forty operations on vectors, forward and backward."""
    return builtin_chain(torch, size, 40, True)


def step_with_batch(torch: Any, batch: int) -> Program:
    """A training step of the MLP 64-128-64-10."""
    return step_of(torch, batch=batch)


def step_with_width(torch: Any, width: int) -> Program:
    """A training step of an MLP with two hidden layers of this width."""
    return step_of(torch, widths=(64, width, width, 10))


def parameters(width: int) -> int:
    """How many numbers such an MLP learns.

    >>> parameters(1)
    87
    """
    return (64 + 1) * width + (width + 1) * width + (width + 1) * 10


SWEEPS = (
    Sweep("operations in a chain", long_chain, (8, 32, 128, 512, 2048, 8192)),
    Sweep("elements of a tensor", wide_chain, (1, 10, 100, 1000, 10**4, 10**5, 10**6)),
    Sweep("examples in a batch", step_with_batch, (1, 4, 16, 64, 256, 1024, 4096)),
    Sweep(
        "parameters of an MLP",
        step_with_width,
        (8, 16, 32, 64, 128, 256, 512, 1024),
        parameters,
    ),
)


def slope(sizes: list[int], times: list[float]) -> float:
    """Of the line through the upper half of the points, on logarithmic axes.

    1 is time in proportion to the work; the lower half shows fixed costs instead.

    >>> round(slope([1, 10, 100, 1000], [7.0, 7.0, 100.0, 1000.0]), 6)
    1.0
    """
    half = min(len(sizes) // 2, len(sizes) - 2)
    fitted = np.polyfit(np.log(sizes[half:]), np.log(times[half:]), 1)
    return float(fitted[0])


def sweep_rows(sweep: Sweep, torch: Any, seconds: float, quick: bool) -> Iterator[Row]:
    """The largest size beside torch, with the slope of each side."""
    sides = {"minigrad": minigrad} | ({} if torch is None else {"torch": torch})
    sizes = sweep.sizes[:-1] if quick else sweep.sizes
    found: list[dict[str, Measured]] = []
    try:
        for size in sizes:
            programs = {name: sweep.make(side, size) for name, side in sides.items()}
            rounds = 5 if quick else 15
            found.append(interleaved(programs, seconds=seconds, rounds=rounds))
    except DifferentResultsError:
        yield Row(f"growth: {sweep.name}", against="torch", note="different results")
        return
    counts = [sweep.count(size) for size in sizes]
    times = {name: [one[name].median for one in found] for name in sides}
    slopes = {name: slope(counts, own) for name, own in times.items()}
    shown = f"growth, {counts[0]:,} to {counts[-1]:,} {sweep.name}: the most"
    row = Row(shown, with_unit(times["minigrad"][-1]))
    if torch is not None:
        row = ratio_row(shown, found[-1]["minigrad"], found[-1]["torch"])
    note = ", ".join([f"{name} {one:.2f}" for name, one in slopes.items()])
    growth = Growth(sweep.name, counts, times, slopes)
    yield replace(row, note=f"slope: {note}", growth=growth)


def growth_tasks(torch: Any, seconds: float, quick: bool = False) -> Iterator[Task]:
    """One for each kind of work."""
    for sweep in SWEEPS:
        run = partial(sweep_rows, sweep, torch, seconds / 3, quick)
        yield Task(f"growth with the {sweep.name}", run)
