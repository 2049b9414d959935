"""What happens in a process of its own: importing, and the first kernels."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import minigrad
from minigrad.bench.reasons import with_unit
from minigrad.bench.rows import Other, Peer, Row, Task, explained

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


def import_times(
    modules: list[str], rounds: int
) -> tuple[dict[str, list[float]], set[str]]:
    """CPU seconds of importing each, in turns; and what minigrad loaded of others."""
    times: dict[str, list[float]] = {module: [] for module in modules}
    loaded: set[str] = set()
    for number in range(rounds + 1):
        for module in modules:
            code = IMPORTS.format(module=module, others=NOT_LOADED)
            took, *others = printed_by(code).split()
            if number:  # the first one warms up
                times[module].append(float(took))
            loaded |= set(others) if module == "minigrad" else set()
    return times, loaded


def import_row(name: str, quick: bool) -> Iterator[Row]:
    """What it takes beyond importing NumPy; beside that, torch's import."""
    modules = ["numpy", "minigrad"] + (["torch"] if Peer("torch").module else [])
    times, loaded = import_times(modules, 1 if quick else 7)
    took = {module: statistics.median(own) for module, own in times.items()}
    each = [f"{module} {with_unit(own)}" for module, own in took.items()]
    others = f"loads {', '.join(sorted(loaded))}" if loaded else "nothing else loaded"
    more = took["minigrad"] - took["numpy"]
    yield Row(name, more, goal=0.020, note=f"{', '.join(each)}; {others}")


def first_call_rows(name: str, quick: bool) -> Iterator[Row]:
    """The first two kernels that a process calls; the first one loads Numba too."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, goals in (("cold", (1.0, 0.3)), ("from disk", (0.5, 0.01))):
            printed = printed_by(FIRST_CALLS, NUMBA_CACHE_DIR=folder).split()
            each = zip(("first", "next"), map(float, printed), goals, strict=True)
            for which, took, goal in each:
                row = Row(f"{name}, {which}, {kind}", took, goal=goal)
                yield explained(row, partial(reason_of_first_call, which, kind))


def reason_of_first_call(which: str, kind: str) -> str:
    """What a kernel waits for when a process calls it for the first time."""
    loop = "compiles the loop" if kind == "cold" else "reads the compiled loop"
    if which == "next":
        return f"Numba {loop}"
    times, _ = import_times(["numba"], 1)
    return f"importing Numba takes {with_unit(*times['numba'])}, then it {loop}"


def start_tasks() -> list[Task]:
    """Importing, and the first kernels."""
    return [
        Other("start: import minigrad, beyond NumPy", import_row),
        Other("start: kernel call of a process", first_call_rows),
    ]
