"""What stands on each ctx, and what is new there since it was last shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from minigrad.engine.core.ctx import BackwardCFunction
from minigrad.engine.core.node import NOT_A_TENSOR
from minigrad.engine.core.saved import FREED
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.tracing.foreign import ForeignNode, SavedSeen
from minigrad.tracing.memory import Savers, kept_by
from minigrad.tracing.nodes import NOTHING, UNNEEDED, Card, Cards, End, Kind, edges_text
from minigrad.tracing.values import (
    ATOMS,
    FORGOTTEN,
    Note,
    Ref,
    ValueStore,
    mark_of,
    plain,
)
from minigrad.utils._region import Placeholder

Entries = list[tuple[str, Any, tuple[Any, ...]]]
"""What stands on a ctx: the key of each, its mark, and what makes its ref, and of what.
"""
AS_FREED: Final = (plain, "freed")
LASTING: Final = ("needs_input_grad", "edges")
NOTHING_YET: Final = (0, True)
"""How many tensors are saved on a new ctx, and that gradients are materialized."""


class CtxLog:
    """The ctxs of a recording, and which of them are at work.

    ``touched`` counts the moments after which there may be something new on a ctx:
    code of the program's has run, or the engine has taken or kept what was saved.
    ``ran`` counts those of them at which code of the program's was heard to run: that
    of a built-in node stays as it was made until then, or until it is released.
    """

    def __init__(self, cards: Cards, values: ValueStore) -> None:
        self.kinds: list[Kind] = []
        """Of each ctx, in the order of their ids."""
        self.at_work: list[tuple[Any, Card]] = []
        self.touched = 0
        self.ran = 0
        self.values = values
        self._cards = cards
        self._savers = Savers()
        self._made = self._as_made

    def open(self, ctx: Any, card: Card) -> None:
        """From now on ``ctx``, whose card is given, is the one at work."""
        card.ctx = card.ctx or self.id_of(card)
        self.at_work.append((ctx, card))
        fixed = card.fixed
        if fixed is not None:
            card.seen_at = self.ran
            was, now = fixed.values(), ctx.__dict__.values()
            if (was or now) and [*map(id, was)] != [*map(id, now)]:
                card.marks = marks_as_made(card, ctx)
                card.seen_at, card.fixed = -1, None

    def close(self, ctx: Any) -> None:
        """``ctx`` is no longer at work, nor is any that was opened after it."""
        at_work = self.at_work
        if at_work and at_work[-1][0] is ctx:
            at_work.pop()
            return
        for place in range(len(at_work) - 1, -1, -1):
            if at_work[place][0] is ctx:
                del at_work[place:]
                return

    def is_open(self, ctx: Any) -> bool:
        """Whether ``ctx`` is at work."""
        return any([one is ctx for one, _ in self.at_work])

    def id_of(self, card: Card) -> str:
        """The id of the ctx of ``card``, which gets an entry when it is first met."""
        if card.ctx is None:
            card.ctx = f"c{len(self.kinds)}"
            self.kinds.append(card.kind)
        return card.ctx

    def finish(self, graph: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The ctxs as data; the nodes of ``graph`` know theirs."""
        nodes = {node["ctx"]: node["id"] for node in graph["nodes"]}
        return [
            {"id": name, "name": kind.name, "function": kind.function}
            | {"node": nodes.get(name)}
            for name, kind in ((f"c{n}", kind) for n, kind in enumerate(self.kinds))
        ]

    def changes(self, card: Card, ctx: Any) -> Any:
        """What is new on ``ctx`` since it was last shown, or what makes that later."""
        if card.fixed is not None and ctx._saved is FREED:
            card.seen_at, kept, card.kept = self.ran, card.kept, ()
            return (freed, card.ctx, len(kept)) if kept else None
        marks = card.marks
        if isinstance(ctx, BackwardCFunction):
            before, state = card.state, state_of(ctx)
            card.state = state
            if state is not None:
                card.seen_at = self.touched
                if state == before:
                    return None
                if marks is None and ctx._edges and state[1:] == NOTHING_YET:
                    card.marks = {"needs_input_grad": True, "edges": id(ctx._edges)}
                    ends, needs = self.ends_of(ctx), tuple(ctx.needs_input_grad)
                    return self._made, card.ctx, ends, (), NOTHING, needs
                if marks and before and ctx._saved is FREED and before[2] == state[2]:
                    marks |= {f"saved.{place}": FREED for place in range(before[1])}
                    return (freed, card.ctx, before[1]) if before[1] else None
        if marks is None:
            made = self.made(card, ctx) if card.fixed is None else None
            if made is not None:
                return made[0]
            marks = card.marks = {} if card.fixed is None else marks_as_made(card, ctx)
        new: dict[str, Ref] = {}
        if isinstance(ctx, ForeignNode):
            lasting, there = 0, foreign(self, ctx, marks)
        else:
            lasting = len(LASTING)
            if marks.get("edges") != id(ctx._edges):
                lasting = self._note_lasting(card, ctx, marks, new)
            there = entries(self.values, ctx, marks)
            card.seen_at = self.touched if card.fixed is None else self.ran
        for key, mark, (tell, *facts) in there:
            if marks.get(key) != mark:
                marks[key] = mark
                new[key] = tell(*facts)
        if new and getattr(ctx, "_saved", True):  # torch's nodes show none
            self._savers.later(card)
        gone: list[str] = []
        if lasting + len(there) < len(marks):
            keys = {*LASTING[:lasting], *[entry[0] for entry in there]}
            gone = [key for key in marks if key not in keys]
            for key in gone:
                del marks[key]
        if not new and not gone:
            return None
        return changed, card.ctx, new, gone

    def made(self, card: Card, ctx: Any) -> tuple[Any, list[Any]] | None:
        """What stands on the ctx of a built-in node, and the arrays that it has saved.

        None if there is something that may change without notice.
        """
        if not card.kind.is_builtin:
            return None
        attributes = ctx.__dict__ or NOTHING
        for value in attributes.values():
            for item in value if type(value) is tuple else (value,):
                if type(item) not in ATOMS:
                    return None
        saved: list[Ref] = []
        kept: list[int] = []
        arrays: list[Any] = []
        for packed in tuple.__iter__(ctx._saved):
            found = None if packed is None else kept_by(packed)
            note = None
            if found is not None and found[2] == found[3]:
                note = self.values.saved_ref(*found)
                arrays.append((f"saved.{len(saved)}", found[1], note[2]))
            elif packed is not None:
                return None
            saved.append(note)
            kept.append(0 if found is None else id(found[0]))
        card.fixed = dict(attributes) if attributes else NOTHING
        card.seen_at, card.kept = self.ran, tuple(kept)
        if saved:
            self._savers.later(card)
        ends, card.edges = card.edges or self.ends_of(ctx), None
        name = card.ctx or self.id_of(card)
        return (self._made, name, ends, saved, card.fixed), arrays

    def _as_made(
        self,
        name: str,
        ends: list[End],
        saved: Sequence[Ref],
        attributes: dict[str, Any],
        needs: tuple[bool, ...] = (),
    ) -> dict[str, Any]:
        """What is on a ctx that has been made; ``needs`` is that of a learner's."""
        if not needs:
            needs = tuple([one is not None and one[0] is not None for one in ends])
        new: dict[str, Ref] = {"needs_input_grad": Note(("W", str, needs))}
        if ends:
            new["edges"] = Note(("W", edges_text, *ends))
        for place, note in enumerate(saved):
            new[f"saved.{place}"] = note or plain("None")
        for key, value in attributes.items():
            new[f"attr.{key}"] = self.values.ref(value, key)
        return {"id": name, "set": new, "del": []}

    def _note_lasting(
        self, card: Card, ctx: Any, marks: dict[str, Any], new: dict[str, Ref]
    ) -> int:
        """Note what hardly ever changes on a ctx, LASTING; how much of it is there."""
        edges = ctx._edges
        if not marks:
            marks["needs_input_grad"] = True
            needs = tuple(ctx.needs_input_grad)
            new["needs_input_grad"] = Note(("W", str, needs))
        if not edges:
            return 1
        marks["edges"] = id(edges)
        ends, card.edges = card.edges or self.ends_of(ctx), None
        new["edges"] = Note(("W", edges_text, *ends))
        return len(LASTING)

    def ends_of(self, ctx: Any, meet: Callable[[Any], None] | None = None) -> list[End]:
        """Where gradients will go: one for each argument.

        ``meet`` is told of nodes that the graph of the recording does not have yet.
        """
        ends: list[End] = []
        cards, names = self._cards, self.values.names
        for edge in ctx._edges:
            if edge is None:
                ends.append(UNNEEDED)
            elif edge is NOT_A_TENSOR:
                ends.append(None)
            else:
                node, slot = edge if type(edge) is tuple else (edge, 0)
                card = cards.get(id(node)) or cards.new(node)
                if meet is not None and card.node is None:
                    meet(node)
                tensor = names.of(node.variable) if card.is_leaf else None
                ends.append((card.label, tensor, slot, card.node, card.is_leaf))
        return ends

    def changes_by(self, tensor: Any) -> list[dict[str, Any]]:
        """What is new on the ctxs that saved ``tensor``, which was changed in place.

        That of the ctx at work is told anyway. Those of learners come first, then the
        newest.
        """
        last = self.at_work[-1][0] if self.at_work else None
        found = [card for card in self._savers.of(tensor) if card() is not last]
        found.sort(key=lambda card: not card.is_users)
        changes = [self.changes(card, card()) for card in found]
        return [change for change in changes if change is not None]


def entries(values: ValueStore, ctx: Any, before: Mapping[str, Any]) -> Entries:
    """What else stands on a ctx; what was saved ``before`` is freed if it is gone."""
    found: Entries = []
    told = getattr(ctx, "to_save", None)
    if told:
        for place, value in enumerate(told):
            key = f"saved.{place}"
            found.append((key, mark_of(value), (values.ref, value, key)))
    elif ctx._saved is FREED:
        for key in before:
            if key.startswith("saved."):
                found.append((key, FREED, AS_FREED))
    elif ctx._saved:
        add_kept(found, values, ctx)
    attributes = getattr(ctx, "__dict__", None)
    if attributes:
        for name, value in attributes.items():
            key = f"attr.{name}"
            found.append((key, mark_of(value), (values.ref, value, key)))
    if isinstance(ctx, BackwardCFunction):
        if not ctx._materialize_grads:
            found.append(("flag.materialize_grads", False, (values.ref, False)))
        dirty, marked = ctx.dirty_tensors, ctx.non_differentiable
        if dirty:
            found.append(("flag.dirty", mark_of(dirty), (values.ref, dirty)))
        if marked:
            found.append(("flag.non_differentiable", id(marked), (values.ref, marked)))
    return found


def state_of(ctx: BackwardCFunction) -> Any:
    """What differs when something else is on ctx; None if that takes a closer look."""
    if ctx.to_save or ctx.dirty_tensors or ctx.non_differentiable:
        return None
    saved, attributes = ctx._saved, ctx.__dict__
    for one in tuple.__iter__(saved):
        if type(one) is not Tensor or one._version_counter is not None:
            return None
    if not attributes:
        return id(saved), len(saved), ctx._materialize_grads
    kinds = [*map(type, attributes.values())]
    if not ATOMS.issuperset(kinds):
        return None
    also = ctx._materialize_grads, [*attributes.items()], kinds
    return id(saved), len(saved), also


def add_kept(found: Entries, values: ValueStore, ctx: Any) -> None:
    """Add what a node keeps for its backward."""
    # Looking on is no reading: teaching mode asks whether the rule has read it.
    for place, packed in enumerate(tuple.__iter__(ctx._saved)):
        key = f"saved.{place}"
        kept = kept_by(packed)
        if kept is not None:
            tensor, _, version, now, _ = kept
            found.append((key, (id(tensor), version, now), (values.saved_ref, *kept)))
            continue
        value = packed.packed if isinstance(packed, HookedRecord) else packed
        if isinstance(value, Placeholder):
            found.append((key, FORGOTTEN, (plain, FORGOTTEN)))
        else:
            found.append((key, mark_of(value), (values.ref, value, key)))


def marks_as_made(card: Card, ctx: Any) -> dict[str, Any]:
    """The marks of what a built-in node has kept, as they were when it was made."""
    marks: dict[str, Any] = {"needs_input_grad": True, "edges": id(ctx._edges)}
    for place, (was, packed) in enumerate(zip(card.kept, ctx._saved, strict=False)):
        version = getattr(packed, "version", 0)
        marks[f"saved.{place}"] = (was, version, version) if was else mark_of(None)
    for name, value in (card.fixed or {}).items():
        marks[f"attr.{name}"] = mark_of(value)
    return marks


def changed(name: str, new: dict[str, Ref], gone: list[str]) -> dict[str, Any]:
    """What is new on a ctx, and what was taken off."""
    return {"id": name, "set": new, "del": gone}


def freed(name: str, count: int) -> dict[str, Any]:
    """What is on a ctx whose saved values backward has released."""
    new = {f"saved.{place}": plain("freed") for place in range(count)}
    return {"id": name, "set": new, "del": []}


def foreign(log: CtxLog, ctx: ForeignNode, before: Mapping[str, Any]) -> Entries:
    """The same of a node of another engine, of which nothing is known to stay.

    What was saved stays there, as freed, when it is gone.
    """
    values, needs = log.values, str(tuple(ctx.needs_input_grad))
    found: Entries = [("needs_input_grad", needs, (plain, needs))]
    if ctx._edges:
        edges = edges_text(*log.ends_of(ctx))
        found.append(("edges", edges, (plain, edges)))
    if ctx.freed and not ctx.to_save:
        held: dict[str, Any] = {key: FREED for key in before if key[:6] == "saved."}
    else:
        saved = dict(enumerate(ctx.to_save or ())) or ctx.saved
        held = {f"saved.{name}": value for name, value in saved.items()}
    held |= {f"attr.{name}": value for name, value in ctx.attributes().items()}
    held |= {f"flag.{name}": value for name, value in ctx.flags.items()}
    for key, value in held.items():
        told: Any = (values.ref, value, key)
        if value is FREED:
            told = AS_FREED
        elif isinstance(value, SavedSeen):
            told = (values.seen_ref, value)
        found.append((key, mark_of(value), told))
    return found
