"""The words of the picture: what its sentences call tensors, nodes and values.

And the number that stands at an edge: what a rule multiplied the gradient with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from minigrad.tracing.codes import STORY
from minigrad.tracing.messages import joined, message, word
from minigrad.tracing.pictures import is_told_by_shape, number_text, text_of_picture
from minigrad.tracing.titles import operation_of

Event = dict[str, Any]
Ref = Mapping[str, Any]
PRECISION: Final = 2e-5
"""Pictures have six digits."""
Candidate = tuple[float, str | None]
"""A number, and whose value it is."""
PICTURE: Final = 0
MOST_LETTERS: Final = 105


class Values:
    """The pictures of a recording's values, and what a sentence says of each."""

    def __init__(self, pictures: Mapping[str, Any]) -> None:
        self._pictures = pictures
        self._texts: dict[str, str] = {}

    def text(self, ref: Ref | None) -> str:
        """A value inside a sentence: a number, a short list, a shape, or several."""
        if ref is None:
            return "None"
        if "i" in ref:
            inside = ", ".join([self.text(one) for one in ref["i"]])
            return f"({inside},)" if len(ref["i"]) == 1 else f"({inside})"
        key = ref.get("v")
        if key is None:
            return str(ref.get("r", ""))
        if key not in self._texts:
            self._texts[key] = text_of_picture(self._pictures[key])
        return self._texts[key]

    def shape(self, ref: Ref) -> tuple[int, ...]:
        """The shape of an array or a tensor."""
        return tuple(self._pictures[ref["v"]]["shape"])

    def array(self, ref: Ref | None) -> Any:
        """The numbers of a value that is drawn whole; None for any other."""
        picture = self._pictures.get((ref or {}).get("v", ""))
        return None if picture is None else array_of(picture)

    def number(self, ref: Ref | None) -> float | None:
        """The value of a scalar; None for any other."""
        array = self.array(ref)
        return None if array is None or array.ndim else float(array)


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


def line_next(event: Mapping[str, Any], sources: Sequence[Mapping[str, Any]]) -> str:
    """A line is about to run; not every line that does is shown."""
    source, line = sources[event["s"]], event["l"]
    shown = source["tokens"][line : line + 1]
    text = "".join([part for tokens in shown for _, part in tokens]).strip()
    key, number = "line.next.text" if text else "line.next", source["first"] + line
    return message(key, function=word(source["name"]), number=number, text=text)


def array_of(picture: Mapping[str, Any]) -> Any:
    """The numbers that a picture shows, if they are all, real and finite."""
    numbers = [item for row in picture["rows"] for item in row]
    if picture["cut"] or any([type(item) is str for item in numbers]):
        return None
    kind = bool if picture["dtype"] == "bool" else np.float64
    return np.array(numbers, kind).reshape(picture["shape"])


def slope_of(
    call: Mapping[str, Any],
    builtin: str,
    slot: int,
    box: Mapping[str, Ref],
    arrived: Ref | None,
    sent: Ref | None,
    values: Values,
) -> dict[str, str] | None:
    """The one number that ``arrived`` was multiplied with; None if it was not one.

    ``builtin`` is the operation, empty for a learner's: its rule may do anything, so
    only what is in its box, 1 and -1 are tried.
    """
    before, after = values.array(arrived), values.array(sent)
    if before is None or after is None or before.shape != after.shape:
        return None
    if not before.any():
        return None
    if builtin:
        tried = [*known_slopes(builtin, call, slot, values)]
    else:
        tried = [*kept_numbers(call["ins"][slot], box, values)]
    for number, of in (*tried, (1.0, None), (-1.0, None)):
        if (np.abs(number * before - after) <= PRECISION * np.abs(after)).all():
            found = {"x": number_text(number)}
            return found if of is None else {**found, "of": of}
    if builtin and before.ndim == 0:
        return {"x": number_text(float(after / before))}
    return None


def known_slopes(
    name: str, call: Mapping[str, Any], slot: int, values: Values
) -> Iterator[Candidate]:
    """What the local derivative of a built-in operation is, if that is a value."""
    ins, outs = call["ins"], call["outs"]
    if name == "Mul" and len(ins) > 1:
        yield from number_of(ins[1 - slot], values)
    elif name == "Exp" and outs:
        yield from number_of(outs[0], values)


def number_of(passed: Mapping[str, Any], values: Values) -> Iterator[Candidate]:
    """The value of an argument or an output, if it is one number."""
    if "text" in passed:
        try:
            yield float(passed["text"]), None
        except ValueError:
            return
    elif (number := values.number(passed["v"])) is not None:
        yield number, passed["name"]


def kept_numbers(
    own: Mapping[str, Any], box: Mapping[str, Ref], values: Values
) -> list[Candidate]:
    """The numbers in a learner's box; that of the argument itself comes last."""
    found = []
    for key, ref in box.items():
        number = values.number(ref) if key.startswith("saved.") else None
        if key.startswith("attr.") and ref["t"] == "P":
            number = next((n for n, _ in number_of({"text": ref["r"]}, values)), None)
        if number is not None and abs(number) != 1:
            is_own = ref.get("v") == (own.get("v") or {}).get("v")
            name = ref.get("name") or (key[5:] if key.startswith("attr.") else None)
            found.append((is_own, number, name))
    found.sort(key=lambda one: one[0])
    return [(number, name) for _, number, name in found]
