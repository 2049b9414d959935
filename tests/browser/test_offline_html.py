"""A recording outlives its kernel: offline, after restart and reload, untrusted."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.laboratory import Lab, Notebook, environment, go, wait_for_player
from tests.browser.seen import on_screen
from tests.browser.told import Trace, differences, told, trace_in
from tests.views.folding import stops_of

PROGRAM = """\
%%step twice, then the sum
x = mg.tensor([1.0, -2.0], requires_grad=True)
(x * 2).sum().backward()"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebook with one recording, not yet run."""
    path = tmp_path_factory.mktemp("small") / "small.ipynb"
    sources = ["import minigrad as mg", PROGRAM]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(book, path)
    return path


@pytest.fixture(scope="module")
def executed(small: Path) -> Path:
    """The same, run outside any JupyterLab: none has a reason to trust it."""
    path = small.with_name("executed.ipynb")
    shutil.copy(small, path)
    convert(path, "--to", "notebook", "--execute", "--inplace")
    return path


def convert(path: Path, *options: str) -> None:
    command = [sys.executable, "-m", "nbconvert", *options, str(path)]
    done = subprocess.run(
        command,
        env=environment(path.parent),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def recording_in(path: Path) -> Trace:
    (output,) = nbformat.read(path, as_version=4).cells[1].outputs
    return trace_in(output.data["text/html"])


@pytest.fixture
def offline(browser: Browser) -> Iterator[Page]:
    """A page without a network; at the end nothing may have gone wrong in it."""
    errors: list[str] = []
    context = browser.new_context(offline=True)
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(error.stack or error.message))
    yield page
    context.close()
    assert errors == []


def test_html_export_plays_from_a_file_without_a_network(
    executed: Path, offline: Page
) -> None:
    convert(executed, "--to", "html")
    trace = recording_in(executed)
    offline.goto(executed.with_suffix(".html").as_uri())
    offline.wait_for_selector("iframe")
    (frame,) = offline.frames[1:]
    wait_for_player(frame)
    assert differences(on_screen(frame), told(trace, 0, 0)) == []
    for stop in stops_of(trace, 0)[1:]:
        frame.press("#player", "ArrowRight")
        assert differences(on_screen(frame), told(trace, stop, 0)) == []


def test_player_keeps_playing_and_its_place_after_restart_and_reload(
    page: Page, lab: Lab, small: Path
) -> None:
    shutil.copy(small, lab.folder / "kept.ipynb")
    notebook = Notebook(page, lab, "kept.ipynb")
    notebook.run_all()
    frame, trace = notebook.player(1), trace_in(notebook.html_of(1))
    for _ in range(4):
        frame.press("#player", "ArrowRight")
    notebook.do("docmanager:save")

    notebook.restart_kernel()
    frame.press("#player", "ArrowRight")
    assert differences(on_screen(frame), told(trace, stops_of(trace, 0)[5], 0)) == []

    notebook.reload()
    frame = notebook.player(1)
    screen = on_screen(frame)
    assert screen["position"] == stops_of(trace, 0)[5]
    assert differences(screen, told(trace, stops_of(trace, 0)[5], 0)) == []
    frame.press("#player", "ArrowRight")
    assert differences(on_screen(frame), told(trace, stops_of(trace, 0)[6], 0)) == []


def test_untrusted_notebook_shows_words_and_the_graph_until_it_is_trusted(
    page: Page, lab: Lab, executed: Path, screenshots: Path
) -> None:
    shutil.copy(executed, lab.folder / "stranger.ipynb")
    trace = recording_in(executed)
    notebook = Notebook(page, lab, "stranger.ipynb")
    output = page.locator(".jp-Notebook .jp-OutputArea-output")
    expect(output).to_contain_text(f"{len(stops_of(trace, 0)) - 1} steps")
    expect(output).to_contain_text(trace["events"][-1]["say"])
    expect(output.locator("img")).to_be_visible()
    assert output.locator("img").evaluate("image => image.naturalWidth") > 50
    assert output.locator("iframe").count() == 0
    for theme in ("Dark", "Light"):
        notebook.use_theme(theme)
        page.screenshot(path=screenshots / f"untrusted-{theme.lower()}.png")

    page.evaluate("() => void jupyterapp.commands.execute('notebook:trust')")
    page.click(".jp-Dialog .jp-mod-accept")
    frame = notebook.player(1)
    go(frame, stops_of(trace, 0)[3])
    assert differences(on_screen(frame), told(trace, stops_of(trace, 0)[3], 0)) == []
