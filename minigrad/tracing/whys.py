"""The sentences of the picture: what happens and why, from a recording's numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from minigrad.tracing.codes import STORY
from minigrad.tracing.messages import in_turn, joined, message
from minigrad.tracing.pictures import is_told_by_shape, number_text
from minigrad.tracing.reading import Ref, Values
from minigrad.tracing.slopes import slope_of
from minigrad.tracing.titles import INFIX, is_in_place, operation_of

Event = dict[str, Any]
PICTURE: Final = 0
MOST_LETTERS: Final = 105
SIGNS: Final = {"*": "\u00d7", "/": "\u00f7"}
AS_TOLD: Final = (
    *("hook.pack", "rerun.begin", "rerun.end", "tangent"),
    *("ask", "cut", "lint", "note", "what.if"),
)
"""Kinds of steps whose sentence serves the picture, too."""
FREED: Final = "freed"


def tell_picture(data: dict[str, Any]) -> None:
    """Choose the stops of the picture, and give each its sentence, ``why``."""
    story = PictureStory(data)
    for event in data["events"]:
        story.hear(event)
    story.end()


class PictureStory:
    """Goes through a finished recording, and tells what its picture stops at."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        graph, events = data["graph"], data["events"]
        self._values = Values(data["values"])
        self._text = self._values.text
        self._nodes = {node["id"]: node for node in graph["nodes"]}
        self._edges = {edge["id"]: edge for edge in graph["edges"]}
        self._modules = {one["id"]: one for one in graph["modules"]}
        self._ctxs = {ctx["id"]: ctx for ctx in data["ctxs"]}
        called = [event for event in events if "ins" in event]
        self._calls = {event["n"]: event for event in called if "n" in event}
        self._by_ctx = {event["cid"]: event for event in called if "cid" in event}
        self._boxes: dict[str, dict[str, Ref]] = {}
        self._arrived: dict[str, list[Ref]] = {}
        self._hooked: set[str] = set()
        self._sent: dict[str, list[Event]] = {}
        self._awaited: dict[str, int] = {}
        self._waiting: dict[tuple[str, int], str] = {}
        self._filled: list[Event] = []

    def hear(self, event: Event) -> None:
        """The next step."""
        kind, level = event["k"], event["lvl"]
        if kind in ("ctx.free", "node.exit"):
            self._say_sent(event["n"])  # before the box is empty
        if self._filled and level <= STORY and kind != "grad.accumulate":
            self._say_filled()
        for change in (event.get("ctx"), *event.get("others", ())):
            if change is not None:
                box = self._boxes.setdefault(change["id"], {})
                box |= change["set"]
                for key in change["del"]:
                    box.pop(key, None)
        tell = TELLERS.get(kind if kind != "phase" else event["ph"]["name"])
        if tell is not None:
            tell(self, event)
        elif kind in AS_TOLD and level <= STORY:
            stop(event, event["say"])

    def end(self) -> None:
        """The recording is over."""
        self.backward_end({})
        self._say_filled()

    def ctx_new(self, event: Event) -> None:
        function = self._ctxs[event["cid"]]["function"]
        stop(event, message("why.ctx", function=function))

    def ctx_put(self, event: Event) -> None:
        names = self._kept_names(event)
        count = len(names)
        if not count:
            stop(event, message("why.put.none", by=event["by"]))
            return
        key = "why.put" if count < 3 else "why.put.all"
        by, number = event["by"], message("values", count=count)
        told = message(key, by=by, count=count, values=joined(names))
        stop(event, told, message("why.put.all", by=by, values=number))

    def wrap_outputs(self, event: Event) -> None:
        outs = self._by_ctx.get(event.get("cid", ""), {}).get("outs", ())
        if None in [one.get("v", "") for one in outs]:  # of an older recording
            stop(event, message("why.returned"))
            return
        told = joined([self._passed(one) for one in outs])
        stop(
            event,
            message("why.returns", value=told),
            message("why.returns.several", count=len(outs)),
        )

    def wire_edges(self, event: Event) -> None:
        stop(event, message("why.thrown-away"))

    def graph_node(self, event: Event) -> None:
        if event["lvl"] > STORY or "ins" not in event:
            return
        ins, outs, node = event["ins"], event["outs"], self._nodes[event["n"]]
        result = outs[0].get("name") if outs else None
        if self._is_learners(node):
            self._say_hung(event, result)
            return
        told = self._told_of_call(event, None if is_in_place(ins, outs) else result)
        keeps = self._told_of_box(event)
        data = [one for one in ins if one.get("name") and not one["needs"]]
        without = message("why.no-wire", tensor=data[0]["name"]) if data else ""
        again = message("why.again") if node["order"] > 1 else ""
        options = [(told, keeps, without, again), (told, keeps, again), (told, again)]
        stop(event, *[in_turn(*parts) for parts in options], told)

    def _told_of_call(self, event: Event, result: str | None) -> str:
        """What a call computed: with all its numbers if they are few."""
        ins, outs = event["ins"], event["outs"]
        values = [one["v"] for one in (*ins, *outs) if "text" not in one]
        is_small = None not in [self._values.number(value) for value in values]
        told = event["label"]
        if None in [one.get("v", "") for one in outs] or not outs:
            told, result = message("why.joins", label=told), None
        elif is_small and len(outs) == 1:
            node = self._nodes[event["n"]]["label"]
            formula = formula_of(node, event, [self._passed(one) for one in ins])
            told = message("why.equals", left=formula, right=self._text(outs[0]["v"]))
        else:
            value = joined([self._passed(one) for one in outs])
            told = message("why.gives", label=told, value=value)
        if result is not None:
            told = message("why.equals", left=result, right=told)
            if not is_small:
                value = self._passed(outs[0])
                told = message(
                    "why.gives.named", label=event["label"], name=result, value=value
                )
        return message("why.node", told=told)

    def _told_of_box(self, event: Event) -> str:
        """What the box of a built-in operation keeps."""
        there = event.get("ctx", {}).get("set", {})
        numbers = there.get("attr.numbers") or {}
        names = self._kept_names(event)
        items = numbers.get("i", ())
        names += [in_short(one["r"]) for one in items if one and one["r"] != "None"]
        if names:
            return message("why.keeps", values=joined(names))
        if any([key.startswith("attr.") for key in there]):
            is_shape = "attr.shape" in there
            return message("why.keeps.shape") if is_shape else ""
        return message("why.keeps.nothing")

    def _say_hung(self, event: Event, result: str | None) -> None:
        ins, outs = event["ins"], event["outs"]
        wired = [self._called_input(one) for one in ins if one.get("needs")]
        fields = {
            "inputs": joined(list(dict.fromkeys(wired))),
            "result": result or message("why.result"),
            "function": event["op"],
        }
        short = message("why.hangs.short", **fields)
        tensors = [str(one["nr"]) for one in outs if one.get("needs")]
        if len(tensors) > 1:
            fields |= {"count": len(tensors), "slots": joined(tensors)}
            stop(event, message("why.hangs.several", **fields), short)
        elif is_in_place(ins, outs):
            stop(event, message("why.hangs.changed", **fields), short)
        elif result:
            stop(event, message("why.hangs", **fields), short)
        else:
            stop(event, message("why.hangs.unnamed", **fields), short)

    def module(self, event: Event) -> None:
        module = self._modules.get(event.get("m", ""))
        if module is not None:
            fields = {"label": module["label"], "count": event["nodes"]}
            value = self._text(event["new"])
            stop(event, message("why.module", value=value, **fields))

    def inplace(self, event: Event) -> None:
        if event["lvl"] > STORY:
            return
        name = event.get("name") or message("its-tensor.unnamed")
        fields = {"tensor": name, "now": event["ver"]}
        savers = [
            (self._ctxs[change["id"]]["function"], ref["ver"])
            for change in (event.get("ctx"), *event.get("others", ()))
            for ref in (change or {"set": {}})["set"].values()
            if ref and ref["t"] == "S" and ref["ver"] != ref["now"]
        ]
        changed = message("why.in-place", **fields)
        if not savers:
            stop(event, changed)
            return
        node, saved = savers[0]
        fields |= {"node": node, "saved": saved}
        stop(event, message("why.in-place.saved", **fields), changed)

    def exception(self, event: Event) -> None:
        first = event["err"].split("\n", 1)[0]
        stale = [
            ref
            for ref in self._boxes.get(event.get("cid", ""), {}).values()
            if ref and ref["t"] == "S" and ref["ver"] != ref["now"]
        ]
        if stale and "inplace" in first:
            name = stale[0].get("name") or message("its-tensor.unnamed")
            fields = {"tensor": name, "saved": stale[0]["ver"]}
            stop(event, message("why.stale", **fields))
        else:
            stop(event, message("why.stops", error=first))

    def backward_begin(self, event: Event) -> None:
        roots, awaits = event["roots"], event["awaits"]
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
        short = begins
        if len(roots) == 1:
            fields = {"root": names[0], "gradient": gradients[0]}
            short = message("why.begins", **fields)
            is_one = gradients == ["1"]
            begins = message("why.begins.one" if is_one else "why.begins", **fields)
        waits = ""
        if len(awaits) == 1:
            ((node, count),) = awaits.items()
            waits = message("why.waits", node=self._called(node), count=count)
        elif awaits:
            waits = message("why.waits.many", count=len(awaits))
        again = message("why.again") if event["create_graph"] else ""
        options = [(begins, waits, again), (short, waits, again), (short, waits)]
        stop(event, *[in_turn(*parts) for parts in options], short)

    def node_enter(self, event: Event) -> None:
        self._arrived[event["n"]] = event["g"]
        self._hooked.discard(event["n"])
        for slot in range(len(event["g"])):
            self._waiting.pop((event["n"], slot), None)

    def check_what_it_returned(self, event: Event) -> None:
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
        fields = {"function": ctx["function"], "returned": joined(returned)}
        opened = message("why.opens.empty", **fields)
        if kept:
            count = len(kept)
            opened = message("why.opens", count=count, values=joined(kept), **fields)
        fields["count"] = len(returned)
        stop(
            event,
            opened,
            message("why.opens.short", **fields),
            message("why.opens.count", **fields),
        )

    def hook(self, event: Event) -> None:
        """A hook of the learner's on a gradient."""
        kind = event["k"].removeprefix("hook.")
        if kind == "post":
            self._hooked.add(event["n"])
        if "hook" not in event:  # an older recording
            stop(event, event["say"])
            return
        node = self._called(event["n"], event["slot"])
        fields = {
            "hook": event["hook"],
            "node": node,
            "given": self._several(event["g"]),
        }
        if kind == "accumulated":
            stop(event, message("why.hook.after", grad=self._grad_of(node), **fields))
            return
        end = message("why.hook.leaves")
        if event["new"] is not None:
            end = message("why.hook.makes", new=self._several(event["new"]))
        key = "why.hook.post" if kind == "post" else "why.hook"
        short = message("why.hook.short", **fields)
        stop(event, message(key, end=end, **fields), short)

    def _several(self, ref: Ref) -> str:
        """A gradient, or several."""
        return joined([self._text(one) for one in ref.get("i", [ref])])

    def _grad_of(self, leaf: str) -> str:
        """The ``.grad`` of a leaf in a sentence."""
        is_unnamed = leaf == message("tensor.leaf")
        return message("why.grad-of-leaf" if is_unnamed else "grad.name", tensor=leaf)

    def unpacked(self, event: Event) -> None:
        """A saved value is there again."""
        fields = {"value": self._text(event["new"])}
        if "n" not in event:
            stop(event, message("why.unpacked", **fields))
            return
        fields["node"] = self._label(event["n"])
        stop(
            event,
            message("why.unpacked.at", **fields),
            message("why.unpacked", **fields),
        )

    def captured(self, event: Event) -> None:
        """A gradient that was asked for is there."""
        fields = {"gradient": self._text(event["g"])}
        fields["node"] = self._called(event["n"], event["slot"])
        stop(
            event,
            message("why.captured", **fields),
            message("why.captured.short", **fields),
        )

    def grad_zeros(self, event: Event) -> None:
        node = self._label(event["n"])
        stop(event, message("why.zeros", node=node, slot=event["slot"]))

    def grad_absent(self, event: Event) -> None:
        node = self._label(event["n"])
        stop(event, message("why.absent", node=node, slot=event["slot"]))

    def grad(self, event: Event) -> None:
        edge = self._edges.get(event["e"])
        if edge is not None:
            self._sent.setdefault(edge["from"], []).append(event)

    def ctx_free(self, event: Event) -> None:
        freed = event.get("ctx", {}).get("set", {})
        if freed and event["lvl"] <= STORY:
            stop(event, message("why.lets-go", count=len(freed)))

    def backward_end(self, event: Event) -> None:
        for node in list(self._sent):
            self._say_sent(node)

    def _say_sent(self, node: str) -> None:
        """All that a node had to send is on its way: the last of it is a stop."""
        events = self._sent.pop(node, [])
        if not events:
            return
        told = [self._gets(node, event) for event in events]
        joins = [self._joins(event) for event in events]
        if len(events) == 1 and joins[0]:
            stop(
                events[-1],
                *[
                    message("why.sent.joins", gets=gets, joins=join)
                    for join in joins[0][:2]
                    for gets in told[0]
                ],
            )
            return
        between = message("why.sent.between")
        options = []
        for length in (0, 1):
            gets = [one[length] for one in told]
            pairs = zip(gets, joins, strict=True)
            counted = [
                message("why.sent.counted", gets=one, joins=join[-1]) if join else one
                for one, join in pairs
            ]
            options += [between.join(counted), between.join(gets)]
        long, plain, short, shortest = options
        options = [message("why.node", told=o) for o in (long, short, plain, shortest)]
        places = {"node": self._label(node), "count": len(events)}
        stop(events[-1], *options, message("why.sent.many", **places))

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
        builtin = "" if self._is_learners(self._nodes[node]) else operation_of(label)
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
        """Of a gradient that meets others: what is there now, long and short."""
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
            keys = ["why.waits.now", "why.waits.short", "why.waits.count"]
        elif event["total"] == event["g"] or before is None:
            keys = ["why.all-here", "why.all-here", "why.waits.count"]
        elif is_told_by_shape(total):
            key = "why.adds-up.array.2" if count == 2 else "why.adds-up.array"
            keys = [key, "why.all-here", "why.waits.count"]
        else:
            key = "why.adds-up.2" if count == 2 else "why.adds-up"
            keys = [key, "why.adds-up.short", "why.adds-up.count"]
        return [message(key, **fields) for key in keys]

    def grad_accumulate(self, event: Event) -> None:
        self._filled.append(event)

    def _say_filled(self) -> None:
        """Some leaves in a row have got their gradients: the last one is a stop."""
        events, self._filled = self._filled, []
        if not events:
            return
        names = [self._called(event["n"]) for event in events]
        grads = [self._grad_of(name) for name in names]
        values = [self._text(event["new"]) for event in events]
        filled = message("why.filled", count=len(grads), grads=joined(grads))
        pairs = zip(grads, values, strict=True)
        parts = [message("why.is", name=name, value=value) for name, value in pairs]
        told = message("why.node", told=joined(parts))
        if is_told_by_shape(values[-1]):
            told = filled
        if len(events) == 1 and events[0].get("old"):
            fields = {"grad": grads[0], "old": self._text(events[0]["old"])}
            fields |= {"gradient": self._text(events[0]["g"]), "value": values[0]}
            told = message("why.added", **fields)
            filled = message("why.added.short", **fields)
            if is_told_by_shape(values[0]):
                told = filled = message("why.added.array", **fields)
        stop(events[-1], told, filled, message("why.filled.many", count=len(grads)))

    def _is_learners(self, node: Mapping[str, Any]) -> bool:
        return "own" in node

    def _passed(self, one: Mapping[str, Any]) -> str:
        """The value of an argument or an output."""
        return in_short(one["text"]) if "text" in one else self._text(one["v"])

    def _called_input(self, one: Mapping[str, Any]) -> str:
        """An argument by its name, else by what made it."""
        if one.get("name"):
            return str(one["name"])
        return self._called(one.get("n") or one.get("leaf", ""), one.get("nr", 0))

    def _called(self, name: str, slot: int = 0) -> str:
        """An output of a node by its name, else the node by its label."""
        node = self._nodes.get(name, {})
        if node.get("kind") == "accumulate":
            return str(node["tensor"] or message("tensor.leaf"))
        outs = self._calls.get(name, {}).get("outs", ())
        named = [
            one["name"] for one in outs if one.get("nr") == slot and one.get("name")
        ]
        return str(named[0]) if named else self._label(name)

    def _label(self, name: str) -> str:
        """The label of a node's call."""
        node = self._calls.get(name) or self._nodes.get(name) or {"label": name}
        return str(node["label"])

    def _kept_names(self, event: Event) -> list[str]:
        """What an event puts into a box, by name, else by what it looks like."""
        call = self._by_ctx.get(event.get("cid", ""), {})
        return [
            self._entry_name(key, ref, call)
            for key, ref in event.get("ctx", {}).get("set", {}).items()
            if key.startswith("saved.") and ref and "v" in ref
        ]

    def _entry_name(self, key: str, ref: Ref, call: Mapping[str, Any]) -> str:
        """What stands in a box, by name."""
        if key.startswith("attr."):
            return key[5:]
        outs = [one["v"] for one in call.get("outs", ()) if one.get("v")]
        if any([ref.get("v") == one["v"] for one in outs]) and not ref.get("name"):
            return message("why.its-result")
        text = self._text(ref)
        if ref.get("name") or not is_told_by_shape(text):
            return str(ref.get("name") or text)
        for one in call.get("ins", ()):
            if one.get("n") and (one["v"] or {}).get("v") == ref["v"]:
                return message("why.result-of", label=self._label(one["n"]))
        return text


TELLERS: Final[dict[str, Callable[[PictureStory, Event], None]]] = {
    "ctx.new": PictureStory.ctx_new,
    "ctx.put": PictureStory.ctx_put,
    "wrap outputs": PictureStory.wrap_outputs,
    "graph.node": PictureStory.graph_node,
    "wire edges": PictureStory.wire_edges,
    "module": PictureStory.module,
    "inplace": PictureStory.inplace,
    "exception": PictureStory.exception,
    "backward.begin": PictureStory.backward_begin,
    "node.enter": PictureStory.node_enter,
    "check what it returned": PictureStory.check_what_it_returned,
    "hook.tensor": PictureStory.hook,
    "hook.pre": PictureStory.hook,
    "hook.post": PictureStory.hook,
    "hook.accumulated": PictureStory.hook,
    "hook.unpack": PictureStory.unpacked,
    "grad.captured": PictureStory.captured,
    "grad.zeros": PictureStory.grad_zeros,
    "grad.absent": PictureStory.grad_absent,
    "grad": PictureStory.grad,
    "grad.none": PictureStory.grad,
    "grad.accumulate": PictureStory.grad_accumulate,
    "ctx.free": PictureStory.ctx_free,
    "backward.end": PictureStory.backward_end,
}
"""Who tells of a kind of step; of a phase, by its name."""


def formula_of(node: str, event: Event, values: Sequence[str]) -> str:
    """What a call computed, with numbers for names: ``2 x 5``, ``exp(0)``."""
    name = operation_of(node)
    sign = INFIX.get(name)
    if sign is None or len(values) < 2:
        given = zip(values, event["ins"], strict=True)
        numbers = [value for value, one in given if "text" not in one]
        return f"{event['op']}({', '.join(numbers)})"
    left, right = values[1::-1] if name == "Rsub" else values[:2]
    right = f"({right})" if right.startswith("-") else right
    return f"{left} {SIGNS.get(sign, sign)} {right}"


def in_short(text: str) -> str:
    """A plain value inside a sentence: a number as all numbers are written."""
    try:
        return number_text(float(text))
    except ValueError:
        return text


def stop(event: Event, *options: str) -> None:
    """Make ``event`` a stop of the picture, told by the first text that is short."""
    short = [text for text in options if len(text) <= MOST_LETTERS]
    event["lvl"], event["why"] = PICTURE, short[0] if short else cut(options[-1])


def cut(text: str) -> str:
    """The first sentences of a text, as many as are short enough; or its beginning."""
    end = text.rfind(". ", 0, MOST_LETTERS)
    return text[: end + 1] if end > 0 else f"{text[: MOST_LETTERS - 1]}\u2026"
