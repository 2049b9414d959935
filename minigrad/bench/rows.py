"""The rows of the engine: what is timed, against what, and how good it should be."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import minigrad
from minigrad.bench.harness import Measured, interleaved
from minigrad.bench.programs import (
    builtin_chain,
    custom_chain,
    double_backward,
    leaf,
)
from minigrad.bench.unheard import ListeningPoints
from minigrad.engine import observe


class Ratio(NamedTuple):
    """Our time over theirs, round by round."""

    low: float
    median: float
    high: float
    goal: float | None


@dataclass(frozen=True)
class Row:
    """One line: ours, theirs where there is a theirs, and the goal for the ratio."""

    name: str
    ours: str
    theirs: str
    measured: str
    goal: str
    ratio: Ratio | None = None


def judged(ratio: float, goal: float | None) -> str:
    """The goal, if there is one, and whether it is met."""
    if goal is None:
        return "-"
    return f"{goal:.2f} {'met' if ratio <= goal else 'missed'}"


def ratio_row(name: str, ours: Measured, theirs: Measured, goal: float | None) -> Row:
    """The line of two programs that took turns."""
    low, middle, high = ours.ratio_to(theirs)
    return Row(
        name,
        f"{ours.median * 1e6:.1f} us",
        f"{theirs.median * 1e6:.1f} us",
        f"{middle:.2f} ({low:.2f}-{high:.2f})",
        judged(middle, goal),
        Ratio(low, middle, high, goal),
    )


def timed_row(
    name: str,
    make: Callable[[Any], Callable[[], object]],
    units: int,
    goal: float,
    torch: Any,
    seconds: float,
) -> Row:
    """A program on both engines; without torch only our own time."""
    programs = {"ours": make(minigrad)}
    if torch is not None:
        programs["torch"] = make(torch)
    found = interleaved(programs, units, seconds)
    if torch is None:
        ours = f"{found['ours'].median * 1e6:.1f} us"
        return Row(name, ours, "-", "-", f"{goal:.2f}")
    return ratio_row(name, found["ours"], found["torch"], goal)


def timed_rows(torch: Any, seconds: float) -> Iterator[Row]:
    """The rows that compare times."""
    cases: list[tuple[str, Callable[[Any], Callable[[], object]], int, float]] = []
    for style in ("combined", "separate"):
        for size in (1, 100):
            name = f"custom {style}, size {size}"
            chain = partial(custom_chain, style=style, size=size, length=1000)
            both = partial(chain, backward=True)
            cases.append((f"{name}: forward+backward, a node", both, 1000, 0.40))
            forward = partial(chain, backward=False)
            cases.append((f"{name}: forward", forward, 1000, 0.40))
    ops = partial(builtin_chain, size=100, length=400)
    name = "built-in chain, size 100"
    both = partial(ops, backward=True)
    cases.append((f"{name}: forward+backward, an op", both, 400, 0.80))
    cases.append((f"{name}: forward", partial(ops, backward=False), 400, 0.95))
    for style, goal in (("built-in", 1.2), ("custom", 0.7)):
        twice = partial(double_backward, length=50, custom=style == "custom")
        cases.append((f"double backward, {style}", twice, 50, goal))
    for name, make, units, goal in cases:
        yield timed_row(name, make, units, goal, torch, seconds)


def memory_row() -> Row:
    """Bytes that one recorded node keeps, with its output, of size 1."""
    apply_chain = 20_000
    x = leaf(minigrad, 1)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    y = x
    for _ in range(apply_chain):
        y = y * x
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = (after - before) / apply_chain
    del y
    return Row("memory a recorded node (mul)", f"{size:.0f} B", "705 B", "-", "600 B")


def long_chain_rows(torch: Any) -> Iterator[Row]:
    """A chain of a million nodes: forward, backward, deletion, collection."""
    length = 1_000_000
    engines = {"ours": minigrad} | ({} if torch is None else {"torch": torch})
    took: dict[str, dict[str, float]] = {}
    for name, engine in engines.items():
        x = leaf(engine, 1)
        gc.collect()
        started = time.thread_time()
        y = x
        for _ in range(length):
            y = y * 1.0
        forward = time.thread_time() - started
        started = time.thread_time()
        y.sum().backward()
        backward = time.thread_time() - started
        started = time.thread_time()
        del y
        deletion = time.thread_time() - started
        took[name] = {"forward": forward, "backward": backward, "deletion": deletion}
        if name == "ours":
            found = gc.collect()
    for phase, seconds in took["ours"].items():
        theirs = took.get("torch", {}).get(phase)
        ratio = "-" if theirs is None else f"{seconds / max(theirs, 1e-9):.2f}"
        shown = "-" if theirs is None else f"{theirs:.2f} s"
        name = f"chain of 1e6 nodes: {phase}"
        yield Row(name, f"{seconds:.2f} s", shown, ratio, "no recursion")
    yield Row("chain of 1e6 nodes: left for gc", str(found), "-", "-", "0 objects")


class Deaf:
    """A listener that does nothing, at every point where one can listen."""

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

    def listened() -> None:
        observe.observer = deaf
        try:
            program()
        finally:
            observe.observer = None

    programs = {
        "unheard": points.unheard(program),
        "silent": points.heard(program),
        "listened": points.heard(listened),
    }
    found = interleaved(programs, 1000, seconds)
    names = {"silent": ("nobody listening", "1.02"), "listened": ("deaf listener", "-")}
    for key, (name, goal) in names.items():
        low, middle, high = found[key].ratio_to(found["unheard"])
        took = f"{found[key].median * 1e6:.2f} us"
        shown = f"{middle:.3f} ({low:.3f}-{high:.3f}) of an engine without listeners"
        yield Row(f"custom forward+backward, {name}", took, "-", shown, goal)


def import_row(torch: Any) -> Row:
    """CPU time of ``import minigrad``, less that of NumPy alone."""

    def seconds(statement: str) -> float:
        code = f"import time; t = time.process_time(); {statement}; "
        code += "print(time.process_time() - t)"
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        root = str(Path(minigrad.__file__).resolve().parent.parent)
        environment["PYTHONPATH"] = root
        # The first start compiles what is not compiled yet; learners do so once.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        times = []
        for _ in range(8):
            done = subprocess.run(
                [sys.executable, "-c", code],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            times.append(float(done.stdout))
        return median(times[1:])

    numpy, ours = seconds("import numpy"), seconds("import minigrad")
    theirs = "-" if torch is None else f"{seconds('import torch') * 1e3:.0f} ms"
    shown = f"numpy {numpy * 1e3:.0f} ms + {(ours - numpy) * 1e3:.0f} ms"
    name = "import minigrad (against import torch)"
    return Row(name, f"{ours * 1e3:.0f} ms", theirs, shown, "numpy + 20 ms")


def engine_rows(torch: Any, seconds: float, quick: bool = False) -> Iterator[Row]:
    """All rows of the engine, each as soon as it is measured."""
    yield from timed_rows(torch, seconds)
    yield from listening_rows(seconds)
    yield memory_row()
    yield import_row(torch)
    if not quick:
        yield from long_chain_rows(torch)
