"""What if: a recording run again with a value edited, beside what was."""

from __future__ import annotations

import ast
import contextlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from minigrad.tracing.again import run_with, runnable
from minigrad.tracing.editable import (
    called,
    editable_at,
    gradients_of,
    numbers_like,
    planned,
    planned_leaf,
    refused,
)
from minigrad.tracing.editing import StepEdit
from minigrad.tracing.messages import in_turn, joined, message
from minigrad.tracing.trace import step_that_says
from minigrad.views import page
from minigrad.views.comparing import Comparison
from minigrad.views.numbers import is_other_grad
from minigrad.views.values import number

if TYPE_CHECKING:
    from minigrad.views.recording import Recording

Json = dict[str, Any]

MOST_LISTED: Final = 6  # numbers that stand in a sentence
MOST_ENDS: Final = 3  # things that end otherwise
MOST_TYPED: Final = 12  # numbers; of a larger array one element is typed
MOST_RUNS: Final = 8  # that are kept for a page that edits


class WhatIf(Comparison):
    """What was and what would be, as two players that step together.

    ``recording`` is the new one; it can be asked ``what_if`` in its turn.
    """

    def __init__(self, was: Recording, recording: Recording, edit: StepEdit) -> None:
        self.recording = recording
        self._edit = edit
        titles = message("what-if.title.was"), message("what-if.title.now")
        super().__init__(was, recording, titles)

    def _data(self) -> Json:
        return super()._data() | {"lead": self.sentence}

    @property
    def sentence(self) -> str:
        """What was edited, and how it ends then."""
        edits = [
            message("what-if.edit", what=what, new=new, old=old)
            for what, old, new in self._edit.said
        ]
        asks = message("what-if.asks", edits=joined(edits))
        return in_turn(asks, self.outcome)

    @property
    def outcome(self) -> str:
        """What ends otherwise than it did."""
        return outcome(*[side.data for side in self._sides])


def outcome(was: Json, now: Json) -> str:
    """What ends otherwise in one recording than in another, in a sentence."""
    before, after = outcomes(was), outcomes(now)
    ends = [
        differs(name, after.get(name), before.get(name))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
    if len(ends) > MOST_ENDS:
        more = len(ends) - MOST_ENDS
        ends[MOST_ENDS:] = [message("what-if.ends.more", count=more)]
    told = message("what-if.ends.between").join(ends)
    return message("what-if.then" if ends else "what-if.then.same", ends=told)


def outcomes(data: Json) -> dict[str, Json]:
    """How a recording ends: the gradients of leaves, those asked for, an error."""
    nodes = {node["id"]: node for node in data["graph"]["nodes"]}
    found = {}
    for event in data["events"]:
        node = nodes.get(event.get("n", ""), {})
        if event["k"] == "grad.accumulate" or is_other_grad(event):
            leaf = message("what-if.leaf", node=event["n"])
            tensor = node.get("tensor") or leaf
            found[f"{tensor}.grad"] = data["values"][event["new"]["v"]]
        elif event["k"] == "grad.captured":
            output = {"slot": event["slot"], "node": node["label"]}
            owner = node.get("tensor") or message("node.output", **output)
            name = message("what-if.asked-for", owner=owner)
            found[name] = data["values"][event["g"]["v"]]
    if data["meta"].get("error"):
        error = data["meta"]["error"].splitlines()[0]
        found[message("what-if.the-end")] = {"error": error}
    return found


def differs(name: str, now: Json | None, was: Json | None) -> str:
    """How something that ends otherwise ends."""
    whole = message("what-if.end", name=name, now=ending(now), was=ending(was))
    if now is None or was is None or "error" in (now | was):
        return whole
    if now["shape"] != was["shape"] or np.prod(now["shape"]) <= MOST_LISTED:
        return whole
    for row, (one, other) in enumerate(zip(now["rows"], was["rows"], strict=True)):
        for column, pair in enumerate(zip(one, other, strict=True)):
            if pair[0] != pair[1]:
                numbers = {"now": number(pair[0]), "was": number(pair[1])}
                if len(now["shape"]) > 2:
                    return message("what-if.end", name=name, **numbers)
                here = [row, column] if len(now["shape"]) == 2 else [column]
                return message("what-if.end.at", name=name, place=here, **numbers)
    return message("what-if.end.further", name=name)


def ending(value: Json | None) -> str:
    """A value, an error or nothing in a few words."""
    if value is None:
        return message("what-if.not-there")
    if "error" in value:
        return str(value["error"])
    shape, rows = value["shape"], value["rows"]
    if not shape:
        return number(rows[0][0])
    if len(shape) > 2 or np.prod(shape) > MOST_LISTED:
        return message("array.of-shape", shape=" x ".join(map(str, shape)))
    texts = [f"[{', '.join([number(one) for one in row])}]" for row in rows]
    return texts[0] if len(shape) == 1 else f"[{', '.join(texts)}]"


def what_if(
    recording: Recording,
    step: int | str,
    saved: Mapping[int, Any] | None,
    attributes: Mapping[str, Any] | None,
    gradient: Any,
    node: str,
    leaf: Mapping[str, Any] | None,
) -> WhatIf:
    """The program of ``recording`` once more, with other values from ``step`` on."""
    position = 0 if leaf and not step else position_of(recording, step)
    runnable(recording)
    data = recording.data
    edit = planned(data, position, saved, attributes, gradient, node, leaf)
    return WhatIf(recording, edited(recording, edit), edit)


def edited(recording: Recording, edit: StepEdit) -> Recording:
    """The program of ``recording`` once more, with an edit, which is marked."""
    new = type(recording)()
    run_with(recording, edit, new)
    if not edit.said:
        raise refused(
            "nothing reads what you changed after this step",
            "take a step before it is read",
        )
    meta = new.data["meta"]
    meta["edits"] = recording.data["meta"].get("edits", []) + [
        {"what": what, "old": old, "new": new, "place": place}
        for (what, old, new), place in edit.said.items()
    ]
    return new


def position_of(recording: Recording, step: int | str) -> int:
    """The number of a step, which may be given by words of its sentence.

    Raises: ArgumentValueError if there is no such step.
    """
    if isinstance(step, str):
        return step_that_says(recording, step, "what_if")
    count = len(recording)
    if not 1 <= step <= count:
        raise refused(
            f"there is no step {step}: the recording has {count} steps",
            f"give a number from 1 to {count}, or words of a sentence",
        )
    return step


class Edits:
    """Answers a page that edits a recording: the runs with its edits, one by one.

    Each edit is of the run with those before it; the newest runs are kept, as a value
    that is dragged asks for many with the same beginning.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._runs: dict[str, Recording] = {}

    def answers(self) -> dict[str, Callable[[Json], Json]]:
        """What a page asks, by its kind."""
        return {"describe": self.describe, "edit": self.edit}

    def describe(self, asked: Json) -> Json:
        """What stands at a place of the page, to be typed over; nothing if it can't.

        ``number`` is what is dragged, and ``step`` by how much.
        """
        data = self._run(asked["edits"]).data
        target = target_at(data, asked["what"], asked["position"])
        text = start_text(data, target.ref) if target else ""
        number = None
        with contextlib.suppress(ValueError):  # no number
            number = float(text)
        if number is not None and not math.isfinite(number):
            number = None
        size = math.floor(math.log10(abs(number or 1.0)))
        step = 1.0 if text.lstrip("-").isdigit() else 10.0 ** (size - 1)
        name = target.name if target else None
        return {"text": text, "number": number, "step": step, "name": name}

    def edit(self, asked: Json) -> Json:
        """The run with the edits that are ``asked`` for, as the page plays it."""
        run = self._run(asked["edits"])
        told = outcome(self._recording.data, run.data)
        differing = Comparison(self._recording, run).differing()
        trace = page.played(run._pictured())
        return {"trace": trace, "say": told, "differing": differing}

    def _run(self, edits: list[Json]) -> Recording:
        run = self._recording
        for count, one in enumerate(edits, 1):
            key = json.dumps(edits[:count])
            if key not in self._runs:
                self._runs[key] = edited(run, typed(run, one))
            run = self._runs[key]
        while len(self._runs) > MOST_RUNS:
            del self._runs[next(iter(self._runs))]
        return run


@dataclass
class Target:
    """What can be edited: its kind and place as in what_if, the step, what it is."""

    kind: str
    key: Any
    position: int
    ref: Json
    ctx: str = ""
    name: str | None = None


def target_at(data: Json, what: str, position: int) -> Target | None:
    """What a place of the page, such as "entry c0 saved.0", shows at a step.

    A gradient is the newest that was told of the node, the edge or the ``.grad``.
    """
    kind, name, *rest = what.split(" ")
    key = rest[0] if rest else "0"
    if kind == "entry":
        return entry_at(data, position, name, key)
    _, is_data, tensor = name.rpartition(".data")
    node = name.partition("__")[0]
    kinds = {one["id"]: one["kind"] for one in data["graph"]["nodes"]}
    if is_data or (kind in ("node", "value") and kinds.get(node) == "accumulate"):
        for one in [one for event in data["events"] for one in event.get("ins", ())]:
            if one.get("v") and (one["t"] == tensor or one.get("leaf") == node):
                return Target("leaf", one["t"], position, one["v"], name=one["name"])
    for at in range(position, 0, -1):
        event = data["events"][at - 1]
        found = gradient_told(event, kind, name, int(key)) if kind != "value" else None
        if found is not None:
            slot = gradients_of(event)
            return Target("gradient", found, at, slot[found]) if found in slot else None
    return None


def entry_at(data: Json, position: int, ctx: str, entry: str) -> Target | None:
    """A saved value or an attribute."""
    family, _, name = entry.partition(".")
    kind = {"saved": "saved", "attr": "attributes"}.get(family)
    if kind is None or position == 0:
        return None
    key: Any = int(name) if kind == "saved" else name
    ref = editable_at(data, position, ctx).there[kind].get(key)
    return Target(kind, key, position, ref, ctx) if ref else None


def gradient_told(event: Json, kind: str, name: str, slot: int) -> int | None:
    """Which of its gradients a step tells of a place; None for none of it."""
    told = event["k"]
    roots = [root["n"] for root in event.get("roots", ())]
    if kind == "edge":
        return 0 if told == "grad" and event["e"] == name else None
    if kind == "grad":
        is_it = told in ("grad", "grad.accumulate") and event["n"] == name
        return 0 if is_it else None
    if name in roots:
        return roots.index(name)
    is_it = told in ("grad", "node.enter") and event["n"] == name
    return (slot if told == "node.enter" else 0) if is_it else None


def start_text(data: Json, ref: Json) -> str:
    """A value as one would type it; nothing for what can't be typed."""
    if ref["t"] == "P":
        return "" if ref["r"][0] in "<(" else str(ref["r"])
    value = data["values"].get(ref.get("v"), {"rows": []})
    numbers = [one for row in value["rows"] for one in row]
    if not numbers or not all([type(one) in (int, float, bool) for one in numbers]):
        return ""
    if value["cut"] or len(numbers) > MOST_TYPED:
        place = ", ".join("0" * len(value["shape"]))
        return (
            f"{{{f'({place})' if len(value['shape']) > 1 else place}: {numbers[0]!r}}}"
        )
    return repr(np.array(numbers, object).reshape(value["shape"]).tolist())


def typed(recording: Recording, asked: Json) -> StepEdit:
    """The edit that a page asks for: ``text`` was typed over what stands at a place."""
    runnable(recording)
    data, text = recording.data, read(asked["text"])
    target = target_at(data, asked["what"], asked["position"])
    if target is None:
        raise refused("it can't be changed at this step", "take one that shows it")
    if target.ref["t"] != "P" and not isinstance(text, dict):
        text = as_typed(data, target.ref, text, called(target.kind, target.key))
    if target.kind == "leaf":
        return planned_leaf(data, target.key, text)
    of: Json = {"saved": None, "attributes": None, "gradient": None}
    of[target.kind] = {target.key: text}
    return planned(data, target.position, node=target.ctx, **of)


def read(text: str) -> Any:
    """What was typed: a number, a list, anything that Python writes as it is.

    Raises: ArgumentValueError.
    """
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise refused(
            f"{text!r} can't be read", "type a number, a list of numbers or a text"
        ) from None


def as_typed(data: Json, ref: Json, typed: Any, what: str) -> Callable[[Any], Any]:
    """What makes the new numbers: those that nobody has typed over stay exact."""
    numbers = numbers_like(data, ref, typed, what)
    shown = np.array(data["values"][ref["v"]]["rows"], numbers.dtype)
    same = shown.reshape(numbers.shape) == numbers
    return lambda old: np.where(same, old, numbers)
