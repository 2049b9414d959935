"""Results on disk: lines that are only ever added, and tables made from them."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import importlib
import io
import json
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from minigrad import errors
from minigrad.course.grading.examiner import Result

Key = tuple[str, str, str]

_FIELDS = tuple([field.name for field in dataclasses.fields(Result)])


class BusyError(errors.MinigradError, RuntimeError):
    """Another grader writes there already."""


class Ledger:
    """One file of results, a line each, which one process at a time adds to.

    A line is written at once and then forced to the disk: whoever is stopped loses
    what was not graded yet, and nothing else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        self._number = os.open(path, flags, 0o600)
        self._lock = threading.Lock()
        try:
            self._claim()
            self._heal()
        except BaseException:
            os.close(self._number)
            raise

    def add(self, result: Result) -> None:
        """Keep one result for good."""
        line = json.dumps(dataclasses.asdict(result), ensure_ascii=False) + "\n"
        data = memoryview(line.encode("utf-8", "replace"))
        with self._lock:
            while data:
                data = data[os.write(self._number, data) :]
            os.fsync(self._number)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._number)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _claim(self) -> None:
        locks: Any = importlib.import_module("fcntl")
        try:
            locks.flock(self._number, locks.LOCK_EX | locks.LOCK_NB)
        except OSError:
            what = f"another grader is writing to {self.path}"
            fix = "let it end, or choose another --out"
            raise BusyError(errors.message("grade", what, fix)) from None

    def _heal(self) -> None:
        """Cut off a line that somebody was stopped in the middle of."""
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._number, whole)


def ledger_name(shard: tuple[int, int] | None) -> str:
    """The name of the file that a grader writes to.

    >>> ledger_name(None), ledger_name((2, 4))
    ('results.jsonl', 'results-2-of-4.jsonl')
    """
    return "results.jsonl" if shard is None else "results-{}-of-{}.jsonl".format(*shard)


def read(folder: Path) -> Iterator[Result]:
    """Every result in all files of a folder, each key once."""
    seen: set[Key] = set()
    for path in sorted(folder.glob("results*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                result = _result_of(line)
                if result is None:
                    continue
                key = result.student, result.exercise, result.sha256
                if key not in seen:
                    seen.add(key)
                    yield result


def keys(folder: Path) -> set[Key]:
    """What is graded already."""
    return {(r.student, r.exercise, r.sha256) for r in read(folder)}


def _result_of(line: bytes) -> Result | None:
    """The result in a line; None for one that was cut short."""
    try:
        fields = json.loads(line)
        fields["mistakes"] = tuple(fields["mistakes"])
        fields["flags"] = tuple(fields.get("flags", ()))
        fields["rows"] = tuple([(label, text) for label, text in fields["rows"]])
        return Result(**fields)
    except (ValueError, TypeError, KeyError):
        return None


def best(results: Iterable[Result]) -> list[Result]:
    """One result an exercise and student, the best of several, in order."""
    found: dict[tuple[str, str], Result] = {}
    for result in results:
        key = result.student, result.exercise
        before = found.get(key)
        tried = result.points, result.state != "not tried"
        if before is None or tried > (before.points, before.state != "not tried"):
            found[key] = result
    return [found[key] for key in sorted(found)]


_FORMULA = re.compile(r"(^|[;,|\t\r\n])(?=\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")
"""Where a cell may begin, before a sign that makes a formula of it, in any width."""

_LISTS = ("mistakes", "flags")
COLUMNS = (
    *("student", "exercise", "state", "points", "of"),
    *("mistakes", "flags", "file", "sha256"),
)


def table(results: Iterable[Result]) -> str:
    """The results as CSV, in which no cell is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in results:
        fields = dataclasses.asdict(result)
        fields |= {name: " ".join(fields[name]) for name in _LISTS}
        writer.writerow([harmless(fields[name]) for name in COLUMNS])
    return text.getvalue()


def harmless(value: Any) -> Any:
    """A text that no spreadsheet computes, also where a semicolon ends a cell.

    >>> harmless("=1+1"), harmless("a;=1"), harmless("ada")
    ("'=1+1", "a;'=1", 'ada')
    """
    return _FORMULA.sub(r"\1'", value) if isinstance(value, str) else value


def write(path: Path, text: str) -> None:
    """Replace a file in one step, so that it is never half there."""
    number, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
