"""Give up what a worker does not need, in the process that becomes one."""

from __future__ import annotations

import ctypes
import importlib
import itertools
import os
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minigrad.course.grade import seccomp
from minigrad.course.grade.quotas import Limits

OWN = "/scratch"
"""Where a worker may write, in a box; it is empty for each, and gone with it."""

PACKAGES = "/packages"
"""Where the fork server imports minigrad and NumPy from, in a box."""

BUBBLEWRAP, LANDLOCK, UNSAFE = "bubblewrap", "landlock", "unsafe"

_NEW_MOUNTS, _NEW_IPC, _NEW_PIDS = 0x00020000, 0x08000000, 0x20000000
_READ_ONLY, _NO_SET_ID_NO_DEVICES_NO_PROGRAMS = 1, 2 | 4 | 8
_SET_DUMPABLE, _DROP_FROM_BOUND, _NO_NEW_PRIVILEGES = 4, 24, 38
_SET_CHILD_SUBREAPER = 36
_CAPSET = {"x86_64": 126, "aarch64": 91}


@dataclass(frozen=True)
class Confinement:
    """How far a worker is shut in; ``user`` is the number it runs under, if any.

    ``readable`` is what Landlock leaves it, ``own`` the folder to write in.
    """

    mode: str
    limits: Limits
    user: int | None = None
    readable: tuple[str, ...] = ()
    own: str = OWN


def leave_namespaces(confinement: Confinement) -> None:
    """Children of this process get their own process numbers and an empty folder.

    Over the files of minigrad there lies an empty folder, too: what was taken from the
    engine cannot be imported a second time. Raises: OSError.
    """
    libc = _libc()
    _check(libc.unshare(_NEW_MOUNTS | _NEW_IPC | _NEW_PIDS), "no new namespaces")
    options = f"size={confinement.limits.disk},nr_inodes=2048,mode=1777".encode()
    flags = _NO_SET_ID_NO_DEVICES_NO_PROGRAMS
    mounted = libc.mount(b"tmpfs", OWN.encode(), b"tmpfs", flags, options)
    _check(mounted, "no empty folder")
    own = f"{PACKAGES}/minigrad".encode()
    flags |= _READ_ONLY
    hidden = libc.mount(b"tmpfs", own, b"tmpfs", flags, b"size=4096,mode=0555")
    _check(hidden, "the engine's files stay in sight")


def adopt_orphans() -> None:
    """Whoever comes from this process stays in its family, whoever has ended.

    Raises: OSError.
    """
    if platform.system() == "Linux":
        adopted = _libc().prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        _check(adopted, "children could get lost")


def children() -> list[int]:
    """The processes that this one is the parent of, where the system tells."""
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    except OSError:
        return []
    return list(map(int, text.split()))


def shut_in(confinement: Confinement, files: Sequence[int]) -> None:
    """Keep these open files and nothing else; there is no way back.

    Raises: OSError.
    """
    _keep_only(files)
    set_limits(confinement)
    os.chdir(confinement.own)
    if confinement.user is not None:
        os.setgroups([])
        os.setresgid(*[confinement.user] * 3)
        os.setresuid(*[confinement.user] * 3)
    if confinement.mode == UNSAFE:
        os.setsid()
        return
    # The kernel shares out its time by sessions: each worker has one of its own.
    os.setsid()
    _drop_capabilities()
    if confinement.mode == LANDLOCK:
        restrict_files(confinement)
    seccomp.install(own_namespaces=confinement.mode == BUBBLEWRAP)


def set_limits(confinement: Confinement) -> None:
    """The limits of one process; in a box only its own processes count as such."""
    limits, others = confinement.limits, 0
    if confinement.mode != BUBBLEWRAP:
        others = threads_of(os.getuid())
    resource: Any = importlib.import_module("resource")
    bounds = {
        "RLIMIT_AS": limits.address_space,
        "RLIMIT_CPU": int(3 * limits.seconds) + 2,
        "RLIMIT_NPROC": limits.processes + others,
        "RLIMIT_FSIZE": limits.file_size,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_CORE": 0,
    }
    for name, value in bounds.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def threads_of(user: int) -> int:
    """How many threads a user has now, on Linux; elsewhere 1000, at a guess."""
    if not Path("/proc/self/task").exists():
        return 1000
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid == user:
                found += len(os.listdir(folder / "task"))
        except OSError:
            continue
    return found


def landlock_version() -> int:
    """The version of Landlock in this kernel; 0 without."""
    if platform.system() != "Linux" or not seccomp.is_known():
        return 0
    found: int = _libc().syscall(444, None, 0, 1)
    return max(found, 0)


def restrict_files(confinement: Confinement) -> None:
    """Open nothing but what is readable, and write in its own folder only.

    Raises: OSError.
    """
    version = landlock_version()
    # Execute, write, read, list, remove, make: each version knew some more.
    known = 13 + (version >= 2) + (version >= 3) + (version >= 5)
    everything = (1 << known) - 1
    network = 3 if version >= 4 else 0
    scopes = 3 if version >= 6 else 0
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = struct.pack("<QQQ", everything, network, scopes)
    libc = _libc()
    ruleset = libc.syscall(444, rules, ctypes.c_size_t(size), 0)
    _check(min(ruleset, 0), "no rules of Landlock")
    read_only, devices = 1 | 4 | 8, 1 << 6 | 1 << 9 | 1 << 11
    # What could be removed and kept open would take room where nobody sees it.
    removing = 1 << 4 | 1 << 5
    for path in confinement.readable:
        _allow(libc, ruleset, path, read_only & everything)
    for path in ("/dev/null", "/dev/urandom"):
        _allow(libc, ruleset, path, 4)
    _allow(libc, ruleset, confinement.own, everything & ~devices & ~removing)
    _check(libc.syscall(446, ruleset, 0), "Landlock cannot be turned on")
    os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    if not Path(path).exists():
        return
    if not Path(path).is_dir():
        access &= 1 | 2 | 4
    number = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
    rule = struct.pack("<Qi", access, number)
    _check(libc.syscall(445, ruleset, 1, rule, 0), f"no rule for {path}")
    os.close(number)


def _keep_only(files: Sequence[int]) -> None:
    # The first of the standard streams leads nowhere since the box was started.
    for standard in (1, 2):
        os.dup2(0, standard)
    edges = [2, *sorted(files), 4096]
    for low, high in itertools.pairwise(edges):
        os.closerange(low + 1, high)


def _drop_capabilities() -> None:
    libc = _libc()
    _check(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "privileges can be gained")
    # Nobody looks into it, and no file of it below /proc is its own.
    _check(libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0), "it can be looked into")
    for capability in range(64):
        # Those that this kernel does not know cannot be dropped, nor those not held.
        libc.prctl(_DROP_FROM_BOUND, capability, 0, 0, 0)
    number = _CAPSET.get(platform.machine())
    if number is not None:
        header = struct.pack("<Ii", 0x20080522, 0)
        _check(libc.syscall(number, header, bytes(24)), "capabilities stay")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), what)
