"""The sentences of the picture: what happens and why, from a recording's numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from minigrad.tracing.budget import ctx_changes, fill_boxes
from minigrad.tracing.codes import STORY
from minigrad.tracing.messages import in_turn, joined, message, word
from minigrad.tracing.picture_backward import BackwardPicture
from minigrad.tracing.picture_words import Event, in_short, line_next, stop, tell
from minigrad.tracing.titles import INFIX, is_in_place, operation_of

SHAPES: Final = {"attr.shape", "attr._saved_self_sym_sizes"}
"""What a built-in node keeps the shape of its input as, here and in torch."""
SIGNS: Final = {"*": "\u00d7", "/": "\u00f7"}
AS_TOLD: Final = (
    *("hook.pack", "rerun.begin", "rerun.end", "tangent"),
    *("ask", "cut", "lint", "note", "what.if"),
)
"""Kinds of steps whose sentence serves the picture, too."""


def tell_picture(data: dict[str, Any]) -> None:
    """Choose the stops of the picture, and give each its sentence, ``why``."""
    story = PictureStory(data)
    for event in data["events"]:
        story.hear(event)
    story.end()


class PictureStory(BackwardPicture):
    """Goes through a finished recording, and tells what its picture stops at."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._lines: dict[tuple[int, int], str] = {}

    def hear(self, event: Event) -> None:
        """The next step."""
        kind, level = event["k"], event["lvl"]
        if kind in ("ctx.free", "node.exit"):
            self._say_sent(event["n"])  # before the box is empty
        if self._filled and level <= STORY and kind != "grad.accumulate":
            self._say_filled()
        fill_boxes(self._boxes, event)
        name = event["ph"]["name"] if kind == "phase" else kind
        tell_of = getattr(self, f"on_{re.sub('[. ]', '_', name)}", None)
        if tell_of is not None:
            tell_of(event)
        elif kind in AS_TOLD and level <= STORY:
            stop(event, event["say"])

    def end(self) -> None:
        """The recording is over."""
        self.on_backward_end({})
        self._say_filled()

    def on_collect_inputs(self, event: Event) -> None:
        inputs = joined([*map(self._input_text, event.pop("given"))])
        recorded = event.pop("recorded")
        event["say"] = in_turn(
            message("inputs.collected" if inputs else "inputs.none", inputs=inputs),
            message("call.recorded" if recorded else "call.unrecorded"),
        )

    def _input_text(self, one: Mapping[str, Any]) -> str:
        """An argument, and whether it requires grad."""
        if "text" in one:
            return message("input.plain", value=one["text"])
        key = "input.needs" if one["needs"] else "input.needs-not"
        shape = self._values.shape(one["v"])
        unnamed = message("tensor.of-shape", shape=shape)
        if not shape:
            unnamed = message("tensor.of-value", value=self._text(one["v"]))
        return message(key, tensor=one["name"] or unnamed)

    def on_run_forward(self, event: Event) -> None:
        function = self._ctxs[event["cid"]]["function"]
        event["say"] = message("forward.runs", function=function)

    def on_ctx_new(self, event: Event) -> None:
        function = self._ctxs[event["cid"]]["function"]
        tell(event, message("why.ctx", function=function))

    def on_ctx_put(self, event: Event) -> None:
        names = self._kept_names(event)
        count = len(names)
        if not count:
            tell(event, message("why.put.none", by=event["by"]))
            return
        key = "why.put" if count < 3 else "why.put.all"
        by, number = event["by"], message("values", count=count)
        told = message(key, by=by, count=count, values=joined(names))
        tell(event, told, message("why.put.all", by=by, values=number))

    def on_wrap_outputs(self, event: Event) -> None:
        outs = self._by_ctx.get(event.get("cid", ""), {}).get("outs", ())
        if not outs:  # they are left out of a long recording
            tell(event, message("why.returned"))
            return
        told = message("why.returns", value=joined([self._passed(one) for one in outs]))
        plain = [str(one["nr"]) for one in outs if not one.get("needs")]
        fields = {"count": len(plain), "slots": joined(plain)}
        some = 0 < len(plain) < len(outs)
        unwired = message("outputs.no-wire", **fields) if some else ""
        several = message("why.returns.several", count=len(outs))
        tell(event, in_turn(told, unwired), told, several)

    def on_link_outputs(self, event: Event) -> None:
        tell(event, message("why.thrown-away"))

    def on_graph_node(self, event: Event) -> None:
        node = self._nodes[event["n"]]
        if "ph" not in event:
            self._say_older(event, node)
            return
        ins, outs = event["ins"], event["outs"]
        result = outs[0].get("name") if outs else None
        if "own" in node:
            self._say_hung(event, result)
            return
        moved = is_in_place(ins, outs)
        told = self._told_of_call(event, None if moved else result)
        keeps = self._told_of_box(event)
        data = [one for one in ins if one.get("name") and not one["needs"]]
        end = message("why.no-wire", tensor=data[0]["name"]) if data else ""
        if moved and result:
            end = message("why.moved", result=result)
        function = operation_of(node["label"])
        if function in self._learners and event["lvl"] <= STORY:
            self._learners.remove(function)  # told once
            end = message("why.not-yours", node=node["label"], function=function)
        again = message("why.again") if node["order"] > 1 else ""
        options = [(told, keeps, end, again), (told, keeps, again), (told, again)]
        tell(event, *[in_turn(*parts) for parts in options])

    def _say_older(self, event: Event, node: Mapping[str, Any]) -> None:
        """A node was there before; no step of the picture."""
        key = "node.older"
        if node["kind"] == "accumulate":
            key = "node.leaf" if node["tensor"] else "node.leaf.unnamed"
        event["say"] = message(key, node=node["label"], tensor=node["tensor"])

    def _told_of_call(self, event: Event, result: str | None) -> str:
        """What a call computed: with all its numbers if they are few."""
        ins, outs = event["ins"], event["outs"]
        values = [one["v"] for one in (*ins, *outs) if "text" not in one]
        is_small = None not in [self._values.number(value) for value in values]
        told = event["label"]
        if not outs:
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
        names += [
            in_short(one["r"])
            for one in items
            if one and one.get("r", "None") != "None"
        ]
        if names:
            return message("why.keeps", values=joined(names))
        saved = [ref for key, ref in there.items() if key.startswith("saved.") and ref]
        if saved:  # hooks have put something else there
            packed = [word(ref.get("r") or message("why.packed")) for ref in saved]
            packed = list(dict.fromkeys(packed))
            return message("why.keeps.packed", packed=joined(packed))
        if any([key.startswith("attr.") for key in there]):
            is_shape = not SHAPES.isdisjoint(there)
            return message("why.keeps.shape") if is_shape else ""
        return message("why.keeps.nothing")

    def _say_hung(self, event: Event, result: str | None) -> None:
        ins, outs = event["ins"], event["outs"]
        wired = [self._called_input(one) for one in ins if "n" in one or "leaf" in one]
        inputs = joined(list(dict.fromkeys(wired)))
        fields = {
            "inputs": inputs,
            "result": result or message("why.result"),
            "function": event["op"],
        }
        short = message("why.hangs.short", **fields)
        tensors = [str(one["nr"]) for one in outs if one.get("needs")]
        if len(tensors) > 1:
            fields |= {"slots": joined(tensors)}
            short = message("why.hangs.several.short", **fields)
            tell(event, message("why.hangs.several", **fields), short)
        elif is_in_place(ins, outs):
            tell(event, message("why.hangs.changed", **fields), short)
        elif not inputs:
            tell(event, short)
        elif result:
            tell(event, message("why.hangs", **fields), short)
        else:
            tell(event, message("why.hangs.unnamed", **fields), short)

    def on_module(self, event: Event) -> None:
        module = self._modules.get(event["m"])
        label = module["label"] if module else message("module.left-out")
        fields = {"label": label, "value": self._several(event["new"])}
        tell(event, message("why.module", count=event["nodes"], **fields))

    def on_inplace(self, event: Event) -> None:
        fields = {"now": event["ver"], "value": self._text(event["t"])}
        fields["tensor"] = event.get("name") or message("tensor.nameless")
        if "part" in event:
            fields["tensor"] = message("tensor.part-of", name=event["name"])
        savers = [
            (self._ctxs[change["id"]]["function"], ref["ver"])
            for change in ctx_changes(event)
            for ref in change["set"].values()
            if ref and ref["t"] == "S" and ref["ver"] != ref["now"]
        ]
        changed = message("why.in-place", **fields)
        if not savers:
            tell(event, changed)
            return
        node, saved = savers[0]
        fields |= {"node": node, "saved": saved}
        tell(event, message("why.in-place.saved", **fields), changed)

    def on_line(self, event: Event) -> None:
        place = event["s"], event["l"]
        if place not in self._lines:
            self._lines[place] = line_next(event, self._sources)
        event["say"] = self._lines[place]

    def on_call(self, event: Event) -> None:
        if "say" not in event:
            event["say"] = message("function.called", function=self._function(event))

    def _function(self, event: Event) -> str:
        """The function whose line an event stands at."""
        return word(self._sources[event["s"]]["name"])

    def on_return(self, event: Event) -> None:
        function, value = self._function(event), event["val"]
        if "unwound" in event:
            event["say"] = message("function.left", function=function)
            return
        if len(several := value.get("i", ())) < 2:
            fields = {"function": function, "value": self._text(value)}
            event["say"] = message("function.returns", **fields)
            return
        values = joined([*map(self._text, several)])
        fields = {"function": function, "values": values}
        event["say"] = message("function.returns.several", count=len(several), **fields)

    def on_exception(self, event: Event) -> None:
        first = event["err"].split("\n", 1)[0]
        fields = {"number": self._sources[event["s"]]["first"] + event["l"]}
        function = self._function(event)
        event["say"] = message("line.failed", function=function, error=first, **fields)
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
