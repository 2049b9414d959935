"""What can be edited at a step of a recording; whether what is asked for can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.tensor import Tensor
from minigrad.tracing.editing import StepEdit
from minigrad.tracing.trace import ctx_changes
from minigrad.tracing.values import short_repr

Json = dict[str, Any]


@dataclass
class Editable:
    """What can be edited at a step: saved values, attributes, gradients, by place."""

    position: int
    ctx: Json | None
    owner: str
    saved: dict[int, Json] = field(default_factory=dict)
    attributes: dict[str, Json] = field(default_factory=dict)
    gradients: dict[int, Json] = field(default_factory=dict)

    def __str__(self) -> str:
        """All of it, in words."""
        parts = [f"saved[{place}]" for place in self.saved]
        parts += [f"the attribute {name}" for name in self.attributes]
        told = f"{' and '.join(parts)} of {self.owner}" if parts else ""
        if not self.gradients:
            return told or "nothing: no ctx is at work, and no gradient arrives"
        words = "the gradient" if len(self.gradients) == 1 else "the gradients"
        return f"{told}, and {words}" if told else words


def editable_at(data: Json, position: int, node: str = "") -> Editable:
    """What can be edited after ``position`` events, of the ctx at work or of ``node``.

    Raises: ArgumentValueError for a ``node`` that there is not.
    """
    entries: dict[str, Json] = {}
    current = ""
    for event in data["events"][:position]:
        for change in ctx_changes(event):
            there = entries.setdefault(change["id"], {})
            there.update(change["set"])
            for key in change["del"]:
                there.pop(key, None)
        current = event.get("cid", event.get("ctx", {}).get("id", current))
    event = data["events"][position - 1]
    ctxs = {ctx["id"]: ctx for ctx in data["ctxs"]}
    if node:
        current = ctx_called(ctxs, node)
    ctx = ctxs.get(current)
    found = Editable(position, ctx, ctx["name"] if ctx else "")
    held: Json | None
    for key, ref in entries.get(current, {}).items():
        kind, _, name = key.partition(".")
        if kind == "saved":
            held = ref if ref["t"] == "S" else unpacked_after(data, position, ctx, name)
            if held is not None:
                found.saved[int(name)] = held
        elif kind == "attr":
            found.attributes[name] = ref
    found.gradients = gradients_of(event)
    return found


def unpacked_after(
    data: Json, position: int, ctx: Json | None, place: str
) -> Json | None:
    """What a hook, or a checkpoint, makes later of a value that is kept packed."""
    node = ctx and ctx["node"]
    for event in data["events"][position:]:
        is_read = event["k"] == "hook.unpack" and event.get("n") == node
        if is_read and str(event.get("place")) == place:
            found: Json | None = event["new"]
            return found
    return None


def gradients_of(event: Json) -> dict[int, Json]:
    """The gradients that a step tells of, by output; those that did not arrive not."""
    told: list[Any] = []
    if event["k"] == "node.enter":
        told = event["g"]
    elif event["k"] == "backward.begin":
        told = [root["g"] for root in event["roots"]]
    elif event["k"] == "grad":
        told = [event["g"]]
    elif event["k"] == "grad.accumulate":
        told = [event["new"]]
    return {slot: ref for slot, ref in enumerate(told) if ref is not None}


def ctx_called(ctxs: Mapping[str, Json], node: str) -> str:
    """The ctx of a node that is named by its label, its id or the id of its ctx.

    Raises: ArgumentValueError if there is none, or several have the label.
    """
    names = ("id", "node", "name")
    found = [id for id, ctx in ctxs.items() if node in [ctx[name] for name in names]]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join([f"{ctxs[id]['node'] or id}" for id in found])
        raise refused(f"{len(found)} nodes are called {node}", f"take one of {ids}")
    known = ", ".join(dict.fromkeys([ctx["name"] for ctx in ctxs.values()]))
    raise refused(f"there is no node {node!r}", f"take one of {known or 'none'}")


def planned(
    data: Json,
    position: int,
    saved: Mapping[int, Any] | None,
    attributes: Mapping[str, Any] | None,
    gradient: Any,
    node: str = "",
) -> StepEdit:
    """The edit that is asked for, once it is sure that it can be made.

    Raises: ArgumentValueError that says what can be edited at the step.
    """
    here = editable_at(data, position, node)
    if saved and gradient is None:
        position = when_read(data, when_kept(data, here))
        here = editable_at(data, position, node)
    if not saved and not attributes and gradient is None:
        raise refused(
            f"nothing is to be another at step {position}",
            f"give saved=, attributes= or gradient=. There is {here}",
        )
    ctx = here.ctx["id"] if here.ctx else ""
    edit = StepEdit(position, ctx, here.owner, {}, {}, {})
    for place, value in (saved or {}).items():
        what = f"saved[{place}]"
        ref = found(here.saved, place, what, here)
        edit.saved[place] = numbers_like(data, ref, value, what)
    for name, value in (attributes or {}).items():
        ref = found(here.attributes, name, f"the attribute {name!r}", here)
        is_array = ref["t"] in "TA"
        edit.attributes[name] = (
            numbers_like(data, ref, value, f"the attribute {name!r}")
            if is_array
            else value
        )
    if gradient is not None:
        by_slot = gradient if isinstance(gradient, Mapping) else {None: gradient}
        for slot, value in by_slot.items():
            slot = only_slot(here) if slot is None else slot
            ref = found(here.gradients, slot, gradient_word(slot, here), here)
            edit.gradients[slot] = numbers_like(data, ref, value, "the gradient")
    return edit


def when_kept(data: Json, here: Editable) -> int:
    """The step at which a node that is being made has saved what it was told to."""
    node = here.ctx["node"] if here.ctx else None
    for position, event in enumerate(data["events"], 1):
        if event["k"] == "graph.node" and event["n"] == node:
            return max(position, here.position)
    return here.position


def when_read(data: Json, position: int) -> int:
    """Of a step that unpacks a saved value the one before, at which its node begins."""
    event = data["events"][position - 1]
    if event["k"] != "hook.unpack":
        return position
    for before in range(position - 1, 0, -1):
        begun = data["events"][before - 1]
        if begun["k"] == "node.enter" and begun["n"] == event.get("n"):
            return before
    return position


def gradient_word(slot: int, here: Editable) -> str:
    """What a gradient is called in a message."""
    return f"a gradient {slot}" if here.gradients else "a gradient"


def only_slot(here: Editable) -> int:
    """Where the one gradient of a step arrives.

    Raises: ArgumentValueError if there are several.
    """
    if len(here.gradients) > 1:
        several = ", ".join(map(str, here.gradients))
        raise refused(
            f"{len(here.gradients)} gradients arrive at step {here.position}",
            f"say which: gradient={{0: ...}}; there are {several}",
        )
    return next(iter(here.gradients), 0)


def found(there: Mapping[Any, Json], key: Any, what: str, here: Editable) -> Json:
    """What is to be another.

    Raises: ArgumentValueError if it is not there.
    """
    if key not in there:
        raise refused(
            f"there is not {what} to edit at step {here.position}",
            f"edit what is there: {here}; or take another step",
        )
    return there[key]


def numbers_like(data: Json, ref: Json, value: Any, what: str) -> Any:
    """The new numbers, in the shape and dtype of the old ones; or what makes them.

    Raises: ArgumentValueError for another shape, or for what is no number.
    """
    if callable(value):
        return value
    if isinstance(value, Mapping):
        check_places(value, data["values"][ref["v"]]["shape"], what)
        return lambda old: with_elements(old, value)
    value = value.array if isinstance(value, Tensor) else value
    known = data["values"][ref["v"]]
    shape, dtype = tuple(known["shape"]), known["dtype"]
    try:
        given = np.asarray(value)
        numbers = given.astype(dtype)
    except (TypeError, ValueError):
        raise refused(
            f"{short_repr(value)} is no number for {what}", f"give {dtype} numbers"
        ) from None
    if numbers.shape != shape:
        raise refused(
            f"{what} has shape {list(shape)}, and the new one {list(numbers.shape)}",
            f"give {numbers_wanted(shape)} in the shape {list(shape)}",
        )
    is_cut = given.dtype.kind in "fc" and numbers.dtype.kind in "biu"
    if is_cut and not np.array_equal(numbers, given):
        raise refused(
            f"{what} is of dtype {dtype}, which cannot hold {short_repr(value)}",
            f"give {dtype} numbers",
        )
    return numbers


def check_places(elements: Mapping[Any, Any], shape: list[int], what: str) -> None:
    """Raises: ArgumentValueError for an element that is not there."""
    for place in elements:
        index = place if isinstance(place, tuple) else (place,)
        inside = len(index) == len(shape) and all(
            isinstance(i, int) and -length <= i < length
            for i, length in zip(index, shape, strict=True)
        )
        if not inside:
            raise refused(
                f"{what} has shape {shape}, and no element {place}",
                f"name an element by {errors.count_of(len(shape), 'number')}, such as "
                f"{{{tuple([0] * len(shape)) if len(shape) != 1 else 0}: 5.0}}",
            )


def with_elements(old: Any, elements: Mapping[Any, Any]) -> Any:
    """``old`` with other numbers in some places."""
    new = old.copy()
    for place, number in elements.items():
        new[place] = number
    return new


def numbers_wanted(shape: tuple[int, ...]) -> str:
    """How many numbers an array takes."""
    return errors.count_of(int(np.prod(shape)), "number")


def refused(what: str, fix: str) -> errors.ArgumentValueError:
    """The error for an edit that cannot be made."""
    return errors.ArgumentValueError(errors.message("what_if", what, fix))
