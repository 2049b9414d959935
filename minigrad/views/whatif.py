"""What if: a recording run again with a value edited, as Python and a page ask for it.

A recording is shown as plain HTML, which outlives its kernel. While that runs, a widget
without a view passes on what the player's page asks.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from minigrad import errors
from minigrad.tracing.edits import Edit, edited
from minigrad.tracing.messages import in_turn, joined, message
from minigrad.tracing.places import fitting, place_at, refused
from minigrad.tracing.program import why_not
from minigrad.views import page, script
from minigrad.views.comparing import Comparison
from minigrad.views.forms import has_kernel, widget_class
from minigrad.views.numbers import is_other_grad
from minigrad.views.picture_values import apart
from minigrad.views.values import brief_text

if TYPE_CHECKING:
    from minigrad.views.recording import Recording

Json = dict[str, Any]
Answers = Mapping[str, Callable[[Json], Json]]

NUMBER: Final = re.compile(r"-?\d+(\.\d*)?(e[-+]\d+)?")
MOST_ENDS: Final = 3  # things that end otherwise
MOST_TYPED: Final = 12  # numbers; of a larger array one element is typed
MOST_RUNS: Final = 8  # that are kept for a page that edits
MOST_SHOWN: Final = 30  # recordings that are kept for their pages

_shown: dict[str, Answers] = {}


class WhatIf(Comparison):
    """What was and what would be, as two players that step together.

    ``recording`` is the new one; it can be asked ``what_if`` in its turn.
    """

    def __init__(self, was: Recording, recording: Recording) -> None:
        self.recording = recording
        titles = message("what-if.title.was"), message("what-if.title.now")
        super().__init__(was, recording, titles)

    def _data(self) -> Json:
        return super()._data() | {"lead": self.sentence}

    @property
    def sentence(self) -> str:
        """What was edited, and how it ends then."""
        before, now = [side.data["meta"].get("edits", []) for side in self._sides]
        said = [message("what-if.edit", **edit) for edit in now[len(before) :]]
        return in_turn(message("what-if.asks", edits=joined(said)), self.outcome)

    @property
    def outcome(self) -> str:
        """What ends otherwise than it did."""
        sides = [(side.data, refs_at_end(side.data)) for side in self._sides]
        told = []
        for name in {**sides[0][1], **sides[1][1]}:
            refs = [(data, ends.get(name)) for data, ends in sides]
            values = [r and data["values"].get(r.get("v"), r) for data, r in refs]
            if values[0] == values[1]:
                continue
            absent = message("what-if.not-there")
            texts = [brief_text(*side) if side[1] else absent for side in refs]
            are_arrays = all([value and "rows" in value for value in values])
            place, texts = apart(values, texts) if are_arrays else ("", texts)
            key = "what-if.end.at" if place else "what-if.end"
            if texts[0] == texts[1]:
                key = "what-if.end.further"
            was, now = texts
            told.append(message(key, name=name, place=place, was=was, now=now))
        if len(told) > MOST_ENDS:
            more = len(told) - MOST_ENDS
            told[MOST_ENDS:] = [message("what-if.ends.more", count=more)]
        ends = message("what-if.ends.between").join(told)
        return message("what-if.then" if told else "what-if.then.same", ends=ends)


def refs_at_end(data: Json) -> dict[str, Json]:
    """How a recording ends: the gradients of leaves, those asked for, an error."""
    nodes = {node["id"]: node for node in data["graph"]["nodes"]}
    found = {}
    for event in data["events"]:
        node = nodes.get(event.get("n", ""), {})
        if event["k"] == "grad.accumulate" or is_other_grad(event):
            leaf = message("what-if.leaf", node=event["n"])
            found[f"{node.get('tensor') or leaf}.grad"] = event["new"]
        elif event["k"] == "grad.captured":
            output = {"slot": event["slot"], "node": node["label"]}
            owner = node.get("tensor") or message("node.output", **output)
            found[message("what-if.asked-for", owner=owner)] = event["g"]
    if data["meta"].get("error"):
        error = data["meta"]["error"].splitlines()[0]
        found[message("what-if.the-end")] = {"t": "P", "r": error}
    return found


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
        return {"hello": self.hello, "describe": self.describe, "edit": self.edit}

    def hello(self, _: Json) -> Json:
        """The code that edits; or why this can't be run again."""
        why, fix = why_not(self._recording)
        if not why:
            return {"code": script.code("edits")}
        return {"why": message("what-if.why-not", why=why, fix=fix)}

    def describe(self, asked: Json) -> Json:
        """What is at a place of the page, to be typed over; nothing if it can't be.

        ``number`` is what is dragged, and ``step`` by how much.
        """
        data = self._run(asked["edits"]).data
        place = place_at(data, asked["what"], asked["position"])
        text = start_text(data, place.ref) if place else ""
        number = float(text) if NUMBER.fullmatch(text) else None
        size = math.floor(math.log10(abs(number or 1.0)))
        step = 1.0 if text.lstrip("-").isdigit() else 10.0 ** (size - 1)
        name = place.owner if place and place.kind == "leaf" else None
        return {"text": text, "number": number, "step": step, "name": name}

    def edit(self, asked: Json) -> Json:
        """The run with the edits that are ``asked`` for, as the page plays it."""
        run = self._run(asked["edits"])
        both = WhatIf(self._recording, run)
        trace = page.played(run._pictured())
        return {"trace": trace, "say": both.outcome, "differing": both.differing()}

    def _run(self, edits: list[Json]) -> Recording:
        run = self._recording
        for count, one in enumerate(edits, 1):
            key = json.dumps(edits[:count])
            if key not in self._runs:
                self._runs[key] = edited(run, [typed(run, one)])
            run = self._runs[key]
        while len(self._runs) > MOST_RUNS:
            del self._runs[next(iter(self._runs))]
        return run


def start_text(data: Json, ref: Json) -> str:
    """A value as one would type it; nothing for what can't be typed."""
    if ref["t"] == "P":
        return "" if ref["r"][0] in "<(" else str(ref["r"])
    value = data["values"].get(ref.get("v"), {"rows": []})
    numbers = [one for row in value["rows"] for one in row]
    if not numbers or not all([type(one) in (int, float, bool) for one in numbers]):
        return ""
    if value["cut"] or len(numbers) > MOST_TYPED:
        index = ", ".join("0" * len(value["shape"]))
        index = f"({index})" if len(value["shape"]) > 1 else index
        return f"{{{index}: {numbers[0]!r}}}"
    return repr(np.array(numbers, object).reshape(value["shape"]).tolist())


def typed(recording: Recording, asked: Json) -> Edit:
    """The edit that a page asks for: ``text`` was typed over what stands at a place.

    Raises: ArgumentValueError for what can't be read, or doesn't fit.
    """
    data, text = recording.data, asked["text"]
    place = place_at(data, asked["what"], asked["position"])
    if place is None:
        raise refused("it can't be changed at this step", "take one that shows it")
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise refused(
            f"{text!r} can't be read", "type a number, a list of numbers or a text"
        ) from None
    new = fitting(data, place, value)
    if not isinstance(new, np.ndarray):
        return Edit(place, new)
    shown = np.array(data["values"][place.ref["v"]]["rows"], new.dtype)
    same = shown.reshape(new.shape) == new
    # The numbers that nobody has typed over stay exact.
    return Edit(place, lambda old: np.where(same, old, new))


def connect(key: str, recording: Recording) -> None:
    """Let the page of ``key`` ask about ``recording``, if this is a notebook."""
    if not is_notebook():
        return
    wire()
    _shown[key] = Edits(recording).answers()
    if len(_shown) > MOST_SHOWN:
        del _shown[next(iter(_shown))]


def is_notebook() -> bool:
    """Whether a notebook runs here that can show widgets."""
    return has_kernel() and importlib.util.find_spec("anywidget") is not None


@cache
def wire() -> Any:
    """The one widget, made when the first recording is shown: what pages ask, and what
    they are answered."""
    made = widget_class("wire")()
    made.on_msg(lambda _, asked, buffers: heard(made, asked))
    return made


def heard(made: Any, asked: Json) -> None:
    """Answer a page of ours; those of other notebooks are heard, too."""
    if asked["of"] in _shown:
        made.send({**reply_to(asked, _shown[asked["of"]]), "of": asked["of"]})


def reply_to(asked: Json, answers: Answers) -> Json:
    """The answer to a question of a page: always one, so that it doesn't wait."""
    reply = {"kind": "answer", "id": asked["id"]}
    try:
        reply["content"] = answers[asked["kind"]](asked["content"])
    except Exception as error:
        told = isinstance(error, errors.MinigradError | ValueError)
        reply["refused"] = str(error) if told else f"{type(error).__name__}: {error}"
    return reply
