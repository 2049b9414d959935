"""``python -m minigrad bench``: all rows, beside torch if it is there."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from minigrad.bench.kernels import kernel_rows
from minigrad.bench.models import model_rows
from minigrad.bench.peers import peer_rows
from minigrad.bench.recording import recording_rows
from minigrad.bench.rows import Row, engine_rows
from minigrad.bench.saving import as_json, save_picture
from minigrad.bench.training import training_rows


def torch_if_installed() -> Any:
    """torch on one thread; None without it."""
    try:
        import torch
    except ModuleNotFoundError:
        return None
    torch.set_num_threads(1)
    return torch


def line(row: Row) -> str:
    """A row in columns."""
    times = f"{row.ours:>10} {row.theirs:>10}"
    return f"{row.name:<60} {times}  {row.measured:<18} {row.goal}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; never a test, so nothing fails."""
    parser = argparse.ArgumentParser(prog="python -m minigrad bench")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each row")
    parser.add_argument("--quick", action="store_true", help="no chain of 1e6 nodes")
    parser.add_argument("--alone", action="store_true", help="without torch")
    kinds = ("engine", "peers", "training", "models", "kernels", "recording")
    parser.add_argument("--only", choices=kinds)
    parser.add_argument("--json", type=Path, metavar="F", help="save the rows there")
    parser.add_argument("--plot", type=Path, metavar="F", help="draw the ratios there")
    options = parser.parse_args(arguments)

    torch = None if options.alone else torch_if_installed()
    against = "nothing" if torch is None else f"torch {torch.__version__}"
    print(f"CPU time of one thread, against {against}; a ratio below 1 is faster.")
    print("Ratios: median (quartiles) of rounds that took turns.")
    print(line(Row("", "minigrad", "torch", "ratio", "goal")))
    families = {
        "engine": engine_rows(torch, options.seconds, options.quick),
        "peers": peer_rows(options.seconds),
        "training": training_rows(torch, options.seconds),
        "models": model_rows(torch, options.seconds),
        "kernels": kernel_rows(torch, options.seconds / 3),
        "recording": recording_rows(),
    }
    chosen = [options.only] if options.only else families
    rows = []
    for row in itertools.chain.from_iterable([families[name] for name in chosen]):
        print(line(row), flush=True)
        rows.append(row)
    if options.json is not None:
        options.json.write_text(as_json(rows, against), encoding="utf-8")
    if options.plot is not None:
        save_picture(rows, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
