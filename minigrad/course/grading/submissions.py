"""Find and read what was handed in; nothing in it is run, unpacked or believed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import lzma
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from minigrad import errors
from minigrad.course import catalogue, journal
from minigrad.course.grading import archives, bounds
from minigrad.course.grading.archives import (
    PROGRESS,
    inside,
    is_readable,
    name_of,
    stays_inside,
)
from minigrad.course.grading.examiner import Work

MOST_FILES = 100_000
MOST_CELLS = 2000

UNREADABLE = (
    OSError,
    RuntimeError,
    zipfile.BadZipFile,
    EOFError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
)
"""What reading a file raises that is broken, or not for us."""

_CANVAS = re.compile(r"^(?P<who>[^_/]+)_(?:LATE_)?(?P<number>\d+)_\d+_(?P<rest>.+)$")
"""Canvas: every file of a class in one folder, the student before it."""

_MOODLE = re.compile(r"^(?P<who>.+_\d+)_assignsubmission_\w+$")
"""Moodle: a folder a student, with words of its own behind the name."""

_MENTIONED = re.compile(r"""["'](\d\d\.\d+|gym\.[A-Za-z0-9]+)["']""")
_LESSON = re.compile(r"(?<![0-9])(\d\d)_[a-z]")


class SubmissionsError(errors.MinigradError, ValueError):
    """What should hold submissions is no folder, zip or notebook."""


@dataclass(frozen=True)
class Submitted:
    """One file that was handed in; ``read`` gives at most so many bytes of it.

    ``progress`` reads what the student handed in beside it of their progress.jsonl:
    there stands what was chosen in forms.
    """

    student: str
    file: str
    read: Callable[[int], bytes] = field(repr=False, compare=False)
    progress: Callable[[int], bytes] | None = field(
        default=None, repr=False, compare=False
    )


def find(source: Path) -> Iterator[Submitted]:
    """Every notebook and every program in a folder or zip, in the order of names.

    The first part of a path says whose it is. Links, and whatever lies outside, are
    passed over. Raises: SubmissionsError.
    """
    if source.is_dir():
        yield from _in_folder(source)
    elif not source.exists():
        what, fix = f"there is no {source}", "name the folder of submissions, or a zip"
        raise SubmissionsError(errors.message("grade", what, fix))
    elif zipfile.is_zipfile(source):
        yield from _in_zip(source)
    else:
        raise SubmissionsError(
            errors.message(
                "grade",
                f"{source} is neither a folder nor a zip",
                "name the folder that has one folder a student, or the zip of it",
            )
        )


def without_files(source: Path) -> list[str]:
    """The students who have a folder, and nothing in it that could be graded."""
    there = {each.student for each in find(source)}
    if source.is_dir():
        named = [PurePosixPath(e.name, "a") for e in os.scandir(source) if _is_own(e)]
    else:
        with archive_at(source) as archive:
            entries = archive.infolist()
        named = [PurePosixPath(name_of(e), "a" * e.is_dir()) for e in entries]
        top = archives.wrapping([path for path in map(inside, entries) if path])
        named = [n.relative_to(top) for n in named if stays_inside(n, top)]
    return sorted({owner_of(path)[0] for path in named if len(path.parts) > 1} - there)


def _is_own(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, and not one of a program."""
    hidden = entry.name.startswith((".", "__"))
    return not hidden and entry.is_dir(follow_symlinks=False)


def _in_folder(source: Path) -> Iterator[Submitted]:
    paths = [
        PurePosixPath(path.relative_to(source).as_posix()) for path in _below(source)
    ]
    yield from _with_progress([(path, reader(source / path)) for path in paths])


def _below(source: Path) -> Iterator[Path]:
    """The regular files in a folder, however deep: a recursion of ours would end."""
    waiting = [source]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                # A link may lead to what is nobody else's business.
                if entry.is_file(follow_symlinks=False) and is_readable(entry.name):
                    yield Path(entry.path)
                hidden = entry.name.startswith((".", "__"))
                if entry.is_dir(follow_symlinks=False) and not hidden:
                    waiting.append(Path(entry.path))


def _with_progress(
    files: list[tuple[PurePosixPath, Callable[[int], bytes]]],
) -> Iterator[Submitted]:
    """The notebooks and programs, each with what else its student has handed in."""
    owned = [(*owner_of(path), read) for path, read in files]
    progress = {
        student: read for student, file, read in owned if file.endswith(PROGRESS)
    }
    for student, file, read in sorted(owned, key=lambda each: each[:2]):
        if not file.endswith(PROGRESS):
            yield Submitted(student, file, read, progress.get(student))


def reader(path: Path) -> Callable[[int], bytes]:
    """Reads at most so many bytes of this file, and of no other that it links to."""

    def read(most: int) -> bytes:
        # A pipe with a name would be waited for until somebody writes to it.
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        number = os.open(path, os.O_RDONLY | flags)
        with os.fdopen(number, "rb") as file:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise OSError(f"{path} is no file")
            return file.read(most)

    return read


def archive_at(source: Path) -> zipfile.ZipFile:
    """The zip. Raises: SubmissionsError if its list of files cannot be read."""
    try:
        return zipfile.ZipFile(source)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        what, fix = f"{source} is a broken zip ({error})", "fetch it again"
        raise SubmissionsError(errors.message("grade", what, fix)) from None


def _in_zip(source: Path) -> Iterator[Submitted]:
    # It stays open as long as somebody may still read from it, and no longer.
    archive = archive_at(source)
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        what = f"{source} holds {len(entries)} files"
        fix = f"split it: at most {MOST_FILES} are read from one zip"
        raise SubmissionsError(errors.message("grade", what, fix))
    files: list[tuple[PurePosixPath, Callable[[int], bytes]]] = []
    for entry in entries:
        path = inside(entry)
        if path is None:
            continue

        def read(most: int, entry: zipfile.ZipInfo = entry) -> bytes:
            with archive.open(entry) as opened:
                return opened.read(most)

        files.append((path, read))
    top = archives.wrapping([path for path, _ in files])
    yield from _with_progress([(path.relative_to(top), r) for path, r in files])


def owner_of(path: PurePosixPath) -> tuple[str, str]:
    """Whose file this is, and what it is called; never what stands in it.

    >>> owner_of(PurePosixPath("ada/01_x.ipynb"))
    ('ada', '01_x.ipynb')
    >>> owner_of(PurePosixPath("lovelaceada_LATE_77_9031_01_x-2.ipynb"))
    ('lovelaceada_77', '01_x-2.ipynb')
    >>> owner_of(PurePosixPath("Ada Lovelace_77_assignsubmission_file/01_x.ipynb"))
    ('Ada Lovelace_77', '01_x.ipynb')
    """
    # A name has one spelling, whichever computer it was written on; bytes that are no
    # characters are spelled out, or all such names would be the same in the results.
    name = str(path).encode("utf-8", "backslashreplace").decode()
    path = PurePosixPath(unicodedata.normalize("NFC", name))
    if len(path.parts) == 1:
        match = _CANVAS.match(path.name)
        if match is None:
            return path.stem, path.name
        return f"{match['who']}_{match['number']}", match["rest"]
    match = _MOODLE.match(path.parts[0])
    student = match["who"] if match else path.parts[0]
    return student, str(PurePosixPath(*path.parts[1:]))


def works(submitted: Submitted) -> list[Work]:
    """What there is to grade in one file: each exercise of its lesson."""
    try:
        data = submitted.read(bounds.NOTEBOOK + 1)
    except UNREADABLE as error:
        data, trouble = b"", f"The file cannot be read ({type(error).__name__})."
    else:
        trouble = ""
    sha256 = hashlib.sha256(data).hexdigest()
    cells: tuple[str, ...] = ()
    if len(data) > bounds.NOTEBOOK:
        trouble = f"The file has more than {bounds.NOTEBOOK / 1e6:.0f} MB."
    elif not trouble:
        try:
            cells = cells_of(data, submitted.file)
        except (ValueError, RecursionError):
            trouble = "The file is no notebook that can be read."
    said = chosen_in_forms(submitted)
    found = []
    for exercise in exercises_in(submitted.file, cells):
        answer = said.get(exercise)
        # What was chosen is a part of what was handed in, though it stands elsewhere.
        more = "" if answer is None else json.dumps(answer, sort_keys=True)
        digest = hashlib.sha256((sha256 + more).encode()).hexdigest()
        key = sha256 if answer is None else digest
        found.append(
            Work(
                submitted.student,
                exercise,
                key,
                submitted.file,
                cells,
                trouble,
                answer,
            )
        )
    return found


def chosen_in_forms(submitted: Submitted) -> dict[str, Any]:
    """The last answer to each exercise that was given in a form."""
    if submitted.progress is None:
        return {}
    try:
        data = submitted.progress(bounds.NOTEBOOK)
    except UNREADABLE:
        return {}
    found: dict[str, Any] = {}
    for line in data.split(b"\n"):
        try:
            entry = journal.entry_of(line)
        except RecursionError:
            continue
        if entry is not None and entry["kind"] == journal.ANSWERED:
            exercise = entry["exercise"]
            if isinstance(exercise, str) and plain_answer(entry.get("answer")):
                found[exercise] = entry["answer"]
    return found


def plain_answer(answer: object) -> bool:
    """Whether this is an answer to questions, or an order, and nothing else."""
    parts = [answer]
    if isinstance(answer, dict):
        parts = list(answer.values())
    elif isinstance(answer, list):
        parts = answer
    short = all([isinstance(p, str) and len(p) <= bounds.TEXT for p in parts])
    return short and len(parts) <= bounds.ITEMS


def cells_of(data: bytes, name: str) -> tuple[str, ...]:
    """The code cells, and nothing else, of a notebook or a program.

    Raises: ValueError, RecursionError.
    """
    text = data.decode("utf-8-sig")
    if name.endswith(".py"):
        return (text,)
    notebook = json.loads(text)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or len(cells) > MOST_CELLS:
        raise ValueError("no cells")
    found = [_source(c) for c in cells if isinstance(c, dict)]
    return tuple([source for source in found if source is not None])


def _source(cell: dict[str, Any]) -> str | None:
    source = cell.get("source")
    if cell.get("cell_type") != "code":
        return None
    if isinstance(source, list):
        source = "".join([line for line in source if isinstance(line, str)])
    return source if isinstance(source, str) else None


def exercises_in(name: str, cells: tuple[str, ...]) -> list[str]:
    """The exercises that a file answers: those of its lesson, else those it names."""
    stem = PurePosixPath(name).name.lower()
    lessons = _LESSON.findall(stem)
    known = known_exercises()
    if lessons:
        of_lesson = [e for e in known if e.startswith(f"{lessons[-1]}.")]
        if of_lesson:
            return of_lesson
    if re.search(r"(?<![a-z])gym(?![a-z])", stem):
        return [e for e in known if e.startswith("gym.")]
    named = {each for cell in cells for each in _MENTIONED.findall(cell)}
    return [e for e in known if e in named]


@cache
def known_exercises() -> tuple[str, ...]:
    """All there are, in the order of the course."""
    return (*catalogue.names(), *catalogue.gym_names())
