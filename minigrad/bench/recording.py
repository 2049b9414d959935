"""What recording costs: the time that it adds, for each event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import minigrad
from minigrad.bench.harness import timed
from minigrad.bench.programs import custom_chain
from minigrad.bench.rows import Row, Task, judged, with_unit
from minigrad.tracing import Recorder, Trace

Program = Callable[[], object]


def recording_tasks(quick: bool = False) -> list[Task]:
    """All in one; in fewer rounds if it is to be quick."""
    return [Task("recording", partial(recording_rows, 3 if quick else 9))]


def recording_rows(repeats: int = 9) -> Iterator[Row]:
    """An event of the story, and of the lines, on small and on large arrays."""
    small, large = (
        custom_chain(minigrad, "combined", size, length, True)
        for size, length in ((1, 100), (1_000_000, 3))
    )
    for name, program, lines, goal in (
        ("story, 1 element", small, False, 5),
        ("story and lines, 1 element", small, True, 5),
        ("story, 1000x1000", large, False, 100),
        ("story and lines, 1000x1000", large, True, 100),
    ):
        recording, telling, events = costs_of_an_event(program, lines, repeats)
        yield Row(
            f"recording, an event: {name}",
            with_unit(recording),
            goal=judged(recording * 1e6, goal, " us"),
            note=f"told: +{with_unit(telling)}, {events} events",
        )


def costs_of_an_event(
    program: Program, lines: bool, repeats: int
) -> tuple[float, float, int]:
    """For each event: seconds that recording adds to the program, and that the telling
    takes when the recording is first looked at; and how many events there are.

    The best of several rounds, each with the program alone before it.
    """
    recording = telling = float("inf")
    for _ in range(repeats):
        alone = timed(program, 1)
        trace = Trace()
        added = timed(partial(record, program, trace, lines), 1) - alone
        told = timed(partial(getattr, trace, "data"), 1)
        recording = min(recording, added / len(trace))
        telling = min(telling, told / len(trace))
    return recording, telling, len(trace)


def record(program: Program, trace: Trace, lines: bool) -> None:
    """Run a program while it is recorded."""
    with Recorder(trace, lines=lines):
        program()
