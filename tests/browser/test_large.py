"""Graphs that Graphviz does not draw stand in plain columns."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

import minigrad
from minigrad.views import graph
from minigrad.views.recording import Recording
from tests.browser.conftest import Open
from tests.views import stories


def test_without_a_renderer_all_nodes_are_drawn(
    look: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "renderers", list)
    data = stories.fan_in()
    page = look(Recording(data)._pictured(), 2)
    assert page.locator("g.node").count() == len(data["graph"]["nodes"])
    page.evaluate("player.player.go(1e9)")
    assert page.locator('g.edge[data-state="sent"]').count() == len(
        data["graph"]["edges"]
    )


def here(page: Page) -> Any:
    """The node that is spoken of, if it is in view."""
    return page.evaluate(
        """() => {
          const { story, position, graph } = player.player;
          const { n } = story.lastAtNode(position);
          const part = graph.elementOf(n)?.getBoundingClientRect();
          const room = graph.body.getBoundingClientRect();
          return part && part.left >= room.left && part.right <= room.right ? n : null;
        }"""
    )


def test_a_very_large_graph_is_drawn_around_the_step(look: Open) -> None:
    x = minigrad.tensor(1.0, requires_grad=True)
    with minigrad.record(lines=False) as trace:
        y = x
        for _ in range(2_800):
            y = y * x
    page = look(trace._pictured(), 1)
    for position in (9, 1_400, 2_800):
        page.evaluate("at => player.player.go(at)", position)
        assert here(page) == trace.data["events"][position - 1]["n"]
        assert page.locator("g.node").count() < 60
    assert "2,801 nodes" in page.locator(".window-note").inner_text()

    # The map has all of it, and a click there leads to that place.
    of_map, width = (
        page.locator(".map"),
        page.evaluate("player.player.graph.picture.size[0]"),
    )
    room = of_map.bounding_box()
    assert room is not None
    of_map.click(position={"x": room["width"] / 4, "y": room["height"] / 2})
    left, _, wide, _ = page.evaluate("player.player.graph.view")
    assert abs(left + wide / 2 - width / 4) < width / 100
    assert page.locator("g.node").count() > 3
    seen = page.locator(".map .seen")
    assert abs(float(seen.get_attribute("x") or 0) - left) < 1


def test_small_graph_has_no_map(look: Open) -> None:
    assert look(stories.fan_in()).locator(".map").is_hidden()


def test_pane_without_code_says_why(look: Open) -> None:
    with minigrad.record() as trace:
        minigrad.ones(2)
    assert look(trace.data).locator(".pane.code .empty").is_hidden()
    with minigrad.record(lines=False) as trace:
        minigrad.ones(2, requires_grad=True) * 2
    page = look(trace.data)
    assert page.inner_text(".pane.code .body").strip() == "No lines were recorded."
