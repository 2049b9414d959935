"""The eight scenes at several widths: nothing is cut off, nothing covers a name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import minigrad
from minigrad import nn
from minigrad.autograd import Function, forward_ad
from minigrad.views import record
from tests.browser.laboratory import wait_for_player
from tests.browser.scenes import GO_TO_WORDS, SCENES, leaves

WIDTHS = (800, 960, 1200, 1600)

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
    for (const row of body.querySelectorAll(".row, .moving")) {
      const { top: from, bottom: to } = place(row);
      if (from < top - 1 && to > top + 1) found.add("an entry of ctx is cut");
    }
  }
  for (const body of all(".pane.graph .body")) {
    const [room, badges] = [place(body), [...body.querySelectorAll(".badge rect")]];
    const { bottom } = place(body.querySelector("svg"));
    if (innerWidth > 900 && bottom > room.bottom + 1) found.add("the graph is cut");
    for (const badge of badges.map(place)) {
      if (innerWidth > 900 && badge.top < room.top) found.add("a badge is cut");
      for (const name of [...body.querySelectorAll(".node text")].map(place)) {
        const beside = badge.right < name.left + 1 || name.right < badge.left + 1;
        const apart = badge.bottom < name.top + 2 || name.bottom < badge.top + 2;
        if (!beside && !apart) found.add("a badge covers a name");
      }
    }
    const boxes = [...body.querySelectorAll(".node > path")].map(place);
    for (const badge of [...body.querySelectorAll(".badge.kept rect")].map(place)) {
      const met = boxes.filter((box) => {
        const beside = badge.right < box.left || box.right < badge.left;
        return !beside && badge.top < box.bottom && box.top < badge.bottom;
      });
      if (met.length > 1) found.add("a gradient stands at two nodes");
    }
  }
  return [...found].sort();
}
"""

# Over which of the outputs of a node that has several a gradient waits.
SOCKETS = """
() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const place = (one) => one.getBoundingClientRect();
  const [badge] = all(".badge:not(.handle) rect").map(place);
  const middle = (badge.left + badge.right) / 2;
  const sockets = all(".node text").filter((one) => /^out/.test(one.textContent));
  return sockets.map(place).map((one) => one.left < middle && middle < one.right);
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
    assert page.evaluate(GO_TO_WORDS, words) != -1
    return page.evaluate(FAULTS)


@pytest.mark.parametrize(
    ("name", "program", "words"),
    [
        *SCENES,
        ("tangents", tangents, "WithZerosBackward joins the graph"),
        ("step", step, "backward is finished"),
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
        (".graph svg { min-height: 900px }", "the graph is cut"),
        (".overlay { transform: translateY(-300px) }", "a badge is cut"),
        (".overlay { transform: translateY(20px) }", "a badge covers a name"),
        (".badge.kept rect { width: 200px }", "a gradient stands at two nodes"),
    ],
)
def test_what_is_cut_or_covered_is_found(
    still: Page, tmp_path: Path, broken: str, fault: str
) -> None:
    _, program, words = SCENES[3]
    assert laid_out(still, 1200, program(), words, tmp_path / "scene.html") == []
    if "kept" in broken:
        still.evaluate("player.player.go(1_000)")
    still.add_style_tag(content=broken)
    still.evaluate(
        "for (const one of document.querySelectorAll('.listing, .ctx .body'))"
        " one.scrollTop = 30"
    )
    assert fault in still.evaluate(FAULTS)


def test_gradient_stands_over_the_output_it_is_for(still: Page, tmp_path: Path) -> None:
    file = tmp_path / "outputs.html"
    words = "HalvesBackward is the newest"
    assert laid_out(still, 1200, two_outputs(), words, file) == []
    places = still.evaluate(SOCKETS)
    assert places == [False, True, False]
