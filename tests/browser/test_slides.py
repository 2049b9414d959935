"""Slides as a projector shows them: whole, legible, and not empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from minigrad import _workspace
from minigrad.course.author import slides
from tests.browser import presented
from tests.browser.conftest import READY
from tests.browser.seen import unreadable
from tests.notebooks.kernels import ROOT, Kernel, kernel

__all__ = ["kernel"]

LESSONS = [path.stem[:2] for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
SMALLEST = 23.95
"""Pixels on a slide of 720: 18 points, but for rounding."""

FAULTS_OF = """(slide, smallest) => {
  const box = slide.getBoundingClientRect();
  const scale = box.width / 1280;
  const found = [];
  const players = [...slide.querySelectorAll("[data-minigrad-player]")];
  const seen = [...slide.querySelectorAll(".part *")].filter((one) =>
    !one.matches("[data-minigrad-player] *") && one.checkVisibility()
    && one.getBoundingClientRect().height);
  const bottoms = seen.map((one) => one.getBoundingClientRect().bottom);
  const rights = seen.filter((one) => !one.closest("svg"))
    .map((one) => one.getBoundingClientRect().right);
  if (Math.max(...bottoms) > box.bottom + 1 || Math.max(...rights) > box.right + 1
      || box.bottom > innerHeight + 1 || box.right > innerWidth + 1) found.push("cut");
  if (Math.max(...bottoms) - box.top < box.height / 3) found.push("empty");
  const texts = seen.filter((one) => !one.closest("svg")
    && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  for (const one of texts) {
    const size = parseFloat(getComputedStyle(one).fontSize) * (one.currentCSSZoom ?? 1);
    if (size < smallest) found.push(`${size} px: ${one.textContent.slice(0, 20)}`);
  }
  for (const player of players) {
    const frame = player.querySelector("iframe");
    const inner = frame.contentDocument.querySelector("#player");
    const outside = [...inner.children].filter((part) => {
      const { right, bottom, height } = part.getBoundingClientRect();
      const { clientWidth, clientHeight } = frame.contentDocument.documentElement;
      return height && (right > clientWidth + 1 || bottom > clientHeight + 1);
    });
    const [within, around] = [frame, player].map((one) => one.getBoundingClientRect());
    const over = within.bottom > around.bottom + 1 || within.right > around.right + 1;
    if (outside.length || over) found.push("player cut");
    if (around.height < 420 * scale) found.push("player low");
  }
  for (const question of slide.querySelectorAll(".asks")) {
    const before = document.querySelector(`[data-part="${question.dataset.part - 1}"]`);
    const apart = before?.matches(".code") && !slide.contains(before);
    if (apart) found.push("without its code");
  }
  return found;
}"""
FAULTS = f"""async smallest => {{
  const faultsOf = {FAULTS_OF};
  const plays = (frame) => frame.contentDocument?.querySelector("#player")?.player;
  const found = [];
  for (let at = 0; at < Reveal.getTotalSlides(); at += 1) {{
    Reveal.slide(at);
    const slide = Reveal.getCurrentSlide();
    for (const one of slide.querySelectorAll(".fragment")) one.classList.add("visible");
    while (![...slide.querySelectorAll("iframe")].every(plays))
      await new Promise((done) => setTimeout(done, 20));
    found.push(...faultsOf(slide, smallest).map((what) => `${{at + 1}}: ${{what}}`));
  }}
  return found;
}}"""
KEYS_ARE_CUT = """() => {
  const shown = document.querySelector(".r-overlay-help .r-overlay-content");
  return shown.scrollHeight > shown.clientHeight;
}"""
PLAYERS = "() => [...document.querySelectorAll('iframe')].map(({ srcdoc }) => srcdoc)"


@pytest.fixture
def deck(
    page: Page, kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    _workspace.lay_out(ROOT, tmp_path / "work")
    monkeypatch.setattr(
        slides, "run", lambda book: kernel.run(book, tmp_path / "work/notebooks")
    )

    def opened(lesson: str, theme: str = "light") -> Page:
        file = tmp_path / "slides.html"
        text = slides.slides(slides.lesson_file(lesson), theme=theme)
        file.write_text(text, encoding="utf-8")
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(file.as_uri())
        page.wait_for_function("() => window.Reveal?.isReady?.()")
        return page

    return opened


def faults(page: Page) -> Any:
    """What is wrong with each slide, with all that waits for a key."""
    return page.evaluate(FAULTS, SMALLEST)


def presented_faults(page: Page, file: Path) -> Iterator[str]:
    """What a room can't see of the players, each as a page in presenter mode."""
    for text in page.evaluate(PLAYERS):
        file.write_text(text, encoding="utf-8")
        page.goto(file.as_uri())
        page.wait_for_function(READY)
        page.evaluate("player.player.presenter.toggle()")
        title = page.locator("#player").get_attribute("aria-label")
        yield from [f"{title}, {fault}" for fault in presented.faults(page, 5)]


@pytest.mark.parametrize("lesson", LESSONS)
def test_slides_of_a_lesson_are_whole_legible_and_full(
    deck: Any, lesson: str, tmp_path: Path
) -> None:
    page = deck(lesson)
    assert page.locator("iframe").count() >= 3
    assert faults(page) == []
    assert list(presented_faults(page, tmp_path / "player.html")) == []


def test_slides_fit_every_projector_and_faults_would_be_seen(deck: Any) -> None:
    page = deck("04", theme="dark")
    for width, height in presented.SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert faults(page) == []
        page.keyboard.press("Shift+?")
        keys = page.locator(".r-overlay-help tr")
        assert keys.first.inner_text().startswith("Space")
        assert page.evaluate(KEYS_ARE_CUT) is False
        page.keyboard.press("Shift+?")
        share = "Reveal.getCurrentSlide().getBoundingClientRect().width / innerWidth"
        assert page.evaluate(share) > 0.95
    assert unreadable(page, ".slides > .present") == {}
    page.evaluate(
        """() => {
          const [first, ...rest] = document.querySelectorAll(".slides > section");
          first.querySelector("p").style.marginTop = "700px";
          const text = document.querySelector(".slides > section:last-child .part");
          text.style.fontSize = "12px";
          text.replaceChildren("little, and small");
          text.parentElement.replaceChildren(text);
          const frame = document.querySelector("iframe");
          frame.parentElement.style.setProperty("--high", "300px");
          const code = document.querySelector(".part.code");
          const question = [...document.querySelectorAll(".asks")].at(-1);
          question.dataset.part = Number(code.dataset.part) + 1;
        }"""
    )
    said = " ".join(faults(page))
    for what in ("cut", "empty", "player low", "without its code"):
        assert what in said
