"""The player in Notebook 7: ``python -m tests.browser.notebook_7 PYTHON``.

``PYTHON`` is one that has the package notebook; the kernel and the widgets are those of
the Python that runs this. No test of each change, for the course does not install it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from playwright.sync_api import Browser

from minigrad import _bootstrap
from tests.browser.figures import SLIDE, live_notebook
from tests.browser.laboratory import (
    LESSON,
    Notebook,
    go,
    look_by_command,
    running_lab,
)
from tests.browser.seen import brightness
from tests.browser.test_live_in_lab import grad_shown

OPTIONS = ("--JupyterNotebookApp.expose_app_in_browser=True",)


def path_to_this_python(home: Path) -> str:
    """Where a server finds this Python's kernel and the front ends of its widgets."""
    folder = home / "here" / "kernels" / "python3"
    folder.mkdir(parents=True)
    start = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    told = {"argv": start, "display_name": "Python 3", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(told))
    places = [home / "here", _bootstrap.JUPYTER, f"{sys.prefix}/share/jupyter"]
    return os.pathsep.join(map(str, places))


def look(browser: Browser, server: str, home: Path, pictures: Path) -> None:
    """A live player, its recording, both themes, and what a restart says."""
    command = [server, "-m", "notebook", *OPTIONS]
    with running_lab(home, command, path_to_this_python(home)) as lab:
        page = browser.new_page(viewport={"width": 1400, "height": 950})
        notebook = Notebook(page, lab, live_notebook(lab), "notebooks")
        notebook.run_all()
        frame = notebook.player(0)
        go(frame, 1_000)
        assert grad_shown(frame) == "x.grad = 3"
        times = frame.evaluate(SLIDE, ["x", [1.5, -0.5, 2]])
        assert grad_shown(frame) == "x.grad = 12"
        print(f"live: slider to screen in {min(times):.0f} ms")
        notebook.run(1)
        recorded = notebook.player(1)
        go(recorded, 1_000)
        assert grad_shown(recorded) == "x.grad = 12"
        print("its recording plays")
        for theme in ("Light", "Dark"):
            notebook.use_theme(theme)
            picture = pictures / f"notebook-7-{theme.lower()}.png"
            page.screenshot(path=picture)
            box = notebook.player(0).locator("body").screenshot()
            picture.with_stem(f"player-{theme.lower()}").write_bytes(box)
            shade = brightness(picture.with_stem(f"player-{theme.lower()}"))
            assert (shade > 0.8) is (theme == "Light"), shade
        print("it follows the theme")
        notebook.restart_kernel()
        frame = notebook.player(0)
        frame.get_by_label("n", exact=True).fill("1")
        frame.get_by_text("Python was restarted: run the cell again.").wait_for()
        print("a restart is said")
        Notebook(page, lab, LESSON, "notebooks").assert_lines_of_about_70()
        print("lines of text have about 70 characters")


if __name__ == "__main__":
    sys.exit(look_by_command(look, __doc__, "the package notebook"))
