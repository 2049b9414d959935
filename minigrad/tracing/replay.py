"""A recording proves itself: every node runs again and must find the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.backward import fit
from minigrad.engine.core.function import Function
from minigrad.engine.core.node import NOT_A_TENSOR
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import this_mode, unrecorded
from minigrad.tracing.kept import (
    KeptValues,
    Run,
    array_of,
    copied,
    exact_copy,
    is_array,
    node_like,
)
from minigrad.tracing.values import error_text

CALLED: Final = {
    "forward": ("forward call", "forward calls"),
    "backward": ("backward rule", "backward rules"),
    "sum": ("sum where gradients meet", "sums where gradients meet"),
    "arrival": ("arrival at a node", "arrivals at nodes"),
    "accumulate": ("addition to .grad", "additions to .grad"),
}
"""What was run again: one of it, and several."""


class ReplayError(errors.MinigradError, RuntimeError):
    """A recording that cannot be replayed, or that does not come out as recorded."""


@dataclass(frozen=True)
class Replayed:
    """What was run again, and found bit for bit; what was left out, and why."""

    counts: dict[str, int]
    left_out: dict[str, int]

    def __repr__(self) -> str:
        done = [f"{n} {CALLED[what][n != 1]}" for what, n in self.counts.items()]
        text = f"<Replayed bit for bit: {', '.join(done) or 'nothing'}"
        for reason, count in self.left_out.items():
            text += f"; left out: {errors.count_of(count, 'node')}, for {reason}"
        return f"{text}>"


def replay(kept: KeptValues | None, events: list[Any]) -> Replayed:
    """Run all that was kept again, and compare each bit.

    Raises: ReplayError where nothing was kept, and for the first difference.
    """
    if kept is None or kept.is_full or (kept.foreign and not kept.runs):
        raise not_kept(kept)
    steps = {id(event): number for number, event in enumerate(events, 1)}
    counts: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    if kept.foreign:
        left_out["they are torch's"] = kept.foreign
    with silence():
        for run in kept.runs:
            if run.skipped:
                left_out[run.skipped] += 1
                continue
            difference = difference_of(run)
            if difference:
                raise not_the_same(run, steps.get(id(run.event)), difference)
            counts[run.what] += 1
    return Replayed(dict(counts), dict(left_out))


@contextmanager
def silence() -> Iterator[None]:
    """Nobody listens to what runs again, nor advises about it."""
    with observe.unobserved(), np.errstate(all="ignore"):
        yield


def difference_of(run: Run) -> str:
    """Where a run does not find again what was recorded; empty if it does."""
    try:
        found = AGAIN[run.what](run)
    except Exception as error:
        return f"it stopped with {error_text(error)}"
    recorded = run.found or []
    if len(found) != len(recorded):
        return f"it gave {len(found)} values where {len(recorded)} were recorded"
    word = "the gradient for argument" if run.what == "backward" else "output"
    for place, pair in enumerate(zip(recorded, found, strict=True)):
        difference = unlike(f"{word} {place}" if len(found) > 1 else "", *pair)
        if difference:
            return difference
    return ""


def forward_again(run: Run) -> list[Any]:
    """The outputs of a call, from the inputs that were kept."""
    inputs = copied(run.given, exact_copy)
    if issubclass(run.function, Builtin):
        arrays = [one.array if isinstance(one, Tensor) else one for one in inputs]
        result = run.function.forward(*arrays)
    elif run.function.setup_context is Function.setup_context:
        result = unrecorded(
            run.function.forward, node_like(run.node, exact_copy), *inputs
        )
    else:
        result = unrecorded(run.function.forward, *inputs)
    outputs = list(result) if isinstance(result, tuple) else [result]
    if run.in_place and isinstance(outputs[0], np.ndarray):
        outputs[0] = outputs[0].astype(array_of((run.found or [])[0]).dtype)
    return outputs


def backward_again(run: Run) -> list[Any]:
    """The gradients that a rule returns, from what arrived and what was saved."""
    node = node_like(run.node, exact_copy)
    gradients = copied(run.given, exact_copy)
    mode = this_mode()
    before = mode.grad_enabled, mode.rules_see_tensors
    try:
        mode.grad_enabled = run.create_graph
        mode.rules_see_tensors = run.carries_tensors
        returned = node._run_backward(gradients, run.create_graph)
        checked = node._gradients_by_edge(returned, run.carries_tensors)
        for slot, gradient in enumerate(checked):
            checked[slot] = None if gradient is None else fit(node, slot, gradient)
    finally:
        mode.grad_enabled, mode.rules_see_tensors = before
    for slot, recorded in enumerate(run.found or []):
        if recorded is None and run.has_hooks:
            checked[slot] = None  # hooks are not shown what nobody needs
        elif node._edges[slot] is None or node._edges[slot] is NOT_A_TENSOR:
            checked[slot] = recorded
    return list(checked)


def sum_again(run: Run) -> list[Any]:
    """What waits at a node when one more gradient has come."""
    first, *more = [array_of(one) for one in run.given]
    return [first + more[0] if more else first]


AGAIN: Final[dict[str, Callable[[Run], list[Any]]]] = {
    "forward": forward_again,
    "backward": backward_again,
    "sum": sum_again,
    "arrival": lambda run: run.given,
    "accumulate": sum_again,
}


def unlike(place: str, recorded: Any, found: Any) -> str:
    """How two values differ in a bit; empty if they do not."""
    if not is_array(recorded):
        return f"{place} was None" if is_array(found) else ""
    start = f"{place}: " if place else ""
    if found is None:
        return f"{start}None is found where an array was recorded"
    was, now = array_of(recorded), array_of(found)
    if was.shape != now.shape or was.dtype != now.dtype:
        return (
            f"{start}{was.dtype} of shape {was.shape} was recorded, "
            f"{now.dtype} of shape {now.shape} is found"
        )
    where = first_difference(was, now)
    if where is None:
        return ""
    element = f"element {list(where)}: " if where else ""
    return f"{start}{element}{was[where]!s} was recorded, {now[where]!s} is found"


def first_difference(was: Any, now: Any) -> tuple[int, ...] | None:
    """The first element of which a bit differs."""
    if was.size == 0 or was.tobytes() == now.tobytes():
        return None
    rows = [
        np.frombuffer(one.tobytes(), np.uint8).reshape(was.size, -1)
        for one in (was, now)
    ]
    first = int((rows[0] != rows[1]).any(axis=1).argmax())
    return tuple(int(i) for i in np.unravel_index(first, was.shape))


def not_the_same(run: Run, step: int | None, difference: str) -> ReplayError:
    """The error for a node that finds something else than was recorded."""
    node = (run.event or {}).get("n")
    name = run.label if node is None else f"{run.label} ({node})"
    what = CALLED[run.what][0]
    hint = (
        "if a rule has changed since, record again; a rule that draws random numbers "
        "or reads anything but its inputs and ctx cannot be replayed"
    )
    at = "" if step is None else f"step {step}, "
    return ReplayError(
        errors.message("replay", f"{at}{name}, {what}: {difference}", hint)
    )


def not_kept(kept: KeptValues | None) -> ReplayError:
    """The error for a recording without the values that are needed."""
    if kept is None:
        what = "this recording did not keep its values in full"
        fix = "record with minigrad.record(keep_values=True), and replay before saving"
    elif not kept.is_full:
        what = "only torch ran, and its nodes cannot be run again from here"
        fix = "record a program that runs on minigrad"
    else:
        what = f"the values needed more memory than {kept.most:,} bytes: none are kept"
        fix = "give more, record(keep_values=True, most_bytes=...), or record less"
    return ReplayError(errors.message("replay", what, fix))
