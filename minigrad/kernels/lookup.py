"""Rows of a table by their numbers, and gradients added back into the table."""

from __future__ import annotations

from typing import Any

import numpy as np


def add_rows(indices: Any, rows: Any, table: Any) -> None:
    """Add each of ``rows`` to the row of ``table`` that its index names."""
    np.add.at(table, indices, rows)
