"""Two recordings in one player: one slider, and colour only where they differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page

import minigrad
from minigrad.views.comparing import Comparison, compare
from minigrad.views.recording import step
from tests.browser.conftest import READY
from tests.views.test_comparing import Attribute, Saved, Thrice, of, recorded

POSITIONS = "player.player.sides.map((one) => one.position)"
# What differs in a side, and is seen: its address and what is written there.
COLOURED = """
(side) => {
  const all = player.player.sides[side].root.querySelectorAll(".scene .differs");
  const texts = (one) => [...one.querySelectorAll("text")].map((t) => t.textContent);
  return [...all]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }))
    .map((one) => [one.dataset.place, texts(one).join(" ")]);
}
"""
# Of all that has a hue in the two pictures: whether it is part of what differs.
HUES = """
() => [...player.querySelectorAll(".scene *")].filter((one) => {
  const seen = { visibilityProperty: true, opacityProperty: true };
  const left = one.closest(".hit, .differs, defs, .overlay") || one.matches("g, svg");
  if (left || !one.checkVisibility(seen)) return false;
  const { fill, stroke } = getComputedStyle(one);
  return [fill, stroke].some((colour) => {
    const [r, g, b] = (colour.match(/[\\d.]+/g) || [0, 0, 0]).map(Number);
    return Math.max(r, g, b) - Math.min(r, g, b) > 40;
  });
}).map((one) => one.outerHTML.slice(0, 90))
"""


def opened(page: Page, tmp_path: Path, comparison: Comparison) -> None:
    page.goto(comparison.save_html(tmp_path / "both.html").as_uri())
    page.wait_for_function(READY)


def seen(page: Page) -> list[dict[str, str]]:
    return [dict(page.evaluate(COLOURED, side)) for side in (0, 1)]


def test_it_opens_at_the_first_difference_and_colours_that_value_alone(
    page: Page, tmp_path: Path
) -> None:
    comparison = compare(recorded(Saved), recorded(Thrice))
    opened(page, tmp_path, comparison)
    first = comparison.difference
    assert first is not None
    assert (
        page.locator(".mg-comparison > .sentence .say").inner_text() == first.sentence
    )
    assert tuple(page.evaluate(POSITIONS)) == comparison.steps[first.step]
    left, right = seen(page)
    wire = next(what for what in left if what.startswith("edge"))
    assert (left[wire], right[wire]) == ("[6, 2]", "[9, 3]")
    assert {what.split()[0] for what in left | right} == {"edge", "grad"}
    assert page.evaluate(HUES) == []


def test_equal_runs_are_grey_at_every_step(page: Page, tmp_path: Path) -> None:
    comparison = compare(recorded(Saved), recorded(Saved))
    opened(page, tmp_path, comparison)
    page.locator("#player").focus()
    assert page.get_by_text("Nothing differs: all values").is_visible()
    assert page.get_by_role("button", name="Next difference").count() == 0
    for _ in range(page.evaluate("player.player.stops.length")):
        page.keyboard.press("ArrowRight")
        assert seen(page) == [{}, {}]
        assert page.evaluate(HUES) == []
    assert page.get_by_role("button", name="Step", exact=True).is_disabled()
    page.evaluate("document.documentElement.style.setProperty('--ghost', '#ff0000')")
    assert page.evaluate(HUES) != []  # it does look


def test_one_value_is_coloured_with_what_follows_from_it(
    page: Page, tmp_path: Path
) -> None:
    opened(
        page,
        tmp_path,
        compare(of(lambda a, b: a * b), of(lambda a, b: a * b, 3.0, 5.0)),
    )
    page.keyboard.press("End")
    left, right = seen(page)
    words = [{tuple(text.split()) for text in side.values()} for side in (left, right)]
    assert {("a", "2"), ("10",), (".grad", "2")} <= words[0]
    assert {("a", "3"), ("15",), (".grad", "3")} <= words[1]
    assert not any("5" in texts for texts in words[0] | words[1])  # b and a.grad


def test_one_slider_moves_both_and_what_is_alone_waits(
    page: Page, tmp_path: Path
) -> None:
    comparison = compare(of(lambda a, b: a * b + a), of(lambda a, b: (a * b).exp() + a))
    opened(page, tmp_path, comparison)
    assert page.locator(".slider:visible").count() == 1
    assert (
        page.locator(".mg-comparison > .sentence .say").inner_text()
        == "exp is only in B."
    )
    assert [what for what in seen(page)[1] if what.startswith("call")]
    waits = "player.player.sides.map((one) => one.root.classList.contains('waits'))"
    assert page.evaluate(waits) == [True, False]
    steps = set(comparison.steps)
    page.locator("#player").focus()
    for key in (
        "Home",
        *["ArrowRight"] * 30,
        "ArrowLeft",
        "d",
        "d",
        "End",
        "d",
        " ",
        " ",
    ):
        page.keyboard.press(key)
        assert tuple(page.evaluate(POSITIONS)) in steps, key


def test_keys_reach_both_and_come_out_again(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, compare(recorded(Saved), recorded(Attribute)))
    page.keyboard.press("Home")  # on a page of its own, whatever has the focus
    assert page.evaluate(POSITIONS) == [0, 0]
    page.locator("#player").focus()
    page.set_viewport_size({"width": 944, "height": 800})
    for key, pane in (("c", ".pane.ctx"), ("e", ".pane.code")):
        page.keyboard.press(key)
        assert page.locator(f"{pane}:visible").count() == 2, key
        page.keyboard.press(key)
        assert page.locator(f"{pane}:visible").count() == 0, key
    page.keyboard.press("/")
    page.keyboard.type("x.grad")
    page.keyboard.press("Enter")
    at = page.evaluate("player.player.position")
    assert at > 0
    page.keyboard.press("Escape")
    assert page.locator(".mg-comparison > .found:visible").count() == 0
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Phases").click()
    levels = "[player.player, ...player.player.sides].map(({ level }) => level)"
    assert page.evaluate(levels) == [2, 2, 2]


def test_what_is_clicked_in_one_picture_takes_the_other_along(
    page: Page, tmp_path: Path
) -> None:
    comparison = compare(recorded(Saved), recorded(Thrice))
    opened(page, tmp_path, comparison)
    page.locator(".side").nth(1).locator(".call .hit").first.click()
    item = page.locator(".side").nth(1).locator(".found li button").first
    item.click()
    assert tuple(page.evaluate(POSITIONS)) in set(comparison.steps)
    assert page.evaluate("player.player.sides[1].position") < comparison.difference.step
    page.mouse.move(0, 0)
    for opened_last in (".number-box", ".found", ".pane.ctx"):
        assert page.locator(f".side {opened_last}:visible").count() == 1, opened_last
        page.keyboard.press("Escape")
        assert page.locator(f".side {opened_last}:visible").count() == 0, opened_last


@pytest.mark.parametrize(("width", "abreast"), [(944, False), (1400, True)])
def test_both_pictures_are_seen_at_once(
    page: Page, tmp_path: Path, width: int, abreast: bool
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    opened(page, tmp_path, compare(recorded(Saved), recorded(Attribute)))
    boxes = [one.bounding_box() for one in page.locator(".scene").all()]
    assert all(box and box["y"] + box["height"] <= 800 for box in boxes)
    assert (boxes[0]["y"] == boxes[1]["y"]) is abreast


def test_step_is_saved_as_one_picture_of_both(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, compare(recorded(Saved), recorded(Thrice)))
    saved = page.evaluate("player.player.pictureNow()")
    root = ElementTree.fromstring(saved["text"])
    first, second = root
    tall = [float(one.get("height", 0)) for one in (root, first, second)]
    assert tall[0] == tall[1] + tall[2] == saved["height"]
    assert float(second.get("y", 0)) == tall[1]
    texts = ["".join(one.itertext()) for one in (first, second)]
    assert texts[0].startswith("Saved: ")
    assert texts[1].startswith("Thrice: ")
    assert ("[6, 2]" in texts[0], "[9, 3]" in texts[1]) == (True, True)


def test_value_of_a_folded_module_is_coloured_at_its_card(
    page: Page, tmp_path: Path
) -> None:
    def net(bias: float) -> Any:
        minigrad.manual_seed(0)
        net = minigrad.nn.Sequential(
            minigrad.nn.Linear(2, 3), minigrad.nn.ReLU(), minigrad.nn.Linear(3, 1)
        )
        with minigrad.no_grad():
            net[2].bias[0] = bias
        x = minigrad.tensor([[1.0, 2.0]])
        return step(lambda: net(x).sum().backward())

    opened(page, tmp_path, compare(net(0.0), net(1.0)))
    cards = page.locator(".side").first.locator(".op.differs .title")
    assert cards.all_text_contents() == ["linear 2"]


def test_comparison_opens_at_the_level_of_its_recordings(
    page: Page, tmp_path: Path
) -> None:
    def pressed(**level: str) -> list[str | None]:
        sides = [recorded(Saved), recorded(Attribute)]
        for side in sides if level else ():
            side.at_level(level["level"])
        opened(page, tmp_path, compare(*sides))
        buttons = page.locator(".mg-comparison > .bar .levels button").all()
        return [button.get_attribute("aria-pressed") for button in buttons]

    assert pressed() == ["true", "false", "false"]
    assert pressed(level="phases") == ["false", "true", "false"]
