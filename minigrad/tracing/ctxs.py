"""What stands on each ctx, and what is new there since it was last shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from minigrad.engine.function import BackwardCFunction
from minigrad.engine.saved import FREED
from minigrad.engine.saved_hooks import SavedTensor
from minigrad.tracing.foreign import ForeignNode, SavedSeen
from minigrad.tracing.marks import ATOMS, mark_of, version_of
from minigrad.tracing.nodes import Card, Cards, attributes_of, edges_text, function_of
from minigrad.tracing.values import Ref, ValueStore, plain
from minigrad.utils._region import Placeholder

Entries = dict[str, tuple[Any, Any]]


class CtxLog:
    """The ctxs of a recording, and which of them are at work.

    ``touched`` counts the moments at which code of the program's has run: until the
    next, only the engine can have changed a ctx, and a glance tells whether it did.
    """

    def __init__(
        self, cards: Cards, values: ValueStore, called: Callable[[Any], str]
    ) -> None:
        self.entries: list[dict[str, Any]] = []
        self.at_work: list[Any] = []
        self.touched = 0
        self._values = values
        self._called = called
        self._cards = cards

    def open(self, ctx: Any) -> None:
        """From now on ``ctx`` is the one at work."""
        self.at_work.append(ctx)

    def close(self, ctx: Any) -> None:
        """``ctx`` is no longer at work, nor is any that was opened after it."""
        while self.is_open(ctx):
            self.at_work.pop()

    def close_down_to(self, count: int) -> None:
        """An exception has left the calls that opened the ctxs after ``count``."""
        del self.at_work[count:]

    def is_open(self, ctx: Any) -> bool:
        """Whether ``ctx`` is at work."""
        return any([one is ctx for one in self.at_work])

    def id_of(self, ctx: Any) -> str:
        """The id of ``ctx``, which gets an entry when it is first met."""
        card = self._cards.of(ctx)
        return card.ctx or self._enter(card, ctx)

    def _enter(self, card: Card, ctx: Any) -> str:
        card.ctx = f"c{len(self.entries)}"
        entry = {"id": card.ctx, "name": ctx.name(), "function": function_of(ctx)}
        self.entries.append(entry | {"node": None})
        return card.ctx

    def with_id(self, name: str) -> Any:
        """The ctx whose id ``name`` is; None if it is gone."""
        return self._cards.ctx_with(name)

    def belongs_to(self, ctx: Any, node: str) -> str:
        """``ctx`` has become a node of the graph; its id."""
        name = self.id_of(ctx)
        self.entries[int(name[1:])]["node"] = node
        return name

    def changes_on(self, ctx: Any) -> dict[str, Any] | None:
        """What is new on ``ctx`` since it was last shown."""
        shown = self._cards.of(ctx)
        if not isinstance(ctx, ForeignNode):
            glance = glance_at(ctx)
            if shown.seen_at == self.touched and shown.glance == glance:
                return None
            shown.glance = glance
            shown.seen_at = self.touched
            look = look_of(ctx)
            if shown.look == look:
                return None
            shown.look = look
        before = shown.marks
        now = entries_of(ctx, self._called, before)
        new = {
            key: self._ref(key, value)
            for key, (mark, value) in now.items()
            if key not in before or before[key] != mark
        }
        gone = [key for key in before if key not in now]
        shown.marks = {key: mark for key, (mark, _) in now.items()}
        if not new and not gone:
            return None
        return {"id": shown.ctx, "set": new, "del": gone}

    def _ref(self, key: str, value: Any) -> Ref:
        if isinstance(value, SavedTensor):
            return self._values.saved_ref(value)
        if isinstance(value, SavedSeen):
            return self._values.seen_ref(value)
        if key in ("needs_input_grad", "edges") or (
            key.startswith("saved.") and isinstance(value, str)
        ):
            return plain(value)
        if value is FREED:
            return plain("freed")
        return self._values.ref(value, key) or plain("None")


def glance_at(ctx: Any) -> tuple[int, ...]:
    """What the engine itself changes of a ctx: quick to compare."""
    if isinstance(ctx, BackwardCFunction):
        return (
            id(ctx._saved),
            id(ctx._edges),
            id(ctx.to_save),
            id(ctx.dirty_tensors),
            id(ctx.non_differentiable),
            len(ctx.__dict__),
        )
    return id(ctx._saved), id(ctx._edges)


def look_of(ctx: Any) -> Any:
    """Something quick to make that differs when ``entries_of`` does."""
    saved = ctx._saved
    attributes = [
        (name, type(value), value) if type(value) in ATOMS else (name, mark_of(value))
        for name, value in attributes_of(ctx).items()
    ]
    told = getattr(ctx, "to_save", None)
    return (
        id(saved),
        [version_of(packed) for packed in saved],
        attributes,
        id(ctx._edges),
        id(told),
        [mark_of(value) for value in told or ()],
        getattr(ctx, "_materialize_grads", True),
        id(getattr(ctx, "dirty_tensors", None)),
        id(getattr(ctx, "non_differentiable", None)),
    )


def entries_of(
    ctx: Any, called: Callable[[Any], str], before: Iterable[str]
) -> Entries:
    """What ctx holds: a mark that changes when the entry does, and the value.

    ``before`` names the entries it had; a saved value stays, as freed, when it is gone.
    """
    entries: Entries = {}

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
