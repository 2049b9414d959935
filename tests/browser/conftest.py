"""A browser, a JupyterLab and a page for the tests of one module."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from minigrad import _workspace
from minigrad.views.recording import Recording
from tests.browser.laboratory import FLAGS, ROOT, Lab, running_lab
from tests.views import stories

Open = Callable[..., Page]
READY = "() => document.getElementById('player').player"
# Phases, with all panes: the engine's own lines, the inspector of ctx, the memory.
ALL_OPEN = """
() => {
  const { player } = document.getElementById("player");
  player.setLevel(2);
  if (!player.engine) player.showEngine();
  player.inspect(true);
  player.timeline.box.open = true;
}
"""

# Playwright's event loop runs in this thread as long as its driver does, and would be
# in the way of other modules' tests: hence one driver a module, and not one a session.


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """The machine's own Chromium, with a fresh profile."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def server(
    chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Lab, Path]]:
    """JupyterLab, which starts once in each process, and where its settings are."""
    home = tmp_path_factory.mktemp("lab")
    with running_lab(home) as running:
        yield running, home / "settings"


@pytest.fixture(scope="module")
def lab(
    browser: Browser, server: tuple[Lab, Path], request: pytest.FixtureRequest
) -> Lab:
    """JupyterLab on copies of the lessons and exercises for this module alone."""
    (running, settings), name = server, request.module.__name__.rpartition(".")[2]
    _workspace.lay_out(ROOT, running.folder / name)
    for theme in settings.rglob("themes.jupyterlab-settings"):
        theme.unlink()
    return Lab(running.url, running.folder / name, f"{name}/")


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """One page, in which the tests of a module work one after the other."""
    context = browser.new_context(viewport={"width": 1400, "height": 950})
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def errors_of_module(page: Page) -> list[str]:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(error.stack or error.message))
    return errors


@pytest.fixture(autouse=True)
def page_errors(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """What went wrong in the page; a test in which anything did fails in the end."""
    if "page" not in request.fixturenames:
        yield []
        return
    errors: list[str] = request.getfixturevalue("errors_of_module")
    yield errors
    caught = list(errors)
    errors.clear()
    assert not caught, "the page has thrown errors"


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    """Where pictures go: the folder MINIGRAD_SCREENSHOTS, else a temporary one."""
    folder = Path(os.environ.get("MINIGRAD_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def look(page: Page, tmp_path: Path) -> Iterator[Open]:
    """Opens the page of a recording at a position, as a learner meets it."""

    def opened(data: stories.Json, position: int = 0) -> Page:
        page.goto(Recording(data).save_html(tmp_path / "player.html").as_uri())
        page.wait_for_function(READY)
        page.evaluate("at => player.player.go(at)", position)
        page.locator("#player").focus()
        return page

    yield opened
    page.evaluate("sessionStorage.clear()")


@pytest.fixture
def play(look: Open) -> Open:
    """The same at *Phases*, with all panes."""

    def opened(data: stories.Json, position: int = 0) -> Page:
        page = look(data)
        page.evaluate(ALL_OPEN)
        page.evaluate("at => player.player.go(at)", position)
        return page

    return opened
