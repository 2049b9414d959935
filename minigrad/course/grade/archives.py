"""Zips: which of their files are for us, and how they are read."""

from __future__ import annotations

import datetime
import re
import stat
import zipfile
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath

from minigrad.course.grade.quotas import said_of

PROGRESS = "progress.jsonl"
ZIP = ".zip"
MOST_FILES = 100_000
MOST_HANDED_IN = 5000
"""Files in a zip that a student hands in."""
LONGEST_NAME = 500

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


class ArchiveError(Exception):
    """The list of files in a zip can't be read; the text says why."""


def opened(source: Path | BytesIO) -> zipfile.ZipFile:
    """The zip. Raises: ArchiveError.

    A list of files that a stranger wrote can make zipfile raise nearly anything.
    """
    if isinstance(source, BytesIO):
        # Each has such a mark in the list; to read a long list takes long.
        count = source.getvalue().count(b"PK\1\2")
        if count > MOST_HANDED_IN:
            most = f"at most {MOST_HANDED_IN} are read"
            raise ArchiveError(f"it holds {count} files; {most}")
    try:
        archive = zipfile.ZipFile(source)
        count = len(archive.infolist())
    except Exception as error:
        raise ArchiveError(said_of(error)) from None
    if count > MOST_FILES:
        raise ArchiveError(f"it holds {count} files; at most {MOST_FILES} are read")
    return archive


def reader(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[int], bytes]:
    """Reads at most so many bytes of one file in it."""

    def read(most: int) -> bytes:
        with archive.open(entry) as file:
            return file.read(most)

    return read


def inside(entry: zipfile.ZipInfo) -> PurePosixPath | None:
    """The path of a file in a zip; None for links, folders and paths that lead out."""
    path = PurePosixPath(name_of(entry))
    wanted = is_readable(path.name, zips=True) and not entry.is_dir()
    return path if wanted and not why_not(entry) else None


def why_not(entry: zipfile.ZipInfo) -> str:
    """Why a file in a zip is not read; empty if it is."""
    mode = entry.external_attr >> 16
    if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
        return "it is a link"
    if not stays_inside(PurePosixPath(name_of(entry))):
        return "its path leads out of the zip, or to a hidden place"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # What unpacks these gives all at once, however little was asked for.
        return "it is packed in an unusual way, neither stored nor deflated"
    if len(name_of(entry)) > LONGEST_NAME:
        return f"its name has more than {LONGEST_NAME} characters"
    return "it is encrypted" if entry.flag_bits & 1 else ""


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


def is_readable(name: str, zips: bool = False) -> bool:
    """Whether a file of this name is for us; ``zips``: it may hold such files."""
    known = name.endswith((".ipynb", ".py", PROGRESS))
    known = known or (zips and name.lower().endswith(ZIP))
    return known and not name.startswith((".", "__"))


def time_of(entry: zipfile.ZipInfo) -> float:
    """When a file was written, by its zip, which knows the local time; 0 for never."""
    try:
        return datetime.datetime(*entry.date_time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
