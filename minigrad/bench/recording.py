"""What recording costs: the time that it adds, for each event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FrameType
from typing import Final

import minigrad
from minigrad.bench.harness import timed
from minigrad.bench.programs import builtin_chain, custom_chain
from minigrad.bench.rows import Row, Task, judged, with_unit
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.listening import choose_backend
from minigrad.tracing.names import Names
from minigrad.tracing.values import ValueStore

Program = Callable[[], object]

LINES: Final = 2000


def recording_tasks(quick: bool = False) -> list[Task]:
    """All in one; in fewer rounds if it is to be quick."""
    return [Task("recording", partial(recording_rows, 3 if quick else 9))]


def recording_rows(repeats: int = 9) -> Iterator[Row]:
    """An event of the story, and of the lines, on small and on large arrays."""
    small, large = (
        custom_chain(minigrad, "combined", size, length, True)
        for size, length in ((1, 100), (1_000_000, 3))
    )
    builtin = builtin_chain(minigrad, 1, 100, True)
    for name, program, lines, goal in (
        ("story, 1 element", small, False, 5),
        ("story and lines, 1 element", small, True, 5),
        ("story, built-in operations", builtin, False, 5),
        ("story and lines, built-in operations", builtin, True, 5),
        ("story, 1000x1000", large, False, 100),
        ("story and lines, 1000x1000", large, True, 100),
    ):
        recording, telling, events = costs_of_an_event(program, lines, repeats)
        afterwards = f"telling it afterwards: {with_unit(telling)}"
        note = f"while the program runs; {afterwards}, {events} events"
        if lines and program is small:
            note += f"\nbelow which no recorder comes: {floor(3 * repeats)}"
        yield Row(
            f"recording, an event: {name}",
            with_unit(recording),
            goal=judged(recording * 1e6, goal, " us"),
            note=note,
        )


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


def floor(repeats: int) -> str:
    """What the parts of a line's event cost at the least, each alone, in words."""
    alone = seconds_of_a_line(None, repeats)
    heard = seconds_of_a_line(Deaf(), repeats)
    read = seconds_of_a_line(Reader(), repeats)
    values, tensor = ValueStore(Names()), minigrad.ones(1)
    kept: list[object] = []
    parts = {
        "to hear a line": heard - alone,
        "to read its variables": read - heard,
        "to note a tensor": best_of(lambda: values.ref(tensor), repeats),
        "to keep an event": best_of(lambda: kept.append({"k": "line"}), repeats),
    }
    return ", ".join([f"{with_unit(cost)} {what}" for what, cost in parts.items()])


def best_of(program: Program, repeats: int) -> float:
    """Seconds that a short program takes."""
    return min([timed(program, LINES) for _ in range(repeats)]) / LINES


def seconds_of_a_line(listener: Deaf | None, repeats: int) -> float:
    """Seconds that a line takes which ``listener`` is told of."""
    times = []
    for _ in range(repeats):
        backend = None if listener is None else choose_backend(listener, None)
        if backend is not None:
            backend.start()
        try:
            times.append(timed(some_lines, 1))
        finally:
            if backend is not None:
                backend.stop()
    return min(times) / LINES


def some_lines() -> None:
    """Two lines, so often that all of them are LINES."""
    done = 0
    while done < LINES // 2:
        done += 1


class Deaf:
    """Is told of lines, and does nothing about it."""

    def wants(self, code: CodeType) -> bool:
        """Only the lines of one function."""
        return code is some_lines.__code__

    def on_line(self, frame: FrameType, line: int) -> None:
        """Do nothing, as in all the other cases."""

    def on_call(self, frame: FrameType) -> None: ...

    def on_return(self, frame: FrameType, value: object) -> None: ...

    def on_suspend(self, frame: FrameType) -> None: ...

    def on_exception(self, frame: FrameType, error: BaseException) -> None: ...

    def on_unwind(self, frame: FrameType, error: BaseException | None) -> None: ...


class Reader(Deaf):
    """Reads the variables of each line."""

    def on_line(self, frame: FrameType, line: int) -> None:
        """Look, and do no more."""
        _ = frame.f_locals


def record(program: Program, trace: Trace, lines: bool) -> None:
    """Run a program while it is recorded."""
    with Recorder(trace, lines=lines):
        program()
