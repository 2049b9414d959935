"""A class is graded: from any packing, in parts, stopped and gone on with."""

import concurrent.futures
import csv
import json
import os
import pickle
import re
import signal
import stat
import subprocess
import sys
import time
import unicodedata
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from minigrad.course.grade import command, pages, results, submissions
from minigrad.course.grade.examiner import Result, Work
from minigrad.course.grade.results import BusyError, Ledger
from minigrad.course.grade.sandbox import Box, BoxError

RIGHT = """
import minigrad as mg
from minigrad.course import check

class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x

check("gym.Square", Square)
"""
WRONG = RIGHT.replace("* 2 * x", "* 3 * x")
HOSTILE_NAME = "=HYPERLINK(1)<script>alert(1)</script>"


def hand_in(folder: Path, **sources: str) -> Path:
    for student, source in sources.items():
        path = folder / student / "answer.py"
        path.parent.mkdir(parents=True)
        path.write_text(source)
    return folder


def rows(out: Path) -> list[dict[str, str]]:
    with (out / "results.csv").open() as file:
        return list(csv.DictReader(file))


def told(out: Path) -> list[tuple[object, ...]]:
    """What the results say, apart from how long it took."""
    found = [replace(r, seconds=0.0) for r in results.read(out)]
    return sorted(tuple(vars(r).values()) for r in found)


@pytest.fixture
def no_new_box(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command uses the box of the other tests, which is warm."""
    monkeypatch.setattr(command, "grade_here", lambda work, *how: grade_in(box, work))


def grade_in(box: Box, work: Work) -> Result:
    return command.grade(work, box, b"secret")


@pytest.mark.usefixtures("no_new_box")
def test_a_folder_becomes_lines_a_table_and_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = hand_in(
        tmp_path / "in", ada=RIGHT, **{HOSTILE_NAME.replace("/", "|"): WRONG}
    )
    out = tmp_path / "out"
    assert command.main([str(source), "--out", str(out)]) == 0
    assert [(r["state"], r["points"]) for r in rows(out)] == [
        ("wrong", "0.0"),
        ("solved", "2.0"),
    ]
    assert rows(out)[0]["student"].startswith("'=HYPERLINK")
    whole = (out / "class.html").read_text()
    pages_of_students = [p.read_text() for p in (out / "students").iterdir()]
    for page in (whole, *pages_of_students):
        assert "<script" not in page
        assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
    assert any("Ada" not in page and "3" in page for page in pages_of_students)
    assert stat.S_IMODE((out / "secret.key").stat().st_mode) == 0o600
    # A second run has nothing to do.
    before = (out / "results.jsonl").read_bytes()
    assert command.main([str(source), "--out", str(out)]) == 0
    assert (out / "results.jsonl").read_bytes() == before
    assert "0 graded, 2 were graded before" in capsys.readouterr().err


@pytest.mark.usefixtures("no_new_box")
def test_a_new_version_is_graded_and_the_better_one_counts(tmp_path: Path) -> None:
    source, out = hand_in(tmp_path / "in", ada=RIGHT), tmp_path / "out"
    command.main([str(source), "--out", str(out)])
    (source / "ada" / "answer.py").write_text(WRONG)
    command.main([str(source), "--out", str(out)])
    assert len(list(results.read(out))) == 2
    assert [r["points"] for r in rows(out)] == ["2.0"]


@pytest.mark.usefixtures("no_new_box")
def test_four_parts_make_the_same_as_one_run(tmp_path: Path) -> None:
    students = {f"s{n}": RIGHT + f"# {n}" if n % 2 else WRONG for n in range(4)}
    source = hand_in(tmp_path / "in", **students)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    command.main([str(source), "--out", str(whole)])
    sizes = []
    for number in range(1, 5):
        shard = ["--shard", f"{number}/4"]
        command.main([str(source), "--out", str(parts), *shard])
        file = parts / results.ledger_name((number, 4))
        sizes.append(len(file.read_text().splitlines()))
    assert sum(sizes) == 4
    assert max(sizes) < 4
    command.main([str(source), "--out", str(parts)])
    assert told(parts) == told(whole)
    assert (parts / "results.csv").read_text() == (whole / "results.csv").read_text()


def test_a_grader_that_is_killed_twice_loses_nothing_and_doubles_nothing(
    tmp_path: Path, box: Box
) -> None:
    answers = {f"s{n:02}": (RIGHT, WRONG)[n % 5 == 0] + f"# {n}" for n in range(50)}
    source, out = hand_in(tmp_path / "in", **answers), tmp_path / "out"
    line = [sys.executable, "-m", "minigrad", "grade", str(source), "--out", str(out)]
    ledger = out / "results.jsonl"
    kept = b""
    for enough in (2, 20):
        run = subprocess.Popen(line, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 200
        while time.monotonic() < until and not (
            ledger.exists() and ledger.read_bytes().count(b"\n") >= enough
        ):
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGKILL)
        run.wait(10)
        found = ledger.read_bytes()
        assert found.startswith(kept)
        kept = found[: found.rindex(b"\n") + 1]
        assert enough <= kept.count(b"\n") < 50
        with ledger.open("ab") as file:
            file.write(b'{"student": "torn')
    done = subprocess.run(line, capture_output=True, timeout=200, text=True)
    assert done.returncode == 0, done.stderr
    assert ledger.read_bytes().startswith(kept)
    lines = ledger.read_text().splitlines()
    points = [(r["student"], r["points"]) for r in map(json.loads, lines)]
    assert sorted(points) == [(f"s{n:02}", 2.0 * (n % 5 != 0)) for n in range(50)]


def test_a_bar_says_how_many_files_are_begun() -> None:
    progress = command.Progress(4)
    assert progress.line(0, 0.0, "").startswith("[....................] 0 of 4 files")
    progress.begun = 3
    said = progress.line(12, 6.0, "ada\x1b[2J" + "y" * 99)
    assert said.startswith(
        "[###############.....] 3 of 4 files, 12 graded, 2.0 a second, ada?[2Jyyy"
    )
    assert len(said) == 78
    nothing = command.Progress(0)
    assert "0 of 0 files" in nothing.line(0, 1.0, "")


@pytest.mark.parametrize(
    ("source", "out", "words"),
    [
        ("missing", "out", "there is no .*missing\\n  fix: name the folder"),
        ("essay.txt", "out", "is neither a folder nor a zip"),
        ("torn.zip", "out", "is a broken zip .*magic.*\\n  fix: fetch it again"),
        ("in", "out", "no notebook .* and no program .* in .*/in\\n  fix: put what"),
        ("right", "essay.txt", "cannot be a folder for results .*\\n  fix: choose"),
    ],
)
def test_a_path_that_leads_to_nothing_is_said_before_anything_is_made(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    source: str,
    out: str,
    words: str,
) -> None:
    (tmp_path / "in" / "ada").mkdir(parents=True)
    (tmp_path / "essay.txt").write_text("hello")
    (tmp_path / "in" / "ada" / "essay.txt").write_text("hello")
    hand_in(tmp_path / "right", ada=RIGHT)
    with zipfile.ZipFile(tmp_path / "torn.zip", "w") as made:
        made.writestr("ada/answer.py", RIGHT)
    data = (tmp_path / "torn.zip").read_bytes().replace(b"PK\1\2", b"torn")
    (tmp_path / "torn.zip").write_bytes(data)
    line = [str(tmp_path / source), "--out", str(tmp_path / out)]
    assert command.main(line) == 2
    assert re.search(words, capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", ["--jobs 0", "--seconds 0", "--seconds long"])
def test_limits_that_would_grade_nobody_are_refused(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.parser().parse_args(["in", "--out", "out", *words.split()])
    assert "is no number from 1 on" in capsys.readouterr().err


@pytest.mark.usefixtures("no_new_box")
def test_who_cannot_be_graded_at_all_is_named_on_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = hand_in(tmp_path / "in", ada=RIGHT, bob="print('my homework')")
    (source / "<i>zoe" / "drafts").mkdir(parents=True)
    (source / ".git").mkdir()
    out = source / "results"
    assert command.main([str(source), "--out", str(out)]) == 0
    page = (out / "class.html").read_text()
    found = re.findall(
        r'<bdi>(.*?)</bdi></th><td class="file">(.*?)</td><td></td><td>(.*?)<', page
    )
    assert found == [
        ("bob", "answer.py", "Nothing in it says which exercises it answers."),
        ("&lt;i&gt;zoe", "", "There is no notebook and no program in the folder."),
    ]
    assert "2 things could not be graded at all" in capsys.readouterr().err
    assert [(r["student"], r["state"], r["trouble"]) for r in rows(out)] == [
        ("ada", "solved", ""),
        ("bob", "could not be graded", found[0][2]),
        ("<i>zoe", "could not be graded", found[1][2]),
    ]


def test_a_zip_of_the_folder_itself_has_the_same_students(tmp_path: Path) -> None:
    names = ["ada/01_a.py", "ada/deep/02_b.py", "bob/01_a.py"]
    for top, place in (("", "inner.zip"), ("class/", "outer.zip")):
        with zipfile.ZipFile(tmp_path / place, "w") as made:
            for name in [*names, "__MACOSX/class/._x.py", "zoe/essay.txt"]:
                made.writestr(name if name[:2] == "__" else top + name, RIGHT)
            made.mkdir(f"{top}eve")
        found = [(s.student, s.file) for s in submissions.find(tmp_path / place)]
        assert found == [
            ("ada", "01_a.py"),
            ("ada", "deep/02_b.py"),
            ("bob", "01_a.py"),
        ]
        files = submissions.find(tmp_path / place)
        assert submissions.without_files(tmp_path / place, files) == ["eve", "zoe"]


def test_two_graders_do_not_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with Ledger(path), pytest.raises(BusyError, match="another grader"):
        Ledger(path)


def worked_off(
    works: list[list[Work]],
    executor: concurrent.futures.Executor,
    ledger: Ledger,
    seconds: float = 100.0,
) -> int:
    how = ("bubblewrap", command.Limits(), b"")
    told = command.Progress(len(works)), command.Budget(seconds)
    return command.work_off(iter(works), executor, 1, ledger, how, *told)


def test_a_grading_whose_own_process_dies_is_begun_again(tmp_path: Path) -> None:
    deaths = []

    class Fragile(concurrent.futures.ThreadPoolExecutor):
        def submit(self, function, /, work, *how):
            def once(*_: object) -> Result:
                if work.student == "b" and not deaths:
                    deaths.append(1)
                    raise RuntimeError("the worker of the cluster is gone")
                return Result(*work.key, "f", "h", "solved", 1, 1)

            return super().submit(once)

    works = [[Work(s, "gym.Square", "0", "f", ())] for s in "abc"]
    with Ledger(tmp_path / "results.jsonl") as ledger, Fragile(1) as executor:
        assert worked_off(works, executor, ledger) == 3
    assert deaths
    assert sorted(r.student for r in results.read(tmp_path)) == ["a", "b", "c"]


def test_what_every_submission_could_read_is_not_graded(
    tmp_path: Path, box: Box, capsys: pytest.CaptureFixture[str]
) -> None:
    inside = Path(command.__file__).parent
    code = command.main([str(inside), "--out", str(tmp_path / "out")])
    assert code == 2
    assert "which every submission can read" in capsys.readouterr().err


def test_without_a_box_it_refuses(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command.box, "bubblewrap_works", lambda: False)
    monkeypatch.setattr(command.box.confine, "landlock_version", lambda: 0)
    source = hand_in(tmp_path / "in", ada=RIGHT)
    assert command.main([str(source), "--out", str(tmp_path / "out")]) == 2
    assert "add --unsafe" in capsys.readouterr().err
    assert command.box.best_mode(unsafe=True) == "unsafe"
    with pytest.raises(BoxError):
        command.box.best_mode()


def test_nothing_is_graded_where_right_answers_fail(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    box: Box,
) -> None:
    def broken(work: Work, *how: object) -> Result:
        return Result(*work.key, "f", "h", "crashed", 0, 2, note="no NumPy")

    monkeypatch.setattr(command, "grade_here", broken)
    source, out = hand_in(tmp_path / "in", ada=RIGHT), tmp_path / "out"
    assert command.main([str(source), "--out", str(out)]) == 2
    assert "a right answer is not solved here: no NumPy" in capsys.readouterr().err
    assert list(results.read(out)) == []


@pytest.mark.parametrize(
    ("content", "words"), [(None, "cannot be read"), (b"1234", "has 4 bytes")]
)
def test_a_secret_that_is_none_is_refused(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "seed"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(submissions.SubmissionsError, match=words):
        command.secret_of(path, tmp_path)
    path.write_bytes(bytes(16))
    assert command.secret_of(path, tmp_path) == bytes(16)


def test_a_grading_can_be_handed_to_another_process() -> None:
    work = Work("ada", "gym.Square", "0", "f", (RIGHT,), said=["a"])
    handed = (command.grade_here, work, "bubblewrap", command.Limits(), b"secret")
    assert pickle.loads(pickle.dumps(handed)) == handed


def entry(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


@pytest.mark.parametrize(
    "name",
    ["../ada/x.py", "/etc/x.py", "ada/../../x.py", "C:/x.py", "ada\\..\\x.py",
     "ada/.hidden/x.py", "__MACOSX/ada/x.py", "ada/x.txt", "ada/x.py/"],
)  # fmt: skip
def test_paths_that_lead_out_of_a_zip_are_passed_over(name: str) -> None:
    assert submissions.inside(entry(name)) is None
    assert submissions.inside(entry("ada/x.py")) is not None


def test_a_name_is_the_same_from_every_zip_and_every_folder(tmp_path: Path) -> None:
    archive = tmp_path / "class.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("Zoë/01_said.py", RIGHT)
        made.writestr(unicodedata.normalize("NFD", "Zoë/02_apart.py"), RIGHT)
        # Written as bytes that nothing is said of.
        made.writestr("Zo__/03_unsaid.py", RIGHT)
    archive.write_bytes(archive.read_bytes().replace(b"Zo__", "Zoë".encode()))
    found = [(s.student, s.file) for s in submissions.find(archive)]
    assert sorted(found, key=lambda pair: pair[1]) == [
        ("Zoë", "01_said.py"), ("Zoë", "02_apart.py"), ("Zoë", "03_unsaid.py")
    ]  # fmt: skip
    old = zipfile.ZipInfo("Zoé/x.py")  # in the code page of old Windows
    assert submissions.name_of(old) == "Zoé/x.py"


def test_links_are_passed_over_in_zips_and_folders(tmp_path: Path) -> None:
    archive = tmp_path / "class.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr(entry("eve/answer.py", 0o120777), "/etc/passwd")
        made.writestr(entry("ada/answer.py"), RIGHT)
    assert [s.student for s in submissions.find(archive)] == ["ada"]
    folder = hand_in(tmp_path / "in", ada=RIGHT)
    (folder / "eve").mkdir()
    (folder / "eve" / "answer.py").symlink_to(folder / "ada" / "answer.py")
    (folder / "mallory").symlink_to(folder / "ada")
    assert [s.student for s in submissions.find(folder)] == ["ada"]


def test_folders_as_deep_as_they_can_be_keep_nobody_from_being_graded(
    tmp_path: Path,
) -> None:
    folder = hand_in(tmp_path / "in", ada=RIGHT, eve=RIGHT)
    above = os.open(folder / "eve", os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("a", dir_fd=above)
        below = os.open("a", os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    os.close(above)
    try:
        assert [s.student for s in submissions.find(folder)] == ["ada", "eve"]
    finally:
        subprocess.run(["rm", "-rf", str(folder / "eve")], check=True, timeout=60)


def test_a_broken_file_in_a_zip_is_only_that(tmp_path: Path) -> None:
    archive = tmp_path / "class.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("ada/answer.py", RIGHT)
        made.writestr("eve/01_a.py", RIGHT)
    data = bytearray(archive.read_bytes())
    at = data.find(b"eve/01_a.py") + len("eve/01_a.py")
    data[at : at + 20] = b"\xff" * 20
    archive.write_bytes(data)
    found = {
        w.student: w for s in submissions.find(archive) for w in submissions.works(s)
    }
    assert (found["ada"].trouble, found["ada"].cells) == ("", (RIGHT,))
    assert found["eve"].trouble.startswith(
        "The file cannot be read (error: Error -3 while decompressing data"
    )


def test_names_that_are_no_text_stay_apart_in_the_results(tmp_path: Path) -> None:
    for name in (b"\xfe", b"\xff"):
        folder = os.fsencode(tmp_path / "in") + b"/" + name
        os.makedirs(folder)
        Path(os.fsdecode(folder), "answer.py").write_text(RIGHT)
    works = [w for s in submissions.find(tmp_path / "in") for w in submissions.works(s)]
    with Ledger(tmp_path / "results.jsonl") as ledger:
        for work in works:
            ledger.add(Result(*work.key, "f", "h", "solved", 1, 1))
    found = map(results.key_of, results.read(tmp_path))
    assert set(found) == {work.key for work in works}
    assert len(works) == 2


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "progress.jsonl")
    with pytest.raises(OSError, match="is no file"):
        submissions.reader(tmp_path / "progress.jsonl")(10)


@pytest.mark.parametrize("name", ["\n=1+1", "x;=1+1", "x,\t@a", "\uff1d1+1", ";  -1"])
def test_a_cell_of_the_table_is_no_formula_anywhere(name: str) -> None:
    parts = re.split("[;,]", results.cell(name))
    assert not any(p.strip()[:1] in ("=", "@", "-", "\uff1d") for p in parts)
    assert results.cell("01_where; 2=2/a-b@c.ipynb") == "01_where; 2=2/a-b@c.ipynb"


def test_a_bomb_in_a_zip_is_not_unpacked(tmp_path: Path) -> None:
    archive = tmp_path / "class.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("eve/01_a.py", b"#" * 30_000_000)
    # While the archive is open: one file is read, graded, and then the next.
    found = [w for s in submissions.find(archive) for w in submissions.works(s)]
    assert {w.trouble for w in found} == {"The file has more than 5 MB."}
    assert {w.exercise[:3] for w in found} == {"01."}


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"cells": 3}', "[" * 100_000, "\ufeff{}", '{"cells": [1, null]}'],
)
def test_what_is_no_notebook_is_nobodys_crash(tmp_path: Path, content: str) -> None:
    path = tmp_path / "in" / "eve" / "01_x.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    (submitted,) = submissions.find(tmp_path / "in")
    for work in submissions.works(submitted):
        assert work.trouble or work.cells == ()


def test_identity_and_points_never_come_from_the_notebook(tmp_path: Path) -> None:
    notebook = {
        "metadata": {"student": "ada", "celltoolbar": "x"},
        "cells": [
            {"cell_type": "code", "source": [RIGHT], "metadata": {
                "nbgrader": {"points": 1e9, "grade": True, "locked": False}}},
            {"cell_type": "markdown", "source": "raise SystemExit"},
        ],
    }  # fmt: skip
    path = tmp_path / "in" / "eve" / "x.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(notebook))
    (submitted,) = submissions.find(tmp_path / "in")
    (work,) = submissions.works(submitted)
    assert (work.student, work.exercise, work.cells) == ("eve", "gym.Square", (RIGHT,))


def test_pages_show_the_message_escaped_and_lead_nowhere_else() -> None:
    evil = "\u202e<img src=x onerror=alert(1)>\x1b[2J`<b>`"
    result = Result("../../eve", "01.4", "0", "f", evil, "wrong", 0, 4, ("A03",),
                    evil, ((evil, evil),))  # fmt: skip
    page = pages.of_student(result.student, [result])
    assert "<img" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "&lt;img" in page
    assert "/" not in pages.file_of("../../eve")
    assert pages.file_of("a/b") != pages.file_of("a b")


def test_what_was_chosen_in_a_form_is_read_beside_the_notebook(
    tmp_path: Path, box: Box
) -> None:
    folder = tmp_path / "in" / "ada"
    folder.mkdir(parents=True)
    cell = (
        "from minigrad.course import check, exercise\nexercise('01.2')\ncheck('01.2')"
    )
    source = [{"cell_type": "code", "source": cell}]
    (folder / "01_x.ipynb").write_text(json.dumps({"cells": source}))

    def first_order() -> Work:
        (submitted,) = submissions.find(tmp_path / "in")
        found = {w.exercise: w for w in submissions.works(submitted)}
        return found["01.2"]

    untold = first_order()
    assert grade_in(box, untold).state == "not tried"
    lines = [
        {"at": "", "kind": "answered", "exercise": "01.2", "answer": order}
        for order in (["f"], list("fmbkchajl"))
    ]
    evil = ["[" * 50_000, '{"kind": 1}', json.dumps(lines[0] | {"answer": {"a": {}}})]
    text = "\n".join([*map(json.dumps, lines), *evil])
    (folder / "progress.jsonl").write_text(text)
    told = first_order()
    assert told.sha256 != untold.sha256
    result = grade_in(box, told)
    assert (result.state, result.points) == ("solved", 3)
