"""What stands on each ctx, and what is new there since it was last shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from minigrad.engine.function import BackwardCFunction
from minigrad.engine.saved import FREED, Record
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.engine.tensor import Tensor
from minigrad.tracing.foreign import ForeignNode, SavedSeen
from minigrad.tracing.marks import mark_of
from minigrad.tracing.nodes import Card, Cards, edges_text, function_of
from minigrad.tracing.savers import Savers
from minigrad.tracing.values import FORGOTTEN, Ref, ValueStore, plain
from minigrad.utils._region import Placeholder

Entries = Iterator[tuple[str, Any, Any]]


class CtxLog:
    """The ctxs of a recording, and which of them are at work.

    ``touched`` counts the moments after which there may be something new on a ctx:
    code of the program's has run, or the engine has taken or kept what was saved.
    """

    def __init__(
        self, cards: Cards, values: ValueStore, called: Callable[[Any], str]
    ) -> None:
        self.entries: list[dict[str, Any]] = []
        self.at_work: list[tuple[Any, Card]] = []
        self.touched = 0
        self._values = values
        self.called = called
        self._cards = cards
        self._savers = Savers()

    def open(self, ctx: Any) -> None:
        """From now on ``ctx`` is the one at work."""
        self.at_work.append((ctx, self._cards.of(ctx)))

    def close(self, ctx: Any) -> None:
        """``ctx`` is no longer at work, nor is any that was opened after it."""
        while self.is_open(ctx):
            self.at_work.pop()

    def close_down_to(self, count: int) -> None:
        """An exception has left the calls that opened the ctxs after ``count``."""
        del self.at_work[count:]

    def is_open(self, ctx: Any) -> bool:
        """Whether ``ctx`` is at work."""
        return bool(self.at_work) and any([one is ctx for one, _ in self.at_work])

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

    def look(self) -> tuple[str, dict[str, Any] | None]:
        """The id of the ctx at work, and what is new on it."""
        ctx, card = self.at_work[-1]
        return card.ctx or self._enter(card, ctx), self._changes(card, ctx)

    def changes_on(self, ctx: Any) -> dict[str, Any] | None:
        """What is new on ``ctx`` since it was last shown."""
        return self._changes(self._cards.of(ctx), ctx)

    def _changes(self, card: Card, ctx: Any) -> dict[str, Any] | None:
        is_foreign = isinstance(ctx, ForeignNode)
        if card.seen_at == self.touched and not is_foreign:
            return None
        card.seen_at = self.touched
        marks = card.marks
        new: dict[str, Ref] = {}
        there = []
        for key, value, mark in (foreign if is_foreign else entries)(self, ctx, marks):
            there.append(key)
            if key not in marks or marks[key] != mark:
                marks[key] = mark
                new[key] = self._ref(card, key, value)
        gone = [key for key in marks if key not in there]
        for key in gone:
            del marks[key]
        if not new and not gone:
            return None
        return {"id": card.ctx, "set": new, "del": gone}

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


NO_ATTRIBUTES: Final[dict[str, Any]] = {}


class Words(str):
    """What an entry says in so many words, which no value of the program's does."""


def entries(log: CtxLog, ctx: Any, before: Mapping[str, Any]) -> Entries:
    """What stands on a ctx: for each entry its key, its value, and its mark.

    What cannot have changed since ``before`` is not looked at.
    """
    needs, edges = before.get("needs_input_grad"), id(ctx._edges)
    yield "needs_input_grad", needs or Words(tuple(ctx.needs_input_grad)), True
    if ctx._edges:
        is_known = before.get("edges") == edges
        yield "edges", is_known or Words(edges_text(ctx, log.called)), edges
    told = getattr(ctx, "to_save", None)
    if told:
        for place, value in enumerate(told):
            yield f"saved.{place}", value, mark_of(value)
    elif ctx._saved is FREED:
        for key in [key for key in before if key.startswith("saved.")]:
            yield key, FREED, FREED
    else:
        yield from kept(ctx)
    for name, value in getattr(ctx, "__dict__", NO_ATTRIBUTES).items():
        yield f"attr.{name}", value, mark_of(value)
    if isinstance(ctx, BackwardCFunction):
        if not ctx._materialize_grads:
            yield "flag.materialize_grads", False, False
        if ctx.dirty_tensors:
            yield "flag.dirty", ctx.dirty_tensors, id(ctx.dirty_tensors)
        marked = ctx.non_differentiable
        if marked:
            yield "flag.non_differentiable", marked, id(marked)


def kept(ctx: Any) -> Entries:
    """What a node keeps for its backward."""
    # Looking on is no reading: teaching mode asks whether the rule has read it.
    for place, packed in enumerate(tuple.__iter__(ctx._saved)):
        key = f"saved.{place}"
        if isinstance(packed, Tensor):
            yield key, Record(packed, 0, None), (id(packed), packed._seen_version())
        elif isinstance(packed, Record):
            tensor = packed.tensor
            mark = id(tensor), packed.version, tensor._seen_version()
            yield key, packed, mark
        else:
            value = packed.packed if isinstance(packed, HookedRecord) else packed
            if isinstance(value, Placeholder):
                yield key, Words(FORGOTTEN), FORGOTTEN
            else:
                yield key, value, mark_of(value)


def foreign(log: CtxLog, ctx: ForeignNode, before: Mapping[str, Any]) -> Entries:
    """The same of a node of another engine, of which nothing is known to stay."""
    needs = Words(tuple(ctx.needs_input_grad))
    yield "needs_input_grad", needs, needs
    if ctx._edges:
        edges = Words(edges_text(ctx, log.called))
        yield "edges", edges, edges
    for key, value in ctx.entries(before).items():
        yield key, value, mark_of(value)
