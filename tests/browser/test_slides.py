"""Slides as a projector shows them: nothing of a slide is out of sight."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from minigrad.course.author import slides

ROOT = Path(__file__).resolve().parents[2]
SIZE = {"width": 1280, "height": 720}
HIDDEN = """() => {
  const slide = Reveal.getCurrentSlide();
  const found = [];
  if (slide.scrollHeight > slide.clientHeight + 1) found.push("text");
  for (const frame of slide.querySelectorAll("iframe")) {
    const inner = frame.getBoundingClientRect();
    const outer = frame.parentElement.getBoundingClientRect();
    const most = { right: outer.right + 1, bottom: outer.bottom + 1 };
    if (inner.bottom > most.bottom || inner.right > most.right) found.push("player");
  }
  return found.map((what) => `${what} of: ${slide.innerText.slice(0, 60)}`);
}"""
FITTED = """() => {
  const frames = [...Reveal.getCurrentSlide().querySelectorAll("iframe")];
  return frames.every((frame) => frame.style.height.endsWith("px"));
}"""
FRAGMENTS = """() => {
  for (const one of Reveal.getCurrentSlide().querySelectorAll(".fragment"))
    one.classList.add("visible");
}"""
ONWARD = "() => Reveal.availableRoutes().down ? Reveal.down() : Reveal.right()"


def out_of_sight(page: Page) -> Iterator[str]:
    """What is cut off, slide by slide, with all that waits for a key."""
    while True:
        page.evaluate(FRAGMENTS)
        page.wait_for_function(FITTED)
        yield from page.evaluate(HIDDEN)
        if page.evaluate("() => Reveal.isLastSlide()"):
            return
        page.evaluate(ONWARD)


@pytest.mark.parametrize("lesson", ["14", "15", "16", "17"])
def test_slides_of_a_lesson_are_seen_whole(
    page: Page, tmp_path: Path, lesson: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    file = tmp_path / "slides.html"
    file.write_text(slides.slides(slides.lesson_file(lesson)), encoding="utf-8")
    page.set_viewport_size(SIZE)
    page.goto(file.as_uri())
    page.wait_for_function("() => window.Reveal?.isReady()")
    assert page.locator("iframe").count() >= 3
    assert list(out_of_sight(page)) == []
    page.evaluate("() => Reveal.slide(0)")
    page.evaluate(
        """() => { const long = document.createElement("div");
        long.style.height = "900px"; Reveal.getCurrentSlide().append(long); }"""
    )
    assert next(out_of_sight(page)).startswith("text of: ")
