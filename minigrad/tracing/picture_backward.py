"""The backward half of the picture's story: boxes that open, gradients that travel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from minigrad.tracing.codes import STORY
from minigrad.tracing.messages import in_turn, joined, message
from minigrad.tracing.picture_words import Event, Ref, Words, slope_of, stop, tell
from minigrad.tracing.pictures import is_told_by_shape
from minigrad.tracing.titles import operation_of

FREED: Final = "freed"


class BackwardPicture(Words):
    """Tells what the picture of backward stops at, as its steps go by."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._arrived: dict[str, list[Ref]] = {}
        self._hooked: set[str] = set()
        self._sent: dict[str, list[tuple[Event, tuple[str, str], list[str]]]] = {}
        self._awaited: dict[str, int] = {}
        self._waiting: dict[tuple[str, int], str] = {}
        self._filled: list[Event] = []
        self._came: dict[str, Event] = {}
        """The last gradient on its way to a node."""

    def on_backward_begin(self, event: Event) -> None:
        roots, awaits = event["roots"], event["awaits"]
        self._came.clear()
        self._awaited |= awaits
        self._waiting = {
            place: text
            for place, text in self._waiting.items()
            if place[0] not in awaits
        }
        names = [self._called(root["n"], root["slot"]) for root in roots]
        gradients = [self._text(root["g"]) for root in roots]
        for root, gradient in zip(roots, gradients, strict=True):
            self._waiting[root["n"], root["slot"]] = gradient
        begins = message("why.begins.several", count=len(roots), roots=joined(names))
        if len(roots) == 1:
            is_one = gradients == ["1"] and not awaits
            key = "why.begins.one" if is_one else "why.begins"
            begins = message(key, root=names[0], gradient=gradients[0])
        waits = message("why.waits.many", count=len(awaits)) if awaits else ""
        if len(awaits) == 1:
            ((node, count),) = awaits.items()
            waits = message("why.waits", node=self._called(node), count=count)
        again = message("why.again") if event["create_graph"] else ""
        tell(event, in_turn(begins, waits, again))

    def on_node_enter(self, event: Event) -> None:
        node, arrived = event["n"], event["g"]
        self._arrived[node] = arrived
        self._hooked.discard(node)
        for slot in range(len(arrived)):
            self._waiting.pop((node, slot), None)
        key = "node.picked.leaf" if event["lvl"] > STORY else "node.picked"
        fields = {"node": self._name_of(node), "count": len(arrived)}
        fields["gradients"] = joined([self._text(one) for one in arrived])
        event["say"] = message(key, **fields)

    def on_node_exit(self, event: Event) -> None:
        event["say"] = message("node.left", node=self._name_of(event["n"]))

    def on_check_what_it_returned(self, event: Event) -> None:
        ctx = self._ctxs[event["cid"]]
        call = self._calls.get(ctx["node"], {})
        kept = [
            text
            if (name := self._entry_name(key, ref, call)) == text
            else message("why.equals", left=name, right=text)
            for key, ref in self._boxes.get(event["cid"], {}).items()
            if key.startswith(("saved.", "attr.")) and ref
            if (text := self._text(ref)) != FREED
        ]
        returned = [self._text(ref) for ref in event["returned"]]
        ins = call.get("ins", ())
        if len(returned) == len(ins) > 1:
            named = zip(returned, map(self._called_input, ins), strict=True)
            returned = [
                message("why.opens.for", gradient=text, node=node) if node else text
                for text, node in named
            ]
        fields = {"function": ctx["function"], "returned": joined(returned)}
        opened = message("why.opens.empty", **fields)
        if kept:
            count = len(kept)
            opened = message("why.opens", count=count, values=joined(kept), **fields)
        fields["count"] = len(returned)
        short = [message(f"why.opens.{key}", **fields) for key in ("short", "count")]
        tell(event, opened, *short)

    def on_hook_tensor(self, event: Event) -> None:
        """A hook of the learner's on a gradient."""
        kind = event["k"].removeprefix("hook.")
        if kind == "post":
            self._hooked.add(event["n"])
        node = self._called(event["n"], event["slot"])
        fields = {
            "hook": event["hook"],
            "node": node,
            "given": self._several(event["g"]),
        }
        if kind == "accumulated":
            tell(event, message("why.hook.after", grad=self._grad_of(node), **fields))
            return
        end = message("why.hook.leaves")
        if event["new"] is not None:
            end = message("why.hook.makes", new=self._several(event["new"]))
        key = "why.hook.post" if kind == "post" else "why.hook"
        short = message("why.hook.short", **fields)
        tell(event, message(key, end=end, **fields), short)

    on_hook_pre = on_hook_post = on_hook_accumulated = on_hook_tensor

    def on_hook_unpack(self, event: Event) -> None:
        """A saved value is there again."""
        fields = {"value": self._text(event["new"])}
        key = "why.unpacked"
        if "n" in event:
            key, fields["node"] = "why.unpacked.at", self._label(event["n"])
        told, made = message(key, **fields), ""
        if "hook" in event:
            given = self._text(event["g"])
            made = message("why.hook.unpacks", hook=event["hook"], given=given)
        tell(event, in_turn(told, made), told)

    def on_grad_captured(self, event: Event) -> None:
        """A gradient that was asked for is there."""
        node, gradient = self._called(event["n"], event["slot"]), self._text(event["g"])
        tell(event, message("why.captured", node=node, gradient=gradient))

    def on_grad_zeros(self, event: Event) -> None:
        key = "why.zeros" if event["k"] == "grad.zeros" else "why.absent"
        tell(event, message(key, node=self._label(event["n"]), slot=event["slot"]))

    on_grad_absent = on_grad_zeros

    def on_grad(self, event: Event) -> None:
        node = self._edges.get(event["e"], {}).get("from", "")
        gets, joins = self._gets(node, event), self._joins(event)
        if node:
            self._sent.setdefault(node, []).append((event, gets, joins))
        event.setdefault("say", alone(gets[0], *joins[:1]))
        if event["k"] == "grad":
            self._came[event["n"]] = event

    on_grad_none = on_grad

    def on_ctx_free(self, event: Event) -> None:
        freed = len(event.get("ctx", {"set": ()})["set"])
        node = self._label(event["n"])
        if freed:
            tell(event, message("why.lets-go", count=freed, node=node))
        event.setdefault("say", message("why.lets-go.nothing", node=node))

    def on_backward_end(self, event: Event) -> None:
        for node in list(self._sent):
            self._say_sent(node)

    def _say_sent(self, node: str) -> None:
        """All that a node had to send is on its way: the last of it is a stop."""
        sent = self._sent.pop(node, [])
        if not sent:
            return
        event, gets, joins = sent[-1]
        options = [alone(one, *joins[:1]) for one in gets] if len(sent) == 1 else []
        for length, count in ((0, 1), (1, 1), (1, 2)):
            told = [counted(to[length], among[count:]) for _, to, among in sent]
            all_told = message("why.sent.between").join(told)
            options.append(message("why.node", told=all_told))
        many = message("why.sent.many", node=self._label(node), count=len(sent))
        stop(event, *options, many)

    def _gets(self, node: str, event: Event) -> tuple[str, str]:
        """What one receiver gets: with the reason, and in short."""
        fields = {"node": self._called(event["n"], event["slot"])}
        if event["k"] == "grad.none":
            nothing = message("why.gets.nothing", **fields)
            return nothing, nothing
        fields["gradient"] = self._text(event["g"])
        short = message("why.gets", **fields)
        call, arrived = self._calls.get(node), self._arrived.get(node, [])
        if call is None or len(arrived) != 1 or node in self._hooked:
            return short, short
        box = self._boxes.get(self._nodes[node]["ctx"], {})
        slot, label = self._edges[event["e"]]["slot"], self._nodes[node]["label"]
        builtin = "" if "own" in self._nodes[node] else operation_of(label)
        facts = builtin, slot, box, arrived[0], event["g"], self._values
        slope = slope_of(call, *facts)
        if slope is None:
            return short, short
        event["slope"] = slope
        fields |= {"slope": slope["x"], "arrived": self._text(arrived[0])}
        if slope["x"] == "1" and "of" not in slope:
            return message("why.gets.as-it-is", **fields), short
        if is_told_by_shape(fields["gradient"]):
            return message("why.gets.scaled", **fields), short
        if "of" not in slope:
            return message("why.gets.times", **fields), short
        return message("why.gets.because", of=slope["of"], **fields), short

    def _joins(self, event: Event) -> list[str]:
        """Of a gradient that meets others: what is there now, in full and in short."""
        node, place = event["n"], (event["n"], event["slot"])
        before = self._waiting.get(place)
        if "left" not in event or event["k"] == "grad.none":
            return []
        total = self._text(event["total"])
        self._waiting[place] = total
        count = self._awaited.get(node, event["left"] + 1)
        there = count - event["left"]
        fields = {"node": self._called(node, event["slot"]), "count": count}
        fields |= {"there": there, "total": total, "before": before}
        fields["gradient"] = self._text(event["g"])
        if event["left"]:
            is_leaf = self._nodes[node]["kind"] == "accumulate"
            key = "why.waits.now.leaf" if is_leaf else "why.waits.now"
            keys = [key, "why.waits.count"]
        elif event["total"] == event["g"] or before is None:
            keys = ["why.all-here", "why.waits.count"]
        elif is_told_by_shape(total):
            key = "why.adds-up.array.2" if count == 2 else "why.adds-up.array"
            keys = [key, "why.waits.count"]
        else:
            key = "why.adds-up.2" if count == 2 else "why.adds-up"
            keys = [key, "why.adds-up.count"]
        return [message(key, **fields) for key in keys]

    def on_grad_accumulate(self, event: Event) -> None:
        self._filled.append(event)
        event.setdefault("say", self._fills(event)[0])
        if came := self._came.pop(event["n"], None):
            came["fills"] = True

    def _say_filled(self) -> None:
        """Some leaves in a row have got their gradients: the last one is a stop."""
        events, self._filled = self._filled, []
        if not events:
            return
        grads = [self._grad_of(self._called(event["n"])) for event in events]
        values = [self._text(event["new"]) for event in events]
        filled = message("why.filled", count=len(grads), grads=joined(grads))
        pairs = zip(grads, values, strict=True)
        parts = [message("why.is", name=name, value=value) for name, value in pairs]
        is_small = not is_told_by_shape(values[-1])
        told = message("why.node", told=joined(parts)) if is_small else filled
        options = [told, filled]
        if len(events) == 1 and events[0].get("old"):
            options = self._fills(events[0])
        stop(events[-1], *options, message("why.filled.many", count=len(grads)))

    def _fills(self, event: Event) -> list[str]:
        """What became of the ``.grad`` of one leaf, in full and in short."""
        fields = {key: self._text(event.get(key)) for key in ("old", "g", "new")}
        fields["grad"] = self._grad_of(self._called(event["n"]))
        keys = ["why.added", "why.added.short"]
        if not event.get("old"):
            keys = ["accumulated.first"]
        elif is_told_by_shape(fields["new"]):
            keys = ["why.added.array"]
        return [message(key, **fields) for key in keys]


def alone(gets: str, joins: str = "") -> str:
    """What the one receiver of a node gets, and what it makes there."""
    if joins:
        return message("why.sent.joins", gets=gets, joins=joins)
    return message("why.node", told=gets)


def counted(gets: str, joins: list[str]) -> str:
    """What one of several receivers gets, and how much is there now."""
    return message("why.sent.counted", gets=gets, joins=joins[0]) if joins else gets
