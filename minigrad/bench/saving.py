"""What was measured, as JSON and as pictures."""

from __future__ import annotations

import dataclasses
import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.bench.rows import Row


def as_json(rows: Sequence[Row], versions: Mapping[str, str | None]) -> str:
    """All rows, and on what they were measured; None stands for not installed."""
    return json.dumps(
        {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "others": dict(versions),
            "processor": platform.processor() or platform.machine(),
            "rows": [as_dict(row) for row in rows],
        },
        indent=1,
    )


def as_dict(row: Row) -> dict[str, Any]:
    """A row whose ratio has names, too."""
    found = dataclasses.asdict(row)
    found["ratio"] = None if row.ratio is None else row.ratio._asdict()
    return found


def save_pictures(rows: Sequence[Row], path: Path) -> list[Path]:
    """The ratios as bars; and beside that file, if it was measured, growth as lines.

    What a picture is, its name's ending says: ``.png``, ``.svg`` or ``.pdf``.
    """
    # Loaded here: a bench without a picture needs no matplotlib.
    from minigrad.views import bars, growth

    written = []
    ratios = [row for row in rows if row.ratio is not None]
    if ratios:
        bars.save_ratios(ratios, path)
        written.append(path)
    curves = [row.growth for row in rows if row.growth is not None]
    if curves:
        beside = path.with_stem(f"{path.stem}-growth")
        growth.save_growth(curves, beside)
        written.append(beside)
    return written
