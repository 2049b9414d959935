"""A row a student: a roster, what an instructor decides, who came late, what is old."""

import csv
import dataclasses
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from minigrad.course.grade import command, pages, results, roster, stamps
from minigrad.course.grade.csv_files import TableError
from minigrad.course.grade.examiner import Result, Work
from tests.course.grade.test_command import RIGHT, WRONG, hand_in, rows
from tests.course.grade.test_pages import plain

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Homework (9)
    Points Possible,,,,,10
"Lovelace, Ada",77,S1,ada,A,
"Byron, =Bob",78,S2,bob,A,
"""
MOODLE = "First name;Last name;Email address\nAda;Lovelace;Ada@x.org\nBob;Ray;b@x.org\n"


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that reads: an answer is right if it says so."""

    def read(work: Work, *how: object) -> Result:
        right = "* 2 * x" in "".join(work.cells)
        return Result(*work.key, work.file, f"{work.exercise} Square",
                      "solved" if right else "wrong", 2.0 * right, 2)  # fmt: skip

    monkeypatch.setattr(command, "grade_here", read)
    monkeypatch.setattr(command, "see_that_right_answers_pass", lambda mode: None)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def graded(source: Path, *more: str) -> Path:
    out = source.parent / "out"
    assert command.main([str(source), "--out", str(out), *more]) == 0
    return out


@pytest.mark.usefixtures("judge")
def test_everybody_on_the_roster_has_a_row_and_who_handed_in_nothing_has_0(
    tmp_path: Path,
) -> None:
    (tmp_path / "canvas.csv").write_text(CANVAS)
    source = hand_in(tmp_path / "in", zoe=WRONG)
    (source / "lovelaceada_LATE_77_9031_answer.py").write_text(RIGHT)
    out = graded(source, "--roster", str(tmp_path / "canvas.csv"))
    found = table(out / "gradebook.csv")
    assert [(r["student"], r["id"], r["handed in"]) for r in found] == [
        ("Lovelace, Ada", "77", "yes"), ("Byron,' =Bob", "78", "no"), ("zoe", "", "yes")
    ]  # fmt: skip
    assert [(r["points"], r["gym.Square"], r["late"]) for r in found] == [
        ("2.0", "2.0", "late"), ("0.0", "0.0", ""), ("0.0", "0.0", "")
    ]  # fmt: skip
    words = plain((out / "class.html").read_text())
    assert "2 students, 1 exercise; 1 more handed in nothing." in words
    assert "Not on the roster: zoe." in words
    assert "Byron, =Bob handed in nothing 0 of 2 points" in words
    assert "lovelaceada_77 late" in words
    student = (out / "students" / pages.file_of("lovelaceada_77")).read_text()
    assert "Handed in late." in student
    heads = [*CANVAS.split("\n")[0].split(",")[:5], "minigrad"]
    assert table(out / "canvas.csv") == [
        dict(zip(heads, cells, strict=True))
        for cells in (
            ["Points Possible", "", "", "", "", "2.0"],
            ["Lovelace, Ada", "77", "S1", "ada", "A", "2.0"],
            ["Byron,' =Bob", "78", "S2", "bob", "A", "0.0"],
        )
    ]


@pytest.mark.usefixtures("judge")
def test_moodles_list_of_a_class_gives_a_table_for_its_import(tmp_path: Path) -> None:
    (tmp_path / "moodle.csv").write_bytes(b"\xef\xbb\xbf" + MOODLE.encode())
    source = hand_in(tmp_path / "in", **{"Ada Lovelace_9_assignsubmission_file": RIGHT})
    out = graded(source, "--roster", str(tmp_path / "moodle.csv"))
    assert table(out / "moodle.csv") == [
        {"Email address": "Ada@x.org", "minigrad": "2.0"},
        {"Email address": "b@x.org", "minigrad": "0.0"},
    ]
    assert not (out / "canvas.csv").exists()


@pytest.mark.usefixtures("judge")
def test_two_folders_of_one_student_make_one_row(tmp_path: Path) -> None:
    (tmp_path / "moodle.csv").write_text(MOODLE)
    source = hand_in(tmp_path / "in", **{"Ada@x.org": WRONG, "ada lovelace": RIGHT})
    out = graded(source, "--roster", str(tmp_path / "moodle.csv"))
    assert [r["points"] for r in table(out / "gradebook.csv")] == ["2.0", "0.0"]
    assert [r["points"] for r in rows(out)] == ["2.0"]


@pytest.mark.usefixtures("judge")
def test_due_marks_what_was_written_later_also_inside_of_zips(tmp_path: Path) -> None:
    source = hand_in(tmp_path / "in", ada=RIGHT, bob=RIGHT)
    with zipfile.ZipFile(source / "zoe.zip", "w") as archive:
        archive.writestr("answer.py", RIGHT)
    for name, at in (
        ("ada/answer.py", 1000),
        ("bob/answer.py", 3000),
        ("zoe.zip", 3000),
    ):
        os.utime(source / name, (at, at))
    out = graded(source, "--due", "1970-01-01 00:33:20+00:00")
    late = {row["student"]: row["late"] for row in table(out / "gradebook.csv")}
    assert late == {"ada": "", "bob": "late", "zoe": "late"}


@pytest.mark.usefixtures("judge")
def test_what_an_instructor_decides_counts_is_shown_and_survives_regrading(
    tmp_path: Path,
) -> None:
    source = hand_in(tmp_path / "in", ada=WRONG, bob=RIGHT)
    out = graded(source)
    (out / "overrides.csv").write_text(
        "student,exercise,points,comment\n"
        'ada,gym.Square,1.5,"<b>Half</b>, for the idea"\n'
        "bob,gym.Exp,1,\nbob,,,See me\n"
    )
    for _ in range(2):
        graded(source, "--regrade")
        found = {r["student"]: r for r in table(out / "gradebook.csv")}
        assert (found["ada"]["points"], found["bob"]["points"]) == ("1.5", "3.0")
        assert found["bob"]["comments"] == "See me"
        assert [r["comment"] for r in rows(out)] == [
            "<b>Half</b>, for the idea",
            "",
            "",
        ]
        ada, bob = [
            (out / "students" / pages.file_of(name)).read_text()
            for name in ("ada", "bob")
        ]
        assert "wrong, 1.5 of 2 points" in plain(ada)
        assert "<b>Half</b>, for the idea (points changed)" in plain(ada)
        assert "<b>Half" not in ada
        assert "Your instructor: See me" in plain(bob)
        assert "gym.Exp" in bob
        assert "ada gym.Square changed" in plain((out / "class.html").read_text())
    # Without the file all is as it was judged.
    (out / "overrides.csv").unlink()
    graded(source)
    assert [r["points"] for r in rows(out)] == ["0.0", "2.0"]


@pytest.mark.usefixtures("judge")
def test_results_of_another_judge_are_called_old_and_graded_again_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = hand_in(tmp_path / "in", ada=RIGHT, bob=WRONG)
    out = graded(source)
    assert "old" not in capsys.readouterr().err
    kept = (out / "results.jsonl").read_text()
    monkeypatch.setattr(stamps, "judge", lambda: "another")
    stamps.of.cache_clear()
    try:
        graded(source)
        assert "0 graded, 2 were graded" in (said := capsys.readouterr().err)
        assert "2 results (gym.Square) are old: the judge has changed since." in said
        assert "are old" in plain((out / "class.html").read_text())
        before = command.grade_here

        def stricter(work: Work, *how: Any) -> Result:
            return dataclasses.replace(before(work, *how), points=0.5)

        monkeypatch.setattr(command, "grade_here", stricter)
        graded(source, "--regrade")
        said = capsys.readouterr().err
        assert "2 graded, 0 were graded" in said
        assert "old" not in said
        assert [r["points"] for r in rows(out)] == ["0.5", "0.5"]
        assert (out / "results.jsonl").read_text().startswith(kept)
        graded(source, "--regrade")
        assert "0 graded, 2 were graded" in capsys.readouterr().err
    finally:
        stamps.of.cache_clear()


def test_a_change_of_one_exercise_makes_only_its_results_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made_by(exercise: str) -> str:
        return stamps.of(exercise)

    before = {name: made_by(name) for name in ("01.1", "gym.Exp", "gym.Square")}
    files = stamps.files_of

    def touched(exercise: str) -> list[Path]:
        return files(exercise)[:1] if exercise == "01.1" else files(exercise)

    assert len(files("01.1")) == 2
    judge = stamps.judge()
    monkeypatch.setattr(stamps, "judge", lambda: judge)
    monkeypatch.setattr(stamps, "files_of", touched)
    stamps.of.cache_clear()
    try:
        assert {n for n, was in before.items() if made_by(n) != was} == {"01.1"}
    finally:
        monkeypatch.undo()
        stamps.of.cache_clear()


def test_results_of_before_stamps_can_be_read_and_are_old(tmp_path: Path) -> None:
    one = Result("ada", "01.4", "0", "a.py", "01.4 Mul", "solved", 4.0, 4)
    line = {k: v for k, v in vars(one).items() if k != "judged_by"}
    (tmp_path / "results.jsonl").write_text(json.dumps(line) + "\n")
    (found,) = results.read(tmp_path)
    assert found == one
    assert results.is_old(found)
    assert not results.is_old(dataclasses.replace(one, judged_by=stamps.of("01.4")))


WRONG_TABLES = {
    "ada,1.4,2,": "overrides.csv, line 2: there is no exercise '1.4'",
    "ada,01.4,9,": "overrides.csv, line 2: '9' are no points for 01.4: it has 4",
    "ada,01.4,two,": "'two' are no points for 01.4: it has 4",
    "ada,,2,": "overrides.csv, line 2: points for no exercise",
    ",01.4,2,": "overrides.csv, line 2: no student",
    "ada,01.4,,": "overrides.csv, line 2: neither points nor a comment",
    "eve,gym.Square,2,": "overrides.csv, line 2: nobody is called 'eve'",
    "ada,01.4,2,a,b": "overrides.csv, line 2: 5 cells under 4 headings",
    "ada,01.4,2,\nada,01.4,3,": "line 3: ada has another line for 01.4",
}


@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize("line", WRONG_TABLES)
def test_wrong_overrides_change_nothing_and_are_named(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = hand_in(tmp_path / "in", ada=RIGHT)
    out = graded(source)
    before = {path: path.read_bytes() for path in out.rglob("*.*") if path.is_file()}
    (out / "overrides.csv").write_text(
        "student,exercise,points,comment\n" + line + "\n"
    )
    capsys.readouterr()
    assert command.main([str(source), "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert WRONG_TABLES[line] in said
    assert "fix: " in said
    assert {path: path.read_bytes() for path in before} == before


def rosters() -> dict[str, tuple[bytes, str]]:
    return {
        "no id": (b"name,age\nAda,3\n", "no column is called id or"),
        "no name": (b"id\n3\n", "no column is called name or"),
        "twice": (b"id,name\n3,Ada\n3,Bob\n", "line 3: the id 3 stands in line 2, too"),
        "nobody": (b"id,name\n", "there is no student in it"),
        "without": (b"id,name\n,Ada\n", "line 2: Ada has no id"),
        "latin": (b"id,name\n3,Ad\xe4\n", "line 2: byte 0xe4 is no UTF-8"),
    }


@pytest.mark.parametrize("kind", rosters())
def test_a_wrong_roster_is_refused_by_its_line(kind: str, tmp_path: Path) -> None:
    data, words = rosters()[kind]
    path = tmp_path / "students.csv"
    path.write_bytes(data)
    with pytest.raises(TableError, match=words):
        roster.read(path)


def test_a_folder_that_two_can_be_meant_by_is_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "students.csv"
    path.write_text("id,name\n3,Ada\n4,Ada\n")
    class_ = roster.read(path)
    assert class_.of(["3"]) == {"3": class_.members[0]}
    with pytest.raises(
        TableError, match="line 3: 'ada' can be 3 and 4: both are called Ada"
    ):
        class_.of(["ada"])
    assert class_.of(["zoe"]) == {}


def test_a_roster_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TableError, match="can't be read"):
        roster.read(Path("/nowhere/students.csv"))
