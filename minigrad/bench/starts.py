"""What happens in a process of its own: importing, first kernels, a busy core."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import minigrad
from minigrad.bench.harness import Measured, Program, timed
from minigrad.bench.rows import Row, Task, judged, ratio_row
from minigrad.bench.training import step_of

NOT_LOADED = "numba", "graphviz", "matplotlib", "ipywidgets"
"""What ``import minigrad`` leaves alone."""

IMPORTS = """
import sys, time
started = time.process_time()
import {module}
took = time.process_time() - started
print(took, *[name for name in {others!r} if name in sys.modules])
"""

FIRST_CALLS = """
import time
import numpy as np
from minigrad.kernels import activations, softmax
rows = np.ones((4, 4), np.float32)
for kernel in (softmax.softmax_of_rows, activations.gelu):
    started = time.process_time()
    kernel(rows if kernel is softmax.softmax_of_rows else rows.ravel())
    print(time.process_time() - started)
"""


GROWTH = """
import os
import {module} as engine
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
x = engine.ones(1, requires_grad=True)
y = x * x
before = resident()
for _ in range(100_000):
    y = y * x
assert y.item() == 1.0
print((resident() - before) / 100_000)
"""


def resident_bytes_of_a_node(module: str) -> float | None:
    """By how much a process grows for each recorded node; None where Linux is not."""
    if not Path("/proc/self/statm").exists():
        return None
    return float(printed_by(GROWTH.format(module=module)))


def printed_by(code: str, **environment: str) -> str:
    """What a fresh Python prints that has one thread and this minigrad."""
    own = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment}
    own["PYTHONPATH"] = str(Path(minigrad.__file__).resolve().parent.parent)
    # The first start compiles what is not compiled yet; learners do so once.
    own.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=own,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def import_times(modules: list[str], rounds: int) -> tuple[Any, set[str]]:
    """CPU seconds of importing each, in turns; and what minigrad loaded of others."""
    times: dict[str, list[float]] = {module: [] for module in modules}
    loaded: set[str] = set()
    for _ in range(rounds + 1):
        for module in modules:
            code = IMPORTS.format(module=module, others=NOT_LOADED)
            took, *others = printed_by(code).split()
            times[module].append(float(took))
            loaded |= set(others) if module == "minigrad" else set()
    turns = object()
    return {
        module: Measured(tuple(own[1:]), turns) for module, own in times.items()
    }, loaded


def import_rows(torch: Any, rounds: int) -> Iterator[Row]:
    """Beside importing NumPy alone, and beside importing torch."""
    modules = ["numpy", "minigrad"] + ([] if torch is None else ["torch"])
    times, loaded = import_times(modules, rounds)
    numpy, ours = times["numpy"].median, times["minigrad"].median
    more = (ours - numpy) * 1e3
    yield Row(
        "import minigrad, beyond NumPy",
        f"{more:.0f} ms",
        f"{numpy * 1e3:.0f} ms",
        "NumPy alone",
        goal=judged(more, 20, " ms"),
        note=f"loads {', '.join(sorted(loaded))}" if loaded else "nothing else loaded",
    )
    if torch is not None:
        theirs = times["torch"].median
        name = "import minigrad, with NumPy"
        yield Row(name, f"{ours * 1e3:.0f} ms", f"{theirs * 1e3:.0f} ms", "torch")


def first_call_rows() -> Iterator[Row]:
    """The first two kernels that a process calls; the first one loads Numba too."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, goals in (("cold", (1.0, 0.3)), ("from disk", (0.5, 0.01))):
            printed = printed_by(FIRST_CALLS, NUMBA_CACHE_DIR=folder).split()
            for which, took, goal in zip(
                ("first", "next"), map(float, printed), goals, strict=True
            ):
                yield Row(
                    f"{which} kernel call of a process, {kind}",
                    f"{took * 1e3:.0f} ms",
                    goal=judged(took * 1e3, goal * 1e3, " ms"),
                )


def busy_core_rows(torch: Any, rounds: int) -> Iterator[Row]:
    """A training step while another process keeps one core busy: seconds of the clock.

    Torch may use two threads here, as it would unasked on two cores.
    """
    name = "MLP step, batch 1024, one busy core beside it: slower by"
    ours = slowed_by_a_neighbour(step_of(minigrad, batch=1024), rounds)
    row = ratio_row(name, *ours, 1.5, "itself alone")
    if torch is not None:
        torch.set_num_threads(2)
        try:
            theirs = slowed_by_a_neighbour(step_of(torch, batch=1024), rounds)
        finally:
            torch.set_num_threads(1)
        slower = theirs[0].ratio_to(theirs[1])
        row = replace(row, note=f"torch, two threads: {slower}")
    yield row


def slowed_by_a_neighbour(program: Program, rounds: int) -> tuple[Measured, Measured]:
    """Seconds of the clock with a busy process beside it, and without one."""
    program()
    busy, alone = [], []
    for _ in range(rounds):
        alone.append(timed(program, 10, time.perf_counter))
        neighbour = subprocess.Popen([sys.executable, "-Sc", "while True: pass"])
        try:
            time.sleep(0.1)  # until it is up
            busy.append(timed(program, 10, time.perf_counter))
        finally:
            neighbour.kill()
            neighbour.wait()
    turns = object()
    return Measured(tuple(busy), turns), Measured(tuple(alone), turns)


def start_tasks(torch: Any, quick: bool) -> Iterator[Task]:
    """Importing, the first kernels, a busy core; in fewer rounds if quick."""
    rounds = 1 if quick else 7
    yield Task("import", partial(import_rows, torch, rounds))
    yield Task("first kernel calls", first_call_rows)
    yield Task("a busy core", partial(busy_core_rows, torch, max(rounds, 3)))
