"""A clone and an environment that cost nothing to install."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from minigrad import _bootstrap

# Stands in for the Python of an environment: notes how it is called, and only
# pretends to run modules.
PYTHON = """\
#!/bin/sh
case "$*" in
    *"import pip"*) echo 1 ;;
    "-m pip install"*)
        echo "$@" >>"$0.log"
        if [ -n "$INTERRUPTED" ]; then kill -INT $PPID; sleep 5; fi
        exit "${{PIP_EXIT:-0}}" ;;
    *"_installer.py "*)
        if [ -n "$LACKS" ]; then echo "$LACKS"; else exec "{python}" "$@"; fi ;;
    *write_home*) echo "$@" >>"$0.log"; exit "${{HOME_EXIT:-0}}" ;;
    "-m "*) echo "$@" >>"$0.log"; env >"$0.environ" ;;
    *) exec "{python}" "$@" ;;
esac
"""


@dataclass
class Clone:
    """The bootstrap in a folder of its own, with a fake active environment."""

    root: Path
    prefix: Path

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """``python3 minigrad ...`` as typed in a shell with the environment active."""
        bare = {"PATH": os.defpath, "VIRTUAL_ENV": str(self.prefix), **environ}
        bare["MINIGRAD_CHROMIUM"] = sys.executable
        return subprocess.run(
            [base_python(), str(self.root / "minigrad"), *arguments],
            capture_output=True,
            text=True,
            env=bare,
            # A program that runs in the background is deaf to Ctrl-C from the start.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def calls(self) -> Sequence[str]:
        """What the fake Python was asked to run, oldest first."""
        log = self.prefix / "bin/python.log"
        return log.read_text().splitlines() if log.exists() else []

    @property
    def stamp(self) -> Path:
        return _bootstrap.Environment(self.prefix, ours=False).stamp


def base_python() -> str:
    """The Python that the tests' own environment was made from."""
    return getattr(sys, "_base_executable", sys.executable)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    if os.name == "nt":
        pytest.skip("the fake Python is a shell script")
    root = tmp_path / "ein Klön 克隆 with spaces"
    (root / "minigrad").mkdir(parents=True)
    modules = ("__main__", "_bootstrap", "_installer", "_workspace")
    for name in ("pyproject.toml", *[f"minigrad/{each}.py" for each in modules]):
        shutil.copy(_bootstrap.ROOT / name, root / name)
    python = tmp_path / "an environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON.format(python=sys.executable))
    python.chmod(0o755)
    return Clone(root, python.parent.parent)
