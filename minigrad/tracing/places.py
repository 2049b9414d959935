"""What can be edited in a recording, as Python and its page call it; and with what."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.budget import fill_boxes
from minigrad.tracing.messages import message
from minigrad.tracing.values import short_repr

Json = dict[str, Any]
One = TypeVar("One")


@dataclass
class Place:
    """Something that can be edited: a leaf, an entry of a ctx, or a gradient.

    ``key`` says which: the key of a leaf and its version, an entry such as "saved.0",
    the output whose gradient it is. ``ref`` is what is there after the step of number
    ``position``; ``owner`` the name of the leaf, or of the node that has the ``ctx``.
    It's ``shown`` at places of the page; a gradient that is sent is on an ``edge``.
    """

    kind: str
    key: Any
    position: int
    ref: Json
    owner: str = ""
    ctx: str = ""
    shown: tuple[str, ...] = ()
    edge: Any = None

    def __str__(self) -> str:
        return self.owner if self.kind == "leaf" else called(self.kind, self.key)


def called(kind: str, key: Any) -> str:
    """What stands at a key, as people write it."""
    if kind == "entry":
        family, _, name = key.partition(".")
        return f"saved[{name}]" if family == "saved" else f"ctx.{name or family}"
    return kind if key is None else f"{kind}[{key}]"


def places_at(data: Json, position: int, node: str = "") -> list[Place]:
    """What can be edited after a step: on the ctx at work, or that of ``node``.

    And the gradients that the step tells of. Raises: ArgumentValueError for a ``node``
    that there is not, or that there is more than once.
    """
    entries: dict[str, Json] = {}
    current, ctxs = "", {ctx["id"]: ctx for ctx in data["ctxs"]}
    for event in data["events"][:position]:
        fill_boxes(entries, event)
        current = event.get("cid", event.get("ctx", {}).get("id", current))
    if node:
        names = {i: (i, ctx["node"], ctx["name"]) for i, ctx in ctxs.items()}
        found = [one for one in names if node in names[one]]
        known = [ctxs[one]["node"] or one for one in found]
        known = known or list(dict.fromkeys(name for *_, name in names.values()))
        current = the_one(found, f"node {node}", known)
    places = []
    for key, ref in entries.get(current, {}).items():
        ctx, family = ctxs[current], key.partition(".")[0]
        if family == "saved" and ref["t"] != "S":
            ref = unpacked(data, position, ctx["node"], key)
        if family in ("saved", "attr") and ref is not None:
            shown = (f"entry {current} {key}",)
            places.append(
                Place("entry", key, position, ref, ctx["name"], current, shown)
            )
    return places + gradients_at(data, position)


def unpacked(data: Json, position: int, node: str | None, key: str) -> Json | None:
    """What a hook, or a checkpoint, makes later of a value that is kept packed."""
    events = data["events"][position - 1 :]
    unpacks = [one for one in events if one["k"] == "hook.unpack" and "place" in one]
    unpacks = [one for one in unpacks if one.get("n") == node]
    found = [one["new"] for one in unpacks if key == f"saved.{one['place']}"]
    return found[0] if found else None


def gradients_at(data: Json, position: int) -> list[Place]:
    """The gradients that a step tells of, by output; those that did not arrive not."""
    event, edge = data["events"][position - 1], None
    kind, node = event["k"], event.get("n")
    told: list[tuple[Any, tuple[str, ...]]] = []
    if kind == "node.enter":
        told = [(ref, at_node(node, slot)) for slot, ref in enumerate(event["g"])]
    elif kind == "backward.begin":
        told = [(one["g"], at_node(one["n"], one["slot"])) for one in event["roots"]]
    elif kind == "grad.accumulate":
        told = [(event["new"], (f"grad {node}",))]
    elif kind == "grad":
        edge = event["e"]
        shown = f"edge {edge}", f"grad {node}", *at_node(node, event.get("slot", 0))
        told = [(event["g"], shown)]
    return [
        Place("gradient", slot, position, ref, shown=shown, edge=edge)
        for slot, (ref, shown) in enumerate(told)
        if ref is not None
    ]


def at_node(node: str | None, slot: int) -> tuple[str, ...]:
    """Where a page shows what waits at a node."""
    names = f"waits {node}", f"node {node}"
    return *[f"{name} {slot}" for name in names], *(() if slot else names)


def leaves_of(data: Json) -> list[Place]:
    """The tensors that no call has made, each as the first call was given it."""
    made: set[str] = set()
    nodes: dict[str, str] = {}
    there: dict[str, Json] = {}
    for event in data["events"]:
        for one in event.get("ins", ()):
            if one.get("v") and "n" not in one and one["t"] not in made:
                there.setdefault(one["t"], one)
                nodes[one["t"]] = nodes.get(one["t"]) or one.get("leaf", "")
        made.update([one["t"] for one in event.get("outs", ()) if "t" in one])
    found = []
    for key, one in there.items():
        owner = one["name"] or message("tensor.leaf")
        shown = f"leaf {key}", f"node {nodes[key]}"
        use = key, one.get("ver", 0)
        found.append(Place("leaf", use, 0, one["v"], owner, shown=shown))
    return found


def place_at(data: Json, what: str, position: int) -> Place | None:
    """What a place of the page, such as "entry c0 saved.0", shows at a step.

    A gradient is the newest that was told of the node, the edge or the ``.grad``.
    """
    kind, name = what.split(" ")[:2]
    _, is_data, tensor = name.rpartition(".data")
    node = f"node {name.partition('__')[0]}" if kind in ("node", "value") else ""
    for leaf in leaves_of(data):
        if node in leaf.shown or (is_data and leaf.key[0] == tensor):
            return leaf
    of_entry = kind == "entry" and position > 0
    there = places_at(data, position, name) if of_entry else []
    steps = range(position, 0, -1) if kind in ("node", "waits", "edge", "grad") else ()
    told = itertools.chain([there], (gradients_at(data, at) for at in steps))
    return next((one for each in told for one in each if what in one.shown), None)


def leaf_called(data: Json, name: str) -> Place:
    """One of them, by its name or its key.

    Raises: ArgumentValueError if there is none of this name.
    """
    there = leaves_of(data)
    found = [one for one in there if name == one.owner]
    found += [one for one in there if name == one.key[0]]
    return the_one(found[:1], f"tensor {name!r} that the program starts with", there)


def asked_for(there: list[Place], kind: str, key: Any, step: int) -> Place:
    """One of the places at a step; with no key the only one of its kind.

    Raises: ArgumentValueError if it's not there.
    """
    found = [one for one in there if one.kind == kind and key in (one.key, None)]
    return the_one(found, f"{called(kind, key)} to edit at step {step}", there)


def the_one(found: list[One], what: str, there: list[One]) -> One:
    """The one that was found. Raises: ArgumentValueError for none, or several."""
    if len(found) == 1:
        return found[0]
    raise refused(
        f"there is {'more than one' if found else 'no'} {what}",
        f"take one of {', '.join(map(str, there))}" if there else "take another step",
    )


def fitting(data: Json, place: Place, value: Any) -> Any:
    """The new numbers, in the shape and dtype of the old ones; or what makes them.

    Raises: ArgumentValueError for another shape, or for what is no number.
    """
    if callable(value) or "v" not in place.ref:
        return value
    known = data["values"][place.ref["v"]]
    old = np.broadcast_to(np.zeros((), known["dtype"]), known["shape"])
    if not isinstance(value, Mapping):
        return numbers_like(old, value, str(place))
    elements = {}
    for index, number in value.items():
        part = old
        with contextlib.suppress(IndexError):
            part = old[index]
        if np.ndim(part) or part is old:
            example = tuple([0] * old.ndim) if old.ndim != 1 else 0
            raise refused(
                f"{place} has shape {[*old.shape]}, and no element {index}",
                f"name an element by {errors.count_of(old.ndim, 'number')}, such as "
                f"{{{example}: 5.0}}",
            )
        elements[index] = numbers_like(part, number, str(place))
    return functools.partial(with_elements, elements)


def numbers_like(old: Any, value: Any, what: str) -> Any:
    """New numbers in the shape and dtype of the old ones.

    Raises: ArgumentValueError for others.
    """
    dtype, shape = old.dtype, [*old.shape]
    value = value.array if isinstance(value, Tensor) else value
    numbers = None
    with contextlib.suppress(TypeError, ValueError):  # no number, or rows of all sizes
        given = np.asarray(value)
        numbers = given.astype(dtype)
    if numbers is None or (dtype.kind in "biu" and not np.array_equal(numbers, given)):
        raise refused(
            f"{what} holds {dtype} numbers, and not {short_repr(value)}",
            f"give {dtype} numbers",
        )
    if [*numbers.shape] != shape:
        raise refused(
            f"{what} has shape {shape}, and the new one {[*numbers.shape]}",
            f"give {errors.count_of(old.size, 'number')} in the shape {shape}",
        )
    return numbers


def with_elements(elements: Mapping[Any, Any], old: Any) -> Any:
    """``old`` with other numbers in some places."""
    new = old.copy()
    for index, number in elements.items():
        new[index] = number
    return new


def refused(what: str, fix: str) -> errors.ArgumentValueError:
    """The error for an edit that cannot be made."""
    return errors.ArgumentValueError(errors.message("what_if", what, fix))
