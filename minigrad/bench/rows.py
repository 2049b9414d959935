"""A row of the table: our time beside another's, its ratio, and the goal."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from minigrad.bench.harness import (
    DifferentResultsError,
    Measured,
    Program,
    Ratio,
    Same,
    agree,
    interleaved,
)


@dataclass(frozen=True)
class Growth:
    """Seconds of each side for each size of the work, and the slopes of their lines."""

    name: str
    sizes: list[int]
    times: dict[str, list[float]]
    slopes: dict[str, float]


@dataclass(frozen=True)
class Row:
    """One line: ours, theirs where there is a theirs, and the goal.

    >>> print(Row("a sum", "1.0 us", "2.0 us", "torch", goal="0.40 missed"))
    a sum  1.0 us  2.0 us  torch  -  0.40 missed
    """

    name: str
    ours: str = "-"
    theirs: str = "-"
    against: str = ""
    ratio: Ratio | None = None
    goal: str = "-"
    limit: float | None = None
    """The goal as a number, for a ratio that has one."""
    note: str = ""
    growth: Growth | None = None

    def __str__(self) -> str:
        middle, least, most = "-", "", ""
        if self.ratio is not None:
            middle, least, most = [f"{one:.2f}" for one in self.ratio[:3]]
        times = f"{self.ours:>9} {self.theirs:>9}  {self.against:<15}"
        ratio = f"{middle:>6} {least:>6} {most:>6}"
        notes = [f"\n    {line}" for line in self.note.splitlines()]
        return f"{self.name:<56} {times} {ratio}  {self.goal}{''.join(notes)}"


HEAD = (
    f"{'':<56} {'minigrad':>9} {'other':>9}  {'which other':<15} "
    f"{'ratio':>6} {'min':>6} {'max':>6}  goal"
)


def table(rows: Iterable[Row]) -> str:
    """The rows under their head, as text.

    >>> print(table([compared("a sum", lambda: 1 + 2, lambda: 3, against="literal")]))
    minigrad other which other ratio min max goal
    a sum ... literal ... -
    """
    return "\n".join([HEAD, *map(str, rows)])


@dataclass(frozen=True)
class Task:
    """Something to measure: what it is called while it runs, and its rows."""

    name: str
    rows: Callable[[], Iterable[Row]]


def with_unit(seconds: float) -> str:
    """A time with its unit.

    >>> with_unit(1.26e-5), with_unit(0.0234), with_unit(2.5)
    ('12.6 us', '23.4 ms', '2.50 s')
    """
    for scale, unit in ((1e6, "us"), (1e3, "ms"), (1.0, "s")):
        if seconds * scale < 999.5 or unit == "s":
            break
    shown = seconds * scale
    return f"{shown:.{2 if shown < 10 else 1 if shown < 100 else 0}f} {unit}"


def judged(measured: float, goal: float | None, unit: str = "") -> str:
    """The goal, if there is one, and whether it is met.

    >>> judged(0.31, 0.4), judged(700, 600, " B"), judged(1.0, None)
    ('0.40 met', '600 B missed', '-')
    """
    if goal is None:
        return "-"
    shown = f"{goal:.0f}{unit}" if unit else as_goal(goal)
    return f"{shown} {'met' if measured <= goal else 'missed'}"


def as_goal(goal: float | None) -> str:
    """The goal of a ratio.

    >>> as_goal(0.4), as_goal(0.025), as_goal(None)
    ('0.40', '0.025', '-')
    """
    if goal is None:
        return "-"
    return f"{goal:.2f}" if goal >= 0.1 else f"{goal:.3f}"


def ratio_row(
    name: str,
    ours: Measured,
    theirs: Measured,
    goal: float | None = None,
    against: str = "torch",
) -> Row:
    """The line of two programs that took turns."""
    ratio = ours.ratio_to(theirs)
    return Row(
        name,
        with_unit(ours.median),
        with_unit(theirs.median),
        against,
        ratio,
        judged(ratio.median, goal),
        goal,
    )


def compared(
    name: str,
    ours: Program,
    theirs: Program | None,
    goal: float | None = None,
    against: str = "torch",
    units: int = 1,
    seconds: float = 1.0,
    same: Same = agree,
    clock: Callable[[], float] = time.thread_time,
) -> Row:
    """Measure two programs, if they compute the same; our own time without the other.

    >>> row = compared("a sum", lambda: 1 + 2, lambda: 3, 99.0, "literal", seconds=0.01)
    >>> row.goal, row.against
    ('99.00 met', 'literal')
    >>> compared("a sum", lambda: 1 + 2, lambda: 4, against="wrong").note
    'different results'
    """
    programs = {"minigrad": ours} | ({} if theirs is None else {against: theirs})
    try:
        # In little time, fewer rounds: each of them costs something besides.
        rounds = 15 if seconds >= 1 else 5
        found = interleaved(programs, units, seconds, rounds, same, clock)
    except DifferentResultsError:
        return Row(name, against=against, note="different results")
    if theirs is None:
        ours_alone = with_unit(found["minigrad"].median)
        return Row(name, ours_alone, goal=as_goal(goal))
    return ratio_row(name, found["minigrad"], found[against], goal, against)


def imported(name: str) -> Any:
    """The module; None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def missing(name: str, against: str, goal: float | None = None) -> Row:
    """The line of a library that is not here."""
    return Row(name, against=against, goal=as_goal(goal), note="not installed")
