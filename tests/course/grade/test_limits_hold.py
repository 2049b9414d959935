"""What a submission may take, whatever it calls itself and whenever it takes it."""

import errno
import itertools
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from minigrad.course.grade import cgroups, examiner, resource_usage
from minigrad.course.grade.cgroups import VERSION_1, VERSION_2, Place, places
from minigrad.course.grade.examiner import Result, Work, grade
from minigrad.course.grade.quotas import Limits
from minigrad.course.grade.resource_usage import Consumption, Watch
from minigrad.course.grade.sandbox import Box, BoxError
from tests.course.grade.attacks import RIGHT, inside

MEGABYTES = 300
LIMITS = replace(Limits(), memory=MEGABYTES * 10**6, seconds=8.0)


@pytest.fixture(params=["bubblewrap", "landlock"])
def either(request: pytest.FixtureRequest) -> Box:
    """The one box and the other."""
    names = {"bubblewrap": "box", "landlock": "landlocked"}
    found: Box = request.getfixturevalue(names[request.param])
    return found


@pytest.fixture(params=["kernel", "looking"])
def counting(
    request: pytest.FixtureRequest, either: Box, monkeypatch: pytest.MonkeyPatch
) -> Box:
    """A box whose memory the kernel counts, and one that is looked at from outside."""
    if request.param == "looking":
        monkeypatch.setattr(either, "groups", None)
    elif either.groups is None:
        pytest.skip("this kernel, or this user, has no control groups for memory")
    else:
        # So that nothing but the kernel could say it.
        monkeypatch.setattr(resource_usage, "memory_of", lambda status: 0)
    return either


def graded(box: Box, *cells: str, exercise: str = "gym.Square") -> Result:
    return grade(Work("eve", exercise, "0", "a.py", cells), box, b"", LIMITS)


def named(name: bytes, hold: str = "") -> str:
    """A process that calls itself so, and then holds what it may not."""
    return f"""
import ctypes, time
ctypes.CDLL(None).prctl(15, {name!r}, 0, 0, 0)
{hold}
"""


HELD = f"kept = bytearray(b'x') * {2 * MEGABYTES * 10**6}; time.sleep(3)"
NAMES = [b"VmRSS: x", b"VmRSS: 1 VmSwap", b"VmRSS:\t1\nVmSwap:", b"\xff\xfe) R 1 ("]


@pytest.mark.parametrize("name", NAMES)
def test_a_process_may_call_itself_what_it_likes(name: bytes, either: Box) -> None:
    result = graded(either, named(name), RIGHT)
    assert (result.state, result.points) == ("solved", 2), result


@pytest.mark.parametrize("name", NAMES)
def test_no_name_hides_memory(name: bytes, counting: Box) -> None:
    result = graded(counting, named(name, HELD), RIGHT)
    assert f"more than {MEGABYTES} MB of memory" in result.note, result
    assert result.points == 0


SHORT_QUESTIONS = """
import minigrad as mg
class Scaled(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        Scaled.kept = bytearray(b'x') * SIZE
        ctx.factor = factor
        return x * factor
    @staticmethod
    def backward(ctx, g): return g * ctx.factor, None
""".replace("SIZE", "{}")


def test_memory_is_watched_across_short_questions(counting: Box) -> None:
    # Each question is answered long before the next look is due.
    much = SHORT_QUESTIONS.format(2 * MEGABYTES * 10**6)
    result = graded(counting, much, exercise="01.3")
    assert f"more than {MEGABYTES} MB of memory" in result.note, result
    little = graded(counting, SHORT_QUESTIONS.format(1000), exercise="01.3")
    assert "memory" not in little.note


def test_memory_is_watched_while_it_is_judged(
    counting: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A thread takes it after the last answer, while the judge thinks for a second.
    late = """
import threading, time
def take():
    time.sleep(0.5)
    globals()["kept"] = bytearray(b'x') * SIZE
FIRST
""".replace("SIZE", str(2 * MEGABYTES * 10**6))
    start = "threading.Thread(target=take, daemon=True).start()"
    honest = examiner._Grading.judge

    def slow(self: examiner._Grading, *given: object) -> object:
        time.sleep(1.5)
        return honest(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(examiner._Grading, "judge", slow)
    result = graded(counting, late.replace("FIRST", start), RIGHT)
    assert f"more than {MEGABYTES} MB of memory" in result.note, result
    assert graded(counting, late.replace("FIRST", ""), RIGHT).points == 2


TWO_PARTS = """
import minigrad as mg, time
class Tanh(mg.autograd.Function):
    @classmethod
    def rest(cls):
        if "rested" not in vars(cls):
            cls.rested = True
            time.sleep(PAUSE)
class TanhFromInput(Tanh):
    @staticmethod
    def forward(ctx, x):
        TanhFromInput.rest()
        ctx.save_for_backward(x)
        return x.tanh()
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 - x.tanh() ** 2)
class TanhFromOutput(Tanh):
    @staticmethod
    def forward(ctx, x):
        TanhFromOutput.rest()
        y = x.tanh()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y ** 2)
extra_bytes = lambda *arguments: 0
"""


def test_all_parts_of_an_exercise_share_its_seconds(either: Box) -> None:
    # Each part alone takes less than the exercise may. It runs twice, in boxes with
    # and without rules.
    limits = replace(LIMITS, seconds=4.0)

    def note(pause: float) -> str:
        cell = TWO_PARTS.replace("PAUSE", str(pause))
        work = Work("eve", "02.5", "0", "a.py", (cell,))
        return grade(work, either, b"", limits).note

    assert "TanhFromOutput.forward was still running when the 4 seconds" in note(1.5)
    assert "running" not in note(0.0)


def test_threads_count_like_processes(either: Box) -> None:
    # The kernel itself bounds them for everybody but root.
    many = """
import threading, time
for _ in range(200):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
time.sleep(1)
"""
    result = graded(either, many, RIGHT)
    ended = "more than 48 processes and threads" in result.note
    assert ended or result.state == "solved", result
    assert ended == (either.mode == "landlock" and os.geteuid() == 0)
    assert graded(either, many.replace("200", "20"), RIGHT).points == 2


def test_a_worker_has_one_session_and_no_second(either: Box) -> None:
    # The kernel shares out its time by sessions.
    line = "assert (os.getsid(0), os.getpid()) == (os.getpid(), os.getsid(0)), 'own'"
    assert graded(either, "import os", line, RIGHT).points == 2
    second = inside("forward", "import os", "os.fork() or os.setsid()")
    result = graded(either, second)
    assert "not permitted" in str(result.rows) or "ended before" in result.note


class Looked:
    """A worker of which only the looks are counted."""

    def __init__(self, keeper: int, says: str = "") -> None:
        self.keeper, self.says = keeper, says
        self.looks: list[Consumption] = []

    def look_at(self, taken: Consumption) -> None:
        self.looks.append(taken)
        if self.says:
            raise ValueError(self.says)


def until(what: Callable[[], object]) -> None:
    end = time.monotonic() + 5
    while not what() and time.monotonic() < end:
        time.sleep(0.01)


def test_a_watch_looks_as_long_as_anybody_is_there() -> None:
    watch, worker = Watch(), Looked(os.getpid())
    watch.add(worker)
    until(lambda: len(worker.looks) > 2)
    watch.remove(worker)
    until(lambda: not watch._is_running)
    seen = len(worker.looks)
    assert seen > 2
    assert worker.looks[0].processes >= 1
    watch.add(worker)
    until(lambda: len(worker.looks) > seen)
    watch.remove(worker)
    assert len(worker.looks) > seen
    assert watch.failure == ""


def test_nobody_is_graded_by_a_watch_that_has_failed(box: Box) -> None:
    own = Box(box.mode, box.limits)
    try:
        work = Work("ada", "gym.Square", "0", "a.py", (RIGHT,))
        assert grade(work, own, b"").points == 2
        broken = Looked(os.getpid(), "no such number")
        own.watch.add(broken)
        until(lambda: own.watch.failure)
        with pytest.raises(BoxError, match=r"nobody counts memory.*no such number"):
            grade(work, own, b"")
    finally:
        own.close()


def test_a_family_is_counted_with_all_its_descendants() -> None:
    number = os.fork()
    if number == 0:
        if os.fork() == 0:
            time.sleep(60)
        time.sleep(60)
    try:
        until(lambda: resource_usage.consumption(number).processes == 2)
        taken = resource_usage.consumption(number)
        assert taken.processes == 2
        assert taken.memory > 10**5
    finally:
        for child in [n for n, p in resource_usage.parents().items() if p == number]:
            os.kill(child, 9)
        os.kill(number, 9)
        os.waitpid(number, 0)
    assert resource_usage.consumption(number) == (1, 0, 0)


MOUNTS = """\
31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
"""
OWN = "8:pids:/\n4:memory:/a/b\n0::/user.slice/c.scope\n"


def test_control_groups_are_looked_for_where_they_are_mounted() -> None:
    top = Path("/sys/fs/cgroup")
    assert list(places(MOUNTS, OWN)) == [
        Place(VERSION_2, top / "unified/user.slice/c.scope"),
        Place(VERSION_2, top / "unified/user.slice"),
        Place(VERSION_1, top / "memory/a/b"),
        Place(VERSION_1, top / "memory/a"),
    ]
    assert list(places(MOUNTS.splitlines()[0], OWN)) == []


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that fills new folders with the files of version 2, as a kernel does."""
    honest = Path.mkdir

    def mkdir(self: Path, *more: object) -> None:
        honest(self)
        for name in ("memory.max", "memory.swap.max", "cgroup.procs", "cgroup.kill"):
            (self / name).write_text("max\n")
        (self / "memory.events").write_text("oom 0\noom_kill 0\n")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    yield tmp_path
    monkeypatch.undo()


def test_a_group_of_version_2_has_a_limit_and_tells_when_it_was_met(
    kernel: Path,
) -> None:
    group = Place(VERSION_2, kernel).group(12345)
    group.add(77)
    said = {p.name: p.read_text().strip() for p in group.folder.iterdir()}
    assert said["memory.max"].startswith("12345")
    assert said["memory.swap.max"].startswith("0")
    assert said["cgroup.procs"] == "77"
    assert not group.was_exceeded()
    (group.folder / "memory.events").write_text("oom 3\noom_kill 2\n")
    assert group.was_exceeded()


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ENODEV])
def test_a_group_that_was_removed_was_not_exceeded(
    number: int, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = Place(VERSION_2, kernel).group(1)

    def gone(self: Path, *_: object) -> str:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "read_text", gone)
    assert not group.was_exceeded()
    number = errno.EIO
    with pytest.raises(OSError, match="Input/output"):
        group.was_exceeded()


def test_a_plain_folder_is_no_place_for_groups(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"memory\.max"):
        Place(VERSION_2, tmp_path).group(1)
    assert list(tmp_path.iterdir()) == []


def test_groups_of_graders_that_were_killed_are_removed(tmp_path: Path) -> None:
    gone = next(n for n in itertools.count(10**7) if not Path(f"/proc/{n}").exists())
    for process in (gone, os.getpid()):
        (tmp_path / f"minigrad-grade-{process}-1").mkdir()
    cgroups.remove_those_left_behind(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [f"minigrad-grade-{os.getpid()}-1"]


def test_no_group_is_left_of_a_worker(either: Box) -> None:
    if either.groups is None:
        pytest.skip("this kernel, or this user, has no control groups for memory")
    folder, own = either.groups.folder, f"minigrad-grade-{os.getpid()}-*"
    assert graded(either, inside("forward", "x + 1")).points == 0
    assert list(folder.glob(own)) == []
