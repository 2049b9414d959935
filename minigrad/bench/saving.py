"""What was measured, as JSON and as a picture."""

from __future__ import annotations

import dataclasses
import json
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.bench.rows import Row


def as_json(rows: Sequence[Row], against: str) -> str:
    """All rows, and on what they were measured."""
    return json.dumps(
        {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "against": against,
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


def save_picture(rows: Sequence[Row], path: Path) -> None:
    """A bar for each ratio, a line at 1, and a mark at each goal.

    What the picture is, its name's ending says: ``.png``, ``.svg`` or ``.pdf``.
    """
    # Loaded here: a bench without a picture needs no matplotlib.
    from minigrad.views.bars import save_ratios

    ratios = {row.name: row.ratio for row in rows if row.ratio is not None}
    save_ratios(ratios, path)
