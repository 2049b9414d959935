"""The rows of the engine: what is timed, against what, and how good it should be."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import minigrad
from minigrad.bench.floor import (
    bounded,
    chain_on_arrays,
    custom_on_arrays,
    double_backward_on_arrays,
)
from minigrad.bench.harness import Phases, Program, in_phases, interleaved
from minigrad.bench.programs import (
    builtin_chain,
    custom_chain,
    double_backward,
    leaf,
)
from minigrad.bench.rows import Row, Task, compared, judged, ratio_row, with_unit
from minigrad.bench.starts import resident_bytes_of_a_node, start_tasks
from minigrad.bench.unheard import ListeningPoints
from minigrad.engine import observe

Make = Callable[[Any], Program]


class ChainCase(NamedTuple):
    """A program, the same by hand in NumPy, how many nodes it makes, and the goal."""

    name: str
    make: Make
    by_hand: Program
    nodes: int
    goal: float


def chain_cases(length: int = 1000) -> Iterator[ChainCase]:
    """Chains of custom nodes in both styles, and derivatives of derivatives."""
    for style in ("combined", "separate"):
        for size in (1, 100):
            chain = partial(custom_chain, style=style, size=size, length=length)
            for backward, what in (
                (True, "forward+backward, a node"),
                (False, "forward"),
            ):
                name = f"custom {style}, size {size}: {what}"
                make = partial(chain, backward=backward)
                by_hand = custom_on_arrays(size, length, backward)
                yield ChainCase(name, make, by_hand, length, 0.40)
    for style, goal in (("built-in", 1.2), ("custom", 0.7)):
        twice = partial(double_backward, length=50, custom=style == "custom")
        by_hand = double_backward_on_arrays(50)
        yield ChainCase(f"double backward, {style}", twice, by_hand, 50, goal)


def chain_row(case: ChainCase, torch: Any, seconds: float) -> Iterator[Row]:
    """A chain on both engines, without torch only our own time; and what bounds it."""
    name, make, by_hand, nodes, goal = case
    ours, theirs = make(minigrad), None if torch is None else make(torch)
    row = compared(name, ours, theirs, goal, units=nodes, seconds=seconds)
    yield bounded(row, ours, by_hand, nodes, seconds / 3)


def builtin_row(torch: Any, seconds: float, backward: bool) -> Iterator[Row]:
    """A chain of built-in operations, and what bounds it if it misses its goal."""
    size, length = 100, 400
    ours = builtin_chain(minigrad, size, length, backward)
    theirs = None if torch is None else builtin_chain(torch, size, length, backward)
    what, goal = ("forward+backward, an op", 0.80) if backward else ("forward", 0.95)
    name = f"built-in chain, size {size}: {what}"
    row = compared(name, ours, theirs, goal, units=length, seconds=seconds)
    by_hand = chain_on_arrays(size, length, backward)
    yield bounded(row, ours, by_hand, length, seconds / 3)


def bytes_of_a_node(length: int = 20_000) -> float:
    """What one recorded multiplication keeps, with its output of size 1."""
    x = leaf(minigrad, 1)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    y = x
    for _ in range(length):
        y = y * x
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del y
    return (after - before) / length


def memory_row(torch: Any) -> Iterator[Row]:
    """The bytes that Python counts of ours; beside them what both processes grow by."""
    name, size = "memory a recorded node (mul)", bytes_of_a_node()
    row = Row(name, f"{size:.0f} B", goal=judged(size, 600, " B"))
    grown = [resident_bytes_of_a_node(one) for one in ("minigrad", "torch") if torch]
    if grown and all(grown):
        ours, theirs = grown
        note = f"by the growth of the process: {ours:.0f} B, torch's {theirs:.0f} B"
        row = replace(row, theirs=f"{theirs:.0f} B", against="torch", note=note)
    yield row


def long_chain(torch: Any, length: int) -> Phases:
    """A chain of very many nodes: forward, backward, deletion."""

    def phases() -> Iterator[tuple[str, Any]]:
        x = y = leaf(torch, 1)
        for _ in range(length):
            y = y * 1.0
        yield "forward", y.detach()
        y.sum().backward()
        yield "backward", x.grad
        del y
        yield "deletion", None

    return phases


def long_chain_rows(
    torch: Any, length: int = 1_000_000, rounds: int = 3
) -> Iterator[Row]:
    """No recursion anywhere, and nothing that is left for the collector."""
    sides = {"minigrad": long_chain(minigrad, length)}
    if torch is not None:
        sides["torch"] = long_chain(torch, length)
    found = in_phases(sides, rounds)
    for phase, times in found.items():
        name = f"chain of {length:,} nodes: {phase}"
        if torch is None:
            yield Row(name, with_unit(times["minigrad"].median))
        else:
            yield ratio_row(name, times["minigrad"], times["torch"])
    for _ in long_chain(minigrad, length)():
        pass
    left = gc.collect()
    name = f"chain of {length:,} nodes: objects left for gc"
    yield Row(name, str(left), goal=judged(left, 0, " objects"))


class Deaf:
    """A listener that does nothing, at every point where one can listen."""

    attends = observe.RECORDED

    def __getattr__(self, name: str) -> Callable[..., None]:
        return self.hear

    def hear(self, *args: Any) -> None:
        """Nothing."""


def listening_rows(seconds: float) -> Iterator[Row]:
    """What the engine pays for its listeners: while there is none, and for a deaf one.

    Against the same functions without the question whether somebody listens.
    """
    program = custom_chain(minigrad, "combined", 1, 1000, True)
    points = ListeningPoints()
    deaf: Any = Deaf()

    def listened() -> Any:
        observe.add(deaf)
        try:
            return program()
        finally:
            observe.remove(deaf)

    programs = {
        "unheard": points.unheard(program),
        "silent": points.heard(program),
        "listened": points.heard(listened),
    }
    found = interleaved(programs, 1000, seconds)
    names = {"silent": ("nobody listening", 1.02), "listened": ("deaf listener", None)}
    for key, (name, goal) in names.items():
        shown = f"custom forward+backward, {name}"
        yield ratio_row(shown, found[key], found["unheard"], goal, "no listeners")


def engine_tasks(torch: Any, seconds: float, quick: bool = False) -> Iterable[Task]:
    """All rows of the engine."""
    for case in chain_cases(200 if quick else 1000):
        yield Task(case.name, partial(chain_row, case, torch, seconds))
    for backward in (True, False):
        name = f"built-in chain, {'forward+backward' if backward else 'forward'}"
        yield Task(name, partial(builtin_row, torch, seconds, backward))
    yield Task("listening", partial(listening_rows, 3 * seconds))
    yield Task("memory of a node", partial(memory_row, torch))
    yield from start_tasks(torch, quick)
    if not quick:
        yield Task("chain of a million nodes", partial(long_chain_rows, torch))
