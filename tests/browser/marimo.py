"""The player in marimo: ``python -m tests.browser.marimo PYTHON``.

``PYTHON`` is one that has the packages marimo and anywidget, and what minigrad needs.
No test of each change, for the course does not install it.
"""

from __future__ import annotations

import sys
import urllib.request
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Frame, Page

from tests.browser.figures import LIVE, SLIDE
from tests.browser.laboratory import free_port, go, look_by_command
from tests.browser.other_browsers import listening, running
from tests.browser.seen import brightness
from tests.browser.test_live_in_lab import grad_shown

ROOT = Path(__file__).parents[2]
PLAYS = "() => document.getElementById('player')?.player"
IS_LIVE = "() => Boolean(document.getElementById('player').live)"


def app() -> str:
    """marimo's file for two cells: a live player, and its recording."""
    live = LIVE.replace("\n", "\n    ")
    return (
        "import marimo\n\napp = marimo.App()\n\n\n"
        f"@app.cell\ndef _():\n    {live}\n    return (player,)\n\n\n"
        "@app.cell\ndef _(player):\n    player.recording\n    return\n"
    )


def players(page: Page) -> list[Frame]:
    """The frames of the live player and of its recording."""
    while len(page.frames) < 3:  # they stand in shadow roots, which no selector sees
        page.wait_for_timeout(100)
    frames = page.frames[1:]
    for frame in frames:
        frame.wait_for_function(PLAYS)
    return sorted(frames, key=lambda frame: not frame.evaluate(IS_LIVE))


def look(browser: Browser, python: str, home: Path, pictures: Path) -> None:
    """A live player and its recording, in the light and in the dark theme."""
    (home / "app.py").write_text(app(), encoding="utf8")
    for theme in ("light", "dark"):
        settings = f'[tool.marimo.display]\ntheme = "{theme}"\n'
        (home / "pyproject.toml").write_text(settings, encoding="utf8")
        port = free_port()
        command = [python, "-m", "marimo", "run", str(home / "app.py"), "--headless"]
        command += ["--no-token", "--host", "127.0.0.1", "--port", str(port)]
        with running(*command, HOME=str(home), PYTHONPATH=str(ROOT)):
            listening(partial(urllib.request.urlopen, f"http://127.0.0.1:{port}"))
            page = browser.new_page(viewport={"width": 1400, "height": 1400})
            page.goto(f"http://127.0.0.1:{port}")
            live, recorded = players(page)
            go(recorded, 1_000)
            assert grad_shown(recorded) == "x.grad = 3"
            times = live.evaluate(SLIDE, ["x", [1.5, -0.5, 2]])
            go(live, 1_000)
            assert grad_shown(live) == "x.grad = 12"
            print(f"{theme}: plays; live: slider to screen in {min(times):.0f} ms")
            picture = pictures / f"marimo-{theme}.png"
            page.screenshot(path=picture)
            assert (brightness(picture) > 0.8) is (theme == "light")


if __name__ == "__main__":
    sys.exit(look_by_command(look, __doc__, "marimo and anywidget"))
