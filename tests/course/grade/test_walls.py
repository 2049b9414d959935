"""What goes into a box, and what somebody finds who looks around in one."""

import os
import socket
import subprocess
from typing import Any

import pytest

from minigrad.course.grade import frames
from minigrad.course.grade.examiner import Result, Work, grade, number_from
from minigrad.course.grade.sandbox import Box
from tests.course.grade.attacks import RIGHT, inside
from tests.course.grade.conftest import Grade


def test_no_secret_goes_into_the_box(
    box: Box, graded: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone_in: list[bytes] = []
    write, start, send = frames.write, subprocess.Popen, socket.send_fds

    def writing(number: int, header: object, body: bytes, **more: Any) -> None:
        gone_in.extend([str(header).encode(), body])
        write(number, header, body, **more)

    def starting(command: list[str], **more: Any) -> Any:
        gone_in.append(str((command, more["env"])).encode())
        return start(command, **more)

    def sending(line: socket.socket, task: list[bytes], files: list[int]) -> int:
        gone_in.extend(task)
        return send(line, task, files)

    box.close()
    monkeypatch.setattr(frames, "write", writing)
    monkeypatch.setattr(subprocess, "Popen", starting)
    monkeypatch.setattr(socket, "send_fds", sending)
    assert graded("gym.Square", RIGHT).points == 2
    everything = b"\n".join(gone_in)
    cases, opened = [
        number_from(b"secret", name, "gym.Square", "0") for name in ("cases", "open")
    ]
    assert str(opened % 2**32).encode() in everything
    assert str(cases).encode() not in everything
    assert b"secret" not in everything


AROUND = inside(
    "forward",
    "import os, stat, sys",
    "found = []",
    "for number in range(3, 5000):",
    "    try: found.append(stat.S_IFMT(os.fstat(number).st_mode))",
    "    except OSError: pass",
    "kinds = sorted({stat.S_ISFIFO(kind) for kind in found})",
    "raise RuntimeError(f'{len(found)} {kinds} {len(sys.argv)} {os.getppid() > 1}')",
)


def test_a_worker_has_two_pipes_and_nothing_else(graded: Grade) -> None:
    result = graded("gym.Square", AROUND)
    assert "2 [True]" in dict(result.rows)["what happened"]
    assert graded("gym.Square", RIGHT).points == 2


TAKEN = inside(
    "forward",
    "import ctypes, mmap",
    "libc = ctypes.CDLL(None, use_errno=True)",
    "got = [libc.syscall(206, 60000, ctypes.byref(ctypes.c_ulong()))]",
    "got += [libc.inotify_init(), libc.inotify_init1(0)]",
    "try: got.append(mmap.mmap(-1, 1 << 21, flags=0x40000 | mmap.MAP_PRIVATE))",
    "except OSError as error: got.append(-error.errno)",
    "raise RuntimeError(f'got {got}')",
)


def test_what_a_machine_has_few_of_is_not_taken(graded: Grade) -> None:
    number = {"x86_64": "206", "aarch64": "0"}[os.uname().machine]
    taken = TAKEN.replace("206", number)
    result: Result = graded("gym.Square", taken)
    assert "got [-1, -1, -1, -1]" in dict(result.rows)["what happened"]
    assert graded("gym.Square", RIGHT).points == 2


def test_a_student_has_a_result_whatever_the_name(box: Box) -> None:
    for name in ("../../etc", "\udcff\x00\n=1", "<b>", "a" * 5000):
        work = Work(name, "gym.Square", "0", f"{name}.py", (RIGHT,))
        assert grade(work, box, b"secret").points == 2
