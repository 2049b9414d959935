"""Every attack scores nothing, leaves the host alone, and changes no other grade."""

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from minigrad.course.grade import examiner, pages
from minigrad.course.grade import sandbox as boxes
from minigrad.course.grade.confine import LANDLOCK
from minigrad.course.grade.examiner import Result, Work, grade
from minigrad.course.grade.quotas import Limits
from minigrad.course.grade.sandbox import Box, BoxError, Server
from tests.course.grade.attacks import ATTACKS, RIGHT
from tests.course.grade.conftest import Grade, assert_are_left

SECRET = "the marks of the whole class"

SAID = {
    "look for secrets": "found []",
    "new namespaces": "got []",
    "raise the limits": "bounded",
    "read what is the instructor's": "No such file",
    "connect to loopback": "not permitted",
    "memory that no process has mapped": "not permitted",
    "the judge's own rule": "'NoneType' object is not callable",
    "ask the engine": "write the formula",
}
"""What these are told, so that it is known what has stopped them."""

SECONDS = 1.5
"""For an attack; what is honest has the usual time."""


class Host:
    """What an attacker would like to reach: a file, a port, a process, a variable."""

    def __init__(self, folder: Path) -> None:
        self.gradebook = folder / "gradebook"
        self.gradebook.write_text(SECRET)
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.listening.settimeout(0)
        self.port = self.listening.getsockname()[1]
        self.bystander = subprocess.Popen(["sleep", "600"])

    def harmed(self) -> list[str]:
        """What has happened to it."""
        found = []
        if self.gradebook.read_text() != SECRET:
            found.append("the gradebook was written")
        if [p.name for p in self.gradebook.parent.iterdir()] != ["gradebook"]:
            found.append("there is a new file")
        if self.bystander.poll() is not None:
            found.append("a process was killed")
        try:
            self.listening.accept()[0].close()
            found.append("somebody has connected")
        except BlockingIOError:
            pass
        return found

    def close(self) -> None:
        """End the process that was started here."""
        self.bystander.kill()
        self.bystander.wait()
        self.listening.close()


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("host"))
    os.environ["MINIGRAD_CANARY"] = SECRET
    yield host
    del os.environ["MINIGRAD_CANARY"]
    host.close()


def attack(name: str, host: Host) -> str:
    source = ATTACKS[name].replace("CANARY", str(host.gradebook))
    return source.replace("PORT", str(host.port))


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_scores_nothing_and_the_next_one_all(
    name: str, host: Host, graded: Grade, box: Box
) -> None:
    began = time.monotonic()
    # Those that say what has stopped them come to an end by themselves.
    seconds = Limits().seconds if name in SAID else SECONDS
    result: Result = graded("gym.Square", attack(name, host), seconds=seconds)
    lasted = time.monotonic() - began
    assert (result.points, result.state == "solved") == (0, False), result
    assert lasted < 30
    assert len(result.note) < 3000
    page = pages.of_student("eve", [result])
    assert SECRET not in page
    assert "<script" not in page
    if name in SAID:
        assert SAID[name] in dict(result.rows)["what happened"]
    assert host.harmed() == []
    # The same submission with the right answer, and without the attack.
    honest = graded("gym.Square", RIGHT)
    assert (honest.state, honest.points) == ("solved", 2), honest


def test_what_is_asked_is_not_waited_for_either(graded: Grade) -> None:
    # Here the question is longer than a pipe that was made small.
    name = "a pipe that is never read"
    source = ATTACKS[name].replace('"Square"', '"Dropout"')
    result = graded("gym.Dropout", source, seconds=SECONDS)
    assert (result.points, result.state) == (0, "crashed")
    assert "still running" in result.note
    assert graded("gym.Square", RIGHT).points == 2


DOUBLE = """
import minigrad as mg, time
class Double(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        time.sleep(SECONDS)
        return x * 2
    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2
"""


def test_who_keeps_the_judge_busy_takes_no_time_from_others(
    graded: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Busy:
        """Somebody else is judged for longer than one submission may take."""

        def __enter__(self) -> None:
            clock[0] += 100.0

        def __exit__(self, *error: object) -> None:
            return None

    clock = [0.0]
    seconds = time.monotonic
    monkeypatch.setattr(examiner, "_judging", Busy())
    monkeypatch.setattr(examiner.time, "monotonic", lambda: seconds() + clock[0])
    honest = graded("00.2", DOUBLE.replace("SECONDS", "0"))
    assert (honest.state, honest.points) == ("solved", honest.of), honest
    assert graded("00.2", DOUBLE.replace("SECONDS", "60"), seconds=1.5).points == 0


def test_a_box_that_does_not_start_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def closed(self: Server, task: bytes, files: object) -> None:
        raise BoxError("the box has closed")

    monkeypatch.setattr(Server, "_ask", closed)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = os.listdir("/proc/self/fd")
    with pytest.raises(BoxError, match="has closed"):
        Box(LANDLOCK, Limits()).worker()
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_for_the_next_one_to_read(graded: Grade) -> None:
    # It ends its process if it finds what an earlier one has left.
    for _ in range(2):
        result = graded("gym.Square", ATTACKS["a message to the next one"])
        assert result.state == "wrong", result


EVIL_STAND_IN = """
import minigrad as mg
from minigrad.course.grade import messages as say, worker
from minigrad.course.check.facts import Crash, Output
import numpy as np

class Scaled(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor): return x
    @staticmethod
    def backward(ctx, g): return g, None

def forward(self, asked):
    return say.Forwarded(ANSWER)
worker.Desk.forward = forward
"""


@pytest.mark.parametrize(
    "answer",
    [
        "0, outputs=(Output('Tensor', None, True, 10**9),), saved=(10**9, -10**9)",
        "0, kept=('__class__', 'saved_tensors'), kept_places=(0, 1)",
        "0, kept=('a',), kept_places=()",
        "-5, on_class=('apply', 'forward', '__doc__', 'not a name')",
        "0, marked=(0, 7, -3), dirty=(0, 99), materialize_grads=False",
        "0, outputs=(Output('Tensor', np.ones((1,) * 12), True),) * 900, several=True",
        "0, crash=Crash('forward', ('SystemExit', 'KeyboardInterrupt'), '', True)",
        "0, crash=Crash('forward', ('BoxError', 'message', 'exec'), '', True)",
        "0, crash=Crash('forward', ('NotImplementedError',), 'TODO: pay me', True)",
    ],
)
def test_a_stand_in_believes_nothing(answer: str, graded: Grade) -> None:
    result = graded("01.3", EVIL_STAND_IN.replace("ANSWER", answer), seconds=SECONDS)
    assert result.points == 0
    assert result.state != "solved"


def test_nothing_is_left_running(box: Box, graded: Grade) -> None:
    graded("gym.Square", ATTACKS["a child that outlives it"], seconds=SECONDS)
    # Bubblewrap outside and inside, and the fork server.
    assert_are_left(box, 3)


def test_without_bubblewrap_landlock_keeps_the_host_as_it_is(
    landlocked: Box, host: Host
) -> None:
    def grade_there(source: str) -> Result:
        work = Work("eve", "gym.Square", "0", "a.py", (source,))
        return grade(work, landlocked, b"", replace(landlocked.limits, seconds=5.0))

    for name in (
        "read what is the instructor's",
        "write the gradebook",
        "plant a start-up file",
        "look for secrets",
        "connect to loopback",
        "kill everybody",
        "a child that outlives it",
        "the judge's own rule",
        "a memory bomb of many",
    ):
        result = grade_there(attack(name, host))
        assert result.points == 0, (name, result)
        assert host.harmed() == [], name
        if name in SAID and not name.startswith("read"):
            assert SAID[name] in dict(result.rows)["what happened"]
    work = Work("ada", "gym.Square", "0", "a.py", (RIGHT,))
    assert grade(work, landlocked, b"").state == "solved"
    # The bystander is in the family of this process, and not of the box.
    assert_are_left(landlocked, 1)


def test_a_user_without_rights_gets_a_box_too(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Then the box has a namespace of users of its own; nothing else is different.
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert boxes.bubblewrap_works()
    own = Box(boxes.best_mode(), replace(Limits(), seconds=5.0))
    try:
        for name in ("new namespaces", "raise the limits", "a fork bomb"):
            work = Work("eve", "gym.Square", "0", "a.py", (ATTACKS[name],))
            result = grade(work, own, b"")
            assert result.points == 0
            assert SAID.get(name, "") in str(result.rows)
        work = Work("ada", "gym.Square", "0", "a.py", (RIGHT,))
        assert grade(work, own, b"", Limits()).state == "solved"
    finally:
        own.close()
