"""torch's graph as the story sees it: one entry a node, which keeps nothing alive."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from minigrad.engine.core.node import NOT_A_TENSOR
from minigrad.tracing.foreign import ForeignNode, SavedSeen
from minigrad.tracing.nodes import inputs_first
from minigrad.tracing.titles import operation_of
from minigrad.tracing.values import FORGOTTEN, Note, ValueStore, plain

LEAF: Final = "AccumulateGrad"
CHECKPOINT: Final = "torch.utils.checkpoint"


class TorchLeaf(ForeignNode):
    """The node that ends at a leaf; found again by the leaf, as torch makes others."""

    is_leaf = True

    def __init__(self, variable: Any) -> None:
        super().__init__(f"torch::autograd::{LEAF}", (), SimpleNamespace(__name__=LEAF))
        self._variable = weakref.ref(variable)

    @property
    def variable(self) -> Any:
        """The leaf, while the program has it."""
        return self._variable()


class TorchGraph:
    """Finds the entry of a node of torch's, and makes one where there is none.

    torch numbers its nodes, and makes a new Python object of one that was let go: the
    number is what stays.
    """

    def __init__(self, torch: Any, values: ValueStore) -> None:
        self._torch = torch
        self._values = values
        self._nodes: dict[tuple[int, str], ForeignNode] = {}
        self._leaves: dict[int, TorchLeaf] = {}
        self.first = torch._C._autograd._get_sequence_nr()

    def leaf(self, variable: Any) -> TorchLeaf:
        """The entry of the node of a leaf."""
        known = self._leaves.get(id(variable))
        if known is None or known.variable is not variable:
            known = self._leaves[id(variable)] = TorchLeaf(variable)
        return known

    def edge_of(self, value: Any) -> Any:
        """Where the gradient of an argument goes, as minigrad's edges say it."""
        if not isinstance(value, self._torch.Tensor):
            return NOT_A_TENSOR
        if not value.requires_grad:
            return None
        if value.grad_fn is None:
            return self.leaf(value)
        node = self.find(value.grad_fn)
        return (node, value.output_nr) if value.output_nr else node

    def find(self, node: Any) -> ForeignNode:
        """The entry of ``node``; those of all nodes below it are made first."""
        for unmet in self.unmet(node):
            self.add(unmet, self._entry(unmet))
        return self.known(node) or self._nodes[key_of(node)]

    def add(self, node: Any, entry: ForeignNode) -> None:
        """From now on ``entry`` is the one of ``node``."""
        self._nodes[key_of(node)] = entry

    def is_new(self, node: Any) -> bool:
        """Whether ``node`` was made during the recording."""
        return not is_leaf(node) and node._sequence_nr() >= self.first

    def unmet(self, root: Any) -> list[Any]:
        """The nodes at and below ``root`` that have no entry, inputs first."""

        def unmet_below(node: Any) -> list[Any]:
            return [one for one in below(node) if self.known(one) is None]

        is_known = self.known(root) is not None
        return [] if is_known else inputs_first([root], unmet_below)

    def known(self, node: Any) -> ForeignNode | None:
        """The entry of ``node``, if it has one; leaves always have."""
        if is_leaf(node):
            return self.leaf(node.variable)
        return self._nodes.get(key_of(node))

    def _entry(self, node: Any) -> ForeignNode:
        edges = []
        for receiver, slot in node.next_functions:
            known = None if receiver is None else self.known(receiver)
            edges.append((known, slot) if known is not None and slot else known)
        name, function = node.name(), learners_class(node)
        if function is None:
            function = SimpleNamespace(__name__=operation_of(name.split("::")[-1]))
        entry = ForeignNode(name, tuple(edges), function, outputs_of(node))
        entry.needs_input_grad = tuple([edge is not None for edge in edges])
        if isinstance(node, self._torch._C._FunctionBase):
            entry.needs_input_grad = tuple(node.needs_input_grad)
            entry.sees_ctx(node)
            slots = {str(i): s for i, s in enumerate(raw_saved(node))}
        else:
            entry.fixed = plain_values_of(node)
            slots = dict(saved_slots_of(node))
        for name, slot in slots.items():
            self.keep(entry, name, slot, None)
        return entry

    def keep(self, entry: ForeignNode, name: str, slot: Any, tensor: Any) -> None:
        """Show a saved value of ``entry``: ``tensor``, if that is known.

        What a hook of the learner's packed is shown as it is; nothing is unpacked, for
        that would call their hook.
        """
        hooked = getattr(slot, "unpack_hook", None) is not None
        value = slot.data if hooked or tensor is None else tensor
        is_note = type(value).__module__ == CHECKPOINT
        kept = plain(FORGOTTEN) if is_note else self._values.ref(value)
        if kept is not None:
            is_readable = type(kept) is Note and not hooked
            tensor = value if is_readable else None
            entry.saved[name] = SavedSeen(tensor, kept)


def below(node: Any) -> list[Any]:
    """The nodes of torch's that a node of torch's sends gradients to."""
    return [receiver for receiver, _ in node.next_functions if receiver is not None]


def key_of(node: Any) -> tuple[int, str]:
    """What stays the same of a node when its Python object is made anew."""
    return node._sequence_nr(), node.name()


def is_leaf(node: Any) -> bool:
    """Whether the graph ends at ``node``."""
    return bool(node.name() == f"torch::autograd::{LEAF}")


def outputs_of(node: Any) -> tuple[Any, ...]:
    """Shape and dtype of each output of a node; None for one without a place."""
    found = []
    for one in node._input_metadata:
        dtype = np.dtype(str(one.dtype).removeprefix("torch.").replace("bf", "f"))
        found.append((tuple(one.shape), dtype))
    return tuple(found)


def learners_class(node: Any) -> Any:
    """The Function class of a node, unless torch itself wrote it."""
    function = getattr(node, "_forward_cls", None)
    is_theirs = isinstance(function, type) and not is_torchs(function)
    return function if is_theirs else None


def is_torchs(function: type) -> bool:
    """Whether a Function class comes with torch."""
    return function.__module__.partition(".")[0] == "torch"


def raw_saved(node: Any) -> Iterable[Any]:
    """Handles of what a Function saved; none when it is freed."""
    try:
        slots = node._raw_saved_tensors
    except RuntimeError:
        return ()
    return tuple([slot for slot in slots or () if hasattr(slot, "data")])


def kept_on(node: Any, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """What a built-in node has under these names, unless it is freed."""
    for name in sorted(names):
        try:
            yield name, getattr(node, name)
        except RuntimeError:
            continue


def saved_slots_of(node: Any) -> Iterator[tuple[str, Any]]:
    """The names and handles of what a built-in node saved."""
    raw = [name for name in dir(node) if name.startswith("_raw_saved_")]
    for name, slot in kept_on(node, raw):
        slots = slot if isinstance(slot, (tuple, list)) else (slot,)
        for number, one in enumerate(slots):
            ending = f".{number}" if len(slots) > 1 else ""
            if hasattr(one, "data"):
                yield name.removeprefix("_raw_saved_") + ending, one


def plain_values_of(node: Any) -> dict[str, Any]:
    """What a built-in node keeps that is no tensor, under torch's names."""
    names = set(dir(node))  # one that has a raw one, too, would call a hook
    own = [n for n in names if n.startswith("_saved_") and f"_raw{n}" not in names]
    return dict(kept_on(node, own))
