"""Control groups: the kernel counts a submission's memory, where it lets us ask it to.

It needs a folder of control groups that this user may write to: root has one, and so
does a user of systemd inside their own session. Everybody else is counted by looking.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_PREFIX = "minigrad-grade-"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Kind:
    """A version of control groups, by the files that bound memory and count kills.

    ``limits`` are written in this order, the first of them is always there.
    """

    name: str
    limits: tuple[tuple[str, str], ...]
    events: str


VERSION_2 = Kind(
    "cgroup v2",
    (("memory.max", "{}"), ("memory.swap.max", "0"), ("memory.oom.group", "1")),
    "memory.events",
)
VERSION_1 = Kind(
    "cgroup v1",
    (("memory.limit_in_bytes", "{}"), ("memory.memsw.limit_in_bytes", "{}")),
    "memory.oom_control",
)


class Group:
    """The control group of one worker, while it lives."""

    def __init__(self, kind: Kind, folder: Path) -> None:
        self.kind, self.folder = kind, folder

    def add(self, process: int) -> None:
        """Count this process, and all that it starts. Raises: OSError."""
        (self.folder / "cgroup.procs").write_text(str(process))

    def was_exceeded(self) -> bool:
        """Whether the kernel has ended a process of it for its memory."""
        try:
            events = (self.folder / self.kind.events).read_text()
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENODEV):
                raise
            return False  # it was removed, with all that was in it
        for line in events.splitlines():
            field, _, value = line.partition(" ")
            if field == "oom_kill":
                return int(value) > 0
        return False

    def remove(self, seconds: float = 5.0) -> None:
        """Take it away as soon as its last process has ended."""
        with contextlib.suppress(OSError):
            (self.folder / "cgroup.kill").write_text("1")
        until = time.monotonic() + seconds
        while self.folder.exists() and time.monotonic() < until:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.005)


@dataclass(frozen=True)
class Place:
    """A folder in which this user may make control groups."""

    kind: Kind
    folder: Path

    def group(self, memory: int) -> Group:
        """A new group that may hold so many bytes. Raises: OSError."""
        folder = self.folder / f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        folder.mkdir()
        try:
            for number, (file, value) in enumerate(self.kind.limits):
                if number == 0 or (folder / file).exists():
                    # Opened for reading, too: in a plain folder it must not be made.
                    with (folder / file).open("r+") as opened:
                        opened.write(value.format(memory))
        except OSError:
            folder.rmdir()
            raise
        return Group(self.kind, folder)


def find() -> Place | None:
    """Where groups can be made on this machine; None if nowhere."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
        own = Path("/proc/self/cgroup").read_text(errors="surrogateescape")
    except OSError:
        return None
    for place in places(mounts, own):
        try:
            place.group(10**9).remove()
        except OSError:
            continue
        remove_those_left_behind(place.folder)
        return place
    return None


def places(mounts: str, own: str) -> Iterator[Place]:
    """Where to try: this process's own group, then the one above it.

    A group of version 2 that has processes can't have groups below it, so there the
    one above is what works.
    """
    for kind, controller in ((VERSION_2, ""), (VERSION_1, "memory")):
        for line in mounts.splitlines():
            before, _, after = line.partition(" - ")
            root, mounted = before.split()[3:5]
            system, _, options = after.split()[:3]
            if system != ("cgroup" if controller else "cgroup2"):
                continue
            if controller and controller not in options.split(","):
                continue
            path = PurePosixPath(path_of(own, controller))
            if not path.is_relative_to(root):
                continue
            inside = path.relative_to(root)
            yield Place(kind, Path(mounted) / inside)
            if inside.parts:
                yield Place(kind, Path(mounted) / inside.parent)


def path_of(own: str, controller: str) -> str:
    """The path of this process's group, from ``/proc/self/cgroup``.

    >>> path_of("4:memory,hugetlb:/a\\n0::/user.slice/b", "memory")
    '/a'
    >>> path_of("4:memory:/a\\n0::/user.slice/b", "")
    '/user.slice/b'
    """
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return ""


def remove_those_left_behind(folder: Path) -> None:
    """Remove the empty groups of graders that were killed."""
    for group in folder.glob(f"{_PREFIX}*"):
        process = group.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path(f"/proc/{process}").exists():
            with contextlib.suppress(OSError):
                group.rmdir()
