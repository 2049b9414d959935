"""What nodes and leaves keep alive: how many bytes, whose, and when they let go."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from itertools import count
from typing import Any, Final

import numpy as np

from minigrad.engine.core.saved import FREED, OwnOutput, Record
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.engine.views import CopySlices
from minigrad.tracing.foreign import ForeignNode, SavedSeen, unheard
from minigrad.tracing.names import Names
from minigrad.tracing.nodes import NOTHING, Card
from minigrad.tracing.values import safely

Item = dict[str, Any]
Drop = tuple[str, str]
"""The id of an item that isn't held any more, and why."""

RELEASED = "backward, which doesn't need it any more"
GONE = "nothing refers to the node any more"
NO_GRAD_ANY_MORE = "nothing refers to this .grad any more"
REPLACED = "another value took its place"
REMOVED = "it was taken off"

MOST_LATER: Final = 1_000
"""So many nodes may be waiting to be looked at, and not all be alive."""


class Memory:
    """Finds out what each owner holds, and notes only what has changed.

    An owner is a node, with what it saved and what a learner put on its ctx, or a leaf
    with its ``.grad``. Values in the same memory have the same ``buf``: its bytes are
    there once, however many hold it.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.held: dict[str, dict[str, Item]] = {}
        self._items, self._roots = count(), count()
        self._buffers: dict[int, Buffer] = {}
        self.added: list[Item] = []
        self.dropped: list[Drop] = []
        self._watched: dict[str, weakref.ref[Any]] = {}
        self._packed: dict[str, Card] = {}
        self.gone: list[Item] = []

    def take(self) -> tuple[list[Item], list[Drop]]:
        """What was added and dropped since this was last asked."""
        changes = self.added, self.dropped
        self.added, self.dropped = [], []
        return changes

    def look_at_node(self, node: Any, card: Card) -> None:
        """Note what ``node`` holds now."""
        owner = card.node or ""
        saved = getattr(node, "_saved", FREED)  # torch's nodes show none
        for packed in tuple.__iter__(saved):
            if packed.__class__ is HookedRecord:
                self._packed[owner] = card
        try:
            holds = held_by(node)
        except Exception:  # the attributes are the learner's
            holds = {}
        if holds or owner in self.held:
            gone = RELEASED if saved is FREED else REPLACED
            self._compare(owner, owner, card.label, holds, gone)

    def released(self, node: Any, card: Card) -> None:
        """Backward has let go of what ``node`` saved."""
        owner = card.node or ""
        if card.fixed is None and getattr(node, "__dict__", True):
            self.look_at_node(node, card)
            return
        for key, item in self.held.pop(owner, NOTHING).items():
            by = RELEASED if key.startswith("saved.") else REMOVED
            self.dropped.append((item["id"], by))

    def look_at_packed(self) -> None:
        """Look again at nodes whose values went through hooks: some may be back."""
        for owner, card in list(self._packed.items()):
            node = card()
            if node is None or node._saved is FREED:
                del self._packed[owner]
            else:
                self.look_at_node(node, card)

    def look_at_grad(self, leaf: Tensor, node: str, label: str) -> None:
        """Note the ``.grad`` of ``leaf``, whose gradient arrived at ``node``."""
        owner = f"grad {id(leaf)}"
        grad = leaf._grad
        holds = {} if grad is None else {"grad": grad}
        self._compare(owner, node, label, holds, REMOVED)
        if grad is None:
            return
        item = self.held[owner]["grad"]["id"]

        def gone(_: Any) -> None:
            held = self.held.get(owner, {}).get("grad")
            if held is not None and held["id"] == item:
                self.drop(owner, NO_GRAD_ANY_MORE)

        self._watched[f"{owner} {item}"] = weakref.ref(grad, gone)

    def drop(self, owner: str, by: str = GONE) -> None:
        """``owner`` holds nothing any more."""
        for item in self.held.pop(owner, {}).values():
            self.dropped.append((item["id"], by))
            self.gone.append(item)

    def bytes_of(self, owner: str) -> int:
        """The bytes that ``owner`` holds."""
        items = self.held.get(owner, {}).values()
        return sum({item["buf"]: item["bytes"] for item in items}.values())

    def _compare(
        self, owner: str, node: str, label: str, holds: dict[str, Any], gone: str
    ) -> None:
        """``gone``: why what was saved is not there any more, if it is not."""
        before = self.held.get(owner, {})
        for key in [key for key in before if key not in holds]:
            by = gone if key.startswith("saved.") else REMOVED
            self.dropped.append((before.pop(key)["id"], by))
        new: list[tuple[str, Any, str | None]] = []
        for key, value in holds.items():
            array = value.array if isinstance(value, Tensor) else value
            if key in before:
                if before[key]["buf"] == self._buffer(root_of(array)):
                    continue
                self.dropped.append((before[key]["id"], REPLACED))
            name = self.names.of(value) if isinstance(value, Tensor) else None
            new.append((key, array, name))
        if new:
            self.hold(owner, node, label, new)

    def hold(
        self,
        owner: str,
        node: str,
        label: str,
        new: Iterable[tuple[str, Any, str | None]],
    ) -> None:
        """Note what ``owner`` holds of new: its key, the array and its name."""
        held = self.held.setdefault(owner, {})
        for key, array, name in new:
            root = array if array.base is None else root_of(array)
            item: Item = {
                "id": f"m{next(self._items)}",
                "owner": node,
                "of": label,
                "key": key,
                "name": name,
                "bytes": root.nbytes,
                "buf": self._buffer(root),
            }
            held[key] = item
            self.added.append(item)

    def _buffer(self, root: Any) -> str:
        """The name of the memory that an array owns."""
        known = self._buffers.get(id(root))
        if known is None or known() is not root:
            known = self._buffers[id(root)] = Buffer(root)
            known.name = f"b{next(self._roots)}"
        return known.name


class Buffer(weakref.ref[Any]):
    """A reference to an array, and the name of its memory."""

    __slots__ = ("name",)

    name: str


def root_of(array: Any) -> Any:
    """The array that owns the memory which ``array`` shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def kept_by(packed: Any) -> tuple[Any, Any, int, int, int | None] | None:
    """A saved tensor: the object, its array, its version then and now, which output.

    None for what is no tensor, or what a hook has packed.
    """
    if isinstance(packed, Tensor):
        tensor, version, output = packed, 0, None
    elif packed.__class__ is OwnOutput:
        version, now = packed.version, packed.counter.value
        return packed, packed.array, version, now, packed.output_nr
    elif isinstance(packed, Record):
        tensor, version, output = packed.tensor, packed.version, packed.output_nr
    else:
        return None
    now = 0 if tensor._version_counter is None else tensor._seen_version()
    return tensor, tensor.array, version, now, output


def held_by(node: Any) -> dict[str, Any]:
    """The arrays and Tensors that a node keeps alive, by the names ctx shows."""
    found: dict[str, Any] = {}
    if isinstance(node, CopySlices) and node._saved is not FREED:
        # The history of a base, after a change of its view, wraps the node of the
        # change, and lets go of that when it is released.
        node = node.inner or node
    saved = node._saved
    if saved is not FREED:
        # While forward runs, ctx has what it was told to save.
        for place, packed in enumerate(
            tuple.__iter__(getattr(node, "to_save", None) or saved)
        ):
            if type(packed) is Tensor:
                found[f"saved.{place}"] = packed
                continue
            kept = kept_by(packed)
            if kept is not None:
                value = kept[0] if isinstance(kept[0], Tensor) else kept[1]
            elif isinstance(packed, HookedRecord):
                # A checkpoint's placeholder is filled when its part has run again.
                value = getattr(packed.packed, "recomputed", packed.packed)
            else:
                value = packed
            if isinstance(value, (Tensor, np.ndarray)):
                found[f"saved.{place}"] = value
    attributes = getattr(node, "__dict__", None)
    if attributes:
        for name, value in arrays_in(attributes.items()):
            if isinstance(value, (Tensor, np.ndarray)):
                found[f"attr.{name}"] = value
    return found


def arrays_in(entries: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Attributes, with those in a tuple or list one by one."""
    found = []
    for name, value in entries:
        if isinstance(value, (tuple, list)):
            found += [(f"{name}.{i}", item) for i, item in enumerate(value[:8])]
        else:
            found.append((name, value))
    return found


class Savers:
    """For each memory the ctxs that saved a tensor of it; none is kept alive."""

    def __init__(self) -> None:
        self._cards: dict[Any, dict[int, Card]] = {}
        self._later: list[Card] = []
        self._most = MOST_LATER

    def later(self, card: Card) -> None:
        """The node of ``card`` has saved something: look when it matters."""
        self._later.append(card)
        if len(self._later) > self._most:
            self._later = [one for one in self._later if one() is not None]
            self._most = 2 * len(self._later) + MOST_LATER

    def of(self, tensor: Any) -> list[Card]:
        """The cards of ctxs that still hold a tensor in the memory of this one."""
        later, self._later = self._later, []
        for card in later:
            for value in saved_by(card()):
                memory = memory_of(value)
                if memory is not None:
                    self._cards.setdefault(memory, {})[id(card)] = card
        there = self._cards.get(memory_of(tensor), {})
        for key, card in list(there.items()):
            ctx = card()
            is_torchs = isinstance(ctx, ForeignNode)
            if ctx is None or (ctx.freed if is_torchs else ctx._saved is FREED):
                del there[key]
        return list(there.values())


def saved_by(node: Any) -> list[Any]:
    """The tensors or arrays that a node keeps for its backward, if it is there."""
    if isinstance(node, ForeignNode):
        seen = [one for one in node.saved.values() if isinstance(one, SavedSeen)]
        return [one.now() for one in seen]
    packed = () if node is None else tuple.__iter__(node._saved)
    return [kept[1] for kept in map(kept_by, packed) if kept is not None]


def memory_of(tensor: Any) -> Any:
    """What two tensors have in common if they share memory; None if it is not known."""
    if tensor is None:
        return None
    if type(tensor) is np.ndarray:
        return id(tensor if tensor.base is None else root_of(tensor))
    if isinstance(tensor, Tensor):
        return safely(lambda: id(root_of(tensor.array)), None)
    return safely(lambda: storage_of(tensor), None)


def storage_of(tensor: Any) -> Any:
    """The memory of a tensor of torch's."""
    with unheard():
        return "torch", tensor.untyped_storage()._cdata
