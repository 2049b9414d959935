"""A recording: one JSON-able dictionary, and how to keep it in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from minigrad import errors
from minigrad.tracing.picture import completed

if TYPE_CHECKING:
    from minigrad.tracing.program import Program
    from minigrad.tracing.terms import Rule

SCHEMA = "minigrad.trace/2"
OLDER = "minigrad.trace/1"
"""The schema before calls had values: their recordings are completed when loaded."""

SHAPE: Final[dict[str, Any]] = {
    "meta": {},
    "sources": [{"name": str, "role": str, "first": int, "tokens": list}],
    "values": {},
    "ctxs": [{"id": str, "name": str}],
    "graph": {
        "nodes": [{"id": str, "label": str, "kind": str}],
        "edges": [{"id": str, "from": str, "to": str}],
    },
    "events": [{"k": str, "say": str, "lvl": int, "d": int}],
}
"""What a recording has at least, and of which type; of a list, each entry."""
VALUE: Final = {"shape": list, "dtype": str, "rows": list}
"""The same of each of its values."""


class Trace:
    """What happened while a program ran, step by step; every step has a sentence."""

    def __init__(self, data: dict[str, Any] | None = None) -> None:
        self._data = empty_data() if data is None else data
        self._untold: Callable[[], dict[str, Any]] | None = None
        self.program: Program | None = None
        self.rules: list[Rule] | None = None

    @property
    def data(self) -> dict[str, Any]:
        """The recording as plain data; told when it is first asked for."""
        if self._untold is not None:
            tell, self._untold = self._untold, None
            self._data = tell()
        return self._data

    def is_told_by(self, tell: Callable[[], dict[str, Any]]) -> None:
        """Let ``tell`` make the data, which takes longer than noting the facts did."""
        self._untold = tell

    def __len__(self) -> int:
        return len(self.data["events"])

    def sentences(self, level: int = 2) -> list[str]:
        """The sentences of a level: 0 picture, 1 phases, 2 your lines, 3 engine."""
        return sentences_of(self.data, level)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the recording to a JSON file, whole or not at all."""
        text = json.dumps(self.data, separators=(",", ":"), allow_nan=False)
        return write_whole("save", path, text)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a recording that ``save`` wrote.

        Raises: TraceFileError, which is a ValueError, for any other file;
        FileNotFoundError where there is none.
        """
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        try:
            data = json.loads(text)
        except ValueError as error:
            raise not_a_trace(path, f"not JSON ({error})") from None
        if not isinstance(data, dict) or "schema" not in data:
            raise not_a_trace(path, "JSON, and no recording: it has no schema")
        if data["schema"] not in (SCHEMA, OLDER):
            raise not_a_trace(path, f"of schema {data['schema']!r}, not {SCHEMA!r}")
        missing = [field for field in SHAPE if field not in data]
        if missing:
            raise not_a_trace(path, f"damaged: {', '.join(missing)} missing")
        damage = next(damages(data), "")
        if damage:
            raise not_a_trace(path, f"damaged: {damage}")
        for drawn in ("dot", "svg", "renderer"):  # kept before it was drawn anew
            data["graph"].pop(drawn, None)
        if data["schema"] == OLDER:
            try:
                data = {**completed(data), "schema": SCHEMA}
            except (LookupError, TypeError) as error:
                raise not_a_trace(path, f"damaged: {error!r}") from None
        return cls(data)


def sentences_of(data: Mapping[str, Any], level: int) -> list[str]:
    """The sentences of a level; the picture has its own."""
    events = [event for event in data["events"] if event["lvl"] <= level]
    return [event["say" if level else "why"] for event in events]


class TraceFileError(errors.MinigradError, ValueError):
    """A file that is not a recording of this version."""


def not_a_trace(path: str | os.PathLike[str], what: str) -> TraceFileError:
    """The error for a file that cannot be played."""
    return TraceFileError.at(
        "load_trace",
        f"{os.fspath(path)} is {what}",
        "give it a file that trace.save(path) wrote",
    )


def damages(data: dict[str, Any]) -> Iterator[str]:
    """What keeps a recording from being played, if anything does."""
    yield from misfits("recording", data, SHAPE)
    yield from misfits("values", list(data["values"].values()), [VALUE])


def misfits(called: str, part: Any, shape: Any) -> Iterator[str]:
    """What is wrong with a part of a recording."""
    if not isinstance(shape, dict | list):
        if not isinstance(part, shape):
            yield f"{called} is {type(part).__name__}"
    elif not isinstance(part, type(shape)):
        yield f"{called} is {type(part).__name__}, not {type(shape).__name__}"
    elif isinstance(shape, list):
        for number, entry in enumerate(part):
            yield from misfits(f"{called.removesuffix('s')} {number}", entry, shape[0])
    else:
        for key, inner in shape.items():
            name = key if isinstance(inner, dict | list) else f"{key!r} of {called}"
            if key in part:
                yield from misfits(name, part[key], inner)
            else:
                yield f"{called} has no {key!r}"


def write_whole(where: str, path: str | os.PathLike[str], text: str) -> Path:
    """Write a file, whole or not at all.

    Raises: FileNotFoundError without its folder, IsADirectoryError for a folder.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(
            errors.message(
                where,
                f"{os.fspath(path)!r} is a folder",
                "add the name of a file to it",
            )
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errors.message(
                where,
                f"there is no folder {os.fspath(target.parent)!r}",
                "make the folder first, or give another path",
            )
        )
    part = target.with_name(f"{target.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(target)) from None
    finally:
        part.unlink(missing_ok=True)
    return target


def empty_data() -> dict[str, Any]:
    """The dictionary of a recording in which nothing happened yet."""
    return {
        "schema": SCHEMA,
        "meta": {"title": "", "truncated": False},
        "sources": [],
        "values": {},
        "ctxs": [],
        "graph": {"nodes": [], "edges": []},
        "events": [],
    }


def steps_that_say(trace: Trace, words: str, most: int = 3) -> Iterator[int]:
    """The numbers of the steps that have these words, of level ``most`` or less."""
    for number, event in enumerate(trace.data["events"], 1):
        if event["lvl"] <= most and words in f"{event.get('why', '')} {event['say']}":
            yield number


def step_that_says(trace: Trace, words: str, where: str, most: int = 3) -> int:
    """The number of the first of them.

    Raises: ArgumentValueError if there is none.
    """
    for number in steps_that_say(trace, words, most):
        return number
    raise errors.ArgumentValueError.at(
        where,
        f"no step says {words!r}",
        "take words from one of the sentences: trace.sentences()",
    )
