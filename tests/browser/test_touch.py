"""The player under a finger: no key, no pointer that hovers."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from minigrad.views.recording import Recording
from tests.browser.conftest import ALL_OPEN, READY
from tests.browser.test_player_page import real

LEAST = 24  # CSS pixels: what WCAG 2.2 asks of a target


@pytest.fixture(scope="module")
def data() -> Any:
    return real()


@pytest.fixture
def touched(browser: Browser, data: Any, tmp_path: Path) -> Iterator[Page]:
    screen = {"width": 820, "height": 1100}
    context = browser.new_context(viewport=screen, has_touch=True)
    page = context.new_page()
    page.goto(Recording(data).save_html(tmp_path / "player.html").as_uri())
    page.wait_for_function(READY)
    page.evaluate(ALL_OPEN)
    yield page
    context.close()


def test_fingers_step_scrub_and_ask(touched: Page, data: Any) -> None:
    page = touched
    page.get_by_role("button", name="Step", exact=True).tap()
    assert page.evaluate("player.player.stopNow()") == 1
    slider = page.locator(".scrub input")
    box = slider.bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    middle = page.evaluate("player.player.stopNow()")
    assert 0.3 < middle / page.evaluate("player.player.stops.length") < 0.7
    at = next(i for i, e in enumerate(data["events"], 1) if e["k"] == "ctx.save")
    page.evaluate("at => player.player.go(at)", at)
    page.locator('.pane.ctx [data-key="saved.0"] .entry').tap()
    assert page.get_by_role("status").text_content() == "Steps of saved[0]"
    assert page.locator(".tip").is_visible()
    page.locator(".graph .node", has_text="MulConstantBackward").tap()
    assert "MulConstantBackward" in (page.get_by_role("status").text_content() or "")


TARGETS = """least => [...document.querySelectorAll(
    "button, select, summary, label, input:not([type=radio]), [role=button]")]
  .filter((one) => one.offsetParent)
  .map((one) => [one.getBoundingClientRect(), one])
  .filter(([box]) => Math.min(box.width, box.height) < least)
  .map(([box, one]) => `${one.className}: ${box.width} x ${box.height}`)"""


def test_all_is_large_enough_for_a_finger(touched: Page) -> None:
    # At the end all that was ever kept alive has a row.
    touched.get_by_role("button", name="Step", exact=True).press("End")
    assert touched.evaluate(TARGETS, LEAST) == []
    assert touched.locator("button.number").count() > 1
    assert touched.locator("button.owner").count() >= 2
    touched.add_style_tag(content=".mg-player .owner { line-height: 16px !important }")
    assert any("owner" in one for one in touched.evaluate(TARGETS, LEAST))


def test_answers_to_a_question_are_large_enough_for_a_finger(
    browser: Browser, data: Any, tmp_path: Path
) -> None:
    trace = Recording(copy.deepcopy(data))
    trace.ask("What comes?", ["this", "that"], "this", before="is ready and runs next")
    context = browser.new_context(
        viewport={"width": 820, "height": 900}, has_touch=True
    )
    page = context.new_page()
    page.goto(trace.save_html(tmp_path / "asked.html").as_uri())
    page.wait_for_function(READY)
    page.evaluate(ALL_OPEN)
    page.get_by_role("button", name="Step", exact=True).press("End")
    assert page.locator(".ask label").count() == 2
    assert page.evaluate(TARGETS, LEAST) == []
    context.close()
