"""What can be edited at a step of a recording; whether what is asked for can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.budget import ctx_changes
from minigrad.tracing.editing import StepEdit
from minigrad.tracing.messages import message
from minigrad.tracing.values import short_repr

Json = dict[str, Any]


@dataclass
class Editable:
    """What can be edited at a step, by its kind: saved, attributes or gradient."""

    position: int
    ctx: Json | None
    owner: str
    there: dict[str, dict[Any, Json]]

    def __str__(self) -> str:
        """All of it, in words."""
        parts = [f"saved[{place}]" for place in self.there["saved"]]
        parts += [f"the attribute {name}" for name in self.there["attributes"]]
        told = f"{' and '.join(parts)} of {self.owner}" if parts else ""
        arrived = len(self.there["gradient"])
        if not arrived:
            return told or "nothing: no ctx is at work, and no gradient arrives"
        words = "the gradient" if arrived == 1 else "the gradients"
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
    ctxs = {ctx["id"]: ctx for ctx in data["ctxs"]}
    if node:
        current = ctx_called(ctxs, node)
    ctx = ctxs.get(current)
    saved: dict[Any, Json] = {}
    attributes: dict[Any, Json] = {}
    held: Json | None
    for key, ref in entries.get(current, {}).items():
        kind, _, name = key.partition(".")
        if kind == "saved":
            held = ref if ref["t"] == "S" else unpacked_after(data, position, ctx, name)
            if held is not None:
                saved[int(name)] = held
        elif kind == "attr":
            attributes[name] = ref
    gradient = gradients_of(data["events"][position - 1])
    there = {"saved": saved, "attributes": attributes, "gradient": gradient}
    return Editable(position, ctx, ctx["name"] if ctx else "", there)


def unpacked_after(
    data: Json, position: int, ctx: Json | None, place: str
) -> Json | None:
    """What a hook, or a checkpoint, makes later of a value that is kept packed."""
    where = (ctx and ctx["node"], place)
    for event in data["events"][position:]:
        read = event["k"] == "hook.unpack" and (event.get("n"), str(event.get("place")))
        if read == where:
            return event["new"]  # type: ignore[no-any-return]
    return None


def gradients_of(event: Json) -> dict[Any, Json]:
    """The gradients that a step tells of, by output; those that did not arrive not."""
    kind = event["k"]
    told: list[Any] = event["g"] if kind == "node.enter" else []
    if kind == "backward.begin":
        told = [root["g"] for root in event["roots"]]
    elif kind in ("grad", "grad.accumulate"):
        told = [event["g" if kind == "grad" else "new"]]
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
    leaf: Mapping[str, Any] | None = None,
) -> StepEdit:
    """The edit that is asked for, once it is sure that it can be made.

    Raises: ArgumentValueError that says what can be edited at the step.
    """
    if leaf:
        return planned_leaf(data, *next(iter(leaf.items())))
    here = editable_at(data, position, node)
    if saved and gradient is None:
        position = when_read(data, when_kept(data, here))
        here = editable_at(data, position, node)
    wanted: dict[str, Mapping[Any, Any]] = {
        "saved": saved or {},
        "attributes": attributes or {},
        "gradient": {},
    }
    if gradient is not None:
        by_slot = isinstance(gradient, Mapping)
        wanted["gradient"] = gradient if by_slot else {only_slot(here): gradient}
    if not any(wanted.values()):
        raise refused(
            f"nothing is to be another at step {position}",
            f"give saved=, attributes= or gradient=. There is {here}",
        )
    values = {
        kind: {
            place: new_value(data, here, kind, place, value)
            for place, value in by_place.items()
        }
        for kind, by_place in wanted.items()
    }
    values["sent"] = {}
    event = data["events"][position - 1]
    if event["k"] == "grad" and values["gradient"]:
        edge = next(one for one in data["graph"]["edges"] if one["id"] == event["e"])
        values["sent"][edge["slot"], edge["id"]] = values["gradient"].pop(0)
        position = when_entered(data, position, edge["from"])
    return StepEdit(position, here.ctx["id"] if here.ctx else "", here.owner, values)


def planned_leaf(data: Json, name: str, value: Any) -> StepEdit:
    """The edit of a tensor that no call has made, by its name or its key.

    Raises: ArgumentValueError if there is none of this name, or the value doesn't fit.
    """
    made: set[str] = set()
    there: dict[str, Json] = {}
    for event in data["events"]:
        for one in event.get("ins", ()):
            if one.get("v") and "n" not in one and one["t"] not in made:
                there.setdefault(one["t"], one)
        made.update([one["t"] for one in event.get("outs", ()) if "t" in one])
    found = [one for one in there.values() if one["name"] == name]
    found += [one for key, one in there.items() if key == name]
    if not found:
        known = ", ".join([one["name"] or key for key, one in there.items()])
        raise refused(
            f"the program starts with no tensor {name!r}",
            f"take one of {known or 'none'}",
        )
    leaf = found[0]
    owner = leaf["name"] or message("tensor.leaf")
    new = numbers_like(data, leaf["v"], value, owner)
    when = leaf["t"], leaf.get("ver", 0)
    return StepEdit(when, "", owner, {"leaf": {leaf["t"]: new}})


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
    is_read = event["k"] == "hook.unpack"
    return when_entered(data, position, event.get("n")) if is_read else position


def when_entered(data: Json, position: int, node: str | None) -> int:
    """The last step before ``position`` at which a node begins to run."""
    for before in range(position - 1, 0, -1):
        begun = data["events"][before - 1]
        if begun["k"] == "node.enter" and begun["n"] == node:
            return before
    return position


def only_slot(here: Editable) -> int:
    """Where the one gradient of a step arrives.

    Raises: ArgumentValueError if there are several.
    """
    there = here.there["gradient"]
    if len(there) > 1:
        raise refused(
            f"{len(there)} gradients arrive at step {here.position}",
            f"say which: gradient={{0: ...}}; there are {', '.join(map(str, there))}",
        )
    return next(iter(there), 0)


def called(kind: str, place: Any) -> str:
    """What can be edited, in a message."""
    words = {"saved": f"saved[{place}]", "attributes": f"the attribute {place!r}"}
    words["leaf"] = "the leaf"
    return words.get(kind, "the gradient")


def new_value(data: Json, here: Editable, kind: str, place: Any, value: Any) -> Any:
    """What takes the place of something that is there.

    Raises: ArgumentValueError if it is not there, or the new one does not fit.
    """
    what, there = called(kind, place), here.there[kind]
    if place not in there:
        if kind == "gradient":
            what = f"a gradient {place}" if there else "a gradient"
        raise refused(
            f"there is not {what} to edit at step {here.position}",
            f"edit what is there: {here}; or take another step",
        )
    has_numbers = "v" in there[place]
    return numbers_like(data, there[place], value, what) if has_numbers else value


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
        wanted = errors.count_of(int(np.prod(shape)), "number")
        raise refused(
            f"{what} has shape {list(shape)}, and the new one {list(numbers.shape)}",
            f"give {wanted} in the shape {list(shape)}",
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


def refused(what: str, fix: str) -> errors.ArgumentValueError:
    """The error for an edit that cannot be made."""
    return errors.ArgumentValueError(errors.message("what_if", what, fix))
