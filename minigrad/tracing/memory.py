"""What nodes and leaves keep alive: how many bytes, whose, and when they let go."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad.engine.core.saved import FREED, Record
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.engine.views import CopySlices
from minigrad.tracing.names import Names

Item = dict[str, Any]
Change = dict[str, Any]

RELEASED = "backward, which doesn't need it any more"
GONE = "nothing refers to the node any more"
NO_GRAD_ANY_MORE = "nothing refers to this .grad any more"
REPLACED = "another value took its place"
REMOVED = "it was taken off"


class Memory:
    """Finds out what each owner holds, and notes only what has changed.

    An owner is a node, with what it saved and what a learner put on its ctx, or a leaf
    with its ``.grad``. Values in the same memory have the same ``buf``: its bytes are
    there once, however many hold it.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self._held: dict[str, dict[str, Item]] = {}
        self._count = 0
        self._buffers: dict[int, tuple[weakref.ref[Any], str]] = {}
        self.added: list[Item] = []
        self.dropped: list[dict[str, str]] = []
        self._watched: dict[str, weakref.ref[Any]] = {}
        self._packed: dict[str, tuple[weakref.ref[Any], str]] = {}
        self.gone: list[Item] = []

    def take_gone(self) -> list[Item]:
        """What was let go by owners that are gone, since this was last asked."""
        gone, self.gone = self.gone, []
        return gone

    def take(self) -> Change:
        """What has changed since this was last asked."""
        change = {"add": self.added, "del": self.dropped}
        self.added, self.dropped = [], []
        return change

    def look_at_node(self, node: Any, owner: str, label: str) -> int:
        """Note what ``node`` holds now; the bytes that it holds of new."""
        saved = getattr(node, "_saved", FREED)  # torch's nodes show none
        for packed in () if saved is FREED else saved:
            if packed.__class__ is HookedRecord:
                self._packed[owner] = weakref.ref(node), label
        try:
            holds = held_by(node)
        except Exception:  # the attributes are the learner's
            holds = {}
        if holds and owner not in self._watched:
            self._watched[owner] = weakref.ref(node, lambda _: self.drop(owner, GONE))
        gone = RELEASED if saved is FREED else REPLACED
        return self._compare(owner, owner, label, holds, gone)

    def look_at_packed(self) -> None:
        """Look again at nodes whose values went through hooks: some may be back."""
        for owner, (reference, label) in list(self._packed.items()):
            node = reference()
            if node is None or node._saved is FREED:
                del self._packed[owner]
            else:
                self.look_at_node(node, owner, label)

    def look_at_grad(self, leaf: Tensor, node: str, label: str) -> None:
        """Note the ``.grad`` of ``leaf``, whose gradient arrived at ``node``."""
        owner = f"grad {id(leaf)}"
        grad = leaf._grad
        holds = {} if grad is None else {"grad": grad}
        self._compare(owner, node, label, holds, REMOVED)
        if grad is not None:
            for item in self._held[owner].values():
                self._watch_grad(grad, owner, item["id"])

    def _watch_grad(self, grad: Tensor, owner: str, item: str) -> None:
        def gone(_: Any) -> None:
            held = self._held.get(owner, {}).get("grad")
            if held is not None and held["id"] == item:
                self.drop(owner, NO_GRAD_ANY_MORE)

        self._watched[f"{owner} {item}"] = weakref.ref(grad, gone)

    def drop(self, owner: str, by: str) -> None:
        """``owner`` holds nothing any more."""
        for item in self._held.pop(owner, {}).values():
            self.dropped.append({"id": item["id"], "by": by})
            self.gone.append(item)

    def bytes_of(self, owner: str, family: str = "") -> int:
        """The bytes that ``owner`` holds; with ``family``, of ``saved`` alone."""
        items = self._held.get(owner, {}).values()
        held = {i["buf"]: i["bytes"] for i in items if i["key"].startswith(family)}
        return sum(held.values())

    def _compare(
        self, owner: str, node: str, label: str, holds: dict[str, Any], gone: str
    ) -> int:
        """``gone``: why what was saved is not there any more, if it is not."""
        before = self._held.setdefault(owner, {})
        for key in [key for key in before if key not in holds]:
            by = gone if key.startswith("saved.") else REMOVED
            self.dropped.append({"id": before.pop(key)["id"], "by": by})
        new: dict[str, int] = {}
        for key, value in holds.items():
            root = value.array if isinstance(value, Tensor) else value
            if root.base is not None:
                root = root_of(root)
            buffer = self._buffer(root)
            if key in before and before[key]["buf"] == buffer:
                continue
            if key in before:
                self.dropped.append({"id": before[key]["id"], "by": REPLACED})
            name = self.names.of(value) if isinstance(value, Tensor) else None
            item: Item = {
                "id": f"m{self._count}",
                "owner": node,
                "of": label,
                "key": key,
                "name": name,
                "bytes": int(root.nbytes),
                "buf": buffer,
            }
            self._count += 1
            before[key] = item
            self.added.append(item)
            new[buffer] = item["bytes"]
        return sum(new.values())

    def _buffer(self, root: Any) -> str:
        known = self._buffers.get(id(root))
        if known is not None and known[0]() is root:
            return known[1]
        name = f"b{len(self._buffers)}.{self._count}"
        self._buffers[id(root)] = (weakref.ref(root), name)
        return name


def root_of(array: Any) -> Any:
    """The array that owns the memory which ``array`` shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def held_by(node: Any) -> dict[str, Any]:
    """The arrays and Tensors that a node keeps alive, by the names ctx shows."""
    found: dict[str, Any] = {}
    if isinstance(node, CopySlices) and node._saved is not FREED:
        # The history of a base, after a change of its view, wraps the node of the
        # change, and lets go of that when it is released.
        node = node.inner or node
    if node._saved is not FREED:
        # While forward runs, ctx has what it was told to save.
        saved = getattr(node, "to_save", None) or node._saved
        for place, packed in enumerate(saved):
            value = packed.tensor if isinstance(packed, Record) else stored(packed)
            if isinstance(value, (Tensor, np.ndarray)):
                found[f"saved.{place}"] = value
    attributes = getattr(node, "__dict__", None)
    if attributes:
        for name, value in arrays_in(attributes.items()):
            if isinstance(value, (Tensor, np.ndarray)):
                found[f"attr.{name}"] = value
    return found


def stored(packed: Any) -> Any:
    """What is really kept for a saved value that is no Record."""
    if not isinstance(packed, HookedRecord):
        return packed
    # A checkpoint's placeholder is filled when its part of forward has run again.
    return getattr(packed.packed, "recomputed", packed.packed)


def arrays_in(entries: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Attributes, with those in a tuple or list one by one."""
    found = []
    for name, value in entries:
        if isinstance(value, (tuple, list)):
            found += [(f"{name}.{i}", item) for i, item in enumerate(value[:8])]
        else:
            found.append((name, value))
    return found
