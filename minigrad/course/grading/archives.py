"""Paths in a zip: which of them are for us, and whose they are."""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Sequence
from pathlib import PurePosixPath

PROGRESS = "progress.jsonl"

_SAYS_UTF8 = 0x800
_OF_A_LESSON = re.compile(r"\d\d_[a-z]")


def wrapping(paths: Sequence[PurePosixPath]) -> str:
    """The folder that holds those of all students, as when it was zipped itself.

    >>> wrapping([PurePosixPath("class/ada/a.py"), PurePosixPath("class/bob/b.py")])
    'class'
    >>> wrapping([PurePosixPath("ada/01_x/a.py"), PurePosixPath("ada/02_y/b.py")])
    ''
    """
    tops = {path.parts[0] for path in paths}
    deep = all([len(path.parts) > 2 for path in paths])
    if len(tops) != 1 or not deep:
        return ""
    # One student alone may have a folder for each lesson.
    students = {path.parts[1] for path in paths}
    wrapped = len(students) > 1 and not any(map(_OF_A_LESSON.match, students))
    return tops.pop() if wrapped else ""


def inside(entry: zipfile.ZipInfo) -> PurePosixPath | None:
    """The path of a file in a zip; None for links, folders and paths that lead out."""
    name = name_of(entry)
    mode = entry.external_attr >> 16
    if entry.is_dir() or (mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode)):
        return None
    path = PurePosixPath(name)
    if not stays_inside(path):
        return None
    return path if is_readable(path.name) and not entry.flag_bits & 1 else None


def stays_inside(path: PurePosixPath, top: str = "") -> bool:
    """Whether it leads down from ``top``, on every computer, in plain sight."""
    name = str(path)
    if not path.is_relative_to(top):
        return False
    if "\\" in name or ":" in name or name.startswith("/") or "\0" in name:
        return False
    return not any(part.startswith((".", "__")) for part in path.parts)


def name_of(entry: zipfile.ZipInfo) -> str:
    """The path in a zip as it was meant: many tools write UTF-8 and do not say so.

    >>> name_of(zipfile.ZipInfo("Zo├½/01_a.ipynb"))
    'Zoë/01_a.ipynb'
    """
    if entry.flag_bits & _SAYS_UTF8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename


def is_readable(name: str) -> bool:
    known = name.endswith((".ipynb", ".py", PROGRESS))
    return known and not name.startswith((".", "__"))
