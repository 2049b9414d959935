"""The list of events, and what each changes on the ctx that is at work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from minigrad.engine.core.tensor import Tensor
from minigrad.tracing import sentences
from minigrad.tracing.budget import Gap, only_shown
from minigrad.tracing.calls import Calls
from minigrad.tracing.codes import ENGINE as ENGINE
from minigrad.tracing.codes import STORY as STORY
from minigrad.tracing.ctxs import CtxLog
from minigrad.tracing.memory import Memory
from minigrad.tracing.names import Names
from minigrad.tracing.nodes import Card, Cards, Named, called
from minigrad.tracing.values import ValueStore

MOST_EVENTS: Final = 20_000
SLACK: Final = 5_000
"""How many more there may be before the middle is left out."""
LOOKED: Final = ("ctx.save", "ctx.free")
"""Steps that have looked at the memory of their ctx."""
Event = dict[str, Any]
"""A step of the recording, as the trace has it."""
Say = str | tuple[Any, ...]
"""A sentence; or what makes it when the recording has ended, and what that is given."""


class EventLog:
    """Collects events; each carries what changed on the ctx of the moment.

    While a program runs only facts are noted. ``finish`` makes the sentences and the
    pictures of them; whatever may change later has been noted as it was.
    """

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.gap = Gap()
        self.names = Names()
        self.values = ValueStore(self.names)
        self.memory = Memory(self.names)
        self.cards = Cards()
        self.calls = Calls(self.values)
        self.ctxs = CtxLog(self.cards, self.values, self.named)
        self.opened: Any = None
        """The watched frame at whose line the program is."""
        self.handles: dict[str, str] = {}
        self.node_of: Callable[[Tensor], str | None] = lambda tensor: None
        self.id_of: Callable[[Any], str]
        """The id of a node; the log of the graph gives them."""
        self.told: Callable[[dict[str, Any]], None] | None = None
        self.depth = 0
        self.ran = 0
        """How often code of the program's was heard to run."""
        self.hears_lines = False
        self._most = MOST_EVENTS + SLACK

    def emit(
        self, event: Event, *, at: int | None = None, others: Sequence[Event] = ()
    ) -> None:
        """Add an event, at the end or before event number ``at``.

        It gets its place in the code, and what has changed on the ctx at work and in
        memory; ``others`` is what has changed on ctxs that are not at work.
        """
        memory = self.memory
        if memory.gone:
            self._say_gone(memory.take_gone())
        event["d"] = self.depth
        opened = self.opened
        if opened is not None:
            event["s"], event["l"] = opened.code.source, opened.line
        if at is not None:
            place = self._place_of(at)
            if place is not None:
                self._insert(place, event)
                return
        ctxs = self.ctxs
        if ctxs.at_work:
            ctx, card = ctxs.at_work[-1]
            event["cid"] = card.ctx or ctxs.id_of(ctx)
            if card.seen_at != ctxs.touched:
                changes = ctxs.changes(card, ctx)
                if changes is not None:
                    event["ctx"] = changes
                    is_kept = card.is_users and ctx._edges
                    if is_kept and event["k"] not in LOOKED and filled(ctx):
                        memory.look_at_node(ctx, self.id_of(ctx), card.label)
        if others:
            put_others(event, others)
        if memory.added or memory.dropped:
            event["mem"] = memory.take()
        events = self.events
        events.append(event)
        if len(events) > self._most:
            self._make_room()
        if self.told is not None:
            self.told(event)

    def _insert(self, at: int, event: dict[str, Any]) -> None:
        """Put an event before another one, and beside the line that stands there."""
        event.update(place_of(self.events[at - 1]))
        if self.ctxs.at_work:
            event["cid"] = self.ctxs.id_of(self.ctxs.at_work[-1][0])
        self.events.insert(at, event)
        if self.told is not None:
            self.told(event)

    def program_ran(self) -> None:
        """Code of the program's has run: what it can reach may have changed."""
        self.ran += 1
        self.ctxs.touched += 1
        if not self.hears_lines:
            self.names.moment += 1

    def program_may_have_run(self) -> None:
        """The engine has called code of the program's; if its lines are heard, they
        have told so."""
        if not self.hears_lines:
            self.ctxs.touched += 1
            self.names.moment += 1

    @property
    def count(self) -> int:
        """How many events there were until now, with those left out."""
        return len(self.events) + self.gap.count

    def _place_of(self, number: int) -> int | None:
        """Where event ``number`` of all stands; None if that was left out."""
        if number <= MOST_EVENTS // 2:
            return number
        place = number - self.gap.count
        return place if place > MOST_EVENTS // 2 or not self.gap.count else None

    def _make_room(self) -> None:
        """Leave out the middle: the events after the first half of the budget."""
        start = MOST_EVENTS // 2
        end = start + max(0, len(self.events) - MOST_EVENTS)
        self.gap.take(self.events[start:end])
        del self.events[start:end]

    def finish(self, graph: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Say what was noted, and what was left out; the pictures of all values.

        ``graph`` and the ctxs are left with what a step shows.
        """
        if self.gap.count:
            edges = {edge["id"]: edge for edge in graph["edges"]}
            start = MOST_EVENTS // 2
            before, after = self.events[:start], self.events[start:]
            self.events[start:start] = self.gap.events(before, after, edges)
            only_shown(graph, self.ctxs.entries, self.events)
        for event in self.events:
            if type(event.get("say")) is tuple:
                tell, *facts = event["say"]
                event["say"] = tell(*facts)
        return self.values.finish(self.events)

    def let_go(self) -> None:
        """The program goes on unheard: nothing of it is held from now on."""
        self._make_room()
        self.names = self.values.names = self.memory.names = Names()
        self.ctxs.at_work.clear()
        self.opened = None
        self.node_of = lambda tensor: None

    def _say_gone(self, gone: list[dict[str, Any]]) -> None:
        """A story step of its own for what died between two others."""
        place = place_of(self.events[-1]) if self.events else {}
        opened, self.opened = self.opened, None
        say = sentences.gone(gone)
        self.emit({"k": "mem.gone", "lvl": STORY, "say": say, **place})
        self.opened = opened

    def named(self, node: Any) -> Named:
        """What a sentence can say of a node later."""
        return self.named_by(self.cards.of(node), node)

    def named_by(self, card: Card, node: Any) -> Named:
        """The same of a node whose card is known."""
        return card.label, self.names.of(node.variable) if card.is_leaf else None

    def called(self, node: Any) -> str:
        """A node in a sentence: a leaf's node by the name of its tensor."""
        return called(*self.named(node))


def filled(ctx: Any) -> bool:
    """Whether forward has put something on ``ctx`` that apply has not taken."""
    return bool(ctx.to_save or ctx.__dict__)


def put_others(event: dict[str, Any], others: Sequence[dict[str, Any]]) -> None:
    """Write what has changed on ctxs that are not at work; if none is, the first one
    is shown."""
    rest = list(others)
    if "cid" not in event:
        event["ctx"] = rest.pop(0)
    if rest:
        event["others"] = rest


def place_of(event: dict[str, Any]) -> dict[str, int]:
    """Where in the code an event stands."""
    return {key: event[key] for key in ("s", "l") if key in event}
