"""The list of events, and what each changes on the ctx that is at work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.budget import Gap, only_shown
from minigrad.tracing.calls import Calls
from minigrad.tracing.codes import ENGINE as ENGINE
from minigrad.tracing.codes import PHASES
from minigrad.tracing.codes import STORY as STORY
from minigrad.tracing.ctxs import CtxLog
from minigrad.tracing.foreign import nothing
from minigrad.tracing.memory import Memory
from minigrad.tracing.messages import joined, message
from minigrad.tracing.names import Names
from minigrad.tracing.nodes import NOTHING, Cards, called
from minigrad.tracing.values import ValueStore, bytes_text

MOST_EVENTS: Final = 20_000
SLACK: Final = 5_000
"""How many more there may be before the middle is left out."""
Event = dict[str, Any]
"""A step of the recording, as the trace has it."""
Told = tuple[Any, ...]
"""What makes an event, or its sentence, when a trace is first read, and of what."""


class EventLog:
    """Collects events; each carries what changed on the ctx of the moment.

    While a program runs only facts are noted. ``finish`` makes the sentences and the
    pictures of them; whatever may change later has been noted as it was.
    """

    def __init__(self, hears_lines: bool) -> None:
        self.events: list[Any] = []
        """Events, or what they are to be made of."""
        self.gap = Gap()
        self.names = Names()
        self.values = ValueStore(self.names)
        self.memory = Memory(self.names)
        self.cards = Cards(self.memory.held, self.memory.drop)
        self.calls = Calls(self.values)
        self.ctxs = CtxLog(self.cards, self.values)
        self.opened: Any = None
        """The watched frame at whose line the program is."""
        self.node_of: Callable[[Tensor], str | None] = lambda tensor: None
        self.id_of: Callable[[Any], str]
        """The id of a node; the log of the graph gives them."""
        self.told: Callable[[Event], None] | None = nothing if hears_lines else None
        """Whom to tell of each event at once; without, they are only noted."""
        self.depth = 0
        self.hears_lines = hears_lines
        self._most = MOST_EVENTS + SLACK

    def emit(
        self,
        event: Event | Told,
        *,
        at: int | None = None,
        others: Sequence[Event] = (),
        cid: str | None = None,
        changes: Any = None,
        looked: bool = False,
    ) -> None:
        """Note an event, at the end or before event number ``at``.

        It gets its place in the code, and what has changed on the ctx at work, or that
        of the id ``cid``, and in memory, unless that was ``looked`` at before;
        ``others`` is what has changed on ctxs that are not at work.
        """
        memory, ctxs, events = self.memory, self.ctxs, self.events
        if memory.gone:
            self._say_gone()
        number = kept = None
        if at is not None:
            number = self._place_of(at)
        if cid is None and ctxs.at_work:
            ctx, card = ctxs.at_work[-1]
            cid = card.ctx
            seen_at = ctxs.touched if card.fixed is None else ctxs.ran
            if card.seen_at != seen_at and number is None:
                changes = ctxs.changes(card, ctx)
                is_kept = changes is not None and card.is_users and ctx._edges
                if is_kept and not looked and (ctx.to_save or ctx.__dict__):
                    if card.node is None:
                        self.id_of(ctx)
                    memory.look_at_node(ctx, card)
        if number is None and (memory.added or memory.dropped):
            kept = memory.take()
        noted: tuple[Any, ...] = event, cid
        if changes is not None or others or kept is not None:
            noted = event, cid, changes, others, kept
        if self.told is None:
            events.append(noted)
        else:
            opened = self.opened
            place = None if opened is None else (opened.code.source, opened.line)
            if number is not None:
                place = place_of(events[number - 1])
            told = as_event(*noted, depth=self.depth, place=place)
            events.insert(len(events) if number is None else number, told)
            self.told(told)
        if len(events) > self._most:
            self._make_room()

    def last_turn(self) -> Event:
        """The event of the node that runs, told with what was noted since."""
        at = len(self.events)
        event: Event = {"k": ""}
        while event["k"] != "node.enter":
            at -= 1
            if type(self.events[at]) is tuple:
                self.events[at] = as_event(*self.events[at])
            event = self.events[at]
        return event

    def _tell_all(self) -> None:
        """Make the events of what was noted."""
        self.events[:] = [as_event(*e) if type(e) is tuple else e for e in self.events]

    def program_ran(self) -> None:
        """Code of the program's has run: what it can reach may have changed."""
        self.ctxs.ran += 1
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
        if len(self.events) <= MOST_EVENTS:
            return
        self._tell_all()
        start = MOST_EVENTS // 2
        end = start + max(0, len(self.events) - MOST_EVENTS)
        self.gap.take(self.events[start:end])
        del self.events[start:end]

    def finish(self, graph: dict[str, Any]) -> dict[str, Any]:
        """Say what was noted, and what was left out: events, ctxs and values as data.

        ``graph`` and the ctxs are left with what a step shows.
        """
        self._tell_all()
        self.calls.finish()
        ctxs = self.ctxs.finish(graph)
        if self.gap.count:
            edges = {edge["id"]: edge for edge in graph["edges"]}
            start = MOST_EVENTS // 2
            before, after = self.events[:start], self.events[start:]
            self.events[start:start] = self.gap.events(before, after, edges)
            only_shown(graph, ctxs, self.events)
        for event in self.events:
            if "say" in event:
                event["say"] = told_of(event["say"])
        values = self.values.finish(self.events)
        return {"values": values, "ctxs": ctxs, "graph": graph, "events": self.events}

    def let_go(self) -> None:
        """The program goes on unheard: nothing of it is held from now on."""
        self._make_room()
        self.names = self.values.names = self.memory.names = Names()
        self.ctxs.at_work.clear()
        self.opened = None
        self.node_of = lambda tensor: None

    def _say_gone(self) -> None:
        """A story step of its own for what died between two others."""
        gone, self.memory.gone = self.memory.gone, []
        last = self.events[-1] if self.events else None
        place = place_of(last) if type(last) is dict else None
        fields = {} if place is None else {"s": place[0], "l": place[1]}
        opened, self.opened = self.opened, None
        say = gone_text(gone)
        self.emit((step, "mem.gone", say, "", fields))
        self.opened = opened

    def called(self, node: Any) -> str:
        """A node in a sentence: a leaf's node by the name of its tensor."""
        card = self.cards.of(node)
        tensor = self.names.of(node.variable) if card.is_leaf else None
        return called(card.label, tensor)


def step(
    kind: str,
    say: Any = None,
    phase: str = "",
    fields: Event = NOTHING,
    level: int = STORY,
) -> Event:
    """A step of the story; without ``say`` the picture tells it in its own words."""
    event: Event = {"k": kind, "lvl": level}
    if say is not None:
        event["say"] = say
    if phase:
        event["ph"] = PHASES[phase]
    return event | fields


def turn(
    kind: str, phase: str, level: int, node: str, gradients: Sequence[Any] | None = None
) -> Event:
    """A step of the node that backward has come to; ``gradients`` have arrived."""
    fields = {"n": node} if gradients is None else {"n": node, "g": [*gradients]}
    return step(kind, None, phase, fields, level)


def as_event(
    told: Event | Told,
    cid: str | None,
    changes: Any = None,
    others: Sequence[Any] = (),
    kept: Any = None,
    *,
    depth: int = 0,
    place: tuple[int, int] | None = None,
) -> Event:
    """The event of what was noted."""
    event: Event = told_of(told)
    event["d"] = depth
    if place is not None:
        event["s"], event["l"] = place
    if cid is not None:
        event["cid"] = cid
    if changes is not None:
        event["ctx"] = told_of(changes)
    rest = [told_of(change) for change in others]
    if rest and cid is None:  # no ctx is at work: the first one is shown
        event["ctx"] = rest.pop(0)
    if rest:
        event["others"] = rest
    if kept is not None:
        added, dropped = kept
        drops = [{"id": name, "by": by} for name, by in dropped]
        event["mem"] = {"add": added, "del": drops}
    return event


def told_of(noted: Any) -> Any:
    """What was noted to be made later, made."""
    if type(noted) is not tuple:
        return noted
    tell, *facts = noted
    return tell(*facts)


def place_of(event: Event) -> tuple[int, int] | None:
    """Where in the code an event stands."""
    return (event["s"], event["l"]) if "s" in event else None


def gone_text(items: list[dict[str, Any]]) -> str:
    """Owners of memory are gone; ``items`` is what they held."""
    owners = list(dict.fromkeys([(item["owner"], item["of"]) for item in items]))
    size = sum({item["buf"]: item["bytes"] for item in items}.values())
    labels = joined([label for _, label in owners])
    fields = {"owners": labels, "bytes": bytes_text(size)}
    return message("owners.gone", count=len(owners), **fields)
