"""Two recordings in one player: what differs, and from which step on."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from minigrad import errors
from minigrad.tracing.messages import message
from minigrad.tracing.trace import Trace, write_whole
from minigrad.views import page
from minigrad.views.matching import BOTH, FIRST, SECOND, Calls, steps_of, twins
from minigrad.views.picture_values import ALL, NONE, OWN, PictureValues, Thing, apart

if TYPE_CHECKING:
    from minigrad.views.recording import Recording

RANKS: Final = (
    *("error", "call", "value", "entry"),
    *("edge", "grad", "slope", "waits", "tangent"),
)
"""Of several things that differ from one step on, the first of these is told."""
ONLY: Final = {"call": "compare.only.call", "error": "compare.only.error"}
SAME, OTHER, ONLY_FIRST, ONLY_SECOND = range(4)

Json = dict[str, Any]
Refs = dict[Thing, Json | None]


@dataclass(frozen=True)
class Difference:
    """A value that is another in the second recording, from a step on.

    ``first`` and ``second`` are what is written of it; None where it's not there.
    """

    step: int
    what: str
    first: str | None
    second: str | None
    sentence: str


class Comparison:
    """Two recordings that a notebook shows as two pictures which step together.

    ``differences`` are in the order of steps; of each step, the one that says most.
    """

    def __init__(
        self, first: Recording, second: Recording, titles: Sequence[str] = ()
    ) -> None:
        self._sides = (first, second)
        metas = [first.data["meta"], second.data["meta"]]
        named = [str(meta.get("title") or "") for meta in metas]
        if not all(named) or named[0] == named[1]:
            named = [message("compare.title.first"), message("compare.title.second")]
        self._titles = list(titles) or named
        one, other = Calls(first.data), Calls(second.data)
        names = twins(one, other)
        self._moves = steps_of(first.data, second.data, names)
        # Engines differ in what their own nodes keep; a hidden rule tells nothing.
        engines = [meta.get("engines") for meta in metas]
        kept = ALL if engines[0] == engines[1] else OWN
        if any([meta.get("rule") for meta in metas]):
            kept = NONE
        self._values = (
            PictureValues(first.data, one, None, set(names.values()), kept),
            PictureValues(second.data, other, names, names, kept),
        )
        self._things: dict[Thing, int] = {}
        self._changes: list[Json] = []
        self._is_near = False
        self.differences: list[Difference] = []
        self._go_through()

    @property
    def difference(self) -> Difference | None:
        """The first one; None where all values are the same."""
        return next(iter(self.differences), None)

    @property
    def steps(self) -> list[tuple[int, int]]:
        """Of each step, how many events of both recordings have been."""
        first = accumulate([move != SECOND for move in self._moves], initial=0)
        second = accumulate([move != FIRST for move in self._moves], initial=0)
        return [*zip(first, second, strict=True)]

    @property
    def sentence(self) -> str:
        """The first difference in words."""
        if self.difference is None:
            return message("compare.near" if self._is_near else "compare.same")
        return message("compare.first", difference=self.difference.sentence)

    def save_html(self, path: str | os.PathLike[str]) -> Path:
        """Write both as one HTML file that needs no network and no Python."""
        return write_whole("save_html", path, page.page_of(self._data()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.sentence}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return page.bundle_of(self._data(), secrets.token_hex(8))

    def _data(self) -> Json:
        level = self._sides[0].data["meta"].get("level")
        traces = [side._pictured() for side in self._sides]
        for trace in traces:
            # Nothing is asked: a question would hold up the other.
            trace["events"] = [
                {**event, "k": "note"} if event["k"] == "ask" else event
                for event in trace["events"]
            ]
        return {
            "meta": {"title": " | ".join(self._titles), "level": level},
            "titles": self._titles,
            "traces": traces,
            "say": self.sentence,
            "lead": "",
            **self.differing(),
        }

    def differing(self) -> Json:
        """What differs, for a page: what belongs together, where it is, since when."""
        things = [[v.places.get(thing) for v in self._values] for thing in self._things]
        return {"moves": self._moves, "things": things, "changes": self._changes}

    def _go_through(self) -> None:
        """Note at which steps a thing comes to differ, and no longer does."""
        now: tuple[Refs, Refs] = {}, {}
        differing: dict[Thing, int] = {}
        touched: dict[Thing, None] = {}
        for step, positions in enumerate(self.steps):
            move = self._moves[step - 1] if step else BOTH
            for side, one in enumerate((FIRST, SECOND)):
                if move in (BOTH, one):
                    changed = dict(self._values[side].changes(positions[side]))
                    now[side].update(changed)
                    touched |= dict.fromkeys(changed)
            is_told = any(
                not at or side.data["events"][at - 1]["lvl"] <= 1
                for side, at in zip(self._sides, positions, strict=True)
            )
            if step < len(self._moves) and not is_told:
                continue  # between two steps of the story, lines go on as they come
            news = {}
            for thing in touched:
                kind = self._kind_of(thing, now[0].get(thing), now[1].get(thing))
                if kind != differing.get(thing, SAME):
                    differing[thing] = news[thing] = kind
            touched.clear()
            if news:
                self._note(step, now, news)

    def _kind_of(self, thing: Thing, first: Json | None, second: Json | None) -> int:
        """Whether and how a thing differs."""
        if first is None or second is None:
            # Whether a local derivative is known depends on how a rule is written.
            if first is second or thing[0] == "slope":
                return SAME
            return ONLY_SECOND if first is None else ONLY_FIRST
        one, other = self._values[0].content(first), self._values[1].content(second)
        self._is_near |= one == other and first.get("v") != second.get("v")
        return SAME if one == other else OTHER

    def _note(
        self, step: int, now: tuple[Refs, Refs], news: Mapping[Thing, int]
    ) -> None:
        marks = [
            [self._things.setdefault(thing, len(self._things)), kind]
            for thing, kind in news.items()
        ]
        change: Json = {"at": step, "set": marks}
        self._changes.append(change)
        others = sorted([t for t in news if news[t]], key=lambda t: RANKS.index(t[0]))
        if others:
            refs = [side.get(others[0]) for side in now]
            self.differences.append(self._told(step, others[0], refs))
            change["say"] = self.differences[-1].sentence

    def _told(self, step: int, thing: Thing, refs: list[Json | None]) -> Difference:
        """A difference in words."""
        sides = [*zip(self._values, refs, strict=True)]
        texts = ["" if ref is None else side.text(ref) for side, ref in sides]
        if None in refs:
            which = 1 - refs.index(None)
            what = self._values[which].name(thing)
            key = ONLY.get(thing[0], "compare.only")
            title, value = self._titles[which], texts[which]
            said = message(key, what=what, title=title, value=value)
            found = [None if ref is None else value for ref in refs]
            return Difference(step, what, found[0], found[1], said)
        shown = [None if ref is None else side.value(ref) for side, ref in sides]
        place, texts = apart(shown, texts)
        what = self._values[0].name(thing)
        if place:
            what = message("compare.at", what=what, place=place)
        key = "compare.elsewhere" if texts[0] == texts[1] else "compare.differ"
        if thing[0] == "error":
            key = "compare.differ.error"
        one, other = self._titles
        first, second = texts
        said = message(key, what=what, first=first, second=second, one=one, other=other)
        return Difference(step, what, first, second, said)


def compare(
    first: Recording, second: Recording, *, titles: Sequence[str] = ()
) -> Comparison:
    """Two recordings in one player, which step together; what differs is coloured.

    ``titles`` are what both are called; by default as they are headed. Names of
    variables and of Functions may differ, what the picture shows may not. Between a
    recording of minigrad and one of torch, what only one of them can tell is left out.

    >>> import minigrad
    >>> def tripled(way):
    ...     with minigrad.record() as trace:
    ...         x = minigrad.tensor(2.0, requires_grad=True)
    ...         way(x).backward()
    ...     return trace
    >>> compare(tripled(lambda x: x * 3), tripled(lambda x: x * 3)).difference
    >>> compare(tripled(lambda x: x * 3), tripled(lambda x: x * 4)).difference.sentence
    'x * 3 is 6 in A, and 8 in B.'
    """
    for recording in (first, second):
        if not isinstance(recording, Trace):
            raise errors.ArgumentTypeError.at(
                "compare",
                f"{type(recording).__name__} is not a recording",
                "give two recordings: compare(first_trace, second_trace)",
            )
    return Comparison(first, second, titles)
