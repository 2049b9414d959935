"""``python -m minigrad bench``: all rows, beside whoever of the others is here."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.bench.engine import engine_tasks
from minigrad.bench.layers import layer_tasks
from minigrad.bench.models import model_tasks
from minigrad.bench.rows import HEAD, Row, Task, imported
from minigrad.bench.starts import start_tasks

ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
"""What libraries read when they are loaded, so that each computes in one thread."""

PEERS = "torch", "autograd", "mygrad", "jax"

EXPLAINED = """\
CPU time, one thread on each side, warmed up. A ratio below 1: minigrad takes less time.
It is the median, and the least and the most, of rounds in which both took turns; before
that, both have computed the same. Chains: the time of one node.\
"""

EPILOG = """\
ROW is a part of a row's name: "layer", "softmax", "custom". A row that misses its goal
says what bounds it. --quick measures each row for a tenth of the time, leaves out the
chain of a million nodes, and begins no row after 75 seconds.\
"""

QUICK_LIMIT = 75.0
"""Seconds of the clock after which --quick begins no other row."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; never a test, so a missed goal does not fail."""
    arguments = sys.argv[1:] if arguments is None else arguments
    tasks, options = planned(arguments)
    if any([os.environ.get(name) != value for name, value in ONE_THREAD.items()]):
        return in_one_thread(arguments)
    versions = versions_of_peers()
    print(EXPLAINED)
    print(who_is_here(versions))
    rows: list[Row] = []
    stopped = False
    try:
        for row in measured(tasks, options.quick):
            rows.append(row)
    except KeyboardInterrupt:
        stopped = True
        print("\nStopped; this is what was measured until then.")
    print(summary(rows))
    if options.json is not None:
        options.json.write_text(as_json(rows, versions), encoding="utf-8")
        print(f"written: {options.json}")
    return 130 if stopped else 0


def all_tasks() -> list[Task]:
    """Everything that can be measured."""
    return [*engine_tasks(), *start_tasks(), *layer_tasks(), *model_tasks()]


def planned(arguments: Sequence[str]) -> tuple[list[Task], argparse.Namespace]:
    """What is to be measured, and the options; wrong ones end the process."""
    parser = argparse.ArgumentParser(
        prog="python -m minigrad bench",
        description=EXPLAINED,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help="only these rows")
    parser.add_argument("--quick", action="store_true", help="in about a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the rows there")
    options = parser.parse_args(arguments)
    tasks = all_tasks()
    chosen = {id(one) for word in options.rows for one in named(word, tasks, parser)}
    if options.rows:
        tasks = [task for task in tasks if id(task) in chosen]
    elif options.quick:
        tasks = [task for task in tasks if not task.is_long]
    if options.json is not None:
        see_that_it_can_be_written(options.json, parser)
    return tasks, options


def named(word: str, tasks: list[Task], parser: argparse.ArgumentParser) -> list[Task]:
    """The tasks whose name contains a word; it is an error if there is none."""
    found = [task for task in tasks if word.lower() in task.name.lower()]
    if not found:
        words = {part for task in tasks for part in task.name.lower().split()}
        near = difflib.get_close_matches(
            word.lower(), [one.strip(",:") for one in words]
        )
        meant = f" (did you mean {' or '.join(near)}?)" if near else ""
        names = "\n  ".join([task.name for task in tasks])
        parser.error(f"no row's name contains {word!r}{meant}; there are\n  {names}")
    return found


def see_that_it_can_be_written(path: Path, parser: argparse.ArgumentParser) -> None:
    """Now, and not after everything is measured."""
    is_new = not path.exists()
    try:
        path.open("ab").close()
    except OSError as error:
        parser.error(f"cannot write {path}: {error.strerror}")
    if is_new:
        path.unlink()


def in_one_thread(arguments: Sequence[str]) -> int:
    """The same in a process whose libraries read that they have one thread."""
    command = [sys.executable, "-m", "minigrad", "bench", *arguments]
    environ = {**os.environ, **ONE_THREAD}
    if os.name != "nt":
        os.execve(sys.executable, command, environ)
    # Windows can only wait. Ctrl-C reaches the other process too, which says what it
    # has measured.
    with subprocess.Popen(command, env=environ) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def versions_of_peers() -> dict[str, str | None]:
    """The peers, with their versions; None for who is not installed."""
    found: dict[str, str | None] = {}
    for name in PEERS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def who_is_here(versions: dict[str, str | None]) -> str:
    """Who is compared with, and who cannot be."""
    here = [f"{name} {version}" for name, version in versions.items() if version]
    away = [name for name, version in versions.items() if not version]
    said = f"Beside: {', '.join([*here, f'NumPy {np.__version__}'])}."
    return f"{said} Not installed: {', '.join(away)}." if away else said


def measured(tasks: list[Task], quick: bool) -> Iterator[Row]:
    """Print each row as soon as it is there, above a bar that tells how far it is.

    When a quick one's time is over, say what is not measured any more.
    """
    shown, write = bar_over(tasks)
    deadline = time.monotonic() + (QUICK_LIMIT if quick else float("inf"))
    write(HEAD)
    for number, task in enumerate(shown):
        if time.monotonic() > deadline:
            late = [late.name for late in tasks[number:]]
            write(f"No time left for {len(late)}: {'; '.join(late)}.")
            return
        for row in task.rows(quick):
            write(str(row))
            yield row


def bar_over(tasks: list[Task]) -> tuple[Any, Callable[[str], object]]:
    """A bar over the tasks, and what writes a line above it; none without tqdm."""
    tqdm = imported("tqdm")
    if tqdm is None:
        return tasks, partial(print, flush=True)
    # Where nobody watches, the rows themselves tell.
    return tqdm.tqdm(tasks, unit="row", file=sys.stderr, disable=None), tqdm.tqdm.write


def summary(rows: Sequence[Row]) -> str:
    """How many goals were met, and the names of those that were not."""
    met = [row for row in rows if row.verdict.startswith("met")]
    missed = [row for row in rows if row.verdict == "missed"]
    said = [f"Goals: {len(met)} met, {len(missed)} missed."]
    for row in rows:
        shown = f"{row.name} ({row.against or 'alone'})"
        if row.verdict == "missed":
            said.append(f"  missed: {shown}")
        elif row.note.startswith("different"):
            said.append(f"  {row.note}: {shown}")
    return "\n".join(said)


def as_json(rows: Sequence[Row], versions: dict[str, str | None]) -> str:
    """All rows, and on what they were measured; None stands for not installed."""
    machine = platform.processor() or platform.machine()
    where = {"python": platform.python_version(), "numpy": np.__version__}
    found = {**where, "processor": machine, "others": versions}
    return json.dumps({**found, "rows": list(map(as_dict, rows))}, indent=1)


def as_dict(row: Row) -> dict[str, Any]:
    """A row with its verdict; the parts of its ratio have names."""
    ratio = row.ratio and row.ratio._asdict()
    return {**dataclasses.asdict(row), "ratio": ratio, "verdict": row.verdict}


if __name__ == "__main__":
    sys.exit(main())
