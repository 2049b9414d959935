"""What of Windows can be tried elsewhere: its code page, and all that it lacks."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

from minigrad import _bootstrap

POSIX = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
WITHOUT_POSIX = """
import importlib, os, pkgutil, signal, socket, sys

sys.modules |= dict.fromkeys(POSIX)
lacks = {
    os: ["fork", "getuid", "geteuid", "killpg", "setsid", "mkfifo",
         "sched_getaffinity", "register_at_fork", "getloadavg"],
    signal: ["SIGALRM", "SIGKILL", "SIGHUP", "setitimer", "alarm"],
    socket: ["AF_UNIX"],
}
for module, names in lacks.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)

import minigrad

found = [m.name for m in pkgutil.walk_packages(minigrad.__path__, "minigrad.")]
for name in found:
    if not name.endswith("__main__"):
        importlib.import_module(name)

del sys.modules["resource"]  # this Linux has /proc, by which a check bounds memory
from minigrad.course import examine

class Square(minigrad.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output

print(len(found), examine("gym.Square", Square, seed=0).state)
EXTRA
""".replace("POSIX", repr(POSIX))


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """This Python with our package, and with what it writes as bytes."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=_bootstrap.ROOT,
        env={**os.environ, **variables},
        capture_output=True,
    )


def test_every_module_loads_and_a_check_runs_without_what_only_posix_has() -> None:
    done = run("-c", WITHOUT_POSIX.replace("EXTRA", ""))
    assert done.stderr == b""
    count, state = done.stdout.split()
    assert int(count) > 400
    assert state == b"solved"


def test_use_of_what_only_posix_has_is_found() -> None:
    use = "print(hasattr(os, 'fork'), hasattr(signal, 'setitimer')); import fcntl"
    done = run("-c", WITHOUT_POSIX.replace("EXTRA", use))
    assert done.stdout.endswith(b"False False\n")
    assert b"import of fcntl halted" in done.stderr


def test_no_module_of_tests_needs_what_only_posix_has_to_be_collected() -> None:
    needs = []
    for path in (_bootstrap.ROOT / "tests").rglob("*.py"):
        for line in ast.parse(path.read_text("utf8")).body:
            names = [name.name for name in getattr(line, "names", [])]
            if POSIX & {getattr(line, "module", None), *names}:
                needs.append(f"{path.name}:{line.lineno}")
    assert needs == []


def test_check_mark_in_a_code_page_without_one_ends_no_command() -> None:
    page = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
    assert "\u2713".encode("cp1252", "replace") == b"?"
    done = run("-m", "minigrad", "doctor", **page)
    assert b"Traceback" not in done.stderr
    assert done.stdout.startswith(b"?")
    assert b"UnicodeEncodeError" in run("-c", "print('\u2713')", **page).stderr
