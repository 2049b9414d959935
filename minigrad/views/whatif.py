"""What if: a recording run again with a value edited, beside what was."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from minigrad.tracing.again import WhatIfError, run_with, runnable
from minigrad.tracing.editable import (
    called,
    editable_at,
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
MOST_RUNS: Final = 8  # that are kept for a page that edits


class WhatIf(Comparison):
    """What was and what would be, as two players that step together.

    ``recording`` is the new one; it can be asked ``what_if`` in its turn.
    """

    def __init__(self, was: Recording, recording: Recording, edit: StepEdit) -> None:
        self.recording = recording
        self._edit = edit
        super().__init__(was, recording)

    @property
    def sentence(self) -> str:
        """What was edited, and how it ends then."""
        edits = [
            message("what-if.edit", what=what, new=new, old=old)
            for what, old, new in self._edit.said
        ]
        when = self._edit.when
        if isinstance(when, tuple):
            asks = message("what-if.asks.leaf", edits=joined(edits))
        else:
            steps = {"step": when, "count": len(self._sides[0])}
            asks = message("what-if.asks", edits=joined(edits), **steps)
        return in_turn(asks, self.outcome)

    @property
    def outcome(self) -> str:
        """What ends otherwise than it did."""
        return outcome(*[side.data for side in self._sides])

    def _titles(self) -> list[str]:
        return [message("what-if.title.was"), message("what-if.title.now")]


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
    run_with(recording, edit, edit.when, new)
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

    def hello(self, _: Json) -> Json:
        """Why the program can't run again; empty if nothing is known against it."""
        try:
            runnable(self._recording)
        except WhatIfError as error:
            return {"why": str(error).removeprefix("what_if: ")}
        return {"why": ""}

    def __call__(self, asked: Json) -> Json:
        """The run with the edits that are ``asked`` for, as the page plays it."""
        run = self._recording
        for count, one in enumerate(asked["edits"], 1):
            key = json.dumps(asked["edits"][:count])
            if key not in self._runs:
                self._runs[key] = edited(run, typed(run, one))
            run = self._runs[key]
        while len(self._runs) > MOST_RUNS:
            del self._runs[next(iter(self._runs))]
        return {
            "trace": page.played(run._pictured()),
            "say": outcome(self._recording.data, run.data),
        }


def typed(recording: Recording, asked: Json) -> StepEdit:
    """The edit that a page asks for: ``text`` was typed over a value.

    ``kind`` and ``key`` say which, at the step ``position``, of ``ctx`` if it has one.
    """
    runnable(recording)
    data, position = recording.data, asked["position"]
    kind, key, text = asked["kind"], asked["key"], read(asked["text"])
    if kind == "leaf":
        return planned_leaf(data, key, text)
    here = editable_at(data, position, asked.get("ctx", ""))
    known = here.there[kind]
    if key is None:
        key = next(iter(known), None)
    if key not in known:
        raise refused("it cannot be another at this step", f"edit {here}")
    ref = known[key]
    if ref["t"] != "P" and not isinstance(text, dict):
        text = as_typed(data, ref, text, called(kind, key))
    by_kind: Json = {kind: {key: text}}
    kinds = [by_kind.get(one) for one in ("saved", "attributes", "gradient")]
    return planned(data, position, *kinds, node=asked.get("ctx", ""))


def read(text: str) -> Any:
    """What was typed: a number, a list, anything that Python writes as it is.

    Raises: ArgumentValueError.
    """
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise refused(
            f"{text!r} cannot be read", "type a number, a list of numbers or a text"
        ) from None


def as_typed(data: Json, ref: Json, typed: Any, what: str) -> Callable[[Any], Any]:
    """What makes the new numbers: those that nobody has typed over stay exact."""
    numbers = numbers_like(data, ref, typed, what)
    shown = np.array(data["values"][ref["v"]]["rows"], numbers.dtype)
    same = shown.reshape(numbers.shape) == numbers
    return lambda old: np.where(same, old, numbers)
