"""JupyterLab itself, started as ``lab`` starts it."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from minigrad import _bootstrap, _workspace

PATIENCE = 60


def log_of_lab(workspace: Path, home: Path, *arguments: str) -> str:
    """What JupyterLab says until it serves a page, or ends, or takes too long."""
    command = [
        sys.executable,
        *_bootstrap.lab_arguments(workspace, _bootstrap.FIRST_LESSON, arguments),
    ]
    environ = {
        **_bootstrap.lab_environ(os.environ),
        "HOME": str(home),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
    }
    log = home / "lab.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    end = time.monotonic() + PATIENCE
    try:
        while process.poll() is None and time.monotonic() < end:
            if "is running at" in log.read_text():
                break
            time.sleep(0.1)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(15)
    return log.read_text()


def test_lab_takes_another_port_if_the_wanted_one_is_taken(tmp_path: Path) -> None:
    workspace, home = tmp_path / "my work", tmp_path / "home"
    home.mkdir()
    _workspace.lay_out(_bootstrap.ROOT, workspace)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = log_of_lab(workspace, home, "--no-browser", f"--port={port}")
    assert f"port {port} is already in use, trying another port" in said
    (served,) = set(re.findall(r"http://127\.0\.0\.1:(\d+)/lab/tree", said))
    assert int(served) != port
    assert "/lab/tree/notebooks/00_start_here.ipynb" in said


def test_lab_takes_the_port_that_is_free(tmp_path: Path) -> None:
    workspace, home = tmp_path / "my work", tmp_path / "home"
    home.mkdir()
    _workspace.lay_out(_bootstrap.ROOT, workspace)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    said = log_of_lab(workspace, home, "--no-browser", f"--port={port}")
    assert "already in use" not in said
    assert f"http://127.0.0.1:{port}/lab" in said
