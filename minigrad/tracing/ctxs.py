"""What stands on each ctx, and what is new there since it was last shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from minigrad.engine.core.ctx import BackwardCFunction
from minigrad.engine.core.saved import FREED, Record
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.tracing.foreign import ForeignNode, SavedSeen
from minigrad.tracing.marks import mark_of
from minigrad.tracing.nodes import (
    Card,
    Cards,
    Named,
    edges_seen,
    edges_text,
    function_of,
)
from minigrad.tracing.savers import Savers
from minigrad.tracing.values import FORGOTTEN, Note, Ref, ValueStore, plain
from minigrad.utils._region import Placeholder

Entries = list[tuple[str, Any, Any]]
LASTING: Final = ("needs_input_grad", "edges")


class CtxLog:
    """The ctxs of a recording, and which of them are at work.

    ``touched`` counts the moments after which there may be something new on a ctx:
    code of the program's has run, or the engine has taken or kept what was saved.
    """

    def __init__(
        self, cards: Cards, values: ValueStore, named: Callable[[Any], Named]
    ) -> None:
        self.entries: list[dict[str, Any]] = []
        self.at_work: list[tuple[Any, Card]] = []
        self.touched = 0
        self._values = values
        self.named = named
        self._cards = cards
        self._savers = Savers()

    def open(self, ctx: Any, card: Card) -> None:
        """From now on ``ctx``, whose card is given, is the one at work."""
        self.at_work.append((ctx, card))

    def close(self, ctx: Any) -> None:
        """``ctx`` is no longer at work, nor is any that was opened after it."""
        while self.at_work and self.is_open(ctx):
            self.at_work.pop()

    def close_down_to(self, count: int) -> None:
        """An exception has left the calls that opened the ctxs after ``count``."""
        del self.at_work[count:]

    def is_open(self, ctx: Any) -> bool:
        """Whether ``ctx`` is at work."""
        at_work = self.at_work
        if not at_work or at_work[-1][0] is ctx:
            return bool(at_work)
        return any([one is ctx for one, _ in at_work])

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

    def belongs_to(self, card: Card, ctx: Any, node: str) -> str:
        """``ctx``, whose card is given, has become a node of the graph; its id."""
        name = card.ctx or self._enter(card, ctx)
        self.entries[int(name[1:])]["node"] = node
        return name

    def changes_on(self, ctx: Any) -> dict[str, Any] | None:
        """What is new on ``ctx`` since it was last shown."""
        card = self._cards.of(ctx)
        return None if card.seen_at == self.touched else self.changes(card, ctx)

    def changes(self, card: Card, ctx: Any) -> dict[str, Any] | None:
        """The same, of a ctx that may have changed; torch's always may have."""
        marks = card.marks
        new: dict[str, Ref] = {}
        if isinstance(ctx, ForeignNode):
            lasting, there = 0, foreign(self, ctx, marks)
        else:
            card.seen_at = self.touched
            edges = ctx._edges
            lasting = 2 if edges else 1
            if not marks or (edges and marks.get("edges") != id(edges)):
                self._note_lasting(ctx, marks, new)
            there = entries(ctx, marks)
        for key, value, mark in there:
            if marks.get(key) != mark:
                marks[key] = mark
                new[key] = self._ref(card, key, value)
        gone: list[str] = []
        if lasting + len(there) < len(marks):
            keys = {*LASTING[:lasting], *[entry[0] for entry in there]}
            gone = [key for key in marks if key not in keys]
            for key in gone:
                del marks[key]
        if not new and not gone:
            return None
        return {"id": card.ctx, "set": new, "del": gone}

    def _note_lasting(
        self, ctx: Any, marks: dict[str, Any], new: dict[str, Ref]
    ) -> None:
        """Note what hardly ever changes on a ctx: LASTING."""
        if not marks:
            marks["needs_input_grad"] = True
            new["needs_input_grad"] = Note(("W", str, tuple(ctx.needs_input_grad)))
        if ctx._edges:
            marks["edges"] = id(ctx._edges)
            new["edges"] = Note(("W", edges_text, *edges_seen(ctx, self.named)))

    def changes_by(self, tensor: Any) -> list[dict[str, Any]]:
        """What is new on the ctxs that saved ``tensor``, which was changed in place.

        That of the ctx at work is told anyway. Those of learners come first, then the
        newest.
        """
        savers = [ctx for ctx in self._savers.of(tensor) if not self._is_last(ctx)]
        savers.sort(key=lambda ctx: not self._cards.of(ctx).is_users)
        changes = [self.changes_on(ctx) for ctx in savers]
        return [change for change in changes if change is not None]

    def _is_last(self, ctx: Any) -> bool:
        return bool(self.at_work) and self.at_work[-1][0] is ctx

    def _ref(self, card: Card, key: str, value: Any) -> Ref:
        if isinstance(value, Record):
            self._savers.add(card, value.tensor)
            return self._values.saved_ref(value)
        if isinstance(value, SavedSeen):
            self._savers.add(card, value.now())
            return self._values.seen_ref(value)
        if isinstance(value, Words):
            return plain(value)
        if value is FREED:
            return plain("freed")
        return self._values.ref(value, key) or plain("None")


class Words(str):
    """What an entry says in so many words, which no value of the program's does."""


def entries(ctx: Any, before: Mapping[str, Any]) -> Entries:
    """What else stands on a ctx: for each entry its key, its value, and its mark.

    ``before`` has the marks of then; what was saved then is told as freed if it is.
    """
    found: Entries = []
    told = getattr(ctx, "to_save", None)
    if told:
        for place, value in enumerate(told):
            found.append((f"saved.{place}", value, mark_of(value)))
    elif ctx._saved is FREED:
        for key in before:
            if key.startswith("saved."):
                found.append((key, FREED, FREED))
    elif ctx._saved:
        add_kept(found, ctx, before)
    attributes = getattr(ctx, "__dict__", None)
    if attributes:
        for name, value in attributes.items():
            found.append((f"attr.{name}", value, mark_of(value)))
    if isinstance(ctx, BackwardCFunction):
        if not ctx._materialize_grads:
            found.append(("flag.materialize_grads", False, False))
        dirty, marked = ctx.dirty_tensors, ctx.non_differentiable
        if dirty:
            found.append(("flag.dirty", dirty, mark_of(dirty)))
        if marked:
            found.append(("flag.non_differentiable", marked, id(marked)))
    return found


def add_kept(found: Entries, ctx: Any, before: Mapping[str, Any]) -> None:
    """Add what a node keeps for its backward; a Record only of what is new."""
    # Looking on is no reading: teaching mode asks whether the rule has read it.
    for place, packed in enumerate(tuple.__iter__(ctx._saved)):
        key = f"saved.{place}"
        if isinstance(packed, Tensor):
            mark: Any = id(packed), packed._seen_version()
            is_new = before.get(key) != mark
            found.append((key, Record(packed, 0, None) if is_new else packed, mark))
        elif isinstance(packed, Record):
            tensor = packed.tensor
            mark = id(tensor), packed.version, tensor._seen_version()
            found.append((key, packed, mark))
        else:
            value = packed.packed if isinstance(packed, HookedRecord) else packed
            if isinstance(value, Placeholder):
                found.append((key, Words(FORGOTTEN), FORGOTTEN))
            else:
                found.append((key, value, mark_of(value)))


def foreign(log: CtxLog, ctx: ForeignNode, before: Mapping[str, Any]) -> Entries:
    """The same of a node of another engine, of which nothing is known to stay."""
    needs = Words(tuple(ctx.needs_input_grad))
    found: Entries = [("needs_input_grad", needs, needs)]
    if ctx._edges:
        edges = Words(edges_text(*edges_seen(ctx, log.named)))
        found.append(("edges", edges, edges))
    for key, value in ctx.entries(before).items():
        found.append((key, value, mark_of(value)))
    return found
