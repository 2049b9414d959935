"""Points tell who guesses: so many files of one student count, and no more."""

import re
import zipfile
from pathlib import Path

import pytest

from minigrad.course.grade import attempts, command, results, submissions
from minigrad.course.grade.attempts import MOST_COUNTED, missing
from minigrad.course.grade.progress import Progress
from minigrad.course.grade.submissions import Submitted
from tests.course.grade.test_command import no_new_box, rows

__all__ = ["no_new_box"]

GUESS = "from minigrad.course import check\ncheck('01.2', ['{}'])"


def handed_in(student: str, **sources: str) -> list[Submitted]:
    return [
        Submitted(student, name, lambda most, text=text: text.encode()[:most])
        for name, text in sources.items()
    ]


def chosen(files: list[Submitted], done: set[results.Key]) -> tuple[list[str], str]:
    """The files that count, and what is said of the others."""
    progress = Progress(len(files))
    works = [work for own in missing(files, done, progress) for work in own]
    assert progress.begun == len(files)
    return [work.file for work in works], str([*progress.left, *progress.not_counted])


def guesses(count: int) -> dict[str, str]:
    return {f"try-{n}.py": GUESS.format(n) for n in range(count)}


def test_files_with_the_last_names_count() -> None:
    found, left = chosen(handed_in("eve", **guesses(12)), set())
    assert found == ["try-10.py", "try-11.py", "try-7.py", "try-8.py", "try-9.py"]
    assert (
        "('eve', 'try-6.py', 'It does not count for 01.2: 5 other files do.')" in left
    )
    assert left.count("01.2") == 12 - MOST_COUNTED


def test_what_was_graded_before_counts_first() -> None:
    files = handed_in("eve", **guesses(4))
    (works,) = missing(files, set(), Progress(4))
    done = {work.key for work in works}
    assert chosen(files, done) == ([], "[]")
    found, left = chosen(handed_in("eve", **guesses(9)), done)
    assert (found, left.count("01.2")) == (["try-8.py"], 4)
    full = done | {("eve", "01.2", "another")}
    assert chosen(handed_in("eve", **guesses(9)), full)[0] == []
    # Somebody else, and another exercise, have five of their own.
    assert len(chosen(handed_in("ada", **guesses(9)), full)[0]) == MOST_COUNTED
    other = {n: s.replace("01.2", "01.1") for n, s in guesses(9).items()}
    assert len(chosen(handed_in("eve", **other), full)[0]) == MOST_COUNTED


def test_a_file_that_does_not_count_names_a_few_exercises() -> None:
    files = {f"01_a-{n}.py": f"n = {n}" for n in range(6)}
    _, left = chosen(handed_in("ada", **files), set())
    assert "It does not count for 01.1, 01.2, 01.3, 01.4, 01.5: 5 other" in left
    files = {f"gym-{n}.py": f"n = {n}" for n in range(6)}
    _, left = chosen(handed_in("ada", **files), set())
    assert re.search(r"for (gym\.\w+, ){4}gym\.\w+ and 22 more: 5 other", left)


def test_one_file_under_many_names_is_one() -> None:
    same = {f"copy-{n}.py": GUESS.format("x") for n in range(9)}
    assert chosen(handed_in("ada", **same), set()) == (["copy-0.py"], "[]")


def test_the_last_student_of_a_zip_is_read_too(tmp_path: Path) -> None:
    packed = tmp_path / "class.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for student in ("ada", "eve"):
            archive.writestr(f"{student}/a.py", GUESS.format("x"))
    found = missing(submissions.find(packed), set(), Progress(2))
    works = [work for own in found for work in own]
    assert [(w.student, w.trouble, len(w.cells)) for w in works] == [
        ("ada", "", 1),
        ("eve", "", 1),
    ]


def test_an_endless_number_of_files_is_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attempts, "MOST_OPENED", 3)
    found, left = chosen(handed_in("eve", **guesses(5)), set())
    assert found == ["try-2.py", "try-3.py", "try-4.py"]
    assert "'try-1.py', 'Only the last 3 files of a student are opened.'" in left


@pytest.mark.usefixtures("no_new_box")
def test_guessing_ends_after_five_files(tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    (source / "eve").mkdir(parents=True)
    answers = ["a", "b", "c"]
    tries = [[a, b] for a in answers for b in answers]
    for n, some in enumerate(tries):
        text = GUESS.replace("['{}']", str(some)).replace("01.2", "03.2")
        (source / "eve" / f"{n}.py").write_text(text)
        if n in (2, 8):
            assert command.main([str(source), "--out", str(out)]) == 0
    graded = [r.file for r in results.read(out)]
    assert sorted(graded) == ["0.py", "1.py", "2.py", "7.py", "8.py"]
    assert (
        "It does not count for 03.2: 5 other files do."
        in (out / "class.html").read_text()
    )
    (page,) = (out / "students").iterdir()
    assert "more than five different files for it are not graded" in page.read_text()
    assert len(rows(out)) == 1
