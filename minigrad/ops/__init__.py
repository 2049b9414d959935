"""The built-in operations; importing this registers them all."""

from minigrad.ops import (
    arithmetic,
    choose,
    comparison,
    conversion,
    elementwise,
    extremes,
    gathering,
    linalg,
    logic,
    questions,
    reduce,
    rounding,
    shape,
    smooth,
)
from minigrad.ops._registry import OPS, Op, op

__all__ = [
    "OPS",
    "Op",
    "arithmetic",
    "choose",
    "comparison",
    "conversion",
    "elementwise",
    "extremes",
    "gathering",
    "linalg",
    "logic",
    "op",
    "questions",
    "reduce",
    "rounding",
    "shape",
    "smooth",
]
