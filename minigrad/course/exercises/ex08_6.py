"""08.6: a version counter on toy tensors, tried on twelve histories and some more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from minigrad.course.check import (
    Array,
    Crash,
    Faults,
    Finding,
    pass_on_todo,
    thrown,
)
from minigrad.course.check.probes import histories, seen
from minigrad.course.check.probes.histories import Ending
from minigrad.course.exercises.messages import Messages, flat, text_of
from minigrad.course.exercises.toy_histories import History, drawn

say = Messages(__name__)

VIEWED, UNPACKED = ("t.view() is t",), ("saved = Saved(t)", "saved.unpack() is t")
HISTORIES = tuple([History(**told) for told in text_of(__name__)["histories"]])


End = tuple[str, dict[str, Any]]
"""How a history ends that ends wrong: its message, and what stands in it."""

DRAWN = 24
"""So many more are made up; it may be known how the told ones end."""


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Run the histories; the first that ends wrong, and what all of them look like."""
    for given, name in zip(answer, ("Toy", "Saved"), strict=True):
        if not isinstance(given, type):
            yield say("no_class", given=given, name=name)
    start = tuple(random.uniform(1, 3, 2).round(1).tolist())
    more = [drawn(random, start, number % 2 == 0) for number in range(DRAWN)]
    longer = [History(**told) for told in text_of(__name__)["longer"]]
    told = [*HISTORIES, *longer, *more]
    begin = f"t = Toy({list(start)})"
    lines = [(begin, *history.lines.split("; ")) for history in told]
    asked = [(begin, *each) for each in (VIEWED, UNPACKED)]
    endings = seen(histories.tell, tuple(answer), (*asked, *lines))
    view, back, *endings = endings
    if view.crash is not None:
        yield broken(view.crash)
    if view.shown == "True":
        yield say("same_toy")
    found = [
        end_of(history, ending, start)
        for history, ending in zip(told, endings, strict=True)
    ]
    wrong = [number for number, end in enumerate(found, start=1) if end]
    if wrong:
        yield ends_wrong(wrong, found, told, begin)
    if back.shown == "False":
        yield say("other_toy")


def ends_wrong(
    wrong: list[int], found: list[End | None], told: list[History], begin: str
) -> Finding:
    """The first history that ends wrong, counted from 1, and what all look like."""
    number, of_told = wrong[0], [n for n in wrong if n <= len(HISTORIES)]
    first, end = told[number - 1], found[number - 1]
    assert end is not None  # it ends wrong
    ending, said = end
    said |= {"number": number, "count": len(HISTORIES), "wrong": len(of_told)}
    said |= {"story": first.story, "history": f"{begin}; {first.lines}"}
    finding = say(f"ends.{ending}", **said)
    known = [row for row in text_of(__name__)["stories"] if row["wrong"] == of_told]
    if not of_told:
        longer = say("longer", **said)
        finding = replace(finding, where=longer.where)
        known = [{"looks_like": longer.looks_like, "hint": longer.hint}]
    if ending in ("returns", "raises", "raises.instead"):
        return finding
    if known:
        looks_like, hint = flat(known[0]["looks_like"]), flat(known[0]["hint"])
        return replace(finding, looks_like=looks_like, hint=hint)
    return finding if len(of_told) > 1 else replace(finding, looks_like="")


def broken(crash: Crash) -> Finding:
    """Not even a toy and its view can be made."""
    pass_on_todo(crash)
    name = "broken.inside" if crash.inside else "broken"
    return say(name, text=thrown(crash), number=crash.number, line=crash.line)


def end_of(history: History, ending: Ending, start: tuple[float, ...]) -> End | None:
    """How a history ends, if that is not as it should."""
    lines = history.lines.split("; ")
    last, crash = lines[-1], ending.crash
    pass_on_todo(crash)
    if crash is not None:
        # The first line of all makes the toy.
        at = min(ending.ran - 1, len(lines) - 1)
        stopped = history.raises and at == len(lines) - 1
        if stopped and "RuntimeError" in crash.kinds:
            return None
        name = "raises" if "RuntimeError" not in crash.kinds[:1] else "stops"
        said = {"line": lines[at], "error": thrown(crash).removesuffix(": ")}
        return (f"{name}.instead" if stopped else name), said
    if history.raises and not ending.is_toy:
        return "returns", {"line": last, "shown": ending.shown}
    if history.raises:
        return "in_silence", {}
    if not ending.is_toy:
        return "no_toy", {"line": last, "shown": ending.shown}
    wanted = np.array(history.values or start) + history.added
    if ending.values is not None and not same(ending.values, wanted):
        numbers = {"got": ending.values, "wanted": wanted}
        return "other_numbers", {"line": last, **numbers}
    return None


def same(values: Array, wanted: Array) -> bool:
    """Whether these are the numbers of the toy that was saved."""
    return values.shape == wanted.shape and np.allclose(values, wanted)
