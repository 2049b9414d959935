"""A warm process in the box, from which each worker is forked in a few milliseconds.

No submission ever runs in it. For each one it forks a keeper, which waits outside the
worker's namespaces and ends the worker when the judge hangs up.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import time
from typing import Any

from minigrad.course.grade import confine, frames, messages, serialization, worker
from minigrad.course.grade.confine import BUBBLEWRAP, Confinement
from minigrad.course.grade.quotas import Limits


def main(number: int) -> None:
    """Serve the socket of this number, until it is closed."""
    control = socket.socket(fileno=number)
    worker.prepare()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    control.sendall(b"ready")
    while True:
        text, files, _, _ = socket.recv_fds(control, 1 << 16, 3)
        if not text:
            return
        task = json.loads(text)
        if os.fork() == 0:
            try:
                control.close()
                keep(_confinement(task), *files)
            finally:
                os._exit(1)
        for number in files:
            os.close(number)
        # Nothing else may be asked meanwhile: fork and then the next one.
        control.sendall(b"k")


def _confinement(task: dict[str, Any]) -> Confinement:
    limits = Limits(**task.pop("limits"))
    task["readable"] = tuple(task["readable"])
    return Confinement(limits=limits, **task)


def keep(confinement: Confinement, requests: int, replies: int, line: int) -> None:
    """Fork the worker, and end it when ``line`` to the judge is cut."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    isolated = confinement.mode == BUBBLEWRAP
    if isolated:
        confine.leave_namespaces(confinement)
    else:
        confine.adopt_orphans()
    number = os.fork()
    if number == 0:
        try:
            become_worker(confinement, requests, replies)
        finally:
            os._exit(0)
    os.close(requests)
    os.close(replies)
    os.write(line, b".")
    waiting = select.poll()
    waiting.register(line, select.POLLIN | select.POLLHUP)
    while not waiting.poll(20):
        if isolated and os.waitpid(number, os.WNOHANG)[0]:
            # With the first process of a namespace all others have ended.
            os._exit(0)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        (os.kill if isolated else os.killpg)(number, signal.SIGKILL)
    if not isolated:
        end_children()
    os._exit(0)


def end_children() -> None:
    """End every process that comes from this one, and see that it has ended.

    Those whose parent has ended are children of this process.
    """
    until = time.monotonic() + 5
    while time.monotonic() < until:
        for child in confine.children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.002)
        except ChildProcessError:
            return


def become_worker(confinement: Confinement, requests: int, replies: int) -> None:
    """Shut this process in and serve; or say why that cannot be done."""
    try:
        confine.shut_in(confinement, (requests, replies))
    except OSError as error:
        frames.write(replies, *serialization.packed(messages.Ready(str(error))))
        return
    frames.write(replies, *serialization.packed(messages.Ready()))
    worker.serve(requests, replies)
