"""The box, from outside: bubblewrap where it works, else Landlock, else nothing."""

from __future__ import annotations

import array
import contextlib
import dataclasses
import itertools
import json
import os
import platform
import shutil
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import minigrad
from minigrad import errors
from minigrad.course.grade import (
    cgroups,
    confine,
    frames,
    messages,
    scratch,
    serialization,
)
from minigrad.course.grade.cgroups import Group
from minigrad.course.grade.confine import BUBBLEWRAP, LANDLOCK, UNSAFE
from minigrad.course.grade.quotas import Limits
from minigrad.course.grade.resource_usage import Consumption, Watch, parents
from minigrad.course.grade.serialization import Message

LOADED = """
import importlib.util, sys
number, with_rules, without, *where = sys.argv[1:]
sys.path += where
name = "minigrad.course.grade.rules"
file = f"{where[0]}/{name.replace('.', '/')}.py"
found = importlib.util.spec_from_file_location(name, file)
rules = sys.modules[name] = importlib.util.module_from_spec(found)
found.loader.exec_module(rules)
rules.load(with_rules=with_rules == "True", without=without.split())
"""
"""The rules come first, and from their file: nothing of minigrad may be there yet."""

_PROGRAM = f"""
{LOADED}
from minigrad.course.grade import fork_server
fork_server.main(int(number))
"""
_START_SECONDS = 60.0
_END_SECONDS = 10.0
_USERS = 1_700_000_000
"""From here on nobody has a number, and each worker takes one of its own."""

ENVIRONMENT = {
    "HOME": confine.OWN,
    "TMPDIR": confine.OWN,
    "LANG": "C.UTF-8",
    "MINIGRAD_JIT": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    **dict.fromkeys(
        [f"{name}_NUM_THREADS" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")], "1"
    ),
}
"""All variables that there are in the box."""


class BoxError(errors.MinigradError, RuntimeError):
    """There is no box that strangers' code could run in, or it does not start."""


class TooMuchError(frames.FrameError):
    """A submission took more than its share of memory or processes."""


def best_mode(unsafe: bool = False) -> str:
    """The safest way that works here. Raises: BoxError without ``unsafe``."""
    if bubblewrap_works():
        return BUBBLEWRAP
    # Before version 6 a process could still send signals to everybody else's.
    if confine.landlock_version() >= 6:
        return LANDLOCK
    if unsafe and hasattr(os, "fork"):
        return UNSAFE
    raise BoxError.at(
        "grade",
        "neither bubblewrap nor Landlock works here, so the code of a submission"
        " could read, change and send whatever you can",
        "on Linux, install bubblewrap (apt-get install bubblewrap); or, for"
        " submissions that you trust like your own code, add --unsafe",
    )


def bubblewrap_works() -> bool:
    """Whether bubblewrap is there, and may make namespaces for this user."""
    program = shutil.which("bwrap")
    if program is None:
        return False
    libraries = [w for path in _libraries() for w in ("--ro-bind", path, path)]
    links = [w for pair in _links() for w in ("--symlink", *pair)]
    test = shutil.which("true") or "/bin/true"
    target = str(Path(test).resolve())
    command = [program, *_namespaces(), *libraries, *links]
    command += ["--ro-bind", target, "/true", "/true"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=30)
    return done.returncode == 0


def _namespaces() -> list[str]:
    names = ("pid", "net", "ipc", "uts")
    words = [f"--unshare-{name}" for name in names]
    if os.geteuid() != 0:
        # Only in a namespace of users of its own may it do what follows.
        words += ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    words += ["--unshare-cgroup-try", "--die-with-parent", "--new-session"]
    words += ["--clearenv", "--hostname", "box", "--cap-drop", "ALL"]
    # Those that the fork server needs to shut its workers in; they lose them all.
    for name in ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "KILL"):
        words += ["--cap-add", f"CAP_{name}"]
    return words


def _libraries() -> list[str]:
    """The folders of the C library, and of the rest that Python is linked to."""
    folders = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", "/lib32")
    there = [Path(folder) for folder in folders]
    return [str(f) for f in there if f.is_dir() and not f.is_symlink()]


def _links() -> list[tuple[str, str]]:
    there = [Path(f) for f in ("/lib", "/lib64", "/lib32", "/bin") if Path(f).exists()]
    return [(os.readlink(f), str(f)) for f in there if f.is_symlink()]


def packages() -> dict[str, Path]:
    """What a worker may import besides the standard library, and where it lies."""
    found = {"minigrad": Path(minigrad.__file__).parent, "numpy": Path(np.__path__[0])}
    beside = found["numpy"].with_name("numpy.libs")
    return found | ({"numpy.libs": beside} if beside.is_dir() else {})


def visible() -> list[Path]:
    """The folders of this machine that can be read in the box."""
    folders = [*_libraries(), str(Path(sys.base_prefix).resolve())]
    return [*map(Path, folders), *packages().values()]


def bubblewrap_command(limits: Limits, python: Path) -> list[str]:
    """How the fork server is started: an empty root, with what it needs, read-only."""
    command = [shutil.which("bwrap") or "bwrap", *_namespaces()]
    bound = [*_libraries(), str(Path(sys.base_prefix).resolve())]
    links = _links()
    inside = [p for p in bound if not any(_is_below(p, q) for q in bound if q != p)]
    for folder in (confine.PACKAGES, "/dev", "/etc", *_parents(inside)):
        command += ["--perms", "0755", "--dir", folder]
    for path in inside:
        command += ["--ro-bind", path, path]
    for target, path in links:
        if not any(_is_below(path, folder) for folder in inside):
            command += ["--symlink", target, path]
    if Path("/etc/ld.so.cache").exists():
        command += ["--ro-bind", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    for path in _hidden():
        if any(_is_below(path, folder) for folder in inside):
            command += ["--perms", "0755", "--size", "4096", "--tmpfs", path]
    size = str(limits.disk)
    command += ["--perms", "0755", "--size", size, "--tmpfs", confine.OWN]
    if not any(_is_below(path, "/tmp") for path in inside):
        command += ["--symlink", confine.OWN.lstrip("/"), "/tmp"]
    for name, place in packages().items():
        command += ["--ro-bind", str(place), f"{confine.PACKAGES}/{name}"]
    # The references of the exercises are not one import away: of their room there is
    # what reads them, and nothing to be read.
    exercises = f"{confine.PACKAGES}/minigrad/course/exercises"
    command += ["--perms", "0755", "--size", "4096", "--tmpfs", exercises]
    room = packages()["minigrad"] / "course" / "exercises"
    for name in ("__init__.py", "catalogue.py"):
        command += ["--ro-bind", str(room / name), f"{exercises}/{name}"]
    for device in ("null", "zero", "urandom", "random"):
        command += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    for name, value in ENVIRONMENT.items():
        command += ["--setenv", name, value]
    for path in [exercises, *_hidden()]:
        if path == exercises or any(_is_below(path, folder) for folder in inside):
            command += ["--remount-ro", path]
    return [*command, "--remount-ro", "/", "--chdir", confine.OWN, str(python)]


def _readable() -> list[str]:
    """What Landlock lets a worker read: minigrad itself it has imported before."""
    paths = [*map(Path, _libraries()), *_standard_library(), Path("/etc/ld.so.cache")]
    paths += [path for name, path in packages().items() if name != "minigrad"]
    return list(map(str, paths))


def _standard_library() -> list[Path]:
    """The folders of Python itself, without those of other packages."""
    hidden = {Path(path) for path in _hidden()}
    folder = Path(sysconfig.get_paths(vars={"base": sys.base_prefix})["stdlib"])
    parts = [p for p in folder.resolve().iterdir() if p not in hidden]
    # The interpreter is running already; what it is linked to may be loaded later.
    return [*parts, *folder.resolve().parent.glob("libpython*")]


def _hidden() -> list[str]:
    """Folders with packages of this machine, which are not for submissions."""
    paths = sysconfig.get_paths(vars={"base": sys.base_prefix})
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    folders = {
        paths["purelib"],
        paths["platlib"],
        f"{sys.base_prefix}/lib/{version}/site-packages",
        "/usr/lib/python3/dist-packages",
    }
    outer = [str(Path(f).resolve()) for f in folders if Path(f).is_dir()]
    return sorted(set(outer))


def _parents(paths: Sequence[str]) -> list[str]:
    """The folders above these, outermost first; a box would make them root's own."""
    above = {str(f) for path in paths for f in Path(path).parents}
    return sorted(above - {"/"} - set(paths))


def _is_below(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)


class Box:
    """Fork servers, each in its box; a worker for each submission is forked.

    They differ in whether the engine has rules, and in the operations that it is
    without. Each starts when it is asked for the first time, and anew when it has gone.
    Used by several threads.
    """

    def __init__(self, mode: str, limits: Limits) -> None:
        self.mode, self.limits = mode, limits
        self.servers: dict[tuple[bool, tuple[str, ...]], Server] = {}
        self._count = itertools.count(1)
        self.watch = Watch()
        self.groups = cgroups.find()

    def worker(
        self,
        limits: Limits | None = None,
        *,
        with_rules: bool = True,
        without: tuple[str, ...] = (),
    ) -> Worker:
        """A new worker, forked just now. Raises: BoxError."""
        limits = limits or self.limits
        own = "" if self.mode == BUBBLEWRAP else own_folder()
        ends = [os.pipe(), os.pipe()]
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, _PASS_CREDENTIALS, 1)
        worker = Worker(self, limits, own, ends[0][1], ends[1][0], ours)
        try:
            task = self._task(own or confine.OWN, limits)
            files = [ends[0][0], ends[1][1], theirs.fileno()]
            key = with_rules, without
            new = Server(self.mode, self.limits, *key)
            self.servers.setdefault(key, new).fork(task, files)
        except BaseException:
            theirs.close()
            worker.close()
            raise
        finally:
            os.close(ends[0][0])
            os.close(ends[1][1])
            theirs.close()
        try:
            worker.see_that_it_is_shut_in()
        except BaseException:
            worker.close()
            raise
        return worker

    def close(self) -> None:
        """End the fork servers, and with them everything in the boxes."""
        for server in list(self.servers.values()):
            server.close()

    def _task(self, own: str, limits: Limits) -> bytes:
        user = None
        if os.geteuid() == 0 and self.mode == BUBBLEWRAP:
            # Outside of the box Python may lie where only root can read it.
            user = _USERS + (os.getpid() % 100_000) * 1000 + next(self._count) % 1000
        return json.dumps(
            {
                "mode": self.mode,
                "limits": dataclasses.asdict(limits),
                "user": user,
                "own": own,
                "readable": _readable() if self.mode == LANDLOCK else [],
            }
        ).encode()


class Server:
    """A fork server, from outside."""

    def __init__(
        self, mode: str, limits: Limits, with_rules: bool, without: tuple[str, ...]
    ) -> None:
        self.mode, self.limits = mode, limits
        self.engine = str(with_rules), " ".join(without)
        self._lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def fork(self, task: bytes, files: Sequence[int]) -> None:
        """Have it fork a worker. Raises: OSError, BoxError."""
        with self._lock:
            for attempt in (1, 2):
                try:
                    self._ask(task, files)
                    break
                except (OSError, BoxError):
                    self.close()
                    if attempt == 2:
                        raise

    def close(self) -> None:
        """End it, and with it everything in its box."""
        if self._control is not None:
            self._control.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            if self.process.stderr is not None:
                self.process.stderr.close()
        self._control = self.process = None

    def _ask(self, task: bytes, files: Sequence[int]) -> None:
        if self.process is None or self.process.poll() is not None:
            self._start()
        assert self._control is not None
        socket.send_fds(self._control, [task], files)
        if self._control.recv(1) != b"k":
            raise BoxError("the box has closed")

    def _start(self) -> None:
        self.close()
        ours, theirs = socket.socketpair()
        python = Path(sys.executable).resolve()
        arguments = ["-I", "-S", "-B", "-c", _PROGRAM]
        arguments += [str(theirs.fileno()), *self.engine]
        if self.mode == BUBBLEWRAP:
            command = bubblewrap_command(self.limits, python)
            where = [confine.PACKAGES]
        else:
            command = [str(python)]
            where = [str(path.parent) for path in packages().values()]
        self.process = subprocess.Popen(
            [*command, *arguments, *where],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            start_new_session=True,
        )
        theirs.close()
        self._control = ours
        ours.settimeout(_START_SECONDS)
        try:
            ready = ours.recv(5)
        except OSError:
            ready = b""
        if ready != b"ready":
            self.process.kill()
            _, said = self.process.communicate()
            text = said.decode(errors="replace").strip()[-2000:]
            raise BoxError(f"the box does not start: {text}")


def own_folder() -> str:
    """A new folder for a worker to write in. Raises: BoxError."""
    try:
        return tempfile.mkdtemp()
    except OSError as error:
        what = f"no folder for a submission can be made ({error.strerror})"
        fix = f"make room in {tempfile.gettempdir()}, or set TMPDIR"
        raise BoxError.at("grade", what, fix) from None


_PASS_CREDENTIALS = getattr(socket, "SO_PASSCRED", 16)


class Worker:
    """One submission at work; ask it things, then close it."""

    def __init__(
        self,
        box: Box,
        limits: Limits,
        own: str,
        requests: int,
        replies: int,
        line: socket.socket,
    ) -> None:
        self._requests, self._replies, self._line = requests, replies, line
        self.limits, self._own = limits, own
        self._watch, self._groups = box.watch, box.groups
        self._group: Group | None = None
        self._excess = ""
        self.keeper = 0
        # The pipe is as small as its reader makes it, and full as long as it likes.
        os.set_blocking(requests, False)
        os.set_blocking(replies, False)

    def ask(self, message: object, kind: type[Message], seconds: float) -> Message:
        """Its answer, of this kind, within so many seconds. Raises: FrameError."""
        # It may not read what it is asked: then there is nobody to answer.
        until = time.monotonic() + seconds
        said = serialization.packed(message, trusted=True)
        try:
            frames.write(self._requests, *said, until=until)
            header, body = frames.read(self._replies, until=until)
        except frames.FrameError:
            self.see_that_it_kept_its_share()
            raise
        self._look_at_files()
        if self._watch.failure:
            raise BoxError(f"nobody counts memory any more: {self._watch.failure}")
        return serialization.unpacked(header, body, [kind])

    def see_that_it_is_shut_in(self) -> None:
        """Wait for its first word. Raises: BoxError, as no submission is to blame."""
        try:
            until = time.monotonic() + _START_SECONDS
            header, body = frames.read(self._replies, until=until)
            ready = serialization.unpacked(header, body, [messages.Ready])
        except frames.FrameError as error:
            raise BoxError(f"no worker has come up: {error}") from None
        if ready.trouble:
            raise BoxError(f"a worker cannot be shut in: {ready.trouble}")
        if platform.system() == "Linux":
            try:
                self._is_kept()
            except OSError as error:
                raise BoxError(f"a worker cannot be counted: {error}") from None

    def close(self) -> None:
        """End it, with every process that it has started."""
        self._watch.remove(self)
        os.close(self._requests)
        os.close(self._replies)
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
        if self._own:
            self._wait_for_its_end()
            scratch.remove(self._own)
        if self._group is not None:
            self._group.remove()
        self._line.close()

    def _wait_for_its_end(self) -> None:
        """Wait until nobody is left who could write in its folder."""
        with contextlib.suppress(OSError):
            self._line.settimeout(_END_SECONDS)
            while self._line.recv(64):
                pass

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def look_at(self, taken: Consumption) -> None:
        """End it if its processes have taken too much; the watch calls this."""
        killed = self._group is not None and self._group.was_exceeded()
        if killed or taken.memory > self.limits.memory:
            self._end(self._too_much_memory())
        elif taken.threads > self.limits.processes + 2:
            self._end(f"more than {self.limits.processes} processes and threads")
        else:
            try:
                self._look_at_files()
            except TooMuchError as error:
                self._end(str(error))

    def see_that_it_kept_its_share(self) -> None:
        """Say so if it took more than that at any time. Raises: TooMuchError."""
        if not self._excess and self._group is not None and self._group.was_exceeded():
            self._excess = self._too_much_memory()
        if self._excess:
            raise TooMuchError(self._excess)

    def _too_much_memory(self) -> str:
        return f"more than {self.limits.memory / 1e6:.0f} MB of memory"

    def _end(self, excess: str) -> None:
        """Have its keeper end it; whoever waits for an answer is told why."""
        self._excess = self._excess or excess
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)

    def _look_at_files(self) -> None:
        """The same for its folder, if that is one of this machine's."""
        if not self._own:
            return
        try:
            size = scratch.taken(self._own)
        except OSError as error:
            raise TooMuchError(f"its folder beyond counting ({error})") from None
        if size > self.limits.disk:
            what = f"more than {self.limits.disk / 1e6:.0f} MB of files"
            raise TooMuchError(what)

    def _is_kept(self) -> None:
        """Learn who keeps it, and have it counted. Raises: OSError."""
        self._line.settimeout(_START_SECONDS)
        size = socket.CMSG_SPACE(struct.calcsize("3i"))
        _, said, _, _ = self._line.recvmsg(1, size)
        self.keeper = int(array.array("i", said[0][2])[0])
        if self._groups is not None:
            self._group = self._groups.group(self.limits.memory)
            for child, parent in parents().items():
                if parent == self.keeper:
                    self._group.add(child)
        self._watch.add(self)
