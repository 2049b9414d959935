"""The scenes at several widths: nothing is cut off, what a step marks is in view."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import minigrad
from minigrad import nn
from minigrad.autograd import Function, forward_ad
from minigrad.views.recording import record
from tests.browser.conftest import ALL_OPEN
from tests.browser.laboratory import ROOT, wait_for_player
from tests.browser.pictures import FOLDER, STORY, recorded
from tests.browser.scenes import GO_TO_WORDS, SCENES, THEMES, deep, leaves

WIDTHS = (800, 944, 1200, 1400, 1600)

# What is wrong with how the page is laid out, in words.
FAULTS = """
() => {
  const found = new Set();
  const all = (selector) => [...document.querySelectorAll(selector)].filter(
    (one) => one.checkVisibility()
  );
  const place = (one) => one.getBoundingClientRect();
  for (const listing of all(".listing")) {
    const height = parseFloat(getComputedStyle(listing).lineHeight);
    if (listing.scrollTop % height) found.add("the first line of a listing is cut");
    const { right } = place(listing);
    const marked = listing.querySelector(".line:is(.current, .caller, .failed) .text");
    if (marked && place(marked).right > right + 1) found.add("a marked line is cut");
  }
  for (const body of all(".pane.ctx .body")) {
    const { top } = place(body);
    for (const row of body.querySelectorAll(".row")) {
      const { top: from, bottom: to } = place(row);
      if (from < top - 1 && to > top + 1) found.add("an entry of ctx is cut");
    }
  }
  for (const body of all(".pane.graph .body")) {
    const room = place(body);
    const sight = '.chip, .slot, .op, .box.there, .tray.there, .tag.there';
    const skin = (one) => one.querySelector(".skin, rect");
    const parts = [...body.querySelectorAll(sight)].map(skin);
    const { player } = document.getElementById("player");
    const { graph } = (player.sides || [player]).find((one) => one.graph.body === body);
    const size = graph.picture?.size || [0, 0];
    const [wide, tall] = size.map((one) => one * 0.85 + 24);
    const fits = wide < body.clientWidth && tall < body.clientHeight;
    for (const part of parts.map(place)) {
      const out = part.right > room.right + 1 || part.left < room.left - 1;
      const over = part.bottom > room.bottom + 1 || part.top < room.top - 1;
      if (fits && (out || over)) found.add("the picture is cut");
    }
  }
  return [...found].sort();
}
"""
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
# The picture is fitted anew when the browser has told of its pane's new size.
SETTLED = """
() => {
  const { player } = document.getElementById("player");
  return (player.sides || [player]).every(({ graph }) => {
    const { clientWidth, clientHeight } = graph.body;
    return !graph.svg || (clientWidth === graph.width && clientHeight === graph.height);
  });
}
"""


def tangents() -> Any:
    """Forward mode: a tangent beside a node at the edge of the drawing."""
    x, y = leaves()
    with record("Tangents") as trace, forward_ad.dual_level():
        (forward_ad.make_dual(x, y.detach()) * y).sum()
    return trace


def step() -> Any:
    """A step of training: leaves with long names side by side, and their gradients."""
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    with record("A step") as trace:
        net(minigrad.ones(5, 4)).sum().backward()
    return trace


def two_outputs() -> Any:
    """A node with two outputs, whose names differ in length; the second is used."""
    x, _ = leaves()
    with record("Two outputs") as trace:
        _, second, _ = Halves.apply(x)
        second.sum().backward()
    return trace


class Halves(Function):
    """The two elements, and which of them are large."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x[:1] * 1, x[1:] * 1, x.detach() > 1

    @staticmethod
    def backward(ctx: Any, first: Any, second: Any, _: Any) -> Any:
        return minigrad.cat([first, second])


@pytest.fixture(scope="module")
def still(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


def laid_out(page: Page, width: int, recorded: Any, words: str, file: Path) -> Any:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(recorded.save_html(file).as_uri())
    wait_for_player(page)
    if words:  # of one recording
        page.evaluate(ALL_OPEN)
    assert page.evaluate(GO_TO_WORDS, words) != -1
    assert page.locator(", ".join(MARKED)).count() > 0
    return faults_of(page)


def faults_of(page: Page) -> Any:
    page.wait_for_function(SETTLED)
    hidden = page.evaluate(OUT_OF_VIEW, list(MARKED))
    return [*page.evaluate(FAULTS), *[f"out of view: {one}" for one in hidden]]


@pytest.mark.parametrize(
    ("name", "program", "words"),
    [
        *SCENES,
        ("tangents", tangents, "with_zeros gives"),
        ("step", step, "backward is finished"),
        ("deep", deep, "halved returns"),
    ],
)
def test_scene_is_whole_at_every_width(
    still: Page, tmp_path: Path, name: str, program: Any, words: str
) -> None:
    trace = program()
    file = tmp_path / f"{name}.html"
    found = {width: laid_out(still, width, trace, words, file) for width in WIDTHS}
    assert found == {width: [] for width in WIDTHS}


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (".listing { height: 60px; flex: none }", "the first line of a listing is cut"),
        (".line .text { min-width: 900px }", "a marked line is cut"),
        (".ctx .body { padding-bottom: 999px }", "an entry of ctx is cut"),
        (".scene { transform: translateY(-100%) }", "the picture is cut"),
        (".listing { height: 60px; flex: none }", f"out of view: {MARKED[0]}"),
    ],
)
def test_what_is_cut_or_covered_is_found(
    still: Page, tmp_path: Path, broken: str, fault: str
) -> None:
    _, program, words = SCENES[3]
    assert laid_out(still, 1200, program(), words, tmp_path / "scene.html") == []
    if "scene" in broken:  # which is cut by nothing else
        still.evaluate("player.player.inspect(false); player.player.showEngine()")
    still.add_style_tag(content=broken)
    still.evaluate(
        "for (const one of document.querySelectorAll('.listing, .ctx .body'))"
        " one.scrollTop = 30"
    )
    assert fault in faults_of(still)


def test_entry_that_is_scrolled_away_is_found(still: Page, tmp_path: Path) -> None:
    _, program, words = SCENES[1]
    assert laid_out(still, 800, program(), words, tmp_path / "scene.html") == []
    still.evaluate("player.player.ctx.body.style = 'flex: none; height: 20px'")
    assert f"out of view: {MARKED[2]}" in faults_of(still)


def test_outputs_hang_on_one_box_and_the_gradient_is_told_of_one(
    still: Page, tmp_path: Path
) -> None:
    file = tmp_path / "outputs.html"
    words = "HalvesBackward is ready"
    assert laid_out(still, 1200, two_outputs(), words, file) == []
    node = still.locator("g.node", has_text="HalvesBackward")
    assert node.locator(".chip").count() == 3
    assert node.locator(".box").count() == 1
    assert still.locator("g.call", has=node).locator(".tray.there").count() == 1


def test_story_of_the_readme_is_still_the_one_of_its_pictures() -> None:
    says = iter(event.get("why", "") for event in recorded().data["events"])
    assert [words for words in STORY if not any(words in say for say in says)] == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for theme in THEMES:
        for ending, most in (("png", 200_000), ("gif", 620_000)):
            picture = FOLDER / f"player-{theme}.{ending}"
            assert f".github/{picture.name}" in readme
            assert picture.stat().st_size < most
