"""``python -m minigrad bench``: all rows, beside whoever of the others is here."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from minigrad.bench.engine import engine_tasks
from minigrad.bench.growth import growth_tasks
from minigrad.bench.kernels import kernel_tasks
from minigrad.bench.models import model_tasks
from minigrad.bench.peers import PEERS, peer_tasks
from minigrad.bench.recording import recording_tasks
from minigrad.bench.rows import HEAD, Row, Task, imported
from minigrad.bench.saving import as_json, save_pictures
from minigrad.bench.training import training_tasks

ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
"""What libraries read when they are loaded, so that each computes in one thread."""

KINDS = "engine", "training", "models", "peers", "kernels", "growth", "recording"

EXPLAINED = """\
CPU time, one thread on each side, warmed up. A ratio below 1: minigrad takes less time.
It is the median, and the least and the most, of rounds in which both took turns; before
that, both have computed the same.\
"""

LEFT_OUT = """\
--quick leaves out kernels in a graph, the chain of a million nodes, and the largest
size of each growth. It measures each row for a tenth of the time, and begins none after
75 seconds.\
"""

SECONDS, QUICKLY = 3.0, 0.3
"""For each row."""

QUICK_LIMIT = 75.0
"""Seconds of the clock after which --quick begins no other row."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; never a test, so nothing fails."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parsed(arguments)
    if any([os.environ.get(name) != value for name, value in ONE_THREAD.items()]):
        return in_one_thread(arguments)
    versions = {} if options.alone else versions_of_others()
    print(EXPLAINED)
    print(who_is_here(versions))
    rows: list[Row] = []
    stopped = False
    try:
        tasks = planned(options)
        limit = QUICK_LIMIT if options.quick else float("inf")
        for row in measured(tasks, time.monotonic() + limit):
            rows.append(row)
    except KeyboardInterrupt:
        stopped = True
        print("\nStopped; this is what was measured until then.")
    print(summary(rows))
    if options.quick:
        print(LEFT_OUT)
    save(options, rows, versions)
    return 130 if stopped else 0


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options, with the seconds for a row."""
    parser = argparse.ArgumentParser(prog="python -m minigrad bench")
    parser.add_argument("--seconds", type=float, help=f"for each row ({SECONDS:g})")
    parser.add_argument("--quick", action="store_true", help="in about a minute")
    parser.add_argument("--alone", action="store_true", help="without torch and others")
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--json", type=Path, metavar="F", help="save the rows there")
    plot = "draw the ratios there, and growth beside it"
    parser.add_argument("--plot", type=Path, metavar="F", help=plot)
    options = parser.parse_args(arguments)
    if options.seconds is None:
        options.seconds = QUICKLY if options.quick else SECONDS
    return options


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


def versions_of_others() -> dict[str, str | None]:
    """torch and the peers, with their versions; None for who is not installed."""
    found: dict[str, str | None] = {}
    for name in ("torch", *PEERS):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def who_is_here(versions: dict[str, str | None]) -> str:
    """Who is compared with, and who cannot be."""
    here = [f"{name} {version}" for name, version in versions.items() if version]
    away = [name for name, version in versions.items() if not version]
    said = f"Beside: {', '.join([*here, 'plain NumPy'])}."
    return f"{said} Not installed: {', '.join(away)}." if away else said


def torch_in_one_thread() -> Any:
    """torch; None without it."""
    torch = imported("torch")
    if torch is not None:
        torch.set_num_threads(1)
    return torch


def planned(options: argparse.Namespace) -> list[Task]:
    """All that is to be measured."""
    torch = None if options.alone else torch_in_one_thread()
    seconds, quick = options.seconds, options.quick
    tasks: dict[str, Callable[[], Iterable[Task]]] = {
        "engine": lambda: engine_tasks(torch, seconds, quick),
        "peers": lambda: [] if options.alone else peer_tasks(seconds),
        "training": lambda: training_tasks(torch, seconds),
        "models": lambda: model_tasks(torch, quick),
        "kernels": lambda: kernel_tasks(torch, seconds / 3, quick),
        "growth": lambda: growth_tasks(torch, seconds, quick),
        "recording": lambda: recording_tasks(quick),
    }
    chosen = [options.only] if options.only else KINDS
    return [task for kind in chosen for task in tasks[kind]()]


def measured(tasks: list[Task], deadline: float) -> Iterator[Row]:
    """Print each row as soon as it is there, above a bar that tells how far it is.

    After the deadline, say what is not measured any more.
    """
    bar, write = bar_over(tasks)
    with bar:
        write(HEAD)
        for number, task in enumerate(bar):
            if time.monotonic() > deadline:
                late = [late.name for late in tasks[number:]]
                write(f"No time left for {len(late)}: {', '.join(late)}.")
                return
            bar.set_description(task.name)
            for row in task.rows():
                write(str(row))
                yield row


def bar_over(tasks: list[Task]) -> tuple[Any, Callable[[str], object]]:
    """A bar for these tasks, and what writes a line above it."""
    tqdm = imported("tqdm")
    if tqdm is None:
        return Unseen(tasks), partial(print, flush=True)
    # Where nobody watches, the rows themselves tell.
    options = {"file": sys.stderr, "disable": None, "dynamic_ncols": True}
    return tqdm.tqdm(tasks, unit="row", **options), tqdm.tqdm.write


class Unseen(list[Task]):
    """In place of a bar, where the library that draws it is not installed."""

    def __enter__(self) -> None:
        """Nothing to draw."""

    def __exit__(self, *error: object) -> None:
        """Nothing to clear."""

    def set_description(self, name: str) -> None:
        """The rows themselves tell."""


def summary(rows: Sequence[Row]) -> str:
    """How many goals were met, and the names of those that were not."""
    verdicts = Counter([row.goal.split()[-1] for row in rows])
    said = [f"Goals: {verdicts['met']} met, {verdicts['missed']} missed."]
    for row in rows:
        if row.goal.endswith("missed"):
            said.append(f"  missed: {row.name} ({row.against or 'alone'})")
        elif row.note.startswith("different"):
            said.append(f"  {row.note}: {row.name} ({row.against})")
    return "\n".join(said)


def save(
    options: argparse.Namespace, rows: list[Row], versions: dict[str, str | None]
) -> None:
    """Into the files that were asked for."""
    if options.json is not None:
        options.json.write_text(as_json(rows, versions), encoding="utf-8")
        print(f"written: {options.json}")
    if options.plot is not None:
        for path in save_pictures(rows, options.plot):
            print(f"written: {path}")


if __name__ == "__main__":
    sys.exit(main())
