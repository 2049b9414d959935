"""Two players side by side step together and show their first difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from minigrad.views import compare
from tests.browser.conftest import READY
from tests.views.test_comparing import Attribute, Saved, recorded

POSITIONS = "player.player.players.map((one) => one.position)"


def positions(page: Page) -> Any:
    return page.evaluate(POSITIONS)


def test_both_step_together_and_the_difference_is_marked(
    page: Page, tmp_path: Path
) -> None:
    comparison = compare(recorded(Saved), recorded(Attribute))
    page.goto(comparison.save_html(tmp_path / "both.html").as_uri())
    page.wait_for_function(READY)
    assert page.get_by_text("The first difference.").is_visible()
    players = page.locator(".mg-player")
    assert players.count() == 2
    players.nth(0).focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        assert tuple(positions(page)) in comparison.pairs
    players.nth(1).focus()
    page.keyboard.press("End")
    assert tuple(positions(page)) == comparison.pairs[-1]
    assert page.locator(".sentence .here:visible").count() == 0
    page.get_by_role("button", name="Go to the first difference").click()
    assert comparison.difference == tuple(positions(page))
    assert page.locator(".sentence .here:visible").count() == 2
    assert page.locator(".difference-mark:visible").count() == 2
    players.nth(0).get_by_role("button", name="Everything").click()
    other = players.nth(1).get_by_role("button", name="Everything")
    assert other.get_attribute("aria-pressed") == "true"


def test_comparison_without_a_difference_marks_none(page: Page, tmp_path: Path) -> None:
    comparison = compare(recorded(Saved), recorded(Saved))
    page.goto(comparison.save_html(tmp_path / "both.html").as_uri())
    page.wait_for_function(READY)
    assert page.get_by_text("The two recordings are the same").is_visible()
    assert page.locator(".difference-mark:visible").count() == 0
    assert page.get_by_role("button", name="Go to the first").count() == 0


def test_comparison_opens_at_the_level_of_its_recordings(
    page: Page, tmp_path: Path
) -> None:
    def pressed(**level: str) -> list[str | None]:
        sides = [recorded(Saved), recorded(Attribute)]
        for side in sides if level else ():
            side.at_level(level["level"])
        page.goto(compare(*sides).save_html(tmp_path / "both.html").as_uri())
        page.wait_for_function(READY)
        buttons = page.get_by_role("button", name="Picture", exact=True).all()
        return [button.get_attribute("aria-pressed") for button in buttons]

    assert pressed() == ["false", "false"]
    assert pressed(level="picture") == ["true", "true"]
