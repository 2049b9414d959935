"""What recording costs: the time that it adds, for each event."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import minigrad
from minigrad.bench.programs import custom_chain
from minigrad.bench.rows import Row
from minigrad.tracing import Recorder, Trace

Program = Callable[[], object]


def recording_rows(repeats: int = 5) -> Iterator[Row]:
    """An event of the story, and of the lines, on small and on large arrays."""
    small, large = (
        custom_chain(minigrad, "combined", size, length, True)
        for size, length in ((1, 100), (1_000_000, 3))
    )
    for name, program, lines, goal in (
        ("story, 1 element", small, False, "5 us"),
        ("story and lines, 1 element", small, True, "5 us"),
        ("story, 1000x1000", large, False, "100 us"),
        ("story and lines, 1000x1000", large, True, "100 us"),
    ):
        cost, events = cost_of_an_event(program, lines, repeats)
        shown = f"{events} events"
        took = f"{cost * 1e6:.1f} us"
        yield Row(f"recording, an event: {name}", took, "-", shown, goal)


def cost_of_an_event(program: Program, lines: bool, repeats: int) -> tuple[float, int]:
    """Seconds that recording adds, divided by the events; and how many there are."""
    best = float("inf")
    for _ in range(repeats):
        started = time.thread_time()
        program()
        alone = time.thread_time() - started
        trace = Trace()
        started = time.thread_time()
        with Recorder(trace, lines=lines):
            program()
        added = time.thread_time() - started - alone
        best = min(best, added / max(1, len(trace)))
    return best, len(trace)
