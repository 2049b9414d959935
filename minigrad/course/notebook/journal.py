"""What a learner did, line by line, in ``progress.jsonl`` of their workspace.

Lines are only ever added, each in one write, so that two open notebooks and a crash
can do no harm; a line that was cut short is passed over when the file is read.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from minigrad import _workspace

Entry = dict[str, Any]

CHECKED, HINTED, ANSWERED, BECAUSE, RESET, CONCEPTS, PATH = (
    "checked",
    "hinted",
    "answered",
    "because",
    "reset",
    "concepts",
    "path",
)
"""The kinds of entries; ``answered`` keeps what was chosen in a question."""

_unkept: list[Entry] = []
"""Entries of this session that no file took: outside a workspace, or on an error."""

listeners: list[Callable[[], None]] = []
"""Called after each entry that was written."""


def file() -> Path | None:
    """The journal of the workspace around this folder; None outside one."""
    workspace = _workspace.around(Path.cwd())
    return None if workspace is None else workspace / "progress.jsonl"


def note(kind: str, exercise: str, **details: Any) -> None:
    """Add one entry. If it cannot be written it is kept for this session, and said."""
    entry = {"at": now(), "kind": kind, "exercise": exercise, **details}
    path = file()
    if path is None:
        _unkept.append(entry)
        return
    try:
        append(path, json.dumps(entry, ensure_ascii=False))
    except OSError as error:
        _unkept.append(entry)
        warnings.warn(
            f"your progress couldn't be written to {path} ({error}); it is kept "
            "until this notebook's kernel stops",
            UserWarning,
            stacklevel=3,
        )
        return
    for listener in listeners:
        listener()


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def append(path: Path, line: str) -> None:
    """Add a line in one write; a line that was cut short before it stays apart."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    number = os.open(path, flags, 0o644)
    try:
        size = os.fstat(number).st_size
        torn = False
        if size:
            os.lseek(number, size - 1, os.SEEK_SET)
            torn = os.read(number, 1) != b"\n"
        text = ("\n" if torn else "") + line + "\n"
        os.write(number, text.encode())
        os.fsync(number)
    finally:
        os.close(number)


def entries(exercise: str = "", kind: str = "") -> list[Entry]:
    """All entries, oldest first; only those of one exercise, of one kind."""
    path = file()
    found = [] if path is None else read(path)
    return [
        entry
        for entry in [*found, *_unkept]
        if exercise in ("", entry["exercise"]) and kind in ("", entry["kind"])
    ]


def read(path: Path) -> list[Entry]:
    """The whole entries of a journal; none if there is no file yet."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    return [entry for line in lines if (entry := entry_of(line)) is not None]


def entry_of(line: bytes) -> Entry | None:
    """The entry in a line; None for one that was cut short or damaged."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    whole = isinstance(entry, dict) and {"at", "kind", "exercise"} <= set(entry)
    return entry if whole else None
