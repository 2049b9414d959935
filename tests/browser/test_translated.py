"""The player in a language that nobody speaks: all is said in it, and none is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from minigrad.tracing import messages
from tests.browser.scenes import product
from tests.tracing.pseudo import translated, untranslated

READY = "() => document.getElementById('player').player"

# Everything that is read or heard, and no code: that of the program is its own.
READ_ALL = """
() => {
  const { player } = document.getElementById("player");
  const found = new Set();
  const look = () => {
    const walker = document.createTreeWalker(player.root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement: owner, data } = walker.currentNode;
      if (!owner.closest(".line .text, code, kbd")) found.add(data);
    }
    for (const one of player.root.querySelectorAll("[aria-label], [title]")) {
      found.add(one.getAttribute("aria-label") || "");
      found.add(one.title || "");
    }
  };
  player.setLevel(3);
  for (const position of player.stops) {
    player.go(position);
    look();
  }
  player.toggleHelp();
  look();
  player.toggleHelp();
  return [...found];
}
"""

# What stands in a box that hides a part of it, and does not scroll.
CUT = """
() => {
  const all = document.querySelectorAll("#player *");
  const hides = (box) => getComputedStyle(box).overflowX === "hidden";
  const cut = [...all].filter((box) => {
    const { width } = box.getBoundingClientRect();
    return width > 1 && hides(box) && box.scrollWidth > box.clientWidth + 1;
  });
  const wide = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
  return [...wide, ...cut.map((box) => `${box.className}: ${box.textContent}`)];
}
"""
OF_KEYS = {
    "Ctrl",
    "Space",
    "Home",
    "End",
    "Esc",
    "Enter",
    "PageDown",
    "PageUp",
    "Tab",
    "Shift",
}


@pytest.fixture
def in_pseudo(tmp_path: Path) -> Iterator[None]:
    messages.use(str(translated(tmp_path / "messages.pseudo.toml")))
    yield
    messages.use("en")


def opened(page: Page, trace: Any, folder: Path) -> Page:
    page.set_viewport_size({"width": 800, "height": 950})
    page.goto(trace.save_html(folder / "translated.html").as_uri())
    page.wait_for_function(READY)
    return page


def test_no_word_of_a_player_is_english_and_none_is_cut(
    page: Page, in_pseudo: None, tmp_path: Path, screenshots: Path
) -> None:
    trace = product()
    shown = opened(page, trace, tmp_path)
    files = re.findall("[A-Za-z]+", " ".join(s["file"] for s in trace.data["sources"]))
    known = {*OF_KEYS, *files, "float", "fn", "Backward"}
    said = {text: untranslated(text, trace.data) for text in shown.evaluate(READ_ALL)}
    assert {text: words for text, words in said.items() if set(words) - known} == {}
    for at in (0, 0.4, 0.8):
        place = f"player.player.goToStop(Math.round({at} * player.player.stops.length))"
        shown.evaluate(place)
        shown.screenshot(path=screenshots / f"translated-{at}.png")
        assert shown.evaluate(CUT) == []


def test_english_word_would_be_found(page: Page, tmp_path: Path) -> None:
    trace = product()
    shown = opened(page, trace, tmp_path)
    told = [untranslated(text, trace.data) for text in shown.evaluate(READ_ALL)]
    assert ["Graph"] in told
    shown.evaluate(
        "player.querySelector('.say').style.cssText ="
        " 'width: 30px; overflow: hidden; white-space: nowrap'"
    )
    assert "say" in "".join(shown.evaluate(CUT))
