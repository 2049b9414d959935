"""What boxes have taught those who built some, a test each, mostly seen from inside."""

import html
import os
import threading
from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.course.exercises import catalogue
from minigrad.course.grade import pages
from minigrad.course.grade import sandbox as boxes
from minigrad.course.grade.examiner import Work, grade
from minigrad.course.grade.messages import Observe
from minigrad.course.grade.quotas import Limits
from minigrad.course.grade.sandbox import Box, Worker
from tests.course.grade.attacks import RIGHT, WRONG, before, inside
from tests.course.grade.conftest import Grade
from tests.course.grade.with_known_answers import handed_in, is_as_it_should_be


def found_out(graded: Grade, expression: str, setup: str = "") -> str:
    """What a submission says of the place where it runs."""
    source = before(setup, inside("forward", f"raise RuntimeError({expression})"))
    result = graded("gym.Square", source)
    assert result.points == 0
    return dict(result.rows)["what happened"].removeprefix("RuntimeError: ")


RIGHTS = """
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
def rights():
    head, held = struct.pack("<Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    assert libc.syscall(NUMBER, head, held) == 0
    return sum(held.raw), libc.prctl(39, 0, 0, 0, 0), os.getpid(), os.getgroups()
"""


def test_a_worker_is_nobody_and_has_no_rights(graded: Grade) -> None:
    number = {"x86_64": "125", "aarch64": "90"}[os.uname().machine]
    # No capability, no way to any, the first of its processes, in no group.
    setup = RIGHTS.replace("NUMBER", number)
    assert found_out(graded, "str(rights())", setup) == "(0, 1, 1, [])"
    users = {int(found_out(graded, "str(os.getuid())", "import os")) for _ in "ab"}
    assert len(users) == 2
    assert min(users) > 1_700_000_000


def test_a_worker_has_no_variable_but_ours_and_one_thread_without_numba(
    graded: Grade,
) -> None:
    names = {*boxes.ENVIRONMENT, "PWD"}
    setup = "import os, sys, threading"
    assert found_out(graded, "str(sorted(os.environ))", setup) == str(sorted(names))
    said = "str((threading.active_count(), 'numba' in sys.modules))"
    assert found_out(graded, said, setup) == "(1, False)"
    threads = [v for name, v in boxes.ENVIRONMENT.items() if "THREADS" in name]
    assert threads == ["1"] * 4


def test_no_folder_of_a_box_is_without_a_size_and_its_root_is_read_only() -> None:
    command = boxes.bubblewrap_command(Limits(), Path("/usr/bin/python3"))
    places = [n for n, word in enumerate(command) if word == "--tmpfs"]
    assert len(places) >= 2
    assert {command[n - 2] for n in places} == {"--size"}
    read_only = [b for a, b in pairwise(command) if a == "--remount-ro"]
    assert read_only[-1] == "/"
    own = {command[n + 1] for n in places} - {*read_only}
    assert own == {"/scratch"}


FILLED = """
import os
def filled():
    found = 0
    for place, folder in enumerate("/scratch /tmp / /dev /packages /etc".split()):
        for number in range(100):
            try:
                with open(f"{folder}/{place}-{number}", "wb", buffering=0) as file:
                    for _ in range(15): found += file.write(bytes(1_000_000))
            except OSError: break
    return found
"""


def test_nobody_writes_more_than_a_disk_of_the_box_holds(graded: Grade) -> None:
    written = int(found_out(graded, "str(filled())", FILLED))
    assert 0 < written <= Limits().disk


STARTED = """
import threading, time
def started():
    for number in range(100):
        try: threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
        except RuntimeError: return number
    return number
"""


def test_processes_are_counted_in_the_box_and_not_the_instructors(
    graded: Grade,
) -> None:
    # So many threads the instructor has, each of which counts as a process.
    done = threading.Event()
    own = [threading.Thread(target=done.wait) for _ in range(Limits().processes + 12)]
    for each in own:
        each.start()
    try:
        started = int(found_out(graded, "str(started())", STARTED))
        assert graded("gym.Square", RIGHT).points == 2
    finally:
        done.set()
        for each in own:
            each.join()
    assert 10 < started < Limits().processes


MANY = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        kept = bytearray(os.urandom(1_000_000)) * 200
        time.sleep(60)
time.sleep(60)
"""


def test_the_memory_of_all_processes_together_is_bounded(graded: Grade) -> None:
    result = graded("gym.Square", before(MANY))
    assert (result.points, result.note) == (
        0,
        "Your code broke off: it took more than 1000 MB of memory.",
    )


def test_a_right_answer_may_be_slow(graded: Grade) -> None:
    slow = RIGHT.replace(
        "        return x * x", "        time.sleep(0.02)\n        return x * x"
    )
    result = graded("gym.Square", "import time; time.sleep(1)\n" + slow)
    assert (result.state, result.points) == ("solved", 2)
    assert result.seconds > 1.5


def test_right_values_never_enter_the_box(
    graded: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[object] = []
    ask = Worker.ask

    def noted(self: Worker, message: Any, *more: Any) -> Any:
        sent.append(message)
        return ask(self, message, *more)

    monkeypatch.setattr(Worker, "ask", noted)
    assert graded("gym.Square", RIGHT).points == 2
    arrays = [each for message in sent for each in arrays_in(message)]

    def is_there(wanted: Any) -> bool:
        return any(
            a.shape == wanted.shape and np.allclose(a, wanted, equal_nan=True)
            for a in arrays
        )

    asked = [message for message in sent if isinstance(message, Observe)]
    cases = [case for message in asked for case in message.cases]
    assert len(cases) > 3
    for case in cases:
        x, g = np.asarray(case.inputs[0]), np.asarray(case.upstream)
        assert is_there(x)
        assert is_there(g)
        # Nobody has to find out what 0 or 1 is.
        if np.any(~np.isclose(x, 0) & ~np.isclose(x, 1)):
            assert not is_there(x * x), case.name
            assert not is_there(2 * x * g), case.name


def arrays_in(value: Any) -> Iterator[Any]:
    """Every array anywhere in a message."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from arrays_in(each)
    elif is_dataclass(value):
        yield from arrays_in(list(vars(value).values()))


def test_the_numbers_are_those_of_the_secret_and_of_the_file(box: Box) -> None:
    work = Work("ada", "gym.Square", "0", "a.py", (WRONG,))
    kept, same, elsewhere, again = (
        grade(each, box, secret).rows
        for each, secret in (
            (work, b"secret"),
            (replace(work, student="bob"), b"secret"),
            (work, b"another"),
            (replace(work, sha256="1"), b"secret"),
        )
    )
    assert kept == same
    assert kept != elsewhere
    assert kept != again


@pytest.mark.parametrize("exercise", ["gym.GradientReversal", "gym.BroadcastMul"])
def test_right_answers_of_any_style_get_all_points(
    exercise: str, graded: Grade
) -> None:
    styles = [each for each in handed_in(exercise) if each[0].state == "solved"]
    assert len(styles) > 3
    for answer, cells in styles:
        assert is_as_it_should_be(exercise, answer, graded(exercise, *cells))


def test_messages_are_shown_and_what_checks_is_not(graded: Grade) -> None:
    page = pages.of_student("ada", [graded("gym.Square", WRONG)])
    assert "the gradient" in page
    room = Path(catalogue.__file__).parent / "gym"
    _, checked = (room / "square.toml").read_text(encoding="utf-8").split("[right]")
    lines = {line.strip() for line in checked.splitlines() if len(line.strip()) > 12}
    assert len(lines) > 3
    assert not [line for line in lines if line in html.unescape(page)]
    assert "seed" not in page
