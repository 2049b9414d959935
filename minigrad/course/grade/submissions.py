"""Find and read what was handed in; nothing in it is run, written out or believed."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import json
import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from minigrad import errors
from minigrad.course.exercises import catalogue
from minigrad.course.grade import archives, quotas
from minigrad.course.grade.archives import (
    PROGRESS,
    inside,
    is_readable,
    name_of,
    stays_inside,
)
from minigrad.course.grade.examiner import Work
from minigrad.course.notebook import journal

MOST_CELLS = 2000

_CANVAS = re.compile(
    r"^(?P<who>[^_/]+)_(?P<late>LATE_)?(?P<number>\d+)_\d+_(?P<rest>.+)$"
)
"""Canvas: every file of a class in one folder, the student before it."""

_MOODLE = re.compile(r"^(?P<who>.+_\d+)_assignsubmission_\w+$")
"""Moodle: a folder a student, with words of its own behind the name."""

_MENTIONED = re.compile(r"""["'](\d\d\.\d+|gym\.[A-Za-z0-9]+)["']""")
_LESSON = re.compile(r"(?<![0-9])(\d\d)_[a-z]")


Left = tuple[str, str, str]
"""A student, a file, and why nothing could be graded of it."""


class SubmissionsError(errors.MinigradError, ValueError):
    """What should hold submissions is no folder, zip or notebook."""


Read = Callable[[int], bytes]
"""Gives at most so many bytes of a file."""


_EACH = 10_000
"""What a file counts as, beside its bytes: to open it takes time, too."""


class InForms:
    """What a student has chosen in forms: it stands in their files progress.jsonl."""

    def __init__(self, files: Iterable[tuple[str, Read]] = ()) -> None:
        self.files = list(files)
        self.unreadable: list[tuple[str, str]] = []

    @cached_property
    def answers(self) -> dict[str, Any]:
        """The last answer to each exercise; the files are read once.

        Those that can't be read are in ``unreadable`` then, with the reason.
        """
        found: dict[str, Any] = {}
        taken = 0
        for file, read in self.files:
            if taken > quotas.NOTEBOOK:
                why = f"{quotas.NOTEBOOK / 1e6:.0f} MB of such files were read before."
                self.unreadable.append((file, why))
                continue
            data, trouble = contents(read)
            taken += len(data) + _EACH
            if trouble:
                self.unreadable.append((file, trouble))
            for line in data.split(b"\n"):
                with contextlib.suppress(RecursionError):
                    entry = journal.entry_of(line)
                    if entry is not None and entry["kind"] == journal.ANSWERED:
                        exercise, answer = entry["exercise"], entry.get("answer")
                        if isinstance(exercise, str) and plain_answer(answer):
                            found[exercise] = answer
        return found


@dataclass(frozen=True)
class Submitted:
    """One file that was handed in, and what its student has chosen in forms.

    ``at`` is when it was written, in seconds since 1970; Canvas says ``is_late``.
    """

    student: str
    file: str
    read: Read = field(repr=False, compare=False)
    in_forms: InForms = field(default_factory=InForms, repr=False, compare=False)
    at: float = field(default=0.0, compare=False)
    is_late: bool = field(default=False, compare=False)

    @property
    def is_zip(self) -> bool:
        """Whether it holds files, by its name."""
        return self.file.lower().endswith(archives.ZIP)


class UnreadableError(Exception):
    """A file of one student can't be read; the text says what is wrong with it."""


def find(source: Path) -> Iterator[Submitted]:
    """Every notebook and every program in a folder or zip, in the order of names.

    The first part of a path says whose it is. Links, and whatever lies outside, are
    passed over. Raises: SubmissionsError.
    """
    if source.is_dir():
        yield from _in_folder(source)
    elif not source.exists():
        what, fix = f"there is no {source}", "name the folder of submissions, or a zip"
        raise SubmissionsError.at("grade", what, fix)
    elif zipfile.is_zipfile(source):
        yield from _in_zip(source)
    else:
        raise SubmissionsError.at(
            "grade",
            f"{source} is neither a folder nor a zip",
            "name the folder that has one folder a student, or the zip of it",
        )


def without_files(source: Path, found: Iterable[Submitted]) -> list[str]:
    """The students who have a folder, and nothing in it that could be graded."""
    there = {each.student for each in found}
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
    files = []
    for path in _below(source):
        place = PurePosixPath(path.relative_to(source).as_posix())
        with contextlib.suppress(OSError):
            files.append((place, reader(path), path.lstat().st_mtime))
    yield from _with_progress(files)


def _below(source: Path) -> Iterator[Path]:
    """The regular files in a folder, however deep: a recursion of ours would end."""
    waiting = [source]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                # A link may lead to what is nobody else's business.
                if entry.is_file(follow_symlinks=False) and is_readable(
                    entry.name, zips=True
                ):
                    yield Path(entry.path)
                hidden = entry.name.startswith((".", "__"))
                if entry.is_dir(follow_symlinks=False) and not hidden:
                    waiting.append(Path(entry.path))


def _with_progress(
    files: Iterable[tuple[PurePosixPath, Read, float]],
) -> Iterator[Submitted]:
    """The notebooks, programs and zips, each with what its student chose in forms."""
    owned = [
        Submitted(*owner_of(path), read, at=at, is_late=is_marked_late(path))
        for path, read, at in files
    ]
    owned.sort(key=lambda each: (each.student, each.file))
    in_forms: dict[str, InForms] = {}
    for each in owned:
        own = in_forms.setdefault(each.student, InForms())
        if each.file.endswith(PROGRESS):
            own.files.append((each.file, each.read))
    for each in owned:
        if not each.file.endswith(PROGRESS):
            yield dataclasses.replace(each, in_forms=in_forms[each.student])


def reader(path: Path) -> Read:
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
        return archives.opened(source)
    except archives.ArchiveError as error:
        what, fix = f"{source} is a broken zip ({error})", "fetch it again"
        raise SubmissionsError.at("grade", what, fix) from None


def _in_zip(source: Path) -> Iterator[Submitted]:
    # It stays open as long as somebody may still read from it, and no longer.
    archive = archive_at(source)
    files = [
        (path, archives.reader(archive, entry), archives.time_of(entry))
        for entry in archive.infolist()
        if (path := inside(entry)) is not None
    ]
    top = archives.wrapping([path for path, _, _ in files])
    yield from _with_progress([(p.relative_to(top), r, at) for p, r, at in files])


def opened(zipped: Submitted) -> tuple[list[Submitted], list[Left]]:
    """What is in a zip that a student has handed in, and what can't be read of it.

    All of it is this student's: a name in there is never anybody's. Zips inside stay
    closed. What was chosen in forms is added to what the student has chosen elsewhere.
    """
    left: list[Left] = []
    data, trouble = contents(zipped.read, quotas.ARCHIVE)
    try:
        archive = archives.opened(io.BytesIO(data))
    except archives.ArchiveError as error:
        trouble = trouble or f"The zip cannot be read ({error})."
    if trouble:
        return [], [(zipped.student, zipped.file, trouble)]
    found: list[Submitted] = []
    for entry in archive.infolist():
        path = PurePosixPath(name_of(entry))
        if not is_readable(path.name) or entry.is_dir():
            continue
        file = spelled(f"{zipped.file}/{path}")
        if why := archives.why_not(entry):
            short = file[: archives.LONGEST_NAME]
            left.append((zipped.student, short, f"It is not read: {why}."))
            continue
        read = archives.reader(archive, entry)
        if path.name.endswith(PROGRESS):
            zipped.in_forms.files.append((file, read))
        else:
            # Its time is that of the zip: the ones inside are anybody's.
            found.append(dataclasses.replace(zipped, file=file, read=read))
    if not found and not left:
        left = [(zipped.student, zipped.file, "No notebook or program is in this zip.")]
    return found, left


def owner_of(path: PurePosixPath) -> tuple[str, str]:
    """Whose file this is, and what it is called; never what stands in it.

    >>> owner_of(PurePosixPath("ada/01_x.ipynb"))
    ('ada', '01_x.ipynb')
    >>> owner_of(PurePosixPath("lovelaceada_LATE_77_9031_01_x-2.ipynb"))
    ('lovelaceada_77', '01_x-2.ipynb')
    >>> owner_of(PurePosixPath("Ada Lovelace_77_assignsubmission_file/01_x.ipynb"))
    ('Ada Lovelace_77', '01_x.ipynb')
    """
    path = PurePosixPath(spelled(str(path)))
    if len(path.parts) == 1:
        match = _CANVAS.match(path.name)
        if match is None:
            return path.stem, path.name
        return f"{match['who']}_{match['number']}", match["rest"]
    match = _MOODLE.match(path.parts[0])
    student = match["who"] if match else path.parts[0]
    return student, str(PurePosixPath(*path.parts[1:]))


def is_marked_late(path: PurePosixPath) -> bool:
    """Whether Canvas has written into the name that it came after the due date.

    >>> is_marked_late(PurePosixPath("lovelaceada_LATE_77_9031_01_x-2.ipynb"))
    True
    """
    match = _CANVAS.match(path.name)
    return len(path.parts) == 1 and match is not None and bool(match["late"])


def spelled(name: str) -> str:
    """The one spelling of a name, whichever computer it was written on.

    Bytes that are no characters are spelled out: all such names would be the same.
    """
    name = name.encode("utf-8", "backslashreplace").decode()
    return unicodedata.normalize("NFC", name)


def is_seen(character: str) -> bool:
    r"""Whether a character of a text shows, or takes its place as a space does.

    >>> [is_seen(c) for c in ("a", "\u3000", "\u200b", "\ufeff", "\r")]
    [True, True, False, False, False]
    """
    return character.isprintable() or unicodedata.category(character) == "Zs"


def contents(read: Read, most: int = quotas.NOTEBOOK) -> tuple[bytes, str]:
    """What is in a file, and if it can't be read, why; then it is empty.

    Broken files raise whatever their decoder happens to raise. It is told here.
    """
    try:
        data = read(most + 1)
    except Exception as error:
        return b"", f"The file cannot be read ({quotas.said_of(error)})."
    if len(data) > most:
        return b"", f"The file has more than {most / 1e6:.0f} MB."
    return data, ""


def works(submitted: Submitted) -> list[Work]:
    """What there is to grade in one file: each exercise of its lesson.

    Raises: UnreadableError if it can't be read and its name says no exercise.
    """
    data, trouble = contents(submitted.read)
    cells: tuple[str, ...] = ()
    if not trouble:
        try:
            cells = cells_of(data, submitted.file)
        except (ValueError, RecursionError):
            trouble = "The file is no notebook that can be read."
    exercises = exercises_in(submitted.file, cells)
    if trouble and not exercises:
        raise UnreadableError(trouble)
    known_by = f"{submitted.file}: {trouble}".encode() if trouble else data
    sha256 = hashlib.sha256(known_by).hexdigest()
    said = submitted.in_forms.answers
    return [
        Work(
            submitted.student,
            exercise,
            key_of(sha256, said.get(exercise)),
            submitted.file,
            cells,
            trouble,
            said.get(exercise),
        )
        for exercise in exercises
    ]


def key_of(sha256: str, answer: Any) -> str:
    """What a file and the answer in a form are known by together.

    What was chosen is a part of what was handed in, though it stands elsewhere.
    """
    if answer is None:
        return sha256
    more = json.dumps(answer, sort_keys=True)
    return hashlib.sha256((sha256 + more).encode()).hexdigest()


def plain_answer(answer: object) -> bool:
    """Whether this is an answer to questions, or an order, and nothing else."""
    parts = [answer]
    if isinstance(answer, dict):
        parts = list(answer.values())
    elif isinstance(answer, list):
        parts = answer
    short = all([isinstance(p, str) and len(p) <= quotas.TEXT for p in parts])
    return short and len(json.dumps(answer)) <= quotas.ANSWER


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
