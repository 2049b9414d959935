"""The rows of recording: the time that it adds, for each event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import minigrad
from minigrad.bench.engine import builtin_chain, custom_chain
from minigrad.bench.harness import Program, timed
from minigrad.bench.reasons import profiled, python_calls, with_unit
from minigrad.bench.rows import Other, Row, Task
from minigrad.tracing import Recorder, Trace


def recording_rows(name: str, quick: bool) -> Iterator[Row]:
    """An event of the story, and of the lines, on small and on large arrays."""
    small = custom_chain(minigrad, size=1, length=100)
    large = custom_chain(minigrad, size=1_000_000, length=3)
    builtin = builtin_chain(minigrad, size=1, length=100)
    for size, program, goal in (
        ("1 element", small, 5e-6),
        ("built-in operations", builtin, 5e-6),
        ("1000x1000", large, 1e-4),
    ):
        for story, lines in (("story", False), ("story and lines", True)):
            found = costs_of_an_event(program, lines, 3 if quick else 9)
            recording, telling, events = found
            row = Row(f"{name}: {story}, {size}", recording, goal=goal)
            note = f"{events} events; telling one afterwards: {with_unit(telling)}"
            if row.verdict == "missed":
                note += f"\n{bound(program, lines, events)}"
            yield replace(row, note=note)


def costs_of_an_event(
    program: Program, lines: bool, repeats: int
) -> tuple[float, float, int]:
    """For each event: seconds that recording adds to the program, and that the telling
    takes when the recording is first looked at; and how many events there are.

    The best of several rounds of each, and the program alone in between.
    """
    alone, recorded, told = [], [], []
    for _ in range(repeats):
        trace = Trace()
        alone.append(timed(program, 1))
        recorded.append(timed(partial(record, program, trace, lines), 1))
        told.append(timed(partial(getattr, trace, "data"), 1))
    events = len(trace)
    return (min(recorded) - min(alone)) / events, min(told) / events, events


def bound(program: Program, lines: bool, events: int) -> str:
    """How many Python functions run for an event, and which take the time."""
    run = partial(record, program, None, lines)
    calls = (python_calls(run) - python_calls(program)) / events
    return f"{calls:.0f} Python functions an event: {profiled(run)}"


def record(program: Program, trace: Trace | None, lines: bool) -> None:
    """Run a program while it is recorded, in a new trace if none is given."""
    with Recorder(Trace() if trace is None else trace, lines=lines):
        program()


def recording_tasks() -> list[Task]:
    """All in one."""
    return [Other("recording: an event", recording_rows)]
