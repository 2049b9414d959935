"""The player under a finger: no key, no pointer that hovers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from minigrad.views import Recording
from tests.browser.conftest import READY
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


def test_buttons_are_large_enough_for_a_finger(touched: Page) -> None:
    small = touched.evaluate(
        """least => [...document.querySelectorAll(".bar :is(button, input, select)")]
          .filter((one) => one.offsetParent)
          .map((one) => [one.getBoundingClientRect(), one.getAttribute("aria-label")])
          .filter(([box]) => Math.min(box.width, box.height) < least)
          .map(([box, name]) => `${name}: ${box.width} x ${box.height}`)""",
        LEAST,
    )
    assert small == []
