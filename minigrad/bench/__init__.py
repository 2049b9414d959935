"""Timing side by side: ``python -m minigrad bench`` prints the rows of the engine.

>>> from minigrad.bench import compared
>>> row = compared("a sum", lambda: 1 + 2, lambda: 3, against="literal", seconds=0.01)
>>> row.against, len(row.ratio)
('literal', 3)
"""

from minigrad.bench.harness import (
    DifferentResultsError,
    Measured,
    NotComparedError,
    Ratio,
    agree,
    interleaved,
    timed,
)
from minigrad.bench.rows import Row, compared, table

__all__ = [
    "DifferentResultsError",
    "Measured",
    "NotComparedError",
    "Ratio",
    "Row",
    "agree",
    "compared",
    "interleaved",
    "table",
    "timed",
]
