"""The built-in operations; importing this registers them all."""

from minigrad.ops import arithmetic, comparison, elementwise, linalg, reduce, shape
from minigrad.ops._registry import OPS, Op, op

__all__ = [
    "OPS",
    "Op",
    "arithmetic",
    "comparison",
    "elementwise",
    "linalg",
    "op",
    "reduce",
    "shape",
]
