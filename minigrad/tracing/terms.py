"""The terms of which each element of a gradient is made, found by asking the rule.

A rule of backward is linear in the gradient: run with a single 1 among zeros, it gives
the slopes of all inputs by that one output. So it is asked once for each element.
"""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np

from minigrad.engine import observe
from minigrad.engine.core.backward import fit
from minigrad.engine.core.node import NOT_A_TENSOR
from minigrad.engine.grad_mode import this_mode
from minigrad.tracing.copies import array_of, copied, exact_copy, node_like
from minigrad.tracing.harmless import harm_of
from minigrad.tracing.messages import message
from minigrad.tracing.modes import Modes, quiet
from minigrad.tracing.pictures import json_number
from minigrad.tracing.rules import Rule
from minigrad.tracing.values import brief, error_text

MOST_CALLS: Final = 2_000
"""How often rules are asked for one recording, all together."""
MOST_NUMBERS: Final = 8_000
MOST_SECONDS: Final = 0.1
"""How long a rule may take that is asked for each element."""
MOST_SECONDS_IN_ALL: Final = 3.0
Slots = dict[str, Any]


def add_terms(rules: list[Rule], events: list[dict[str, Any]]) -> None:
    """Write on each step in which a node has its turn the terms of what it returned.

    ``terms`` has for each argument of the rule four numbers for each slope that is not
    0: the element of the argument, the output and the element of it, and the slope; or
    in words why there are none.
    """
    shown = {id(event) for event in events}
    calls = numbers = 0
    begun = time.perf_counter()
    with (
        observe.unobserved(),
        np.errstate(all="ignore"),
        Modes().in_force(),
        quiet(),
    ):
        for rule in rules:
            event = rule.event
            if id(event) not in shown:
                continue  # left out of a long recording
            calls += 2 + sum(
                [array_of(one).size for one in rule.given if one is not None]
            )
            late = time.perf_counter() - begun > MOST_SECONDS_IN_ALL
            if late or calls > MOST_CALLS or numbers > MOST_NUMBERS:
                return
            event["terms"] = terms_of(rule)
            numbers += sum([len(told) for told in event["terms"].values()])


def terms_of(rule: Rule) -> Slots:
    """For each argument of a rule its slopes, or why there are none."""
    slots = [slot for slot, one in enumerate(rule.found) if one is not None]
    reason = refusal(rule)
    if rule.is_hooked:
        reason = reason or message("terms.hook")
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
    return harm_of(type(rule.node))


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
        if recorded is not None and (now is None or differ(recorded, now)):
            return message("terms.unsteady")
    return ""


def differ(recorded: Any, now: Any) -> bool:
    """Whether two gradients differ in a bit."""
    one, other = array_of(recorded), array_of(now)
    kinds = (one.shape, one.dtype), (other.shape, other.dtype)
    return kinds[0] != kinds[1] or one.tobytes() != other.tobytes()


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
