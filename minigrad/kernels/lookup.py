"""Gradients added back into the rows of a table that they came from."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.kernels._jit import kernel


def add_rows_in_numpy(table: Any, indices: Any, rows: Any) -> None:
    """The same in plain NumPy."""
    np.add.at(table, indices, rows)


@kernel(add_rows_in_numpy)
def add_rows(table: Any, indices: Any, rows: Any) -> None:
    """Add each of ``rows`` to the row of ``table`` that its index names, in order."""
    for i in range(indices.size):
        row, given = table[indices[i]], rows[i]
        for j in range(given.size):
            row[j] += given[j]
