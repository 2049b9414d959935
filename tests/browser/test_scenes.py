"""Scenes on a narrow screen: what a step speaks of is in view in every pane."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import ALL_OPEN
from tests.browser.laboratory import ROOT, wait_for_player
from tests.browser.pictures import FOLDER, STORY, recorded
from tests.browser.scenes import GO_TO_WORDS, SCENES, THEMES, deep

MARKED = (".line.current, .line.failed", ".op.running, .box.running", ".row.flash")

# Which of the marked things that are there cannot be seen whole in their pane.
OUT_OF_VIEW = """
selectors => selectors.filter(selector => {
  const marked = [...document.querySelectorAll(selector)];
  return marked.filter(one => one.checkVisibility()).some(one => {
    const { top, bottom } = one.getBoundingClientRect();
    return [one.closest(".listing"), one.closest(".body")].some(box => {
      const room = box?.getBoundingClientRect();
      return room && (top < room.top - 1 || bottom > room.bottom + 1);
    });
  });
})
"""


@pytest.fixture(scope="module")
def narrow(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 800, "height": 900}, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(
    ("name", "program", "words"), [*SCENES, ("deep", deep, "halved returns")]
)
def test_what_is_marked_is_in_view(
    narrow: Page, tmp_path: Path, name: str, program: Any, words: str
) -> None:
    narrow.goto(program().save_html(tmp_path / f"{name}.html").as_uri())
    wait_for_player(narrow)
    if words:  # of one recording
        narrow.evaluate(ALL_OPEN)
    assert narrow.evaluate(GO_TO_WORDS, words) != -1
    assert narrow.locator(", ".join(MARKED)).count() > 0
    assert narrow.evaluate(OUT_OF_VIEW, list(MARKED)) == []


def test_story_of_the_readme_is_still_the_one_of_its_pictures() -> None:
    says = iter(event.get("why", "") for event in recorded().data["events"])
    assert [words for words in STORY if not any(words in say for say in says)] == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for theme in THEMES:
        for ending, most in (("png", 200_000), ("gif", 620_000)):
            picture = FOLDER / f"player-{theme}.{ending}"
            assert f".github/{picture.name}" in readme
            assert picture.stat().st_size < most


def test_what_is_scrolled_away_is_found(narrow: Page, tmp_path: Path) -> None:
    _, program, words = SCENES[1]
    narrow.goto(program().save_html(tmp_path / "scene.html").as_uri())
    wait_for_player(narrow)
    narrow.evaluate(ALL_OPEN)
    narrow.evaluate(GO_TO_WORDS, words)
    narrow.evaluate("player.player.ctx.body.style = 'flex: none; height: 20px'")
    assert narrow.evaluate(OUT_OF_VIEW, list(MARKED)) == [MARKED[2]]
