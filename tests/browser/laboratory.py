"""A real JupyterLab for the browser tests, and the hands that work in it."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ElementHandle, Frame, Page, sync_playwright

from minigrad import _bootstrap, _workspace

ROOT = Path(__file__).resolve().parents[2]
SLUG = "01_where_ctx_comes_from"
LESSON = f"notebooks/{SLUG}.ipynb"
EXERCISE = f"exercises/{SLUG}/01_exercises.ipynb"

START_SECONDS = 60
RUN_MILLISECONDS = 120_000

# Sandboxing needs rights that a container lacks; the rest keeps Chromium off the net.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

OPEN_NOTEBOOK = """
const panel = window.jupyterapp?.shell.currentWidget;
const cells = panel?.content?.widgets;
"""

LINES = """
() => [...document.querySelectorAll(".jp-RenderedMarkdown > p")].flatMap((p) => {
  const range = document.createRange();
  const lines = new Map();
  const texts = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    for (let i = 0; i < node.length; i++) {
      range.setStart(node, i);
      range.setEnd(node, i + 1);
      const bottom = Math.round(range.getBoundingClientRect().bottom / 12);
      lines.set(bottom, (lines.get(bottom) ?? 0) + 1);
    }
  return [...lines.values()].slice(0, -1);
})
"""


def environment(home: Path) -> dict[str, str]:
    """Jupyter's settings fresh under ``home``, and kernels that see this checkout."""
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    fresh = {name: str(home / folder) for name, folder in folders.items()}
    fresh |= {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER")}
    return kept | fresh


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: its address, and a folder that it serves or has below."""

    url: str
    folder: Path
    below: str = ""


@contextlib.contextmanager
def running_lab(
    home: Path,
    server: Sequence[str] = (sys.executable, "-m", "jupyterlab"),
    path: str = "",
) -> Iterator[Lab]:
    """Start JupyterLab on a workspace below ``home``; stop it in the end.

    A second one on the same ``home`` finds what was left there. Another ``server`` is
    one of Jupyter's that knows the same options; it looks into ``path`` before its own
    folders.
    """
    folder = home / "work"
    _workspace.lay_out(ROOT, folder)
    no_news(home / "settings")
    port = free_port()
    command = [
        *server,
        *_bootstrap.lab_arguments(folder, opens="", rest=["--no-browser"])[2:],
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=None",
        # Kernels whose pages are closed.
        "--MappingKernelManager.cull_idle_timeout=60",
        "--MappingKernelManager.cull_interval=20",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    log = home / "lab.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            command,
            env=environment(home) | ({"JUPYTER_PATH": path} if path else {}),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_up(url, process, log)
        yield Lab(url, folder)
    finally:
        stop(process)


def no_news(settings: Path) -> None:
    """Keep the question about news out of the way."""
    folder = settings / "@jupyterlab" / "apputils-extension"
    folder.mkdir(parents=True, exist_ok=True)
    choice = json.dumps({"fetchNews": "false", "checkForUpdates": False})
    (folder / "notification.jupyterlab-settings").write_text(choice)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def wait_until_up(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            urllib.request.urlopen(f"{url}/api", timeout=5).close()
            return
        time.sleep(0.05)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the whole process group, kernels last."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(5)


class Notebook:
    """The notebook that is open in a JupyterLab page, or in one of ``where``."""

    def __init__(
        self, page: Page, lab: Lab, path: str, where: str = "lab/tree"
    ) -> None:
        self.page = page
        page.goto(f"{lab.url}/{where}/{lab.below}{path}?reset")
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        self.page.wait_for_function(
            "() => {" + OPEN_NOTEBOOK + "return panel?.context?.isReady && cells.length"
            " && panel.sessionContext.session?.kernel?.status === 'idle'; }"
        )
        self.wait_for_no_cover()

    def reload(self) -> None:
        self.page.reload()
        self.wait_until_ready()

    def do(self, command: str, **args: Any) -> None:
        """Carry out one of the application's commands, and wait for its end."""
        self.page.evaluate(
            """([command, args]) => {
                window.ended = null;
                window.jupyterapp.commands.execute(command, args).then(
                    () => { window.ended = "well"; },
                    error => { window.ended = String(error); },
                );
            }""",
            [command, args],
        )
        self.page.wait_for_function("() => window.ended", timeout=RUN_MILLISECONDS)
        ended = self.page.evaluate("() => window.ended")
        assert ended == "well", f"{command}: {ended}"

    def run_all(self) -> None:
        self.do("notebook:run-all-cells")
        self.wait_until_idle()
        self.page.wait_for_timeout(500)  # all is idle for a moment between two cells
        self.wait_until_idle()

    def run(self, index: int) -> None:
        self.select(index)
        self.do("notebook:run-cell")
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        self.page.wait_for_function(
            "() => {" + OPEN_NOTEBOOK + "return cells.every(cell =>"
            " (cell.model.executionState ?? 'idle') === 'idle')"
            " && panel.sessionContext.session.kernel.status === 'idle'; }",
            timeout=RUN_MILLISECONDS,
        )

    def restart_kernel(self) -> None:
        """A new kernel, without the dialog that asks whether one is sure."""
        self.page.evaluate(
            "() => {" + OPEN_NOTEBOOK + "window.restarted = false;"
            " panel.sessionContext.session.kernel.restart()"
            " .then(() => { window.restarted = true; }); }"
        )
        self.page.wait_for_function("() => window.restarted")
        self.wait_until_idle()

    def assert_lines_of_about_70(self, least: int = 40) -> None:
        """Of each line of text in view that another one follows; so many at least."""
        found = self.page.evaluate(LINES)
        assert len(found) >= least, found
        assert 62 <= statistics.mean(found) <= 75, statistics.mean(found)
        assert max(found) <= 85, max(found)

    def select(self, index: int) -> None:
        """Make a cell the active one and bring it into view."""
        self.page.evaluate(
            "index => {" + OPEN_NOTEBOOK + "panel.content.activeCellIndex = index;"
            " void panel.content.scrollToItem(index, 'start'); }",
            index,
        )
        self.page.wait_for_function(
            "index => {" + OPEN_NOTEBOOK + "return cells[index].node.isConnected; }",
            arg=index,
        )
        self.element(index).scroll_into_view_if_needed()

    def element(self, index: int) -> ElementHandle:
        handle = self.page.evaluate_handle(
            "index => {" + OPEN_NOTEBOOK + "return cells[index].node; }", index
        )
        element = handle.as_element()
        assert element is not None
        return element

    def cells(self) -> list[dict[str, Any]]:
        """Type, source, tags and outputs of every cell, as the model has them."""
        found: list[dict[str, Any]] = self.page.evaluate(
            "() => {" + OPEN_NOTEBOOK + "return cells.map(({model}) => ({"
            " type: model.type, source: model.sharedModel.getSource(),"
            " count: model.executionCount ?? null,"
            " tags: model.sharedModel.getMetadata('tags') ?? [],"
            " outputs: model.outputs?.toJSON() ?? [] })); }"
        )
        return found

    def tagged(self, tag: str) -> int:
        """The index of the first cell with ``tag``."""
        return next(i for i, cell in enumerate(self.cells()) if tag in cell["tags"])

    def html_of(self, index: int) -> str:
        """All HTML that a cell has put out."""
        return html_in(self.cells()[index])

    def players(self) -> list[int]:
        """The indices of the cells that have put out a player."""
        return [i for i, one in enumerate(self.cells()) if "<iframe" in html_in(one)]

    def player(self, index: int) -> Frame:
        """The frame of the player that a cell shows, once the player has started."""
        self.select(index)
        frame_of = self.element(index).wait_for_selector("iframe")
        assert frame_of is not None
        frame = frame_of.content_frame()
        assert frame is not None
        wait_for_player(frame)
        return frame

    def type_into(self, index: int, source: str) -> None:
        """Replace a cell's source at the keyboard, as a learner would."""
        self.select(index)
        editor = self.element(index).wait_for_selector(".cm-content")
        assert editor is not None
        editor.click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(source)
        assert self.cells()[index]["source"] == source

    def use_theme(self, theme: str) -> None:
        """Put on JupyterLab's own "Light" or "Dark" theme, and wait for it.

        JupyterLab covers itself meanwhile, and errs if the next change comes before
        the cover is gone.
        """
        self.do("apputils:change-theme", theme=f"JupyterLab {theme}")
        dark = theme == "Dark"
        self.page.wait_for_function(
            "dark => document.body.dataset.jpThemeLight === String(!dark)", arg=dark
        )
        for frame in self.page.frames[1:]:
            # One that nobody has looked at yet will ask for the theme when it starts.
            frame.wait_for_function(
                "dark => !document.getElementById('player')?.childElementCount"
                " || document.documentElement.classList.contains('dark') === dark",
                arg=dark,
            )
        self.wait_for_no_cover()

    def wait_for_no_cover(self) -> None:
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")


def html_in(cell: dict[str, Any]) -> str:
    """All HTML among the outputs of a cell."""
    parts = [o["data"].get("text/html", "") for o in cell["outputs"] if "data" in o]
    return "".join("".join(part) for part in parts)


def wait_for_player(frame: Frame | Page) -> None:
    # Not at the page's own animation frames: those of a picture stand still.
    frame.wait_for_function(
        "() => document.querySelector('#player')?.player", polling=20
    )


def go(frame: Frame | Page, position: int) -> None:
    """Put the player at a position."""
    frame.evaluate("to => document.querySelector('#player').player.go(to)", position)


def look_by_command(
    look: Callable[[Browser, str, Path, Path], None], about: str, needs: str
) -> int:
    """Let a command look at another program's pages, from the folder of a home.

    It stops at the first thing that is not as it should be.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("python", help=f"a Python that has {needs}")
    parser.add_argument("pictures", type=Path, nargs="?", default=Path())
    chosen = parser.parse_args()
    chosen.pictures.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as home:
        path = _bootstrap.find_browser(os.environ)
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        look(browser, chosen.python, Path(home), chosen.pictures)
        browser.close()
    return 0
