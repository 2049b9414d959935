"""Which of a student's files count: an answer cannot be tried a hundred times."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Set

from minigrad.course.grade import quotas, submissions
from minigrad.course.grade.examiner import Work
from minigrad.course.grade.progress import Progress
from minigrad.course.grade.results import Key
from minigrad.course.grade.submissions import Left, Submitted

MOST_COUNTED = 5
"""Different files of a student that count for one exercise: points tell who guesses."""

MOST_NAMED = 5
"""Exercises that are named for one file that does not count."""

MOST_OPENED = 500
"""Files of one student that are looked into at all."""


def missing(
    found: Iterable[Submitted],
    done: Set[Key],
    progress: Progress,
    again: Set[Key] = frozenset(),
) -> Iterator[list[Work]]:
    """What counts and is not graded yet, a list for each student.

    What was graded before counts first, also if it is graded ``again``. Of the rest
    those with the last names do, where 10 comes after 9 and a name with a number after
    the same one without.
    """
    graded = Counter([key[:2] for key in done | again])
    for student, files in itertools.groupby(found, lambda each: each.student):
        try:
            works = _of_one(list(files), done, again, graded, progress)
        except Exception as error:
            why = f"The judge failed at it ({quotas.said_of(error)})."
            progress.left.append((student, "", why))
        else:
            yield works


def _of_one(
    files: list[Submitted],
    done: Set[Key],
    again: Set[Key],
    graded: Counter[tuple[str, str]],
    progress: Progress,
) -> list[Work]:
    progress.begun += len(files)
    in_order = sorted(
        _unpacked(files, progress),
        key=lambda each: (by_number(each.file), each.file),
    )
    for submitted in in_order[:-MOST_OPENED]:
        why = f"Only the last {MOST_OPENED} files of a student are opened."
        progress.not_counted.append((submitted.student, submitted.file, why))
    kept: dict[str, deque[Work]] = {}
    anew: dict[Key, Work] = {}
    too_many: dict[tuple[str, str], list[str]] = {}
    for submitted in in_order[-MOST_OPENED:]:
        for work in _works(submitted, progress):
            own = kept.setdefault(work.exercise, deque())
            if work.key in again:
                anew.setdefault(work.key, work)
                continue
            if work.key in done or any(work.key == other.key for other in own):
                continue
            own.append(work)
            if len(own) > max(MOST_COUNTED - graded[work.key[:2]], 0):
                over = own.popleft()
                too_many.setdefault((over.student, over.file), []).append(over.exercise)
    progress.not_counted += [_left(*place, names) for place, names in too_many.items()]
    for file, why in in_order[0].in_forms.unreadable if in_order else ():
        progress.left.append((in_order[0].student, file, why))
    works = itertools.chain(anew.values(), *kept.values())
    return sorted(works, key=lambda work: work.file)


def _unpacked(files: list[Submitted], progress: Progress) -> Iterator[Submitted]:
    """The same with what is in the zips, and no more bytes than anybody needs."""
    read_before = 0

    def counted(submitted: Submitted) -> Submitted:
        def read(most: int) -> bytes:
            nonlocal read_before
            if read_before > quotas.STUDENT:
                raise OSError(f"{quotas.STUDENT / 1e6:.0f} MB were read before it")
            read_before += most  # what can't be read has been tried
            data = submitted.read(most)
            read_before += len(data) - most
            return data

        return dataclasses.replace(submitted, read=read)

    for submitted in map(counted, files):
        if not submitted.is_zip:
            yield submitted
            continue
        inner, left = submissions.opened(submitted)
        progress.left += left
        yield from map(counted, inner)


def _works(submitted: Submitted, progress: Progress) -> list[Work]:
    """What there is to grade in it; if there is nothing, that is said."""
    try:
        works = submissions.works(submitted)
        why = "" if works else "Nothing in it says which exercises it answers."
    except submissions.UnreadableError as error:
        works, why = [], str(error)
    if why:
        progress.left.append((submitted.student, submitted.file, why))
    return works


def _left(student: str, file: str, exercises: list[str]) -> Left:
    names = ", ".join(exercises[:MOST_NAMED])
    if len(exercises) > MOST_NAMED:
        names += f" and {len(exercises) - MOST_NAMED} more"
    why = f"It does not count for {names}: {MOST_COUNTED} other files do."
    return student, file, why


def by_number(name: str) -> tuple[tuple[str, int], ...]:
    """A key to sort names by, in which a number is a number.

    >>> sorted(["a-10.py", "a-9.py", "a.py"], key=by_number)
    ['a.py', 'a-9.py', 'a-10.py']
    """
    stem, _, _ = name.rpartition(".")
    parts = re.findall(r"(\D*)(\d{0,15})", stem)
    return tuple([(text, int(digits or -1)) for text, digits in parts])
