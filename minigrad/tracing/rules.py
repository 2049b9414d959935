"""Keeping what small rules of backward were given, to ask for the terms of a number."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from minigrad.engine.core.node import NOT_A_TENSOR, AccumulateGrad, split_edge
from minigrad.engine.core.saved import FREED, Record
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.interpreters import current_kind
from minigrad.engine.views import CopySlices
from minigrad.tracing.keeping import Keeping
from minigrad.tracing.log import EventLog
from minigrad.tracing.marks import ATOMS
from minigrad.tracing.nodes import attributes_of
from minigrad.tracing.pictures import MOST_COLUMNS, MOST_ROWS
from minigrad.tracing.values import MOST_DEPTH

MOST_NUMBERS: Final = MOST_ROWS * MOST_COLUMNS
"""A gradient with more elements is not shown whole: nobody can ask for one of them."""
MOST_SAVED: Final = 4 * MOST_NUMBERS
MOST_RULES: Final = 400
MOST_BYTES: Final = 2_000_000


class RuleKeeper(Keeping):
    """An observer that keeps what each rule was given, where all of it is small."""

    def __init__(self, log: EventLog) -> None:
        super().__init__(log, MOST_BYTES)

    def keeps(self, node: Any, gradients: list[Any]) -> bool:
        """Whether the terms of what ``node`` returns may be asked for."""
        if isinstance(node, AccumulateGrad) or len(self.kept.runs) >= MOST_RULES:
            return False
        return current_kind() in ("", "level") and is_small(node, gradients)


def is_small(node: Any, gradients: list[Any]) -> bool:
    """Whether a rule is given little, and all of a kind that can be copied."""
    shapes = [gradient.shape for gradient in gradients if gradient is not None]
    for edge in node._edges:
        if edge is not None and edge is not NOT_A_TENSOR:
            receiver, slot = split_edge(edge)
            shapes.append(receiver._output_metadata[slot][0])
    saved = () if node._saved is FREED else tuple.__iter__(node._saved)
    tensors = [one.tensor if isinstance(one, Record) else one for one in saved]
    sizes = [one.array.size for one in tensors if isinstance(one, Tensor)]
    attributes = list(attributes_of(node).values())
    inner = node.inner if isinstance(node, CopySlices) else None
    return (
        all([is_shown_whole(shape) for shape in shapes])
        and all([size <= MOST_SAVED for size in sizes])
        and all([can_be_copied(value, MOST_DEPTH) for value in attributes])
        and (inner is None or is_small(inner, []))
    )


def is_shown_whole(shape: tuple[int, ...]) -> bool:
    """Whether the picture of an array of this shape has all of its elements."""
    columns = shape[-1] if shape else 1
    rows = int(np.prod(shape[:-1], dtype=np.int64))
    return columns <= MOST_COLUMNS and rows <= MOST_ROWS


def can_be_copied(value: Any, depth: int) -> bool:
    """Whether a copy of an attribute is small and keeps nothing of the program alive.

    A class, a function or a dtype is no copy, and outlives a program anyway.
    """
    if isinstance(value, Tensor):
        return value.array.size <= MOST_SAVED
    if isinstance(value, (np.ndarray, np.generic)):
        return value.size <= MOST_SAVED
    if isinstance(value, (list, tuple)) and len(value) <= MOST_NUMBERS and depth:
        return all([can_be_copied(item, depth - 1) for item in value])
    return type(value) in ATOMS or isinstance(value, (type, np.dtype, slice))
