"""Keeping what small rules of backward were given, to ask for the terms of a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from minigrad.engine.core.node import NOT_A_TENSOR, AccumulateGrad, split_edge
from minigrad.engine.core.saved import FREED, Record
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.interpreters import current_kind
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.engine.views import CopySlices
from minigrad.tracing.copies import copied, exact_copy, node_like
from minigrad.tracing.log import EventLog
from minigrad.tracing.marks import ATOMS
from minigrad.tracing.nodes import attributes_of
from minigrad.tracing.pictures import MOST_COLUMNS, MOST_ROWS
from minigrad.tracing.values import MOST_DEPTH

MOST_NUMBERS: Final = MOST_ROWS * MOST_COLUMNS
"""A gradient with more elements is not shown whole: nobody can ask for one of them."""
MOST_SAVED: Final = 4 * MOST_NUMBERS
MOST_RULES: Final = 400


@dataclass
class Rule:
    """A rule of backward that ran: what it was given, and what came out.

    ``node`` is like the one that ran, as it was before; ``event`` its turn. A hook may
    have changed what came out before it was sent.
    """

    event: Any
    given: list[Any]
    node: Any
    create_graph: bool
    carries_tensors: bool
    found: list[Any] = field(default_factory=list)
    is_hooked: bool = False


class RuleKeeper:
    """An observer that keeps what each rule was given, where all of it is small."""

    def __init__(self, log: EventLog) -> None:
        self.rules: list[Rule] = []
        self._log = log
        self._running: dict[int, Rule | None] = {}

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        self._running[id(task)] = None
        if isinstance(node, AccumulateGrad) or len(self.rules) >= MOST_RULES:
            return
        if current_kind() in ("", "level") and is_small(node, gradients):
            self._running[id(task)] = Rule(
                self._log.last_turn(),
                copied(gradients, exact_copy),
                node_like(node, exact_copy),
                task.create_graph,
                task.carries_tensors,
            )

    def hook_called(
        self, kind: str, node: Any, slot: int, hook: Any, given: Any, result: Any
    ) -> None:
        rule = self._newest()
        if kind != "post" or rule is None:
            return
        rule.is_hooked = rule.is_hooked or result is not None
        if not rule.found:
            values = iter(given)
            rule.found = [
                None if edge is NOT_A_TENSOR else copied(next(values), exact_copy)
                for edge in node._edges
            ]

    def tensor_unpacked(self, hook: Any, node: Any, packed: Any, tensor: Any) -> None:
        rule = self._newest()
        for like in with_inner(None if rule is None else rule.node):
            like._saved = tuple(
                copied(tensor, exact_copy)
                if is_packed(one) and one.packed is packed
                else one
                for one in like._saved
            )

    def node_returned(self, task: Any, node: Any, gradients: list[Any]) -> None:
        rule = self._running.pop(id(task), None)
        if rule is None:
            return
        rule.found = rule.found or copied(gradients, exact_copy)
        for like in with_inner(rule.node):  # hold nothing that a hook has packed
            like._saved = tuple([None if is_packed(o) else o for o in like._saved])
        self.rules.append(rule)

    def backward_finished(self, task: Any) -> None:
        self._running.pop(id(task), None)

    def _newest(self) -> Rule | None:
        """The rule that runs now."""
        return next(reversed(self._running.values()), None)


def is_packed(saved: Any) -> bool:
    """Whether a saved value is still what a hook has packed."""
    return isinstance(saved, HookedRecord)


def with_inner(like: Any) -> Iterator[Any]:
    """A node, and those inside it that a change of a view has wrapped."""
    while like is not None:
        yield like
        like = like.inner if isinstance(like, CopySlices) else None


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
