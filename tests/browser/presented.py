"""What a room could not read, or not see, of a player in presenter mode."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

SIZES = [(1280, 720), (1400, 900), (1920, 1080)]

FAULTS = """async every => {
  const root = document.getElementById("player");
  const { player } = root;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const found = new Set();
  const box = (one) => one.getBoundingClientRect();
  const shown = { visibilityProperty: true, opacityProperty: true };
  const seen = (one) => one.checkVisibility(shown) && !one.closest(".unseen, .map")
    && box(one).width && box(one).height;
  const beside = (one, other) => one.left < other.left - 2
    || one.right > other.right + 2;
  const outside = (one, other) => beside(one, other)
    || one.top < other.top - 2 || one.bottom > other.bottom + 2;
  const meet = (one, other) => one.left < other.right && other.left < one.right
    && one.top < other.bottom && other.top < one.bottom;
  const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const boxes = ".scene :is(.cell, .param, .tag, .tray, .chip, .slot, .op)";
  for (const stop of player.stops.filter((_, place) => place % every === 0)) {
    player.go(stop);
    await frame();
    await frame();
    const say = (what) => found.add(`${stop}: ${what}`);
    if (document.documentElement.scrollHeight > innerHeight) say("scrolls");
    for (const one of [...root.querySelectorAll("*")].filter(seen)) {
      const kind = one.className.baseVal ?? one.className;
      const inside = one.closest(".body, .listing, .strip, .track, .memory");
      if (!inside || inside === one) if (outside(box(one), screen)) say(`cut: ${kind}`);
      const own = [...one.childNodes].filter(({ nodeType }) => nodeType === 3);
      const words = own.map(({ data }) => data).join("").trim();
      if (!words) continue;
      const graph = player.graphs.find(({ svg }) => svg?.contains(one));
      const scale = graph ? graph.svg.getScreenCTM().a : one.currentCSSZoom;
      const size = parseFloat(getComputedStyle(one).fontSize) * scale;
      if (size && size < 23.95) say(`${size.toFixed(1)} px: ${kind} ${words}`);
    }
    for (const one of [...root.querySelectorAll(boxes)].filter(seen)) {
      const skin = one.querySelector(":scope > rect");
      const scale = skin.getScreenCTM().a; // two points, as on a page
      for (const text of one.querySelectorAll(":scope > text:not(.stamp)")) {
        const [inner, outer] = [box(text), box(skin)];
        const over = Math.max(outer.left - inner.left, inner.right - outer.right);
        if (seen(text) && over > 2 * scale) say(`too wide: ${text.textContent}`);
      }
    }
    for (const { picture, isWhole, body, map, parts, followed } of player.graphs) {
      if (!picture || isWhole) continue;
      if (!map.checkVisibility() || outside(box(map), box(body))) say("no map");
      const legible = (part) => [...part.querySelectorAll("text, .skin")].filter(seen)
        .every((one) => !outside(box(one), box(body)) && !meet(box(one), box(map)));
      const drawn = (parts.get(followed) || []).filter(({ shape }) => shape);
      if (!drawn.some(({ shape }) => legible(shape))) say(`out of sight: ${followed}`);
    }
  }
  return [...found];
}"""


def faults(page: Page, every: int = 1) -> Any:
    """Of each stop, or of some: text below 18 points, and what is cut or covered."""
    return page.evaluate(FAULTS, every)
