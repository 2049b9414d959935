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
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from minigrad import errors
from minigrad.course.check import NOT_TRIED
from minigrad.course.grade import stamps
from minigrad.course.grade.examiner import NOT_GRADED, Result
from minigrad.course.grade.submissions import Left, is_seen

Key = tuple[str, str, str]

_FIELDS = tuple([field.name for field in dataclasses.fields(Result)])


class BusyError(errors.MinigradError, RuntimeError):
    """Another grader writes there already."""


class StorageError(errors.MinigradError, RuntimeError):
    """Something can't be written, mostly because the disk is full."""


@contextlib.contextmanager
def storing(path: Path) -> Iterator[None]:
    """Say in one message what can't be written. Raises: StorageError."""
    try:
        yield
    except OSError as error:
        what = f"{path} cannot be written ({error.strerror}); what was graded is kept"
        fix = "make room, then run the same command again: it goes on from here"
        raise StorageError.at("grade", what, fix) from None


class Ledger:
    """One file of results, a line each, which one process at a time adds to.

    A line is written at once and then forced to the disk: whoever is stopped loses
    what was not graded yet, and nothing else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        with storing(path):
            self._number = os.open(path, flags, 0o600)
        self._lock = threading.Lock()
        try:
            self._claim()
            self._heal()
        except BaseException:
            os.close(self._number)
            raise

    def add(self, result: Result) -> None:
        """Keep one result for good. Raises: StorageError, with nothing half written."""
        line = json.dumps(dataclasses.asdict(result), ensure_ascii=False) + "\n"
        data = memoryview(line.encode("utf-8", "replace"))
        with self._lock, storing(self.path):
            before = os.fstat(self._number).st_size
            try:
                while data:
                    data = data[os.write(self._number, data) :]
                os.fsync(self._number)
            except OSError:
                os.ftruncate(self._number, before)
                raise

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
            raise BusyError.at("grade", what, fix) from None

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
    """Every result in all files of a folder, each key once.

    What could not be graded at first counts as it was graded later, and what an
    earlier judge graded as a later one did.
    """
    found: dict[Key, Result] = {}
    for path in sorted(folder.glob("results*.jsonl")):
        with path.open("rb") as file:
            for result in filter(None, map(_result_of, file)):
                before = found.get(key_of(result))
                if before is None or replaces(result, before):
                    found[key_of(result)] = result
    yield from found.values()


def replaces(result: Result, before: Result) -> bool:
    """Whether this counts in place of an earlier line on the same answer."""
    if before.state == NOT_GRADED != result.state:
        return True
    again = result.judged_by != before.judged_by
    return again and before.judged_by != stamps.of(before.exercise)


def is_old(result: Result) -> bool:
    """Whether the judge, or the exercise, has changed since."""
    return result.judged_by != stamps.of(result.exercise)


def key_of(result: Result) -> Key:
    """What a result is known by."""
    return result.student, result.exercise, result.sha256


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
        if before is None or _rank(result) > _rank(before):
            found[key] = result
    return [found[key] for key in sorted(found)]


def _rank(result: Result) -> tuple[float, int]:
    told_least = (NOT_TRIED, NOT_GRADED)
    state = result.state
    return result.points, told_least.index(state) if state in told_least else 2


_FORMULA = re.compile(r"(^|[;,|])(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Where a cell may begin, before a sign that makes a formula of it, in any width."""

_LISTS = ("mistakes", "flags")
COLUMNS = (
    *("student", "exercise", "state", "points", "of"),
    *("mistakes", "flags", "file", "sha256", "trouble"),
)


def table(
    results: Iterable[Result],
    left: Iterable[Left] = (),
    comments: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> str:
    """The results as CSV (RFC 4180), every text in it on one line and no formula.

    ``left`` are files that nothing could be graded of: a row each, without an exercise.
    ``comments`` are an instructor's, by student and exercise; without any there is no
    column for them.
    """
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    columns = [*COLUMNS, "comment"] if comments else COLUMNS
    writer.writerow(columns)
    for result in results:
        fields = dataclasses.asdict(result)
        fields |= {name: " ".join(fields[name]) for name in _LISTS}
        fields["comment"] = comments.get((result.student, result.exercise), "")
        writer.writerow([cell(fields[name]) for name in columns])
    for student, file, why in left:
        row = [student, "", NOT_GRADED, 0.0, 0, "", "", file, "", why]
        row += [""] * (len(columns) - len(row))
        writer.writerow(list(map(cell, row)))
    return text.getvalue()


def cell(value: Any) -> Any:
    r"""A value as a spreadsheet shows it: nothing unseen in it, and no formula.

    What nobody sees is spelled out as Python does it, so two names stay two.

    >>> cell("=1+1"), cell("a;=1"), cell("ada"), cell("ada\r\u200b"), cell(2.0)
    ("'=1+1", "a;'=1", 'ada', 'ada\\r\\u200b', 2.0)
    """
    if not isinstance(value, str):
        return value
    seen = [c if is_seen(c) and c != "\\" else escaped(c) for c in value]
    return _FORMULA.sub(r"\1'", "".join(seen))


def escaped(character: str) -> str:
    """The escape of a character that can't be seen, or would look like an escape."""
    return character.encode("unicode_escape").decode("ascii")


def write(path: Path, text: str) -> None:
    """Replace a file in one step, so that it is never half there.

    Raises: StorageError.
    """
    with storing(path):
        number, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(
                number, "w", encoding="utf-8", errors="replace", newline=""
            ) as file:
                file.write(text)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
