"""One submission, whatever it is, ends nobody's run and takes nobody's time."""

import csv
import errno
import io
import json
import os
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from minigrad.course.exercises import catalogue
from minigrad.course.grade import (
    archives,
    attempts,
    command,
    quotas,
    results,
    submissions,
)
from minigrad.course.grade.confine import LANDLOCK
from minigrad.course.grade.examiner import NOT_GRADED, Result, Work, grade
from minigrad.course.grade.progress import Progress
from minigrad.course.grade.results import Ledger, StorageError
from minigrad.course.grade.sandbox import Box, BoxError
from tests.course.grade.test_command import (
    RIGHT,
    WRONG,
    hand_in,
    no_new_box,
    rows,
    worked_off,
)

__all__ = ["no_new_box"]

EXERCISES = [*catalogue.names(), *catalogue.gym_names()]
ENDLESS = f"all = {json.dumps(EXERCISES)}\nwhile True: pass"
"""One file that names every exercise, and never comes to an end."""


def graded(source: Path, out: Path, *more: str) -> int:
    return command.main([str(source), "--out", str(out), *more])


def in_all_reports(out: Path, student: str) -> list[str]:
    """What the table, the page of the class and the student's say of them."""
    table = [str(row) for row in rows(out) if row["student"] == student]
    own = out / "students" / command.pages.file_of(student)
    return ["\n".join(table), (out / "class.html").read_text(), own.read_text()]


# Unexpected exceptions of the judge's own.


@pytest.mark.parametrize("error", [ValueError("odd"), MemoryError(), RecursionError()])
def test_what_the_judge_fails_at_is_told_in_all_reports(
    error: Exception, tmp_path: Path, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(work: Work, *_: object) -> Result:
        if work.student == "eve":
            raise error
        return grade(work, box, b"secret")

    monkeypatch.setattr(command, "grade", failing)
    source, out = hand_in(tmp_path / "in", ada=RIGHT, eve=RIGHT), tmp_path / "out"
    assert graded(source, out) == 0
    assert [(r["student"], r["state"]) for r in rows(out)] == [
        ("ada", "solved"),
        ("eve", NOT_GRADED),
    ]
    for report in in_all_reports(out, "eve"):
        assert f"The judge failed at it ({type(error).__name__}" in report
    assert not any("failed at it" in r for r in in_all_reports(out, "ada")[::2])


@pytest.mark.usefixtures("no_new_box")
def test_a_folder_that_the_judge_fails_at_is_told_in_all_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = submissions.works

    def works(submitted: submissions.Submitted) -> list[Work]:
        return honest(submitted) if submitted.student == "ada" else [1 / 0]

    monkeypatch.setattr(submissions, "works", works)
    source, out = hand_in(tmp_path / "in", ada=RIGHT, eve=RIGHT), tmp_path / "out"
    assert graded(source, out) == 0
    assert [r["state"] for r in rows(out)] == ["solved", NOT_GRADED]
    for report in in_all_reports(out, "eve"):
        assert "The judge failed at it (ZeroDivisionError" in report


def test_what_could_not_be_graded_is_tried_again_if_asked_for(
    tmp_path: Path, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def once(work: Work, *_: object) -> Result:
        if work.student:
            tried.append(work.student)
            if len(tried) == 1:
                raise OSError("a moment's trouble")
        return grade(work, box, b"secret")

    monkeypatch.setattr(command, "grade", once)
    source, out = hand_in(tmp_path / "in", ada=RIGHT), tmp_path / "out"
    states = []
    for more in ((), (), ("--retry",), ("--retry",)):
        assert graded(source, out, *more) == 0
        states.append(rows(out)[0]["state"])
    assert states == [NOT_GRADED, NOT_GRADED, "solved", "solved"]
    assert len(tried) == 2


def test_a_machine_on_which_nothing_is_solved_any_more_ends_the_run(
    tmp_path: Path, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = []

    def grade_here(work: Work, *_: object) -> Result:
        if broken or work.student == "eve":
            raise BoxError("the box has closed")
        return Result(*work.key, "f", "h", "solved", 2, 2)

    monkeypatch.setattr(command, "grade_here", grade_here)
    works = [[Work(s, "gym.Square", "0", "f", ())] for s in ("ada", "eve", "zoe")]
    with (
        Ledger(tmp_path / "results.jsonl") as ledger,
        command.futures.ThreadPoolExecutor(1) as executor,
    ):
        # It is eve's alone while a right answer passes ...
        assert worked_off(works, executor, ledger) == 3
        found = {r.student: (r.state, r.trouble) for r in results.read(tmp_path)}
        assert found["eve"] == (NOT_GRADED, "BoxError: the box has closed, 3 times.")
        assert found["zoe"] == ("solved", "")
        # ... and the machine's if none does.
        broken.append(1)
        with pytest.raises(BoxError, match="nobody can be graded here any more"):
            worked_off(works, executor, ledger)


# Time.


@pytest.fixture(params=["bubblewrap", "landlock"])
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Grade in the one box or in the other."""
    name: str = request.param
    request.getfixturevalue({"bubblewrap": "box", "landlock": "landlocked"}[name])
    if name == LANDLOCK:
        monkeypatch.setattr(command.sandbox, "bubblewrap_works", lambda: False)
    return name


def test_a_file_that_names_all_exercises_costs_no_more_than_its_budget(
    mode: str, tmp_path: Path
) -> None:
    source = hand_in(tmp_path / "in", ada=RIGHT, eve=ENDLESS, zoe=WRONG)
    began = time.monotonic()
    limits = ["--seconds", "2", "--student-seconds", "3", "--jobs", "1"]
    assert graded(source, tmp_path / "out", *limits) == 0
    # Two are begun, which end after two seconds each.
    assert time.monotonic() - began < 40
    found = [r for r in rows(tmp_path / "out") if r["student"] == "eve"]
    assert [r["state"] for r in found].count("crashed") == 2
    assert len(found) == len(EXERCISES)
    for report in in_all_reports(tmp_path / "out", "eve"):
        assert "The 3 seconds for everything that a student hands in" in report
    others = [r["state"] for r in rows(tmp_path / "out") if r["student"] != "eve"]
    assert others == ["solved", "wrong"]


def test_what_was_taken_in_earlier_runs_counts_too() -> None:
    work = Work("eve", "gym.Square", "0", "f", ())
    before = [Result(*work.key, "f", "h", "crashed", 0, 2, seconds=n) for n in (3, 4)]
    assert "The 7 seconds" in command.Budget(7.0, before).why_not(work)
    assert command.Budget(7.1, before).why_not(work) == ""
    assert command.Budget(7.0).why_not(work) == ""


def test_one_student_is_graded_one_answer_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[str] = []
    together: set[tuple[str, ...]] = set()

    def grade_here(work: Work, *_: object) -> Result:
        running.append(work.student)
        time.sleep(0.02)
        together.add(tuple(sorted(running)))
        running.remove(work.student)
        return Result(*work.key, "f", "h", "solved", 1, 1)

    monkeypatch.setattr(command, "grade_here", grade_here)
    works = [[Work(s, f"gym.{n}", "0", "f", ()) for n in range(4)] for s in "abc"]
    with (
        Ledger(tmp_path / "results.jsonl") as ledger,
        command.futures.ThreadPoolExecutor(3) as executor,
    ):
        assert worked_off(works, executor, ledger) == 12
    assert not any(len(set(names)) < len(names) for names in together)
    assert max(map(len, together)) > 1


def test_what_was_chosen_in_forms_is_read_once(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, ada=RIGHT) / "ada"
    for n in range(20):
        (folder / f"{n}.py").write_text(f"{RIGHT}# {n}")
    line = {"at": "", "kind": "answered", "exercise": "gym.Square", "answer": "a"}
    (folder / "progress.jsonl").write_text(json.dumps(line))
    found = list(submissions.find(tmp_path))
    reads = []
    (file, honest), *_ = found[0].in_forms.files
    found[0].in_forms.files[:] = [(file, lambda most: reads.append(1) or honest(most))]
    (works,) = attempts.missing(found, set(), Progress(len(found)))
    assert {w.said for w in works} == {"a"}
    assert reads == [1]


def test_no_more_than_so_much_is_read_of_a_student(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "STUDENT", 3 * len(RIGHT))
    folder = hand_in(tmp_path, ada=RIGHT, bob=RIGHT) / "ada"
    for n in range(5):
        (folder / f"gym_{n}.py").write_text(f"{RIGHT}# {n}")
    progress = Progress(7)
    ada, bob = attempts.missing(submissions.find(tmp_path), set(), progress)
    unread = {w.file for w in ada if "were read before it" in w.trouble}
    assert unread == {"gym_2.py", "gym_3.py", "gym_4.py"}
    assert [w.trouble for w in bob] == [""]


# Disks.


class Full:
    """A disk that takes so many bytes more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.room, self.write = room, os.write
        monkeypatch.setattr(os, "write", self.write_some)

    def write_some(self, number: int, data: bytes) -> int:
        if not os.path.isfile(f"/proc/self/fd/{number}"):
            return self.write(number, data)
        some = bytes(data[: self.room])
        if not some:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= len(some)
        return self.write(number, some)


@pytest.mark.usefixtures("no_new_box")
def test_a_full_disk_is_one_line_and_the_next_run_completes_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers = {f"s{n}": RIGHT + f"# {n}" for n in range(6)}
    source = hand_in(tmp_path / "in", **answers)
    assert graded(source, tmp_path / "whole") == 0
    whole = (tmp_path / "whole" / "results.csv").read_bytes()
    size = len((tmp_path / "whole" / "results.jsonl").read_bytes())
    capsys.readouterr()

    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        Full(patched, room=size // 2)
        assert graded(source, out, "--jobs", "1") == 2
    said = capsys.readouterr().err.splitlines()
    assert "No space left on device" in said[-2]
    assert "run the same command again" in said[-1]
    lines = (out / "results.jsonl").read_bytes().split(b"\n")
    assert lines[-1] == b""
    assert 1 <= len([json.loads(line) for line in lines[:-1]]) < 6
    assert not (out / "results.csv").exists()
    assert graded(source, out) == 0
    assert (out / "results.csv").read_bytes() == whole


def test_a_table_that_has_no_room_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.csv"
    results.write(path, "old")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(StorageError, match=r"results\.csv cannot be written"):
            results.write(path, "new")
    assert (path.read_text(), len(list(tmp_path.iterdir()))) == ("old", 1)
    results.write(path, "new")
    assert path.read_text() == "new"


# Zips.


def packed(**files: str | bytes) -> bytes:
    """A zip; of a name the last underscore is a dot, and two of them are a slash."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in files.items():
            head, _, ending = name.replace("__", "/").rpartition("_")
            made.writestr(f"{head}.{ending}", text)
    return data.getvalue()


def found_in(folder: Path) -> tuple[dict[str, list[str]], list[tuple[str, ...]]]:
    """The files that are graded of each student, and what is said of others."""
    progress = Progress(0)
    files: dict[str, list[str]] = {}
    for works in attempts.missing(submissions.find(folder), set(), progress):
        for work in works:
            files.setdefault(work.student, []).append(work.file)
    return files, progress.left


def test_a_zip_that_is_handed_in_is_read_and_is_its_students(tmp_path: Path) -> None:
    folder = hand_in(tmp_path / "in", ada=RIGHT, bob=RIGHT + "# own")
    inner = packed(bob__a_py=RIGHT, bob_77_9031_b_py=WRONG, progress_jsonl="{}")
    (folder / "ada" / "Mine.ZIP").write_bytes(inner)
    (folder / "carla_77_9031_hw.zip").write_bytes(packed(c_py=RIGHT))
    files, left = found_in(folder)
    assert files == {
        "ada": ["Mine.ZIP/bob/a.py", "Mine.ZIP/bob_77_9031_b.py"],
        "bob": ["answer.py"],
        "carla_77": ["hw.zip/c.py"],
    }
    assert left == []


def test_a_zip_in_the_zip_of_a_class_is_read_too(tmp_path: Path) -> None:
    whole = packed(ada__hw_zip=packed(a_py=RIGHT), bob__b_py=RIGHT)
    (tmp_path / "class.zip").write_bytes(whole)
    files, left = found_in(tmp_path / "class.zip")
    assert (files, left) == ({"ada": ["hw.zip/a.py"], "bob": ["b.py"]}, [])


def test_what_was_chosen_in_a_form_may_be_in_the_zip(tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    line = {"at": "", "kind": "answered", "exercise": "01.2", "answer": ["f"]}
    data = packed(progress_jsonl=json.dumps(line), **{"01_x_py": "pass"})
    (tmp_path / "ada" / "hw.zip").write_bytes(data)
    ((ada,),) = ([own] for own in attempts.missing(
        submissions.find(tmp_path), set(), Progress(1)
    ))  # fmt: skip
    assert {w.exercise: w.said for w in ada}["01.2"] == ["f"]


def changed(data: bytes, signature: bytes, offset: int, value: bytes) -> bytes:
    """A zip with other bytes at a place of its first such header."""
    at = data.index(signature) + offset
    return data[:at] + value + data[at + len(value) :]


LISTED, STORED = b"PK\1\2", b"PK\3\4"
A_PY = packed(a_py=RIGHT * 20)
STRANGE = {
    "of a strange version": changed(A_PY, LISTED, 6, b"\x63"),
    "torn": A_PY[:-30],
    "no zip": b"hello",
    "packed in an unknown way": changed(A_PY, LISTED, 10, b"\x61"),
    "with a broken member": changed(A_PY, STORED, 40, b"\xff" * 8),
    "encrypted": changed(A_PY, LISTED, 8, b"\x01"),
    "too large": bytes(quotas.ARCHIVE + 1),
    "without anything": packed(essay_txt="hello"),
}
SAID = {
    "of a strange version": "zip file version",
    "torn": "BadZipFile",
    "no zip": "BadZipFile",
    "packed in an unknown way": "packed in an unusual way",
    "with a broken member": "cannot be read (",
    "encrypted": "it is encrypted",
    "too large": "more than 20 MB",
    "without anything": "No notebook or program is in this zip",
}


@pytest.mark.parametrize("what", STRANGE)
@pytest.mark.usefixtures("no_new_box")
def test_a_strange_zip_is_named_and_the_others_are_graded(
    what: str, tmp_path: Path
) -> None:
    source, out = hand_in(tmp_path / "in", ada=RIGHT), tmp_path / "out"
    (source / "eve").mkdir()
    (source / "eve" / "hw.zip").write_bytes(STRANGE[what])
    assert graded(source, out) == 0
    assert [(r["student"], r["state"]) for r in rows(out)] == [
        ("ada", "solved"),
        ("eve", NOT_GRADED),
    ]
    for report in in_all_reports(out, "eve"):
        assert SAID[what] in report


@pytest.mark.parametrize("way", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_what_unpacks_all_at_once_is_not_read(way: int, tmp_path: Path) -> None:
    # However little is asked for: a gigabyte of zeros, a dictionary of 4 GB.
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", way) as made:
        made.writestr("01_a.py", RIGHT)
        made.writestr("01_b.py", RIGHT, zipfile.ZIP_DEFLATED)
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / "hw.zip").write_bytes(data.getvalue())
    files, left = found_in(tmp_path)
    assert set(files["eve"]) == {"hw.zip/01_b.py"}
    assert [(file, "packed in an unusual way" in why) for _, file, why in left] == [
        ("hw.zip/01_a.py", True)
    ]


def test_no_more_than_so_much_is_read_of_what_was_chosen_in_forms() -> None:
    reads = []

    def read(most: int) -> bytes:
        reads.append(most)
        return b"x" * (quotas.NOTEBOOK // 2)

    chosen = submissions.InForms([(f"{n}", read) for n in range(9)])
    assert chosen.answers == {}
    assert (len(reads), len(chosen.unreadable)) == (2, 7)
    assert chosen.unreadable[0] == ("2", "5 MB of such files were read before.")


def test_an_answer_in_a_form_is_short() -> None:
    assert submissions.plain_answer(["a" * quotas.TEXT] * 9)
    assert not submissions.plain_answer(["a" * quotas.TEXT] * 10)
    assert not submissions.plain_answer({"a" * quotas.ANSWER: "b"})


def test_what_cannot_be_read_counts_as_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "STUDENT", 2 * quotas.NOTEBOOK)
    (tmp_path / "eve").mkdir()
    broken = packed(**{f"01_a{n}_py": RIGHT * 20 for n in range(6)})
    at = 0
    for _ in range(6):
        at = broken.index(STORED, at + 1) if at else 0
        broken = broken[: at + 40] + b"\xff" * 8 + broken[at + 48 :]
        at += 1
    (tmp_path / "eve" / "hw.zip").write_bytes(broken)
    (works,) = attempts.missing(submissions.find(tmp_path), set(), Progress(1))
    tried = {w.file for w in works if "were read before it" not in w.trouble}
    assert len(tried) < 4


def test_a_zip_with_more_files_than_anybody_writes_is_named(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        for n in range(archives.MOST_HANDED_IN + 1):
            made.writestr(f"{n}.py", "")
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / "hw.zip").write_bytes(data.getvalue())
    files, left = found_in(tmp_path)
    assert files == {}
    assert "it holds 5001 files; at most 5000 are read" in left[0][2]


@pytest.mark.parametrize(
    ("name", "why"),
    [("\1" * 60_000 + "/gym_a.py", "more than 500 characters"), ("", "")],
)
def test_odd_names_in_a_zip_cost_their_file_alone(
    name: str, why: str, tmp_path: Path
) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        made.writestr(zipfile.ZipInfo("x"), RIGHT)
        made.infolist()[0].filename = name
        made.writestr("b.py", RIGHT)
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / "hw.zip").write_bytes(data.getvalue())
    files, left = found_in(tmp_path)
    assert files == {"eve": ["hw.zip/b.py"]}
    assert [why in said and len(file) < 600 for _, file, said in left] == [True] * len(
        left
    )
    assert len(left) == bool(why)


def test_a_zip_of_a_class_of_a_strange_version_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "class.zip").write_bytes(STRANGE["of a strange version"])
    assert graded(tmp_path / "class.zip", tmp_path / "out") == 2
    words = r"is a broken zip \(NotImplementedError: zip file version"
    assert re.search(words, capsys.readouterr().err)


def test_a_progress_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, ada=RIGHT) / "ada"
    (folder / "progress.jsonl").write_bytes(b"x" * (quotas.NOTEBOOK + 1))
    files, left = found_in(tmp_path)
    assert files == {"ada": ["answer.py"]}
    assert left == [("ada", "progress.jsonl", "The file has more than 5 MB.")]


def test_a_thousand_bad_files_take_no_more_than_a_corner_of_the_page() -> None:
    left = [("eve", f"{n}.py", "No.") for n in range(1000)] + [("ada", "a", "No.")]
    found = command.few_of_each(left)
    assert len(found) == command.MOST_LEFT + 2
    assert found[command.MOST_LEFT] == (
        "eve",
        "",
        f"And {1000 - command.MOST_LEFT} more files.",
    )
    assert found[-1] == left[-1]


# The table.

NAMES = [
    "a\rb", "a\nb", "a\r\nb", 'quote " quote', '"', "'x", "a,b", "a;b\tc", "=1+1", "+1",
    "-1", "@x", '"=1+1"', "\u200b=1+1", "\ufeff=1+1", "\ufeffa", "a\u200b", "a", "  =1",
    "\u3000=1", "\\r", "a\\rb", "\x00", "é", "王小明", "", "x\u202ey", ";=1", "1,5",
]  # fmt: skip


def by_rfc_4180(text: str, delimiter: str = ",") -> list[list[str]]:
    """The rows, read as spreadsheets do: a quote opens, two are one, one closes."""
    found, row, field, place, quoted = [], [], "", 0, False
    while place < len(text):
        c = text[place]
        if quoted and text[place : place + 2] == '""':
            field, place = field + '"', place + 1
        elif c == '"':
            quoted = not quoted
        elif c == delimiter and not quoted:
            row, field = [*row, field], ""
        elif c in "\r\n" and not quoted:
            if field or row:
                found.append([*row, field])
            row, field = [], ""
        else:
            field += c
        place += 1
    return found


READERS: dict[str, Callable[[str], list[list[str]]]] = {
    "csv": lambda text: list(csv.reader(io.StringIO(text, newline=""))),
    "csv, lines of any kind": lambda text: list(csv.reader(text.splitlines())),
    "a spreadsheet": by_rfc_4180,
}


@pytest.mark.parametrize("reader", READERS)
def test_every_row_is_read_back_as_it_was_meant(reader: str, tmp_path: Path) -> None:
    found = [Result(n, "gym.Square", "0", n, n, "solved", 1, 2) for n in NAMES]
    results.write(tmp_path / "results.csv", results.table(found, [("a", "b\r", "c\n")]))
    text = (tmp_path / "results.csv").read_bytes().decode("utf-8")
    head, *read = READERS[reader](text)
    assert head == list(results.COLUMNS)
    assert [row[0] for row in read] == [*map(results.cell, NAMES), "a"]
    assert [row[7] for row in read] == [*map(results.cell, NAMES), "b\\r"]
    assert {tuple(row[2:5]) for row in read[:-1]} == {("solved", "1", "2")}
    # Two students are never one, and no cell is a formula or holds what nobody sees.
    assert len({row[0] for row in read[:-1]}) == len(NAMES)
    cells = [each for row in read for each in row]
    assert not any(each.lstrip()[:1] in ("=", "+", "-", "@") for each in cells if each)
    assert all(c.isprintable() or c == "\u3000" for each in cells for c in each)
