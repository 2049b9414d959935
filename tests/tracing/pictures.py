"""What the picture of a recording is drawn by, held against itself and the engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.engine import observe
from minigrad.tracing.foreign import maker_of
from minigrad.tracing.picture_words import Values
from minigrad.tracing.pictures import corner, json_number

Json = dict[str, Any]
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]\d+)?")
EQUATION = re.compile(
    r"(?<![\w.])(-?[\d.e+-]+) ([\u00d7+]) (-?[\d.e+-]+) = (-?[\d.e+-]+)"
)
MOST_LETTERS = 105


class Ears:
    """An observer of the engine that notes itself what calls are given and return."""

    observes = observe.RECORDED

    def __init__(self) -> None:
        self.calls: list[tuple[list[Any], list[Any]]] = []
        self._given: dict[int, list[Any]] = {}

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        self._given[id(ctx)] = [drawn(one) for one in inputs]

    def edges_wired(self, ctx: Any, outputs: tuple[Any, ...]) -> None:
        given = self._given.pop(id(ctx), None)
        is_maker = any(hasattr(o, "array") and maker_of(o) is ctx for o in outputs)
        if given is not None and is_maker and ctx._edges:
            self.calls.append((given, [drawn(one) for one in outputs]))


def drawn(value: Any) -> Any:
    """The corner of a tensor as numbers, by way of no picture; None for the rest."""
    array = getattr(value, "array", None)
    if array is None:
        return None
    rows = corner(np.array(array))[0].tolist()
    return list(array.shape), [[json_number(item) for item in row] for row in rows]


def told_otherwise(data: Json, ears: Ears) -> list[str]:
    """Calls of which the recording has other values than the engine told ``ears``."""
    labels = {node["id"]: node["label"] for node in data["graph"]["nodes"]}
    events = [
        event
        for event in data["events"]
        if event["k"] == "graph.node"
        and event.get("outs")
        and labels[event["n"]] != "CopySlices"  # made without a call
    ]
    if len(events) != len(ears.calls):
        return [f"{len(ears.calls)} calls were heard, and {len(events)} are recorded"]
    found = []
    for event, (given, results) in zip(events, ears.calls, strict=True):
        for part, heard in (("ins", given), ("outs", results)):
            told = [shown(one, data["values"]) for one in event[part]]
            if told != heard:
                found.append(f"{event['label']}: {part} are {told}, and were {heard}")
    return found


def shown(one: Json, values: Json) -> Any:
    """What the recording shows of an argument or output; None for no tensor."""
    if "text" in one:
        return None
    picture = values[one["v"]["v"]]
    return picture["shape"], picture["rows"]


def inconsistencies(data: Json) -> list[str]:
    """Where the fields of calls do not fit the graph, or a sentence breaks a rule."""
    return [*faults_of_calls(data), *faults_of_sentences(data)]


def faults_of_calls(data: Json) -> Iterator[str]:
    nodes = {node["id"]: node for node in data["graph"]["nodes"]}
    edges = {edge["id"]: edge for edge in data["graph"]["edges"]}
    outputs: dict[tuple[str, int], Json] = {}
    there: set[str] = set()
    labels: set[str] = set()
    for event in data["events"]:
        if event["k"] != "graph.node":
            continue
        name = event["n"]
        there.add(name)
        if nodes[name]["kind"] == "accumulate":
            if "ins" in event:
                yield f"{name} is a leaf, and has arguments"
            continue
        if event["label"] in labels or not event["label"].startswith(event["op"]):
            yield f"{event['label']!r} is the label of two, or none of {event['op']}"
        labels.add(event["label"])
        led = {edges[edge]["slot"]: edges[edge] for edge in event["e"]}
        for slot, one in enumerate(event["ins"]):
            to = one.get("n", one.get("leaf"))
            if "text" in one:
                if to is not None or slot in led:
                    yield f"{name}: argument {slot} is no tensor, and has an edge"
                continue
            if ("n" in one and "leaf" in one) or (to is not None and to not in there):
                yield f"{name}: argument {slot} comes from {to}"
            is_leaf = to is not None and nodes[to]["kind"] == "accumulate"
            if to is not None and is_leaf != ("leaf" in one):
                yield f"{name}: argument {slot} is a leaf or not"
            edge = led.get(slot)
            where = (edge["to"], edge["to_slot"]) if edge else (None, 0)
            if (to, one.get("nr", 0)) != where:
                yield f"{name}: argument {slot} comes from {to}, its edge is {edge}"
            made = outputs.get((to or "", one.get("nr", 0)))
            same = bool(made and "t" in made and made["t"] == one["t"])
            if made and same and made.get("ver") == one.get("ver"):
                if made["v"] != one["v"]:
                    yield f"{name}: argument {slot} is not what {to} made"
                if one["name"] and made["name"] is None:
                    yield f"{name}: {one['name']} has no name where it was made"
        if set(led) - set(range(len(event["ins"]))):
            yield f"{name}: an edge has no argument"
        for number, out in enumerate(event["outs"]):
            if out["nr"] != number:
                yield f"{name}: output {number} is called {out['nr']}"
            if "v" in out:
                outputs[name, number] = out


def faults_of_sentences(data: Json) -> Iterator[str]:
    known = numbers_of(data)
    text = Values(data["values"]).text
    entered: Json = {}
    for at, event in enumerate(data["events"], 1):
        why = event.get("why")
        if (why is None) != (event["lvl"] != 0):
            yield f"step {at} is of level {event['lvl']}, and says {why!r}"
        if event["k"] == "node.enter":
            entered[event["n"]] = event["g"]
        if "slope" in event:
            yield from faults_of_slope(data, event, entered)
        if why is None:
            continue
        if not 0 < len(why) <= MOST_LETTERS or "AccumulateGrad" in why:
            yield f"step {at} says {why!r}"
        unknown = [n for n in NUMBER.findall(why) if n not in known]
        if unknown and event["k"] not in ("ask", "cut", "lint", "note", "exception"):
            yield f"step {at}: {unknown} in {why!r}"
        for left, sign, right, result in EQUATION.findall(why):
            a, b, c = (float(one.rstrip(".")) for one in (left, right, result))
            found = a * b if sign == "\u00d7" else a + b
            rough = 1e-2 * (abs(c) if sign == "\u00d7" else abs(a) + abs(b))
            if abs(found - c) > rough:
                yield f"step {at}: {left} {sign} {right} is not {result}"
        if event["k"] == "grad" and f"gets {text(event['g'])}" not in why:
            is_told = f"= {text(event['g'])}" in why or "sends" in why
            if not is_told and "what arrived" not in why:
                yield f"step {at} does not say {text(event['g'])}: {why!r}"


def faults_of_slope(data: Json, event: Json, entered: Json) -> Iterator[str]:
    """A slope times what arrived is what was sent."""
    edge = next(e for e in data["graph"]["edges"] if e["id"] == event["e"])
    (arrived,) = entered[edge["from"]]
    values = Values(data["values"])
    before, after = values.array(arrived), values.array(event["g"])
    told = float(event["slope"]["x"]) * before
    if not np.allclose(told, after, rtol=1e-3):
        yield f"{event['slope']} times {before} is not {after}"


def bytes_of(value: Json) -> int:
    """The bytes of a value; 0 for one that has no dtype."""
    size = int(np.prod(value.get("shape", ())))
    return size * np.dtype(value["dtype"]).itemsize if "dtype" in value else 0


def numbers_of(data: Json) -> set[str]:
    """All numbers a sentence may have: of values and sizes, names, counts, versions."""
    values = Values(data["values"])
    texts = [values.text({"v": key}) for key in data["values"]]
    texts += [str(bytes_of(value)) for value in data["values"].values()]
    counts: list[Any] = [0]
    for event in data["events"]:
        texts += [str(event.get(key, "")) for key in ("op", "label", "hook", "name")]
        texts += [str(root["slot"]) for root in event.get("roots", ())]
        texts += [event["slope"]["x"]] if "slope" in event else []
        for one in (*event.get("ins", ()), *event.get("outs", ())):
            texts += [str(one.get("text")), str(one.get("name"))]
        counts += [event.get("ver"), event.get("slot"), event.get("nodes")]
        counts += [len(event.get(key, ())) for key in ("ins", "outs", "roots")]
        counts += [len(event.get("awaits", ())), *event.get("awaits", {}).values()]
        for change in (event.get("ctx"), *event.get("others", ())):
            entries = (change or {"set": {}})["set"]
            counts.append(len(entries))
            for key, ref in entries.items():
                counts.append((ref or {}).get("ver"))
                texts += [key, str((ref or {}).get("r")), str((ref or {}).get("i"))]
    texts += [module["label"] for module in data["graph"]["modules"]]
    texts += [str(node["tensor"]) for node in data["graph"]["nodes"]]
    largest = max([c for c in counts if c is not None] + [len(data["graph"]["edges"])])
    numbers = {n for text in texts for n in NUMBER.findall(text)}
    whole = {str(count) for count in range(largest + 1)}
    return numbers | whole | {f"{float(n):.4g}" for n in numbers}  # 2.0 is told as 2
