"""The box without a file system of its own: what it writes is counted, then gone."""

import ctypes
import os
import stat
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from minigrad.course.grade import scratch
from minigrad.course.grade.examiner import Result, Work, grade
from minigrad.course.grade.sandbox import Box
from tests.course.grade.attacks import RIGHT, inside
from tests.course.grade.conftest import assert_are_left

FILES = {
    "in many files": "open(f'big{n}', 'wb').write(part)",
    "in files that are removed": """f = open(f'big{n}', 'wb'); kept.append(f)
    try: os.unlink(f'big{n}')
    except OSError: pass
    f.write(part)""",
    "in files in no folder": """f = os.open('.', os.O_TMPFILE | os.O_RDWR)
    kept.append(f); os.write(f, part)""",
}

FILL = """
import os
kept, part = [], bytes(10_000_000)
for n in range(6):
    EACH
else:
    kept.append("done")
"""

DONE = RIGHT.replace(
    "ctx.save_for", "assert kept[-1:] != ['done'], 'it took'\n        ctx.save_for"
)


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the folders of submissions are made, which nothing may be left of."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def graded_in(box: Box, *cells: str, seconds: float = 20.0) -> Result:
    limits = replace(box.limits, seconds=seconds)
    return grade(Work("eve", "gym.Square", "0", "a.py", cells), box, b"", limits)


@pytest.mark.parametrize("how", FILES)
def test_no_more_is_written_than_is_said(how: str, landlocked: Box, left: Path) -> None:
    result = graded_in(landlocked, FILL.replace("EACH", FILES[how]), DONE)
    words = f"{result.note} {result.rows}"
    # Without a folder it is refused at once, and that alone costs nobody anything.
    assert "more than 32 MB of files" in words or result.state == "solved"
    assert ("folder" in how) == (result.state == "solved")
    assert list(left.iterdir()) == []
    few = FILL.replace("EACH", "open(f'{n}', 'wb').write(part[:5_000_000])")
    assert graded_in(landlocked, few, RIGHT).points == 2


DEEP = """
import os
for n in range(1200):
    os.mkdir("d"); os.chdir("d")
"""
CLOSED = "import os; os.mkdir('a'); open('a/b', 'w').write('x'); os.chmod('a', 0)"


@pytest.mark.parametrize("attack", [DEEP, CLOSED])
def test_no_folder_is_too_deep_or_too_closed_to_be_removed(
    attack: str, landlocked: Box, left: Path
) -> None:
    result = graded_in(landlocked, attack, RIGHT)
    assert result.state == "solved" or "beyond counting" in result.note
    assert list(left.iterdir()) == []
    assert graded_in(landlocked, RIGHT).points == 2


ORPHANS = """
import os, time
for n in range(30):
    if os.fork() == 0:
        if os.fork() == 0:
            while True: time.sleep(1)
        os._exit(0)
    os.wait()
"""
WRITERS = """
import os
for n in range(4):
    if os.fork() == 0:
        while os.fork() == 0: pass
        while True:
            for k in range(50): open(f"{os.getpid()}.{k}", "w").write("x")
"""


def test_orphans_are_counted_and_ended(landlocked: Box, left: Path) -> None:
    limits = replace(landlocked.limits, processes=20)
    cells = ORPHANS + "time.sleep(60)", RIGHT
    result = grade(Work("eve", "gym.Square", "0", "a.py", cells), landlocked, b"")
    few = grade(Work("eve", "gym.Square", "0", "a.py", cells), landlocked, b"", limits)
    assert result.points == few.points == 0
    assert "20 processes" in few.note or "memory" in few.note
    assert_are_left(landlocked, 1)
    assert graded_in(landlocked, RIGHT).points == 2


def test_nobody_writes_where_it_is_cleared_up(landlocked: Box, left: Path) -> None:
    graded_in(landlocked, WRITERS, seconds=1.0)
    assert list(left.iterdir()) == []
    assert_are_left(landlocked, 1)
    assert graded_in(landlocked, RIGHT).points == 2


REACHES = {
    "rights": "os.chmod('CANARY', 0o777)",
    "an owner": "os.chown('CANARY', os.getuid(), os.getgid())",
    "a date": "os.utime('CANARY', (1, 1))",
    "notes on a file": "os.setxattr('CANARY', 'user.note', b'x')",
    "a process's turn": "os.setpriority(0, PROCESS, 19)",
    "a process's place": "os.sched_setaffinity(PROCESS, [0])",
}


@pytest.mark.parametrize("what", REACHES)
def test_what_landlock_does_not_look_at_is_refused(
    what: str, landlocked: Box, tmp_path: Path
) -> None:
    canary = tmp_path / "gradebook"
    canary.write_text("x")
    line = REACHES[what].replace("CANARY", str(canary))
    line = line.replace("PROCESS", str(os.getpid()))
    before = canary.stat(), os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0)
    result = graded_in(landlocked, inside("forward", "import os", line))
    after = canary.stat(), os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0)
    assert (result.points, after) == (0, before)
    assert "Operation not permitted" in dict(result.rows)["what happened"]
    assert graded_in(landlocked, RIGHT).points == 2


SIGNAL = "; ".join(
    [
        "import os, fcntl",
        "r, w = os.pipe()",
        "fcntl.fcntl(r, fcntl.F_SETOWN, PROCESS)",
        "fcntl.fcntl(r, 10, 9)",  # F_SETSIG: the signal that ends a process
        "fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)",
        "os.write(w, b'x')",
    ]
)


def test_a_pipe_sends_nobody_a_signal(landlocked: Box) -> None:
    with subprocess.Popen(["sleep", "60"]) as bystander:
        line = SIGNAL.replace("PROCESS", str(bystander.pid))
        graded_in(landlocked, line + "\nraise SystemExit", RIGHT)
        assert bystander.poll() is None
        bystander.kill()
    assert graded_in(landlocked, RIGHT).points == 2


def test_memory_that_others_share_stays(landlocked: Box) -> None:
    libc = ctypes.CDLL(None)
    number = libc.shmget(0, 4096, 0o600)
    remove, look = 0, 2
    try:
        line = f"assert ctypes.CDLL(None).shmctl({number}, {remove}, None) < 0, 'gone'"
        result = graded_in(landlocked, inside("forward", "import ctypes", line))
        # It is not refused its answer, which is wrong, but the call.
        assert (result.state, result.points) == ("wrong", 0), result
        assert libc.shmctl(number, look, ctypes.create_string_buffer(512)) == 0
    finally:
        libc.shmctl(number, remove, None)
    assert graded_in(landlocked, RIGHT).points == 2


def test_a_folder_is_removed_whatever_is_in_it(tmp_path: Path) -> None:
    own = tmp_path / "own"
    beside = tmp_path / "beside"
    for folder in (own / "a" / "b" / "c", beside):
        folder.mkdir(parents=True)
    (beside / "kept").write_text("x")
    (own / "a" / "0.up").write_text("x")
    (own / "link").symlink_to(beside)
    (own / "a" / "link").symlink_to(beside)
    mode = stat.S_IMODE(os.stat(beside).st_mode)
    assert scratch.taken(str(own)) > 0
    (own / "a" / "b").chmod(0)
    scratch.remove(str(own))
    assert [p.name for p in tmp_path.iterdir()] == ["beside"]
    assert (beside / "kept").read_text() == "x"
    assert stat.S_IMODE(os.stat(beside).st_mode) == mode
