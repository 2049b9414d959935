"""The built-in operations; importing this registers them all."""

from minigrad.ops import (
    arithmetic,
    comparison,
    conversion,
    elementwise,
    linalg,
    questions,
    reduce,
    shape,
)
from minigrad.ops._registry import OPS, Op, op

__all__ = [
    "OPS",
    "Op",
    "arithmetic",
    "comparison",
    "conversion",
    "elementwise",
    "linalg",
    "op",
    "questions",
    "reduce",
    "shape",
]
