"""The sentences of what happens beside apply and backward."""

from __future__ import annotations

from typing import Any

from minigrad.engine.tensor import Tensor
from minigrad.tracing.sentences import bytes_text, joined
from minigrad.tracing.values import brief, safely

HOOK_PLACES = {
    "tensor": "The hook {hook} on {owner} is given the gradient {given}",
    "pre": "The prehook {hook} of {owner} is given what arrived: {given}",
    "post": "The hook {hook} of {owner} is given what that returned: {given}",
    "accumulated": "The hook {hook} on {owner} is called, for .grad is up to date",
}


MOST_SAVERS = 4
"""Of more nodes than these a sentence gives the number alone."""


def name_of_hook(hook: Any) -> str:
    """A hook by the name it was defined with."""
    name = safely(lambda: str(getattr(hook, "__name__", "")), "")
    return name or f"<{type(hook).__name__}>"


def in_words(value: Any) -> str:
    """A gradient, or several."""
    if isinstance(value, tuple):
        return joined([brief(item) for item in value])
    return brief(value)


def hook(kind: str, name: str, owner: str, given: Any, result: Any) -> str:
    """A hook was called: what went in, and what came out."""
    start = HOOK_PLACES[kind].format(hook=name, owner=owner, given=in_words(given))
    if kind == "accumulated":
        return f"{start}: {brief(given.grad)}."
    if result is None:
        return f"{start}. It returned None: that stays as it is."
    return f"{start}. It returned {in_words(result)}, which goes on in its place."


def output_of(node: str, slot: int, outputs: int) -> str:
    """A node's output, by number where it has several."""
    return f"output {slot} of {node}" if outputs > 1 else f"the output of {node}"


def size_of(value: Any) -> str:
    """The bytes of what is kept, in brackets; nothing where they are not known."""
    array = value.array if isinstance(value, Tensor) else value
    size = getattr(array, "nbytes", None)
    return f" ({bytes_text(size)})" if isinstance(size, int) else ""


def packed(hook: str, name: str, tensor: Tensor, kept: Any) -> str:
    """A pack hook was called."""
    return (
        f"The pack hook {hook} is given {name}{size_of(tensor)} and returned "
        f"{brief(kept)}{size_of(kept)}: that is kept instead."
    )


def unpacked(hook: str, owner: str, kept: Any, tensor: Any) -> str:
    """An unpack hook was called."""
    return (
        f"{owner} reads what it saved: the unpack hook {hook} is given {brief(kept)} "
        f"and returned {brief(tensor)}."
    )


def forgotten(name: str) -> str:
    """A checkpoint keeps nothing."""
    return f"The checkpoint does not keep {name}: backward will compute it again."


def remembered(owner: str, tensor: Any) -> str:
    """A checkpoint has recomputed what was asked for."""
    return f"{owner} gets the value that was computed again: {brief(tensor)}."


def rerun_begins() -> str:
    """A checkpointed part starts once more."""
    return (
        "A saved value is asked for that the checkpoint did not keep: "
        "its part of forward runs again."
    )


def rerun_ends() -> str:
    """A checkpointed part has run once more."""
    return "What the checkpoint had forgotten is there again."


def changed_in_place(name: str, before: int, now: int, tensor: Any) -> str:
    """A version went up."""
    return (
        f"{name} was changed in place: version {before} became {now}, its value is "
        f"now {brief(tensor)}."
    )


def saved_before(savers: list[tuple[str, int]]) -> str:
    """Who had saved what was changed, and at which version."""
    if not savers:
        return ""
    versions: dict[int, list[str]] = {}
    for name, version in savers:
        versions.setdefault(version, []).append(name)
    parts = [f"{several(names)} at version {v}" for v, names in versions.items()]
    return f" It had been saved by {joined(parts)}."


def several(names: list[str]) -> str:
    """Some names, and how many more there are."""
    more = len(names) - MOST_SAVERS
    shown = [*names[:MOST_SAVERS], f"{more} more"] if more > 0 else names
    return joined(shown)


def handle_moved(name: str, old: str, new: str) -> str:
    """A variable has another grad_fn than before."""
    before = f"the {old} before it" if old == new else old
    return (
        f" {name} has moved on: its grad_fn is this node now, and no longer {before}."
    )


def tangent(
    name: str | None, maker: str | None, tensor: Tensor, tangent: Tensor
) -> str:
    """A tensor got a tangent."""
    who = name or (f"The output of {maker}" if maker else f"The value {brief(tensor)}")
    return f"{who} has the tangent {brief(tangent)} beside it."


def module(
    kind: str, name: str | None, nodes: list[str], size: int, result: Any
) -> str:
    """A layer has run."""
    who = f"{name}, a {kind}," if name else f"A {kind}"
    keeps = f" and keep{'s' * (len(nodes) == 1)} {bytes_text(size)} for backward"
    return (
        f"{who} has run. {joined(nodes)} joined the graph{keeps if size else ''}. "
        f"Output: {brief(result)}."
    )


def backward_failed() -> str:
    """A backward inside another one has raised, and the other one goes on."""
    return "An error has ended this backward; the one around it goes on."


def advice(what: str) -> str:
    """Something that runs today and will be wrong one day."""
    return f"Teaching mode: {what.rstrip('.')}."


def captured(owner: str, gradient: Any) -> str:
    """A gradient that ``grad`` was asked for."""
    return f"The gradient {brief(gradient)} at {owner} is what was asked for: kept."


def unused(name: str, slot: int, shape: Any) -> str:
    """An output that nobody used."""
    start = f"No gradient arrived for output {slot} of {name}: backward is given "
    if shape is False:
        return f"{start}None there."
    return f"{start}zeros of shape {tuple(shape)} there."


def no_wire(slots: list[int]) -> str:
    """Outputs through which no gradient comes back."""
    if not slots:
        return ""
    which = joined([str(slot) for slot in slots])
    many = "Outputs" if len(slots) > 1 else "Output"
    return f" {many} {which} cannot have a gradient: no wire will lead there."


def second_graph(order: int) -> str:
    """A node made by a backward that is itself recorded."""
    return f" It belongs to graph {order}: the backward that runs is recorded too."
