"""What a long recording leaves out: its middle, of which the outcome is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minigrad.tracing.codes import ENGINE, STORY
from minigrad.tracing.messages import message

Event = dict[str, Any]


class Gap:
    """The steps that are left out, and what is different after them.

    ``take`` is given them piece by piece. ``events`` are told in their place: how many
    they were, and for all that later steps speak of, how it has come to be.
    """

    def __init__(self) -> None:
        self.count = 0
        self._lines = 0
        self._ctxs: dict[str, dict[str, Any]] = {}
        self._locals: dict[int, dict[str, Any]] = {}
        self._added: dict[str, Any] = {}
        self._dropped: list[Any] = []
        self._joined: dict[str, Event] = {}
        self._grads: dict[str, Event] = {}
        self._under_way: list[Event] = []
        self._left: list[Event] = []

    def take(self, events: list[Event]) -> None:
        """Leave these out, too; they come after all that was taken before."""
        self.count += len(events)
        for event in events:
            kind = event["k"]
            self._lines += kind in ("call", "line", "return")
            self._note_state(event)
            if kind == "graph.node":
                self._joined[event["n"]] = {
                    key: event[key]
                    for key in ("k", "ph", "d", "n", "e", "cid", "ins", "outs")
                    if key in event
                }
            elif kind == "grad.accumulate":
                self._grads[event["n"]] = event
            elif kind in ("backward.begin", "node.enter"):
                self._under_way.append(event)
            elif kind == "backward.end":
                self._end_backward()
            elif kind == "node.exit":
                self._leave(event)

    def _note_state(self, event: Event) -> None:
        if "s" in event and event["k"] == "call":
            self._locals[event["s"]] = {}
        self._locals.setdefault(event.get("s", -1), {}).update(event.get("loc", {}))
        for change in ctx_changes(event):
            now = self._ctxs.setdefault(change["id"], {"set": {}, "del": []})
            now["set"].update(change["set"])
            for key in change["del"]:
                now["set"].pop(key, None)
            both = [*now["del"], *change["del"]]
            now["del"] = [key for key in both if key not in now["set"]]
        held = event.get("mem", {"add": [], "del": []})
        self._added.update({item["id"]: item for item in held["add"]})
        for drop in held["del"]:
            if self._added.pop(drop["id"], None) is None:
                self._dropped.append(drop)

    def _end_backward(self) -> None:
        while self._under_way and self._under_way.pop()["k"] != "backward.begin":
            pass

    def _leave(self, event: Event) -> None:
        for place, begun in enumerate(self._under_way):
            if begun["k"] == "node.enter" and begun["n"] == event["n"]:
                del self._under_way[place]
                return
        self._left.append(event)

    def events(
        self, start: list[Event], end: list[Event], edges: dict[str, Any]
    ) -> list[Event]:
        """What stands between ``start`` and ``end``, which are kept."""
        told = [*self._left, *self._under_way, *self._grads.values()]
        shown = {event["n"] for event in start if event["k"] == "graph.node"}
        needed = nodes_named([*told, *end], edges) - shown
        nodes = [
            self._joining(event, edges, shown | needed)
            for name, event in self._joined.items()
            if name in needed
        ]
        told_of = {event["cid"] for event in nodes if "ctx" in event}
        later = [*start, *told, *end]
        open_ones = {event.get("cid") for event in later} | ctxs_changed(later)
        open_ones -= told_of
        ctxs = [self._ctx(name) for name in self._ctxs if name in open_ones]
        self._give_locals(end)
        return [self._cut(len(start), len(end)), *nodes, *ctxs, *told]

    def _cut(self, before: int, after: int) -> Event:
        cut: Event = {
            "k": "cut",
            "say": cut_text(self.count, self._lines, before, after),
            "lvl": STORY,
            "d": 0,
        }
        if self._added or self._dropped:
            cut["mem"] = {"add": list(self._added.values()), "del": self._dropped}
        return cut

    def _joining(self, event: Event, edges: dict[str, Any], there: set[str]) -> Event:
        """A node that has joined meanwhile, with what stands on its ctx."""
        led = [one for one in event["e"] if edges[one]["to"] in there]
        change = self._ctxs.get(event.get("cid", ""))
        ctx = {} if change is None else {"ctx": {"id": event["cid"], **change}}
        return {**event, "lvl": ENGINE, "e": led, **ctx}

    def _ctx(self, name: str) -> Event:
        """A ctx from before, with what has changed on it."""
        change = {"id": name, **self._ctxs[name]}
        say = message("cut.ctx")
        return {"k": "note", "say": say, "lvl": ENGINE, "d": 0, "ctx": change}

    def _give_locals(self, end: list[Event]) -> None:
        """Variables of functions that are still at work stand as they are now."""
        unseen = dict(self._locals)
        for event in end:
            known = unseen.pop(event.get("s", -1), None)
            if known and event["k"] != "call":
                event["loc"] = {**known, **event.get("loc", {})}


def ctxs_changed(events: list[Event]) -> set[str]:
    """The ctxs on which some events change something."""
    return {change["id"] for event in events for change in ctx_changes(event)}


def nodes_named(events: list[Event], edges: dict[str, Any]) -> set[str]:
    """The nodes that some events speak of, or whose edges they do."""
    found: set[str] = set()
    for event in events:
        found.update({root["n"] for root in event.get("roots", ())})
        if event.get("n") is not None:
            found.add(event["n"])
        led = event.get("e")
        for one in [led] if isinstance(led, str) else led or ():
            found |= {edges[one]["from"], edges[one]["to"]}
    return found


def only_shown(graph: dict[str, Any], ctxs: list[Event], events: list[Event]) -> None:
    """Take out of ``graph`` and ``ctxs`` what no step has brought there."""
    joined = [event for event in events if event["k"] == "graph.node"]
    names = {event["n"] for event in joined}
    led = {one for event in joined for one in event["e"]}
    graph["nodes"] = [node for node in graph["nodes"] if node["id"] in names]
    graph["edges"] = [edge for edge in graph["edges"] if edge["id"] in led]
    met = {event.get("cid") for event in events} | {n["ctx"] for n in graph["nodes"]}
    met |= ctxs_changed(events)
    ctxs[:] = [ctx for ctx in ctxs if ctx["id"] in met]


def ctx_changes(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What an event changes on ctxs: that which it shows first, then others."""
    shown = [event["ctx"]] if "ctx" in event else []
    return [*shown, *event.get("others", ())]


def cut_text(left_out: int, lines: int, before: int, after: int) -> str:
    """The middle of a recording that was full; ``lines`` of it are lines."""
    # A large number is easier to read in groups.
    count = left_out if left_out < 1000 else f"{left_out:,}"
    return message(
        "cut",
        steps=message("steps", count=count),
        advice=message("cut.advice.lines" if lines else "cut.advice"),
        before=f"{before:,}",
        after=f"{after:,}",
    )


def fill_boxes(boxes: dict[str, dict[str, Any]], event: Mapping[str, Any]) -> None:
    """Change what ctxs have, by their ids, as an event tells it."""
    for change in ctx_changes(event):
        box = boxes.setdefault(change["id"], {})
        box |= change["set"]
        for key in change["del"]:
            box.pop(key, None)
