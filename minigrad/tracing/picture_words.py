"""The words of the picture: what its sentences call tensors, nodes and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from minigrad.tracing.codes import STORY
from minigrad.tracing.messages import joined, message
from minigrad.tracing.pictures import is_told_by_shape, number_text
from minigrad.tracing.reading import Ref, Values
from minigrad.tracing.titles import operation_of

Event = dict[str, Any]
PICTURE: Final = 0
MOST_LETTERS: Final = 105


class Words:
    """Finds words for what a finished recording speaks of."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        graph, events = data["graph"], data["events"]
        self._values = Values(data["values"])
        self._text = self._values.text
        self._nodes = {node["id"]: node for node in graph["nodes"]}
        self._learners = {
            operation_of(node["label"]) for node in graph["nodes"] if "own" in node
        }
        self._sources = data["sources"]
        self._edges = {edge["id"]: edge for edge in graph["edges"]}
        self._modules = {one["id"]: one for one in graph["modules"]}
        self._ctxs = {ctx["id"]: ctx for ctx in data["ctxs"]}
        called = [e for e in events if "ins" in e and "call" not in e]
        self._calls = {event["n"]: event for event in called if "n" in event}
        self._by_ctx = {event["cid"]: event for event in called if "cid" in event}
        self._boxes: dict[str, dict[str, Ref]] = {}

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

    def _name_of(self, name: str) -> str:
        """What torch calls a node."""
        return str(self._nodes.get(name, {}).get("label", name))

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

    def _several(self, ref: Ref | None) -> str:
        """A value, or several."""
        several = (ref or {}).get("i")
        return joined([*map(self._several, several)]) if several else self._text(ref)

    def _grad_of(self, leaf: str) -> str:
        """The ``.grad`` of a leaf in a sentence."""
        is_unnamed = leaf == message("tensor.leaf")
        return message("why.grad-of-leaf" if is_unnamed else "grad.name", tensor=leaf)


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


def tell(event: Event, *options: str) -> None:
    """Say the same at all levels: what the recorder has left to the picture."""
    event.setdefault("say", options[0])
    if event["lvl"] <= STORY:
        stop(event, *options)


def cut(text: str) -> str:
    """The first sentences of a text, as many as are short enough; or its beginning."""
    end = text.rfind(". ", 0, MOST_LETTERS)
    return text[: end + 1] if end > 0 else f"{text[: MOST_LETTERS - 1]}\u2026"
