"""The terms of which each element of a gradient is made, found by asking the rule.

While a program is recorded, what small rules of backward were given is kept.

A rule of backward is linear in the gradient: run with a single 1 among zeros, it gives
the slopes of all inputs by that one output. So it is asked once for each element.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from minigrad.engine import observe
from minigrad.engine.core.backward import fit
from minigrad.engine.core.node import NOT_A_TENSOR, AccumulateGrad
from minigrad.engine.core.saved import FREED, Record
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import this_mode
from minigrad.engine.interpreters import current_kind
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.engine.views import CopySlices
from minigrad.tracing.copies import array_of, copied, exact_copy, node_like
from minigrad.tracing.harmless import harm_of
from minigrad.tracing.log import EventLog
from minigrad.tracing.messages import message
from minigrad.tracing.nodes import attributes_of, receivers_of
from minigrad.tracing.pictures import MOST_COLUMNS, MOST_ROWS, json_number
from minigrad.tracing.program import Modes, quiet
from minigrad.tracing.values import ATOMS, MOST_DEPTH, brief, error_text

MOST_CALLS: Final = 2_000
"""How often rules are asked for one recording, all together."""
MOST_NUMBERS: Final = 8_000
MOST_SECONDS: Final = 0.1
"""How long a rule may take that is asked for each element."""
MOST_SECONDS_IN_ALL: Final = 3.0
MOST_SHOWN: Final = MOST_ROWS * MOST_COLUMNS
"""A gradient with more elements is not shown whole: nobody can ask for one of them."""
MOST_SAVED: Final = 4 * MOST_SHOWN
MOST_RULES: Final = 400
Slots = dict[str, Any]


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
                if isinstance(one, HookedRecord) and one.packed is packed
                else one
                for one in like._saved
            )

    def node_returned(self, task: Any, node: Any, gradients: list[Any]) -> None:
        rule = self._running.pop(id(task), None)
        if rule is None:
            return
        rule.found = rule.found or copied(gradients, exact_copy)
        for like in with_inner(rule.node):  # hold nothing that a hook has packed
            like._saved = tuple(
                None if isinstance(one, HookedRecord) else one for one in like._saved
            )
        self.rules.append(rule)

    def backward_finished(self, task: Any) -> None:
        self._running.pop(id(task), None)

    def _newest(self) -> Rule | None:
        """The rule that runs now."""
        return next(reversed(self._running.values()), None)


def with_inner(like: Any) -> Iterator[Any]:
    """A node, and those inside it that a change of a view has wrapped."""
    while like is not None:
        yield like
        like = like.inner if isinstance(like, CopySlices) else None


def is_small(node: Any, gradients: list[Any]) -> bool:
    """Whether a rule is given little, and all of a kind that can be copied."""
    shapes = [gradient.shape for gradient in gradients if gradient is not None]
    shapes += [to._output_metadata[slot][0] for _, to, slot in receivers_of(node)]
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
    if isinstance(value, (list, tuple)) and len(value) <= MOST_SHOWN and depth:
        return all([can_be_copied(item, depth - 1) for item in value])
    return type(value) in ATOMS or isinstance(value, (type, np.dtype, slice))


def add_terms(rules: list[Rule], events: list[dict[str, Any]]) -> None:
    """Write on each step in which a node has its turn the terms of what it returned.

    ``terms`` has for each argument of the rule four numbers for each slope that is not
    0: the element of the argument, the output and the element of it, and the slope; or
    in words why there are none.
    """
    shown = {id(event) for event in events}
    calls = numbers = 0
    begun = time.perf_counter()
    # The modes keep what NumPy is told to ignore: they come behind it.
    with observe.unobserved(), np.errstate(all="ignore"), Modes().in_force(), quiet():
        for rule in rules:
            event = rule.event
            if id(event) not in shown:
                continue  # left out of a long recording
            calls += 2 + sum([array_of(g).size for g in rule.given if g is not None])
            late = time.perf_counter() - begun > MOST_SECONDS_IN_ALL
            if late or calls > MOST_CALLS or numbers > MOST_NUMBERS:
                return
            event["terms"] = terms_of(rule)
            numbers += sum([len(told) for told in event["terms"].values()])


def terms_of(rule: Rule) -> Slots:
    """For each argument of a rule its slopes, or why there are none."""
    slots = [slot for slot, one in enumerate(rule.found) if one is not None]
    reason = refusal(rule)
    try:
        reason = reason or unsteady(rule)
        if not reason:
            nothing = run_again(rule, nothing_like(rule.given))
            slopes = slopes_of(rule, slots)
            return {
                str(slot): not_a_multiple(nothing[slot])
                or told(rule, slot, slopes[slot])
                for slot in slots
            }
    except Exception as error:
        reason = message("terms.stops", error=error_text(error))
    return {str(slot): reason for slot in slots}


def refusal(rule: Rule) -> str:
    """Why a rule is not asked; empty if it can be."""
    arrays = [array_of(one) for one in (*rule.given, *rule.found) if one is not None]
    if any([array.dtype.kind != "f" for array in arrays]):
        return message("terms.not-real")
    harm = harm_of(type(rule.node))
    return message("terms.hook") if rule.is_hooked and not harm else harm


def run_again(rule: Rule, given: list[Any]) -> list[Any]:
    """The gradients that a rule returns if these arrive."""
    node = node_like(rule.node, exact_copy)
    mode = this_mode()
    before = mode.grad_enabled, mode.rules_see_tensors
    try:
        mode.grad_enabled = rule.create_graph
        mode.rules_see_tensors = rule.carries_tensors
        returned = node._run_backward(copied(given, exact_copy), rule.create_graph)
        checked = node._gradients_by_edge(returned, rule.carries_tensors)
        for slot, gradient in enumerate(checked):
            checked[slot] = None if gradient is None else fit(node, slot, gradient)
    finally:
        mode.grad_enabled, mode.rules_see_tensors = before
    for slot, edge in enumerate(node._edges):
        if edge is None or edge is NOT_A_TENSOR:
            checked[slot] = rule.found[slot]
    return list(checked)


def unsteady(rule: Rule) -> str:
    """Why a rule cannot be asked again and again; empty if it can be."""
    begun = time.perf_counter()
    found = run_again(rule, rule.given)
    if time.perf_counter() - begun > MOST_SECONDS:
        return message("terms.slow")
    for recorded, now in zip(rule.found, found, strict=True):
        if recorded is not None and (now is None or bits(recorded) != bits(now)):
            return message("terms.unsteady")
    return ""


def bits(gradient: Any) -> Any:
    """What two gradients differ in if they differ in a bit."""
    array = array_of(gradient)
    return array.shape, array.dtype, array.tobytes()


def not_a_multiple(given: Any) -> str:
    """Why what a rule gives for zeros shows that it is no sum of terms, if it does."""
    if given is None or not np.any(array := array_of(given)):
        return ""
    if not np.isfinite(array).all():
        return message("terms.infinite")
    return message("terms.not-a-multiple", value=brief(array))


def slopes_of(rule: Rule, slots: list[int]) -> dict[int, list[list[Any]]]:
    """For each argument: what the rule gives for a 1 in each place, all else being 0.

    Each entry has the output, the element of it, and the slopes of the argument by it.
    """
    slopes: dict[int, list[list[Any]]] = {slot: [] for slot in slots}
    for output, gradient in enumerate(rule.given):
        for element in range(0 if gradient is None else array_of(gradient).size):
            given = nothing_like(rule.given)
            array_of(given[output]).flat[element] = 1
            found = run_again(rule, given)
            for slot in slots:
                values = found[slot]
                if values is not None:
                    slopes[slot].append([output, element, array_of(values).ravel()])
    return slopes


def told(rule: Rule, slot: int, slopes: list[list[Any]]) -> Any:
    """The slopes of one argument as numbers in a row, if they explain the result."""
    found = array_of(rule.found[slot])
    total = np.zeros(found.size)
    sizes = np.zeros(found.size)
    numbers: list[Any] = []
    for output, element, values in slopes:
        arrived = float(array_of(rule.given[output]).flat[element])
        terms = values.astype(np.float64) * arrived
        total += terms
        # A rule may take what arrived away from itself, as that of tanh: what it
        # rounds is then as large as that.
        sizes += np.abs(terms) + abs(arrived) * (values != 0)
        for place in np.flatnonzero(values):
            slope = json_number(values[place])
            numbers += [int(place), output, element, slope]
    if not np.isfinite(total).all():
        return message("terms.infinite")
    precision = float(np.finfo(found.dtype).eps) * (4 + len(slopes))
    off = np.abs(total - found.ravel()) > precision * sizes
    if np.any(off):
        first = int(np.argmax(off))
        sums = {"sum": brief(total[first]), "value": brief(found.ravel()[first])}
        return message("terms.not-linear", **sums)
    return numbers


def nothing_like(given: list[Any]) -> Any:
    """Zeros in the place of gradients; None where none arrived."""
    return copied(given, lambda array: np.zeros(array.shape, array.dtype))
