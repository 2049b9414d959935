"""What can be edited in a recording, and how that is done while it runs again."""

from __future__ import annotations

import contextlib
import copy
import functools
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.core.node import accumulate_node, split_edge
from minigrad.engine.core.saved import Record, share_tangents
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.tracing.budget import ctx_changes
from minigrad.tracing.copies import exact_copy
from minigrad.tracing.log import EventLog, step
from minigrad.tracing.messages import message
from minigrad.tracing.nodes import attributes_of
from minigrad.tracing.values import brief, short_repr

Json = dict[str, Any]


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
        return f"saved[{name}]" if family == "saved" else f"ctx.{name}"
    return kind if key is None else f"{kind}[{key}]"


def places_at(data: Json, position: int, node: str = "") -> list[Place]:
    """What can be edited after a step: on the ctx at work, or that of ``node``.

    And the gradients that the step tells of. Raises: ArgumentValueError for a ``node``
    that there is not.
    """
    entries: dict[str, Json] = {}
    current, ctxs = "", {ctx["id"]: ctx for ctx in data["ctxs"]}
    for event in data["events"][:position]:
        for change in ctx_changes(event):
            there = entries.setdefault(change["id"], {})
            there.update(change["set"])
            for key in change["del"]:
                there.pop(key, None)
        current = event.get("cid", event.get("ctx", {}).get("id", current))
    current = ctx_called(ctxs, node) if node else current
    found = []
    for key, ref in entries.get(current, {}).items():
        ctx, family = ctxs[current], key.partition(".")[0]
        if family == "saved" and ref["t"] != "S":
            ref = unpacked(data, position, ctx["node"], key)
        if family in ("saved", "attr") and ref is not None:
            shown = (f"entry {current} {key}",)
            found.append(
                Place("entry", key, position, ref, ctx["name"], current, shown)
            )
    return found + gradients_at(data, position)


def unpacked(data: Json, position: int, node: str | None, key: str) -> Json | None:
    """What a hook, or a checkpoint, makes later of a value that is kept packed."""
    for event in data["events"][position - 1 :]:
        is_its = event["k"] == "hook.unpack" and event.get("n") == node
        if is_its and key == f"saved.{event.get('place')}":
            return event["new"]  # type: ignore[no-any-return]
    return None


def gradients_at(data: Json, position: int) -> list[Place]:
    """The gradients that a step tells of, by output; those that did not arrive not."""
    event, edge = data["events"][position - 1], None
    kind, node = event["k"], event.get("n")
    told: list[tuple[Any, tuple[str, ...]]] = []
    if kind == "node.enter":
        told = [(ref, at_node(node, slot)) for slot, ref in enumerate(event["g"])]
    elif kind == "backward.begin":
        told = [
            (root["g"], at_node(root["n"], root["slot"])) for root in event["roots"]
        ]
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


def timed(data: Json, place: Place) -> Place:
    """The same, at the step after which an edit of it has an effect.

    What is sent along an edge is edited when the node that then begins has run; what a
    hook unpacks, before its node reads it.
    """
    event = data["events"][place.position - 1]
    if place.edge:
        (edge,) = [one for one in data["graph"]["edges"] if one["id"] == place.edge]
        at = entered(data, place.position, edge["from"])
        return replace(place, edge=edge, position=at)
    if place.kind == "entry" and event["k"] == "hook.unpack":
        return replace(place, position=entered(data, place.position, event.get("n")))
    return place


def entered(data: Json, position: int, node: str | None) -> int:
    """The last step before ``position`` at which a node begins to run."""
    for before in range(position - 1, 0, -1):
        begun = data["events"][before - 1]
        if begun["k"] == "node.enter" and begun["n"] == node:
            return before
    return position


def ctx_called(ctxs: Mapping[str, Json], node: str) -> str:
    """The ctx of a node that is named by its label, its id or the id of its ctx.

    Raises: ArgumentValueError if there is none, or several have the label.
    """
    names = ("id", "node", "name")
    found = {id: c for id, c in ctxs.items() if node in [c[name] for name in names]}
    if len(found) == 1:
        return next(iter(found))
    known = [c["node"] or id for id, c in found.items()]
    known = known or list(dict.fromkeys([c["name"] for c in ctxs.values()]))
    raise refused(
        f"{len(found) or 'no'} nodes are called {node}",
        f"take one of {', '.join(known) or 'none'}",
    )


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


def leaf_called(data: Json, name: str) -> Place:
    """One of them, by its name or its key.

    Raises: ArgumentValueError if there is none of this name.
    """
    there = leaves_of(data)
    found = [one for one in there if name == one.owner]
    found += [one for one in there if name == one.key[0]]
    if not found:
        raise refused(
            f"the program starts with no tensor {name!r}",
            f"take one of {', '.join(map(str, there)) or 'none'}",
        )
    return found[0]


def asked_for(there: list[Place], kind: str, key: Any, step: int) -> Place:
    """One of the places at a step; with no key the only one of its kind.

    Raises: ArgumentValueError if it's not there.
    """
    found = [one for one in there if one.kind == kind and key in (one.key, None)]
    if len(found) == 1:
        return found[0]
    told = ", ".join(map(str, there)) or "nothing"
    owner = next((f" of {one.owner}" for one in there if one.owner), "")
    raise refused(
        f"there is {'more than one' if found else 'no'} {called(kind, key)} to edit at "
        f"step {step}",
        f"edit what is there: {told}{owner}; or take another step",
    )


def fitting(data: Json, place: Place, value: Any) -> Any:
    """The new numbers, in the shape and dtype of the old ones; or what makes them.

    Raises: ArgumentValueError for another shape, or for what is no number.
    """
    if callable(value) or "v" not in place.ref:
        return value
    known = data["values"][place.ref["v"]]
    shape, dtype = tuple(known["shape"]), known["dtype"]
    if isinstance(value, Mapping):
        return functools.partial(with_elements, checked(value, shape, str(place)))
    value = value.array if isinstance(value, Tensor) else value
    numbers = None
    with contextlib.suppress(TypeError, ValueError):  # no number, or rows of all sizes
        given = np.asarray(value)
        numbers = given.astype(dtype)
    is_whole = np.dtype(dtype).kind in "biu"
    if numbers is None or (is_whole and not np.array_equal(numbers, given)):
        raise refused(
            f"{place} holds {dtype} numbers, and not {short_repr(value)}",
            f"give {dtype} numbers",
        )
    if numbers.shape != shape:
        wanted = errors.count_of(int(np.prod(shape)), "number")
        raise refused(
            f"{place} has shape {list(shape)}, and the new one {list(numbers.shape)}",
            f"give {wanted} in the shape {list(shape)}",
        )
    return numbers


def checked(
    elements: Mapping[Any, Any], shape: tuple[int, ...], what: str
) -> Mapping[Any, Any]:
    """Numbers by their places in an array.

    Raises: ArgumentValueError for an element that is not there.
    """
    for index in elements:
        is_there = False
        with contextlib.suppress(IndexError):
            is_there = np.ndim(np.broadcast_to(0, shape)[index]) == 0
        if not is_there:
            example = tuple([0] * len(shape)) if len(shape) != 1 else 0
            raise refused(
                f"{what} has shape {list(shape)}, and no element {index}",
                f"name an element by {errors.count_of(len(shape), 'number')}, such as "
                f"{{{example}: 5.0}}",
            )
    return elements


def with_elements(elements: Mapping[Any, Any], old: Any) -> Any:
    """``old`` with other numbers in some places."""
    new = old.copy()
    for index, number in elements.items():
        new[index] = number
    return new


def refused(what: str, fix: str) -> errors.ArgumentValueError:
    """The error for an edit that cannot be made."""
    return errors.ArgumentValueError(errors.message("what_if", what, fix))


@dataclass
class Moment:
    """What the engine is at, when a program that runs again comes to an edit."""

    log: EventLog
    event: Any = None
    tensor: Any = None
    task: Any = None
    node: Any = None
    gradients: Any = None


@dataclass
class Edit:
    """A value that takes the place of another, while the program runs again.

    ``said`` is, once it's made, what was edited, the old value and the new one; and
    where the page shows it.
    """

    place: Place
    value: Any
    said: Json | None = None

    def make(self, now: Moment) -> None:
        """Change what the engine is about to use, and tell it."""
        key, value, edge, log = self.place.key, self.value, self.place.edge, now.log
        kind = "" if now.event is None else now.event["k"]
        if self.place.kind == "entry":
            self._put_on_ctx(log)
        elif self.place.kind == "leaf":
            old = exact_copy(now.tensor.array)
            new = now.tensor.array[...] = numbers_for(old, value)
            self._tell(log, self.place.owner, old, new, t=key[0])
        elif edge is not None:
            to, _ = split_edge(now.node._edges[edge["slot"]])
            what = message("what-if.for", node=log.called(to))
            self._tell(log, what, *replaced(now.gradients, edge["slot"], value))
        elif kind == "grad.accumulate":
            leaf, node = now.tensor, now.event["n"]
            old, new = leaf._grad, in_place_of(leaf._grad, value)
            new._share_version(old)
            leaf._grad = new
            name = f"{log.names.of(leaf) or message('tensor.leaf')}.grad"
            log.memory.look_at_grad(leaf, node, name)
            self._tell(log, name, old, new, n=node)
        elif kind == "node.enter":
            what = message("what-if.arrives", node=log.called(now.node))
            self._put_waiting(log, what, now.gradients, now.event["n"], key)
        else:
            to, slot, _ = now.task.roots[key]
            what = message("what-if.for", node=log.called(to))
            if [root[:2] for root in now.task.roots].count((to, slot)) > 1:
                raise LookupError(f"{what} is a sum of several here")
            node = now.event["roots"][key]["n"]
            self._put_waiting(log, what, now.task.waiting[to], node, slot)

    def _put_waiting(
        self, log: EventLog, what: str, waiting: list[Any], node: str, slot: int
    ) -> None:
        old, new = replaced(waiting, slot, self.value)
        self._tell(log, what, old, new, n=node, slot=slot, total=log.values.ref(new))

    def _put_on_ctx(self, log: EventLog) -> None:
        place = self.place
        node: Any = log.cards.ctx_with(place.ctx)
        if node is None:
            raise LookupError(f"{place.owner} is gone at this step")

        def tell(old: Any, new: Any) -> None:
            is_open = log.ctxs.is_open(node)
            if not is_open:
                log.ctxs.open(node, log.cards.of(node))
            self._tell(log, str(place), old, new)
            if not is_open:
                log.ctxs.close(node)

        family, _, name = place.key.partition(".")
        if family == "saved":
            put_saved(node, int(name), self.value, tell)
        else:
            tell(*replaced(attributes_of(node), name, self.value))

    def _tell(self, log: EventLog, what: str, old: Any, new: Any, **more: Any) -> None:
        log.program_ran()
        more |= {"old": log.values.ref(old, what), "new": log.values.ref(new, what)}
        if self.place.kind == "entry":
            what = message("what-if.of", what=what, node=self.place.owner)
        said = {"what": what, "old": brief(old), "new": brief(new)}
        # What is packed is told each time it is unpacked.
        self.said = self.said or said | {"place": self.place.shown[0]}
        key = "what-if.leaf-starts" if self.place.kind == "leaf" else "what-if"
        log.emit((step, "what.if", message(key, **said), "", more))


def put_saved(
    node: Any, place: int, value: Any, tell: Callable[[Any, Any], None]
) -> None:
    """Let ``node`` have saved another value.

    What is packed is another each time it is unpacked: what it was is known only then,
    as unpacking has effects, such as those of a checkpoint.
    """
    packed = kept = node._saved[place]
    changed: tuple[Any, ...] = ()
    if isinstance(packed, HookedRecord):
        kept = copy.copy(packed)

        @functools.wraps(packed.unpack_hook)
        def unpack(held: Any) -> Any:
            old = packed.unpack_hook(held)
            new = in_place_of(old, value)
            tell(old, new)
            return new

        kept.unpack_hook = unpack
    else:
        is_record = isinstance(packed, Record)
        old = packed.tensor if is_record else packed
        new = in_place_of(old, value)
        # A change of the old one in place is noticed as it would have been.
        new._share_version(old)
        new._detached_at = old._detached_at
        kept = Record(new, packed.version, packed.output_nr) if is_record else new
        changed = old, new
    saved = [kept if i == place else one for i, one in enumerate(node._saved)]
    node._saved = type(node._saved)(saved)
    if changed:
        tell(*changed)


def replaced(held: Any, key: Any, value: Any) -> tuple[Any, Any]:
    """Put another value in the place of one: the old one and the new."""
    old, held[key] = held[key], like(held[key], value)
    return old, held[key]


def like(old: Any, value: Any) -> Any:
    """``value`` as a Tensor, an array or a plain thing, as ``old`` is one."""
    if isinstance(old, Tensor):
        return in_place_of(old, value)
    if isinstance(old, (np.ndarray, np.generic)):
        return numbers_for(np.asarray(old), value)
    return value if callable(value) else copy.deepcopy(value)


def numbers_for(old: Any, value: Any) -> Any:
    """New numbers in the shape and dtype of ``old``, in the same order in memory."""
    new = np.empty_like(old)
    new[...] = value(old.copy()) if callable(value) else value
    return new


def in_place_of(old: Tensor, value: Any) -> Tensor:
    """A Tensor with other numbers, in the same place of the graph as ``old``."""
    new = Tensor(numbers_for(old.array, value))
    node = old.grad_fn
    if node is not None:
        new._set_history(node, old.output_nr)
    elif old._requires_grad:
        new._requires_grad = True
        new._accumulate_node = weakref.ref(accumulate_node(old))
    if old._tangents is not None:
        share_tangents(old, new)
    return new
