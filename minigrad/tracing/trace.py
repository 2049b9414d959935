"""A recording: one JSON-able dictionary, and how to keep it in a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Self

from minigrad import errors

SCHEMA = "minigrad.trace/1"

FIELDS = ("meta", "sources", "values", "ctxs", "graph", "events")


class Trace:
    """What happened while a program ran, step by step; every step has a sentence."""

    def __init__(self, data: dict[str, Any] | None = None) -> None:
        self.data = empty_data() if data is None else data

    def __len__(self) -> int:
        return len(self.data["events"])

    def sentences(self, level: int = 2) -> list[str]:
        """The sentences of all steps: level 1 story, 2 your lines, 3 the engine's."""
        events = self.data["events"]
        return [event["say"] for event in events if event["lvl"] <= level]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the recording to a JSON file, whole or not at all."""
        target = Path(path)
        text = json.dumps(self.data, separators=(",", ":"), allow_nan=False)
        part = target.with_name(f"{target.name}.part")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        return target

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
        if data["schema"] != SCHEMA:
            raise not_a_trace(path, f"of schema {data['schema']!r}, not {SCHEMA!r}")
        missing = [field for field in FIELDS if field not in data]
        if missing:
            raise not_a_trace(path, f"damaged: {', '.join(missing)} missing")
        return cls(data)


class TraceFileError(errors.MinigradError, ValueError):
    """A file that is not a recording of this version."""


def not_a_trace(path: str | os.PathLike[str], what: str) -> TraceFileError:
    """The error for a file that cannot be played."""
    return TraceFileError(
        errors.message(
            "load_trace",
            f"{os.fspath(path)} is {what}",
            "give it a file that trace.save(path) wrote",
        )
    )


def empty_data() -> dict[str, Any]:
    """The dictionary of a recording in which nothing happened yet."""
    return {
        "schema": SCHEMA,
        "meta": {"title": "", "truncated": False},
        "sources": [],
        "values": {},
        "ctxs": [],
        "graph": {"dot": None, "svg": None, "renderer": None, "nodes": [], "edges": []},
        "events": [],
    }
