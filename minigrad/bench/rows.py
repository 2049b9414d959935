"""What is measured (tasks, as data) and what comes of it (the rows of the table)."""

from __future__ import annotations

import importlib
import re
import timeit
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import minigrad
from minigrad.bench.harness import (
    DifferentResultsError,
    Measured,
    Program,
    Ratio,
    Same,
    agree,
    interleaved,
)
from minigrad.bench.reasons import profiled, python_calls, with_unit

Make: TypeAlias = Callable[[Any], Program]
"""Makes a program with a module: minigrad, or a library that does the same."""

SECONDS, QUICKLY = 3.0, 0.3
"""For two programs that take turns."""


@dataclass(frozen=True)
class Row:
    """One line: ours, theirs where there is a theirs, and the goal.

    The goal is for the ratio to ``against``; for ours, where there is no other.

    >>> print(Row("a sum", 1e-6, 2e-6, "torch", goal=0.4, note="in words"))
    a sum  1.00 us  2.00 us  torch  -  0.40
        in words
    >>> Row("a node", 512, goal=520, unit="B").shown_goal
    '520 B met'
    """

    name: str
    ours: float | None = None
    theirs: float | None = None
    against: str = ""
    ratio: Ratio | None = None
    goal: float | None = None
    stretch: float | None = None
    unit: str = "s"
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the goal is met; empty if there is none, or nothing was measured."""
        measured = self.ours
        if self.against:
            measured = self.ratio and self.ratio.median
        if self.goal is None or measured is None:
            return ""
        if measured > self.goal:
            return "missed"
        stretched = self.stretch is not None and measured <= self.stretch
        return "met, and the stretch" if stretched else "met"

    @property
    def shown_goal(self) -> str:
        """The goal, its stretch and the verdict in words."""
        unit = "" if self.against else self.unit
        stretch = "" if self.stretch is None else f"({shown(self.stretch, unit)})"
        return " ".join(filter(None, [shown(self.goal, unit), stretch, self.verdict]))

    def __str__(self) -> str:
        middle, least, most = "-", "", ""
        if self.ratio is not None:
            middle, least, most = [f"{one:.2f}" for one in self.ratio]
        ours, theirs = shown(self.ours, self.unit), shown(self.theirs, self.unit)
        times = f"{ours:>9} {theirs:>9}  {self.against:<15}"
        ratio = f"{middle:>6} {least:>6} {most:>6}"
        notes = [f"\n    {line}" for line in self.note.splitlines()]
        return f"{self.name:<52} {times} {ratio}  {self.shown_goal}{''.join(notes)}"


HEAD = (
    f"{'':<52} {'minigrad':>9} {'other':>9}  {'which other':<15} "
    f"{'ratio':>6} {'min':>6} {'max':>6}  goal (stretch)"
)


def table(rows: Iterable[Row]) -> str:
    """The rows under their head, as text.

    >>> print(table([compared("a sum", lambda: 1 + 2, lambda: 3, against="literal")]))
    minigrad other which other ratio min max goal (stretch)
    a sum ... literal ... -
    """
    return "\n".join([HEAD, *map(str, rows)])


def shown(value: float | None, unit: str) -> str:
    """A measured value with its unit; a ratio has none.

    >>> shown(0.4, ""), shown(0.025, ""), shown(0.02, "s"), shown(520, "B")
    ('0.40', '0.025', '20.0 ms', '520 B')
    """
    if value is None:
        return "-"
    if unit == "s":
        return with_unit(value)
    if unit:
        return f"{value:.0f} {unit}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def ratio_row(name: str, ours: Measured, theirs: Measured, against: str) -> Row:
    """The line of two programs that took turns."""
    return Row(name, ours.median, theirs.median, against, ours.ratio_to(theirs))


def explained(row: Row, reason: Callable[[], str]) -> Row:
    """The row; if it misses its goal, with what bounds it in place of its note.

    >>> explained(Row("a node", 521, goal=520), lambda: "its edges").note
    'its edges'
    >>> explained(Row("a node", 520, goal=520), lambda: "its edges").note
    ''
    """
    return replace(row, note=reason()) if row.verdict == "missed" else row


def compared(
    name: str,
    ours: Program,
    theirs: Program,
    goal: float | None = None,
    against: str = "torch",
    units: int = 1,
    seconds: float = 1.0,
    same: Same = agree,
) -> Row:
    """Measure two programs, if they compute the same.

    >>> row = compared("a sum", lambda: 1 + 2, lambda: 3, 99.0, "literal", seconds=0.01)
    >>> row.shown_goal, row.against
    ('99.00 met', 'literal')
    >>> compared("a sum", lambda: 1 + 2, lambda: 4, against="wrong").note
    'different results'
    """
    programs = {"minigrad": ours, against: theirs}
    # In little time, fewer rounds: each of them costs something besides.
    rounds = 15 if seconds >= 1 else 5
    try:
        found = interleaved(programs, units, seconds, rounds, same)
    except DifferentResultsError:
        return Row(name, against=against, goal=goal, note="different results")
    row = ratio_row(name, found["minigrad"], found[against], against)
    return replace(row, goal=goal)


def imported(name: str) -> Any:
    """The module; None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


class Peer(NamedTuple):
    """Beside whom a task is timed, and what our time over theirs is to be.

    Its name begins with that of its module. ``make`` makes its program; None means the
    task's own, under torch's names.
    """

    name: str
    goal: float | None = None
    stretch: float | None = None
    make: Make | None = None

    @property
    def module(self) -> Any:
        """Its module, imported; None if it is not installed.

        >>> Peer("NumPy, by hand").module.__name__, Peer("no_such_module").module
        ('numpy', None)
        """
        return imported(re.split(r"\W", self.name)[0].lower())


@dataclass(frozen=True)
class Timed:
    """A program that is timed beside those of its peers.

    A run does ``units`` pieces of work. ``arithmetic`` is how many calls of NumPy one
    of them needs at the least, by hand, with arrays of 100 elements.
    """

    name: str
    make: Make
    peers: tuple[Peer, ...]
    units: int = 1
    arithmetic: float = 0
    same: Same = agree
    is_long: bool = False
    """Too long for ``--quick``."""

    def rows(self, quick: bool) -> Iterator[Row]:
        """One beside each peer; who is not installed is named."""
        for peer in self.peers:
            yield self.beside(peer, QUICKLY if quick else SECONDS)

    def beside(self, peer: Peer, seconds: float) -> Row:
        """Our time over the peer's, and what bounds it if it misses the goal."""
        ours, module, note = self.make(minigrad), peer.module, ""
        if module is None:
            found = interleaved({"minigrad": ours}, self.units, seconds, 5)
            row = Row(self.name, found["minigrad"].median, against=peer.name)
            note = f"{peer.name}: not installed"
        else:
            theirs = (peer.make or self.make)(module)
            case = self.name, ours, theirs, peer.goal, peer.name, self.units
            row = compared(*case, seconds, self.same)
        row = replace(row, goal=peer.goal, stretch=peer.stretch, note=note or row.note)
        return explained(row, lambda: self.bound(row, ours))

    def bound(self, row: Row, ours: Program) -> str:
        """How many Python functions run, for how many the goal has room, and which."""
        assert row.ours is not None  # it was missed
        assert row.ratio is not None
        assert row.goal is not None
        calls = python_calls(ours) / self.units
        said = f"{calls:.0f} Python functions run"
        if self.arithmetic:
            alone = self.arithmetic * seconds_of_numpy()
            each = (row.ours - alone) / calls
            room = max(0.0, (row.ours * row.goal / row.ratio.median - alone) / each)
            by_hand = f"by hand {self.arithmetic:g} NumPy calls, {with_unit(alone)}"
            said = (
                f"{by_hand}; around it {said}, {with_unit(each)} each; "
                f"the goal has room for {room:.0f}"
            )
        return f"{said}\nprofiled: {profiled(ours)}"


def seconds_of_numpy() -> float:
    """What NumPy takes for one product of 100 elements."""
    x = np.ones(100, np.float32)
    return min(timeit.repeat(lambda: x * x, number=1000, repeat=5)) / 1000


@dataclass(frozen=True)
class Other:
    """What is not timed beside a peer: ``run``, with its name, makes the rows."""

    name: str
    run: Callable[[str, bool], Iterable[Row]]
    is_long: bool = False

    def rows(self, quick: bool) -> Iterable[Row]:
        """All of them; less is measured if it is to be quick."""
        return self.run(self.name, quick)


Task: TypeAlias = Timed | Other
