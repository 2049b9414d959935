"""What stands on each ctx, and what is new there since it was last shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from minigrad.engine.function import BackwardCFunction
from minigrad.engine.saved import FREED
from minigrad.engine.saved_hooks import SavedTensor
from minigrad.tracing.foreign import ForeignNode, SavedSeen
from minigrad.tracing.marks import mark_of, version_of
from minigrad.tracing.nodes import Card, Cards, attributes_of, edges_text, function_of
from minigrad.tracing.savers import Savers
from minigrad.tracing.values import FORGOTTEN, Ref, ValueStore, plain
from minigrad.utils._region import Placeholder

Entries = Iterator[tuple[str, Any]]


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
        self.called = called
        self._cards = cards
        self._savers = Savers()

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
        return bool(self.at_work) and any([one is ctx for one in self.at_work])

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
        card = self._cards.of(ctx)
        if not isinstance(ctx, ForeignNode):
            glance = glance_at(ctx)
            if card.seen_at == self.touched and card.glance == glance:
                return None
            card.glance = glance
            card.seen_at = self.touched
        # Looking on is no reading: teaching mode asks whether the rule has read it.
        watched = getattr(ctx, "_saved", None)
        was_read = getattr(watched, "was_read", None)
        before, card.look = card.look, look_of(ctx)
        new: dict[str, Ref] = {}
        gone: list[str] = []
        for family, look in card.look.items():
            if before is None or before[family] != look or look is None:
                entries = dict(FAMILIES[family](self, ctx, card.marks))
                self._compare(family, entries, card.marks, new, gone)
                if family == "saved.":
                    self._savers.add(card, entries.values())
        if watched is not None and was_read is not None:
            watched.was_read = was_read
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
        return bool(self.at_work) and self.at_work[-1] is ctx

    def _compare(
        self,
        family: str,
        entries: dict[str, Any],
        marks: dict[str, Any],
        new: dict[str, Ref],
        gone: list[str],
    ) -> None:
        """Find what is new and what is gone among the entries of one family."""
        for key, value in entries.items():
            mark = mark_of(value)
            if key not in marks or marks[key] != mark:
                marks[key] = mark
                new[key] = self._ref(key, value)
        for key in [key for key in marks if key.startswith(family)]:
            if key not in entries:
                del marks[key]
                gone.append(key)

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


def look_of(ctx: Any) -> dict[str, Any]:
    """For each family of entries something quick to make that differs when they do;
    None where there is nothing quick."""
    if isinstance(ctx, ForeignNode):
        return dict.fromkeys(FAMILIES)
    attributes = attributes_of(ctx)
    if not isinstance(ctx, BackwardCFunction):
        return {
            "needs_input_grad": id(ctx._edges),
            "edges": id(ctx._edges),
            "saved.": [id(ctx._saved), *map(version_of, ctx._saved)],
            "attr.": attributes and marks_of(attributes),
            "flag.": 0,
        }
    told = ctx.to_save
    return {
        "needs_input_grad": 0,
        "edges": id(ctx._edges),
        "saved.": [
            *(id(ctx._saved), id(told)),
            *map(version_of, ctx._saved),
            *map(mark_of, told or ()),
        ],
        "attr.": attributes and marks_of(attributes),
        "flag.": (
            ctx._materialize_grads,
            id(ctx.dirty_tensors),
            id(ctx.non_differentiable),
        ),
    }


def marks_of(attributes: dict[str, Any]) -> list[Any]:
    """The names, with marks of what they hold."""
    return [(name, mark_of(value)) for name, value in attributes.items()]


def needs(log: CtxLog, ctx: Any, before: Iterable[str]) -> Entries:
    """Which arguments need a gradient."""
    yield "needs_input_grad", str(tuple(ctx.needs_input_grad))


def edges(log: CtxLog, ctx: Any, before: Iterable[str]) -> Entries:
    """Where gradients go on to."""
    if ctx._edges:
        yield "edges", edges_text(ctx, log.called)


def saved(log: CtxLog, ctx: Any, before: Iterable[str]) -> Entries:
    """The saved values; those that are gone stay, as freed."""
    told = getattr(ctx, "to_save", None)
    if isinstance(ctx, ForeignNode):
        yield from theirs("saved.", ctx, before)
    elif told:
        for i, value in enumerate(told):
            yield f"saved.{i}", value
    elif ctx._saved is FREED:
        for key in before:
            if key.startswith("saved."):
                yield key, FREED
    else:
        for i, record in enumerate(ctx._raw_saved_tensors):
            value = record.data if record.tensor is None else record
            is_note = isinstance(value, Placeholder)
            yield f"saved.{i}", FORGOTTEN if is_note else value


def attributes(log: CtxLog, ctx: Any, before: Iterable[str]) -> Entries:
    """What forward put on ctx by name."""
    for name, value in attributes_of(ctx).items():
        yield f"attr.{name}", value


def flags(log: CtxLog, ctx: Any, before: Iterable[str]) -> Entries:
    """What forward has marked."""
    if isinstance(ctx, ForeignNode):
        yield from theirs("flag.", ctx, before)
        return
    if not getattr(ctx, "_materialize_grads", True):
        yield "flag.materialize_grads", False
    for flag, field in (
        ("dirty", "dirty_tensors"),
        ("non_differentiable", "non_differentiable"),
    ):
        if getattr(ctx, field, None):
            yield f"flag.{flag}", getattr(ctx, field)


def theirs(family: str, ctx: ForeignNode, before: Iterable[str]) -> Entries:
    """The entries of a node of another engine that are of one family."""
    for key, value in ctx.entries(before).items():
        if key.startswith(family):
            yield key, value


FAMILIES: Final[dict[str, Callable[[CtxLog, Any, Iterable[str]], Entries]]] = {
    "needs_input_grad": needs,
    "edges": edges,
    "saved.": saved,
    "attr.": attributes,
    "flag.": flags,
}
"""The families of entries, by how their keys begin."""
