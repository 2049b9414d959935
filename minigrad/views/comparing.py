"""Two recordings side by side: which steps belong together, where they first differ."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from minigrad import errors
from minigrad.tracing.budget import ctx_changes
from minigrad.tracing.messages import message
from minigrad.tracing.trace import Trace, write_whole
from minigrad.views import page
from minigrad.views.values import value_text

if TYPE_CHECKING:
    from minigrad.views.recording import Recording

SCHEMA: Final = "minigrad.comparison/1"
MOST_MATCHED: Final = 3_000  # steps of the story; longer ones are paired in order

Json = dict[str, Any]


class Comparison:
    """Two recordings that a notebook shows as two players which step together."""

    def __init__(self, first: Recording, second: Recording) -> None:
        self._sides = (first, second)
        engines = [side.data["meta"].get("engines") for side in self._sides]
        self._across = engines[0] != engines[1]
        left, right = (story_of(side.data, self._across) for side in self._sides)
        self.pairs = paired(left, right)
        self.difference = first_difference(left, right, self.pairs)

    @property
    def sentence(self) -> str:
        """Where the two stories first differ, in words."""
        if self.difference is None:
            steps = message("steps", count=len(self.pairs))
            return message("compare.same", steps=steps)
        says = []
        for side, place in zip(self._sides, self.difference, strict=True):
            event = side.data["events"][place - 1] if place else {}
            said = event.get("say", "")
            if self._across:  # the picture's sentence has values, and no bytes
                said = event.get("why", said)
            key = "compare.says" if place else "compare.nothing"
            says.append(message(key, sentence=said))
        return message("compare.differ", left=says[0], right=says[1])

    def save_html(self, path: str | os.PathLike[str]) -> Path:
        """Write both players as one HTML file that needs no network and no Python."""
        return write_whole("save_html", path, page.page_of(self._data()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.sentence}>"

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, str]:
        return page.bundle_of_comparison(self._data(), self.sentence)

    def _titles(self) -> list[str]:
        return [page.title_of(side.data) for side in self._sides]

    def _data(self) -> Json:
        traces = [side._pictured() for side in self._sides]
        titles = self._titles()
        for place, title in enumerate(titles):
            meta = {**traces[place]["meta"], "title": title}
            traces[place] = {**traces[place], "meta": meta}
        return {
            "schema": SCHEMA,
            "meta": {"title": " | ".join(titles)},
            "traces": traces,
            "pairs": self.pairs,
            "difference": self.difference,
            "say": self.sentence,
        }


def compare(first: Recording, second: Recording) -> Comparison:
    """Two recordings side by side, stepping together; their first difference marked.

    Names of Functions may differ; what they save, send and return may not. Between a
    recording of minigrad and one of torch, what only one of them can tell is left out.

    >>> import minigrad
    >>> def tripled(way):
    ...     with minigrad.record() as trace:
    ...         x = minigrad.tensor(2.0, requires_grad=True)
    ...         way(x).backward()
    ...     return trace
    >>> compare(tripled(lambda x: x * 3), tripled(lambda x: x * 3)).difference
    >>> compare(tripled(lambda x: x * 3), tripled(lambda x: x + x + x))
    <Comparison: The first difference. Left: “MulBackward0 ... Right: “Add...>
    """
    for recording in (first, second):
        if not isinstance(recording, Trace):
            raise errors.ArgumentTypeError(
                errors.message(
                    "compare",
                    f"{type(recording).__name__} is not a recording",
                    "give two recordings: compare(first_trace, second_trace)",
                )
            )
    return Comparison(first, second)


class Told:
    """A step of the story: its position, what kind it is, and all that it tells."""

    def __init__(self, position: int, kind: str, tells: str) -> None:
        self.position = position
        self.kind = kind
        self.tells = tells


def story_of(data: Json, across: bool = False) -> list[Told]:
    """The steps of level 1; a Function goes by its number, not by its name.

    ``across``: to be compared with one of another engine.
    """
    made = {event["cid"] for event in data["events"] if event["k"] == "ctx.new"}
    functions = [ctx["function"] for ctx in data["ctxs"] if ctx["id"] in made]
    numbered = {name: f"Function{i}" for i, name in enumerate(dict.fromkeys(functions))}
    names = "|".join(sorted(map(re.escape, numbered), key=len, reverse=True))
    pattern = re.compile(rf"\b(?:{names})(?=\b|Backward)") if names else None

    def neutral(text: str) -> str:
        if pattern is None:
            return text
        return pattern.sub(lambda match: numbered[match.group()], text)

    labels = {node["id"]: node["label"] for node in data["graph"]["nodes"]}
    left_out = {"ctx.put", "note"} if across else {"ctx.put"}
    told = []
    for position, event in enumerate(data["events"], 1):
        # What is put on ctx is told once more, with the attributes, at its end.
        if event["lvl"] <= 1 and event["k"] not in left_out:
            of = labels.get(event.get("n", ""), event.get("ph", {}).get("name", ""))
            kind = neutral(f"{event['k']} {of}")
            tells = facts_of_both(data, event, made) if across else facts(data, event)
            told.append(Told(position, kind, neutral(" ".join(tells))))
    return told


def facts_of_both(data: Json, event: Json, made: set[str]) -> list[str]:
    """What an event tells that either engine can tell.

    Nobody counts torch's bytes. A learner's ctx has to be the same; a built-in node
    has other names for what it saved, and keeps numbers in its own way. An exception
    has words of its own, and a class of its own below one of Python's.
    """
    if event["k"] == "exception":
        return []
    keeps = re.escape(message("node.keeps", bytes="@")).replace("@", r"\d.*?")
    texts = [re.sub(f" {keeps}$", "", event["say"])]
    if event.get("ctx", {"id": ""})["id"] in made:
        texts += list(facts(data, event))[1:]
    else:
        texts += list(facts(data, {**event, "ctx": {"id": "", "set": {}}}))[1:]
        texts += sorted({value_text(data, ref) for ref in arrays_saved_by(data, event)})
    # Which version a gradient has is not told of torch's.
    return [re.sub(r"(?<=\]) v\d+(?= )", "", text) for text in texts]


def arrays_saved_by(data: Json, event: Json) -> Iterator[Json]:
    """What an event tells as saved, but for single numbers: torch saves Python's."""
    for key, ref in event.get("ctx", {"set": {}})["set"].items():
        if key.startswith("saved.") and data["values"].get(ref.get("v"), {}).get(
            "shape"
        ):
            yield ref


def facts(data: Json, event: Json) -> Iterator[str]:
    """All that an event tells: its sentence, and the values in full."""
    yield event["say"]
    for key in ("g", "total", "new"):
        values = event.get(key)
        for ref in values if isinstance(values, list) else [values]:
            if ref is not None:
                yield value_text(data, ref)
    for change in ctx_changes(event):
        for key, ref in sorted(change["set"].items()):
            yield f"{key} {value_text(data, ref)}"


def paired(first: list[Told], second: list[Told]) -> list[tuple[int, int]]:
    """The positions that belong together: steps of one kind, in the same order."""
    if max(len(first), len(second)) > MOST_MATCHED:
        both = zip(first, second, strict=False)
        return [(one.position, other.position) for one, other in both]
    kinds, others = ([step.kind for step in steps] for steps in (first, second))
    matcher = SequenceMatcher(None, kinds, others, autojunk=False)
    return [
        (first[block.a + i].position, second[block.b + i].position)
        for block in matcher.get_matching_blocks()
        for i in range(block.size)
    ]


def first_difference(
    first: list[Told], second: list[Told], pairs: list[tuple[int, int]]
) -> tuple[int, int] | None:
    """The first positions at which the two tell different things; 0 past an end."""
    belong = set(pairs)
    for one, other in zip(first, second, strict=False):
        together = (one.position, other.position)
        if together not in belong or one.tells != other.tells:
            return together
    rest = len(first) - len(second)
    if rest > 0:
        return first[len(second)].position, 0
    return (0, second[len(first)].position) if rest else None
