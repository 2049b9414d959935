"""What stands on the screen: the player's panes, colours, brightness."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.image
from playwright.sync_api import Frame, Page

Colour = tuple[float, float, float, float]

READABLE = 4.5  # the contrast that WCAG 2 asks of text of usual size

# Everything is read from the document; the player's own records are not asked. The
# inspector of ctx, which is filled while it's open, is opened for that.
READ_PLAYER = """
() => {
  const { player } = document.querySelector("#player");
  const closed = !player.root.classList.contains("inspecting");
  if (closed) player.inspect(true);
  const one = selector => document.querySelector(`#player ${selector}`);
  const states = kind => {
    const found = {};
    for (const part of document.querySelectorAll(`#player g.${kind}[id^="mg_"]`)) {
      const [id] = part.id.replace("mg_", "").split("__");
      if (part.dataset.state !== "unseen") found[id] = part.dataset.state;
    }
    return found;
  };
  const words = node => {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) found.push(walker.currentNode.data);
    return found.join(" ");
  };
  const entries = {};
  for (const row of document.querySelectorAll("#player .pane.ctx [data-key]")) {
    entries[row.dataset.key] = words(row.querySelector("dd"));
  }
  const ctx = { id: one(".pane.ctx").dataset.ctx || null, entries };
  if (closed) player.inspect(false);
  return {
    position: player.position,
    say: one("[aria-live]").textContent,
    nodes: states("node"),
    edges: states("edge"),
    ctx,
    line: one(".card.top .line.current .text")?.textContent ?? null,
  };
}
"""

READ_TEXTS = """
selector => {
  for (const animation of document.getAnimations()) animation.finish();
  const found = [];
  for (const one of document.querySelectorAll(`:is(${selector}) *`)) {
    const own = [...one.childNodes].filter(n => n.nodeType === Node.TEXT_NODE);
    const words = own.map(n => n.data).join("").trim();
    if (!words || one.closest("svg") || !one.checkVisibility()) continue;
    const grounds = [];
    for (let up = one; up; up = up.parentElement) {
      const { backgroundColor, opacity } = getComputedStyle(up);
      grounds.unshift([backgroundColor, Number(opacity)]);
    }
    found.push({ words, colour: getComputedStyle(one).color, grounds });
  }
  return found;
}
"""


def on_screen(frame: Frame | Page) -> dict[str, Any]:
    """Where the player stands and what can be read there."""
    found: dict[str, Any] = frame.evaluate(READ_PLAYER)
    return found


def contrasts(frame: Frame | Page, selector: str) -> dict[str, float]:
    """Every text under ``selector``, with its contrast to what is behind it.

    Pictures are left out: in SVG a shape beside the text is what lies behind it.
    """
    measured: dict[str, float] = {}
    for text in frame.evaluate(READ_TEXTS, selector):
        ratio = contrast_on(text["colour"], text["grounds"])
        words = text["words"]
        measured[words] = min(ratio, measured.get(words, ratio))
    return measured


def unreadable(frame: Frame | Page, selector: str) -> dict[str, float]:
    """The texts under ``selector`` that are too pale; there must be some text."""
    measured = contrasts(frame, selector)
    assert measured, f"no text in {selector}"
    return {words: ratio for words, ratio in measured.items() if ratio < READABLE}


def contrast_on(colour: str, grounds: Sequence[tuple[str, float]]) -> float:
    """Contrast of a text on the backgrounds of its ancestors, the outermost first."""
    white: Colour = (1.0, 1.0, 1.0, 1.0)
    layers = [(parsed(ground), opacity) for ground, opacity in grounds]
    return contrast(*_laid(parsed(colour), layers, white))


def _laid(
    colour: Colour, layers: Sequence[tuple[Colour, float]], behind: Colour
) -> tuple[Colour, Colour]:
    """The text's and the background's colour, each layer as one translucent group."""
    (ground, opacity), *inner = layers
    base = over(ground, behind)
    text, base = _laid(colour, inner, base) if inner else (over(colour, base), base)
    return over((*text[:3], opacity), behind), over((*base[:3], opacity), behind)


def over(upper: Colour, lower: Colour) -> Colour:
    """A colour laid on an opaque one."""
    alpha = upper[3]
    red, green, blue = (
        alpha * up + (1 - alpha) * low
        for up, low in zip(upper[:3], lower[:3], strict=True)
    )
    return red, green, blue, 1.0


def parsed(css: str) -> Colour:
    """A computed colour: ``rgb(0, 114, 178)`` or ``color(srgb 0 0.4 0.7 / 0.5)``."""
    kind, _, rest = css.partition("(")
    if kind not in ("rgb", "rgba") and not rest.startswith("srgb "):
        raise ValueError(f"a colour of another kind: {css}")
    scale = 1.0 if kind == "color" else 255.0
    numbers = [float(found) for found in re.findall(r"-?[\d.]+(?:e-?\d+)?", rest)]
    red, green, blue = (number / scale for number in numbers[:3])
    return red, green, blue, numbers[3] if len(numbers) > 3 else 1.0


def contrast(one: Colour, other: Colour) -> float:
    """WCAG's ratio of two colours, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Colour) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour[:3]
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def brightness(picture: Path) -> float:
    """The mean brightness of a PNG file, from 0 (black) to 1 (white)."""
    return float(matplotlib.image.imread(picture)[..., :3].mean())
