"""The README's pictures, still and animated: ``python -m tests.browser.pictures``."""

from __future__ import annotations

import io
import linecache
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from minigrad import _bootstrap
from tests.browser.laboratory import FLAGS, ROOT, wait_for_player

FOLDER = ROOT / ".github"
WIDTH, HEIGHT = 960, 760  # the narrowest page with three panes side by side
SHARP = 1.5  # points of the still picture to one of the page
HOLD, LAST_HOLD, TRAVEL = 1700, 4000, 80  # milliseconds
COLOURS = 95
FLIGHT = 6  # pictures of a gradient on its way

PROGRAM = """\
import minigrad as mg
from minigrad.autograd import Function

class Mul(Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * w, g * x

x = mg.tensor(2.0, requires_grad=True)
w = mg.tensor(5.0, requires_grad=True)
with mg.record("A product") as trace:
    y = Mul.apply(x, w)
    y.backward()
"""

# Words of the picture's sentences, in order.
STORY = (
    "an empty box",
    "puts x and w into the box",
    "forward returns",
    "ties the box to y",
    "backward begins",
    "The box opens",
    "x gets",
    "lets them go",
    "x.grad is",
)
STILL = "x gets"

# Time in the page stands still: what moves is put where it is after `at` milliseconds.
HELD_TIME = """
window.setTime = (at) => {
  for (const one of document.getAnimations()) {
    one.pause();
    one.currentTime = at;
    if (at >= one.effect.getComputedTiming().endTime) one.finish();
  }
};
"""
GO_TO = """
words => {
  const { player } = document.getElementById("player");
  const { events } = player.trace;
  const place = events.findIndex(({ why, lvl }, index) => {
    return index + 1 > player.position && lvl === 0 && why.includes(words);
  });
  player.position = player.stops[player.stops.indexOf(place + 1) - 1]; // the one before
  player.go(place + 1);
  setTime(0);
  return place < 0 ? null : events[place].k;
}
"""


def recorded() -> Any:
    """The program, run as the file of a learner."""
    name = "product.py"
    linecache.cache[name] = (len(PROGRAM), None, PROGRAM.splitlines(True), name)
    scope: dict[str, Any] = {"__name__": "product"}
    exec(compile(PROGRAM, name, "exec"), scope)
    return scope["trace"]


def frames(page: Page) -> Iterator[tuple[Image.Image, int]]:
    """Picture and milliseconds of every frame, in order."""
    for words in STORY:
        kind = page.evaluate(GO_TO, words)
        assert kind is not None, words
        times = [i * 550 / FLIGHT for i in range(FLIGHT)] if kind == "grad" else []
        for at in times:
            page.evaluate("at => setTime(at)", at)
            yield taken(page), TRAVEL
        page.evaluate("setTime(2000)")
        yield taken(page), LAST_HOLD if words == STORY[-1] else HOLD


def taken(page: Page) -> Image.Image:
    return Image.open(io.BytesIO(page.locator("#player").screenshot())).convert("RGB")


def make(browser: Browser, theme: str, file: Path) -> None:
    """The still and the animated picture of a theme."""
    page = opened(browser, theme, file, SHARP)
    page.evaluate(GO_TO, STILL)
    page.evaluate("setTime(2000)")
    still = taken(page).quantize(256, dither=Image.Dither.NONE)
    still.save(FOLDER / f"player-{theme}.png", optimize=True)
    found = list(frames(opened(browser, theme, file)))
    animate(found, FOLDER / f"player-{theme}.gif")


def opened(browser: Browser, theme: Any, file: Path, sharp: float = 1.0) -> Page:
    page = browser.new_page(
        viewport={"width": WIDTH, "height": HEIGHT},
        color_scheme=theme,
        device_scale_factor=sharp,
    )
    page.add_init_script(HELD_TIME)
    page.goto(file.as_uri())
    wait_for_player(page)
    return page


def animate(found: list[tuple[Image.Image, int]], file: Path) -> None:
    """A GIF with one palette, in which a frame has only the points that change."""
    width, height = found[0][0].size
    many = found[:: len(found) // 6]
    sheet = Image.new("RGB", (width, height * len(many)))
    for place, (picture, _) in enumerate(many):
        sheet.paste(picture, (0, height * place))
    palette = sheet.quantize(COLOURS, dither=Image.Dither.NONE)
    shown: list[Image.Image] = []
    before = None
    for picture, _ in found:
        plain = picture.quantize(palette=palette, dither=Image.Dither.NONE)
        points = np.asarray(plain)
        changed = (
            points if before is None else np.where(points == before, COLOURS, points)
        )
        frame = Image.fromarray(changed.astype(np.uint8), "P")
        frame.putpalette(palette.getpalette() or [])
        shown.append(frame)
        before = points
    shown[0].save(
        file,
        save_all=True,
        append_images=shown[1:],
        duration=[time for _, time in found],
        loop=0,
        transparency=COLOURS,
        disposal=1,
        optimize=False,
    )


def main() -> int:
    """Make all pictures."""
    path = _bootstrap.find_browser(os.environ)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        file = FOLDER / "player.html"
        recorded().save_html(file)
        for theme in ("light", "dark"):
            make(browser, theme, file)
        file.unlink()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
