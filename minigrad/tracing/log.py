"""The list of events, and what each changes on the ctx that is at work."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from minigrad.engine.node import NOT_A_TENSOR, AccumulateGrad, split_edge
from minigrad.engine.saved import FREED, Record
from minigrad.engine.saved_hooks import SavedTensor
from minigrad.engine.tensor import Tensor
from minigrad.nn.module import Module
from minigrad.tracing import sentences
from minigrad.tracing.foreign import (
    ForeignNode,
    SavedSeen,
    is_tensor,
    is_torch_tensor,
    maker_of,
    seen_torch,
)
from minigrad.tracing.memory import Memory
from minigrad.tracing.values import (
    MOST_DEPTH,
    MOST_ITEMS,
    Ref,
    ValueStore,
    digest_of,
    plain,
)
from minigrad.utils._region import Placeholder

STORY: Final = 1
LINES: Final = 2
ENGINE: Final = 3
MOST_EVENTS: Final = 20_000
ATOMS: Final = frozenset({str, bytes, int, float, complex, bool, type(None)})
"""Types whose values never change."""


class Identities:
    """Numbers objects in the order they are met, without keeping them alive."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._known: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._count = 0

    def get(self, item: Any) -> str | None:
        """The id of ``item``, if it has one."""
        entry = self._known.get(id(item))
        return entry[1] if entry is not None and entry[0]() is item else None

    def add(self, item: Any) -> str:
        """A new id for ``item``."""
        name = f"{self._prefix}{self._count}"
        self._count += 1
        self._known[id(item)] = (weakref.ref(item), name)
        return name


class EventLog:
    """Collects events; each carries what changed on the ctx of the moment."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.left_out = 0
        self.values = ValueStore(self.name_of)
        self.memory = Memory(self.name_of)
        self.ctxs: list[dict[str, Any]] = []
        self.ctx_entries: dict[str, dict[str, Any]] = {}
        self.namespaces: list[Any] = []
        self.place: dict[str, int] = {}
        self.handles: dict[str, str] = {}
        self.node_of: Callable[[Tensor], str | None] = lambda tensor: None
        self.depth = 0
        self._ctx_ids = Identities("c")
        self.open_ctxs: list[Any] = []
        self._shown: dict[str, dict[str, Any]] = {}
        self._looks: dict[str, Any] = {}
        self._names: dict[int, tuple[Any, str]] | None = None
        self.keeps_names = False
        self._nameless: set[type] = set()

    def emit(
        self,
        kind: str,
        level: int,
        say: str,
        *,
        phase: tuple[str, str] | None = None,
        at: int | None = None,
        **fields: Any,
    ) -> None:
        """Add an event, at the end or before event number ``at``."""
        gone = self.memory.take_gone() if at is None else []
        if gone:
            self._say_gone(gone)
        if len(self.events) >= MOST_EVENTS:
            self.left_out += 1
            return
        if not self.keeps_names:
            self._names = None
        event = {"k": kind, "say": say, "lvl": level, "d": self.depth}
        event.update(self.place if at is None else place_of(self.events[at - 1]))
        event.update(fields)
        if phase is not None:
            event["ph"] = {"of": phase[0], "name": phase[1]}
        if self.open_ctxs:
            ctx = self.open_ctxs[-1]
            event["cid"] = self.ctx_id(ctx)
            if at is None:
                changes = self.changes_on(ctx)
                if changes is not None:
                    event["ctx"] = changes
        if at is None:
            held = self.memory.take()
            if held is not None:
                event["mem"] = held
            self.events.append(event)
        else:
            self.events.insert(at, event)

    def say_what_is_left_out(self) -> None:
        """The last step of a recording that had no room for all."""
        if self.left_out:
            self.events.append(
                {
                    "k": "cut",
                    "say": sentences.cut(len(self.events), self.left_out),
                    "lvl": STORY,
                    "d": 0,
                }
            )

    def _say_gone(self, gone: list[dict[str, Any]]) -> None:
        """A story step of its own for what died between two others."""
        here = self.place
        self.place = place_of(self.events[-1]) if self.events else {}
        self.emit("mem.gone", STORY, sentences.gone(gone))
        self.place = here

    def open_ctx(self, ctx: Any) -> None:
        """From now on ``ctx`` is the one at work."""
        self.open_ctxs.append(ctx)

    def close_ctx(self, ctx: Any) -> None:
        """``ctx`` is no longer at work, nor is any that was opened after it."""
        while any([open_one is ctx for open_one in self.open_ctxs]):
            self.open_ctxs.pop()

    def close_ctxs_down_to(self, count: int) -> None:
        """An exception has left the calls that opened the ctxs after ``count``."""
        del self.open_ctxs[count:]

    def ctx_id(self, ctx: Any) -> str:
        """The id of ``ctx``, which gets an entry when it is first met."""
        known = self._ctx_ids.get(ctx)
        if known is not None:
            return known
        new = self._ctx_ids.add(ctx)
        entry = {
            "id": new,
            "name": ctx.name(),
            "function": function_of(ctx),
            "node": None,
        }
        self.ctxs.append(entry)
        self.ctx_entries[new] = entry
        return new

    def changes_on(self, ctx: Any) -> dict[str, Any] | None:
        """What is new on ``ctx`` since it was last shown."""
        cid = self.ctx_id(ctx)
        look = None if isinstance(ctx, ForeignNode) else look_of(ctx)
        if look is not None and self._looks.get(cid) == look:
            return None
        self._looks[cid] = look
        before = self._shown.get(cid, {})
        now = entries_of(ctx, self.called, before)
        new = {
            key: self._ref(key, value)
            for key, (mark, value) in now.items()
            if key not in before or before[key] != mark
        }
        gone = [key for key in before if key not in now]
        self._shown[cid] = {key: mark for key, (mark, _) in now.items()}
        if not new and not gone:
            return None
        return {"id": cid, "set": new, "del": gone}

    def _ref(self, key: str, value: Any) -> Ref:
        if isinstance(value, SavedTensor):
            return self.values.saved_ref(value)
        if isinstance(value, SavedSeen):
            return self.values.seen_ref(value)
        if key in ("needs_input_grad", "edges") or (
            key.startswith("saved.") and isinstance(value, str)
        ):
            return plain(value)
        if value is FREED:
            return plain("freed")
        return self.values.ref(value, key) or plain("None")

    def called(self, node: Any) -> str:
        """A node in a sentence: a leaf's node by the name of its tensor."""
        name = self.name_of(node.variable) if is_leaf(node) else None
        return label_of(node) if name is None else f"{label_of(node)} of {name}"

    def forget_names(self, namespace: Any) -> None:
        """A function has returned: its variables name nothing any more."""
        self.namespaces = [one for one in self.namespaces if one is not namespace]

    def name_of(self, tensor: Any) -> str | None:
        """The variable that holds ``tensor`` in the program that is recorded."""
        if self._names is None:
            self._names = names_in(self.namespaces, self._nameless)
        namespace, name = self._names.get(id(tensor), (None, ""))
        return name if namespace and namespace.get(name) is tensor else None

    def name_of_module(self, module: Any) -> str | None:
        """The variable and the path by which a layer can be reached."""
        for namespace in self.namespaces:
            for name, value in list(namespace.items()):
                if isinstance(value, Module) and not name.startswith("_"):
                    for path, found in value.named_modules(prefix=name):
                        if found is module:
                            return str(path)
        return None

    def forget_cached_names(self) -> None:
        """Lines of the program have run: its variables may be others now."""
        self._names = None


def names_in(
    namespaces: Iterable[Any], nameless: set[type]
) -> dict[int, tuple[Any, str]]:
    """For the id of each tensor: the variable that holds it, and where that is.

    ``nameless`` notes the types that are known to be neither tensors nor models.
    """
    names: dict[int, tuple[Any, str]] = {}
    for namespace in namespaces:
        for name, value in list(namespace.items()):
            if type(value) in nameless or name.startswith("_"):
                continue
            if is_tensor(value):
                names.setdefault(id(value), (namespace, str(name)))
            elif isinstance(value, Module):
                paths = parameters_of(value, str(name))
                # "model.0.weight" says more than the "p" of a loop over parameters.
                names |= {id(found): (paths, path) for path, found in paths.items()}
            else:
                nameless.add(type(value))
    return names


def parameters_of(module: Module, name: str) -> dict[str, Any]:
    """The parameters of a model by their paths; none if it cannot tell them."""
    try:
        return dict(module.named_parameters(prefix=name))
    except Exception:  # the model is the learner's, and may be half built
        return {}


def look_of(ctx: Any) -> Any:
    """Something quick to make that differs when ``entries_of`` does."""
    saved = ctx._saved
    versions = [version_of(packed) for packed in saved]
    attributes = [
        (name, type(value), value) if type(value) in ATOMS else (name, mark_of(value))
        for name, value in attributes_of(ctx).items()
    ]
    return (
        id(saved),
        versions,
        attributes,
        id(ctx._edges),
        id(getattr(ctx, "to_save", None)),
        [mark_of(value) for value in getattr(ctx, "to_save", None) or ()],
        getattr(ctx, "_materialize_grads", True),
        id(getattr(ctx, "dirty_tensors", None)),
        id(getattr(ctx, "non_differentiable", None)),
    )


def version_of(packed: Any) -> Any:
    """A saved value's version, or what stands for it."""
    tensor = packed.tensor if isinstance(packed, Record) else packed
    if not isinstance(tensor, Tensor):
        return id(tensor)
    return (id(tensor), tensor._seen_version(), digest_of(tensor.array))


def entries_of(
    ctx: Any, called: Callable[[Any], str], before: Iterable[str]
) -> dict[str, tuple[Any, Any]]:
    """What ctx holds: a mark that changes when the entry does, and the value.

    ``before`` names the entries it had; a saved value stays, as freed, when it is gone.
    """
    entries: dict[str, tuple[Any, Any]] = {}

    def enter(key: str, value: Any) -> None:
        entries[key] = (mark_of(value), value)

    enter("needs_input_grad", str(tuple(ctx.needs_input_grad)))
    if ctx._edges:
        enter("edges", edges_text(ctx, called))
    told = getattr(ctx, "to_save", None)
    if isinstance(ctx, ForeignNode):
        for key, value in ctx.entries(before).items():
            enter(key, value)
        return entries
    if told:
        for i, value in enumerate(told):
            enter(f"saved.{i}", value)
    elif ctx._saved is FREED:
        for key in before:
            if key.startswith("saved."):
                enter(key, FREED)
    else:
        for i, record in enumerate(ctx._raw_saved_tensors):
            value = record.data if record.tensor is None else record
            is_note = isinstance(value, Placeholder)
            enter(f"saved.{i}", "computed again when needed" if is_note else value)
    for name, value in attributes_of(ctx).items():
        enter(f"attr.{name}", value)
    if not getattr(ctx, "_materialize_grads", True):
        enter("flag.materialize_grads", False)
    for flag, field in (
        ("dirty", "dirty_tensors"),
        ("non_differentiable", "non_differentiable"),
    ):
        if getattr(ctx, field, None):
            enter(f"flag.{flag}", getattr(ctx, field))
    return entries


def mark_of(value: Any) -> Any:
    """Something small that differs when what is shown of ``value`` has changed."""
    if type(value) in ATOMS:
        return (type(value), value)
    try:
        return _mark_of(value, MOST_DEPTH)
    except Exception:  # their length or comparison is theirs, and may raise
        return (type(value), id(value))


def _mark_of(value: Any, depth: int) -> Any:
    if isinstance(value, SavedTensor) and value.tensor is not None:
        return ("saved", id(value.tensor), value.version, value.tensor._seen_version())
    if isinstance(value, SavedSeen):
        return value.mark()
    if isinstance(value, Tensor):
        version = value._seen_version()
        digest = digest_of(value.array, version)
        return (id(value), version, id(maker_of(value)), digest)
    if is_torch_tensor(value):
        tensor = seen_torch(value)
        digest = digest_of(tensor.array, tensor.version)
        return (id(value), tensor.version, tensor.node, digest)
    if type(value) in ATOMS:
        return (type(value), value)
    if isinstance(value, (np.ndarray, np.generic)):
        return (type(value), digest_of(np.asarray(value)))
    if isinstance(value, (tuple, list)) and len(value) <= MOST_ITEMS and depth:
        return (type(value), *[_mark_of(item, depth - 1) for item in value])
    if isinstance(value, (tuple, list, dict, set)):
        return (type(value), id(value), len(value))
    return (type(value), id(value))


def edges_text(ctx: Any, called: Callable[[Any], str]) -> str:
    """Where the gradients will go, by name, one for each tensor argument."""
    names = []
    for edge in ctx._edges:
        if edge is NOT_A_TENSOR:
            continue
        node, slot = split_edge(edge)
        label = "none" if node is None else called(node)
        names.append(f"{label} output {slot}" if slot else label)
    return ", ".join(names)


def place_of(event: dict[str, Any]) -> dict[str, int]:
    """Where in the code an event stands."""
    return {key: event[key] for key in ("s", "l") if key in event}


def is_leaf(node: Any) -> bool:
    """Whether the graph ends at ``node``."""
    if isinstance(node, ForeignNode):
        return node.is_leaf
    return isinstance(node, AccumulateGrad)


def attributes_of(ctx: Any) -> dict[str, Any]:
    """What forward put on ``ctx`` by name."""
    if isinstance(ctx, ForeignNode):
        return ctx.attributes()
    return getattr(ctx, "__dict__", {})


def function_of(ctx: Any) -> str:
    """The name of what was run forward."""
    function = getattr(ctx, "_forward_cls", None)
    return str(ctx.operation_name() if function is None else function.__name__)


def label_of(node: Any) -> str:
    """The name of a node without torch's C++ namespace."""
    return "AccumulateGrad" if is_leaf(node) else str(node.name()).split("::")[-1]
