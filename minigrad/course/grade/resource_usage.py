"""What a submission's processes take, counted ten times a second from outside.

A process chooses its own name, and /proc repeats it in many places. So everything there
is read as bytes and by its format; nothing is searched for.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable
from typing import NamedTuple, Protocol

EVERY = 0.1
"""Seconds from one look to the next."""


class Consumption(NamedTuple):
    """How many processes there are, and what they have and hold together."""

    processes: int
    threads: int
    memory: int


def parent_of(stat: bytes) -> int:
    """The parent of a process, from ``/proc/N/stat``.

    The second field is the name in brackets, whatever is in it; the rest are numbers.

    >>> parent_of(b"7 (a) R 1 (b) S 3 7 7 0")
    3
    """
    return int(stat.rpartition(b")")[2].split()[1])


def memory_of(status: bytes) -> int:
    r"""The bytes in memory or swapped out, from ``/proc/N/status``.

    >>> memory_of(b"Name:\tVmRSS: 1 VmSwap:\nVmRSS:\t   3 kB\nVmSwap:\t 1 kB\n")
    4096
    """
    return 1024 * (number_in(status, b"VmRSS") + number_in(status, b"VmSwap"))


def number_in(status: bytes, name: bytes) -> int:
    r"""The number in one line of ``/proc/N/status``; 0 if there is none.

    A line begins with what it tells; the kernel writes a newline in a name as ``\n``.

    >>> number_in(b"Name:\tThreads: 9\nThreads:\t2\n", b"Threads")
    2
    """
    for line in status.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == name:
            return int(value.split()[0])
    return 0


def parents() -> dict[int, int]:
    """The parent of each process of this machine."""
    found: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            stat = read(f"/proc/{entry}/stat")
            if stat:
                found[int(entry)] = parent_of(stat)
    return found


def read(path: str) -> bytes:
    """A file of /proc; nothing if its process has ended."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""


def consumption(root: int) -> Consumption:
    """How many ``root`` and its descendants are, and what the descendants have."""
    return consumption_of([root])[root]


def consumption_of(roots: Iterable[int]) -> dict[int, Consumption]:
    """The same for several processes, from one look at the machine."""
    children: dict[int, list[int]] = {}
    for child, parent in parents().items():
        children.setdefault(parent, []).append(child)
    found: dict[int, Consumption] = {}
    for root in roots:
        family = [root]
        for member in family:
            family += children.get(member, ())
        told = [read(f"/proc/{number}/status") for number in family[1:]]
        threads = sum(number_in(status, b"Threads") for status in told)
        found[root] = Consumption(len(family), threads, sum(map(memory_of, told)))
    return found


class Watched(Protocol):
    """A worker whose processes descend from ``keeper``."""

    keeper: int

    def look_at(self, taken: Consumption) -> None:
        """End it if that is too much."""


class Watch:
    """One thread that watches all workers of a box, as long as there are any.

    It doesn't depend on questions being asked: a worker is watched while it is judged,
    too. If the thread fails, ``failure`` says why, and nobody is graded any more.
    """

    def __init__(self) -> None:
        self.failure = ""
        self._lock = threading.Lock()
        self._watched: list[Watched] = []
        self._is_running = False

    def add(self, worker: Watched) -> None:
        """Watch it from now on."""
        with self._lock:
            self._watched.append(worker)
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, daemon=True).start()

    def remove(self, worker: Watched) -> None:
        """Watch it no longer."""
        with self._lock, contextlib.suppress(ValueError):
            self._watched.remove(worker)

    def _run(self) -> None:
        try:
            while workers := self._still_there():
                taken = consumption_of([worker.keeper for worker in workers])
                for worker in workers:
                    worker.look_at(taken[worker.keeper])
                time.sleep(EVERY)
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"
            self._is_running = False

    def _still_there(self) -> list[Watched]:
        with self._lock:
            self._is_running = bool(self._watched)
            return list(self._watched)
