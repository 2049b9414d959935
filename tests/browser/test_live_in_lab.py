"""The live player in a real JupyterLab, from the slider to Python and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Frame, Page

from tests.browser.figures import SLIDE, live_notebook
from tests.browser.laboratory import Lab, Notebook, go
from tests.browser.seen import brightness

# How long it takes from a new value to the picture of it, each time.
EDIT = """async ([what, values]) => {
  const times = [];
  const { edits } = document.getElementById("player").player;
  const gesture = {};
  for (const value of values) {
    const begin = performance.now();
    await edits.set(what, value, gesture);
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - begin);
  }
  return times;
}"""


@pytest.fixture(scope="module")
def book(page: Page, lab: Lab, errors_of_module: list[str]) -> Notebook:
    """A notebook whose first cell shows a live player; the second its recording."""
    notebook = Notebook(page, lab, live_notebook(lab))
    notebook.run_all()
    return notebook


def slide(frame: Frame, name: str, *values: float) -> list[float]:
    times: list[float] = frame.evaluate(SLIDE, [name, values])
    return times


def grad_shown(frame: Frame) -> str:
    grad = frame.text_content("#player .pane.graph .slot .value")
    return f"x.grad = {grad}"


def test_slider_records_again_in_the_kernel_and_redraws_at_once(book: Notebook) -> None:
    frame = book.player(0)
    go(frame, 1_000)
    assert grad_shown(frame) == "x.grad = 3"
    times = slide(frame, "x", 1.5, -0.5, 0.5, -1, 1.25, 2)
    assert grad_shown(frame) == "x.grad = 12"
    # Three times what is asked of a quiet machine, as in test_scale.
    assert min(times) < 600, times
    slide(frame, "n", 3)
    assert grad_shown(frame) == "x.grad = 32"


def test_recording_of_the_newest_run_is_an_ordinary_player(book: Notebook) -> None:
    slide(book.player(0), "x", 1.25)
    book.run(1)
    frame = book.player(1)
    go(frame, 1_000)
    assert grad_shown(frame) == grad_shown(book.player(0))


def test_recording_is_edited_in_the_kernel_until_that_is_restarted(
    book: Notebook,
) -> None:
    book.run(1)
    frame = book.player(1)
    frame.wait_for_selector(".mg-player.listens")
    go(frame, 1_000)
    x = frame.evaluate(
        "player.player.trace.graph.nodes.find((one) => one.tensor === 'x').id"
    )
    frame.evaluate("what => player.player.edits.choose(what, 'x')", f"node {x}")
    frame.locator(".edits input[type=text]").fill("0.5")
    frame.locator(".edits input[type=text]").press("Enter")
    frame.locator(".edits .told", has_text="Edited: x is 0.5").wait_for()
    times = frame.evaluate(EDIT, [f"node {x}", ["1.5", "2.5", "0.25", "1", "2", "3"]])
    print("edits in ms:", [round(one) for one in times])
    # Three times what is asked of a quiet machine, as in test_scale.
    assert min(times) < 300, times
    book.do("docmanager:save")
    book.reload()
    frame = book.player(1)
    frame.hover(".scene")
    frame.wait_for_selector(".mg-player.listens")  # the kernel goes on


def test_live_player_follows_the_theme(book: Notebook, screenshots: Path) -> None:
    shades = {}
    for theme in ("Light", "Dark"):
        book.use_theme(theme)
        book.player(0)
        picture = screenshots / f"live-{theme.lower()}.png"
        element = book.element(0).wait_for_selector("iframe")
        assert element is not None
        element.screenshot(path=picture)
        shades[theme] = brightness(picture)
    assert shades["Light"] > 0.8
    assert shades["Dark"] < 0.3


def test_restart_is_said_and_running_the_cell_again_mends_it(book: Notebook) -> None:
    frame = book.player(0)
    book.restart_kernel()
    frame.get_by_label("n", exact=True).fill("1")
    frame.get_by_text("Python was restarted: run the cell again.").wait_for()
    book.run(0)
    frame = book.player(0)
    slide(frame, "n", 1)
    assert frame.inner_text(".live .status") == ""
