"""A graph that is not drawn is a list of the nodes around the step."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

import minigrad
from minigrad.views import graph
from tests.browser.conftest import Open
from tests.browser.seen import unreadable
from tests.views import stories


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "renderers", list)


def listed(page: Page) -> list[tuple[str, str]]:
    """Names and states of the nodes that are listed."""
    rows = page.locator(".listed li").all()
    return [
        (row.locator("button").inner_text(), row.get_attribute("data-state") or "")
        for row in rows
    ]


def current(page: Page) -> Any:
    return page.locator(".listed [aria-current]").all_inner_texts()


@pytest.mark.usefixtures("undrawn")
def test_without_a_renderer_the_nodes_are_listed_with_their_states(play: Open) -> None:
    data = stories.fan_in()
    page = play(data, 2)
    names = [name for name, _ in listed(page)]
    assert len(names) == len(data["graph"]["nodes"])
    assert "Not drawn" in page.locator(".window-note").inner_text()
    meeting = next(i for i, e in enumerate(data["events"], 1) if e.get("e") == "e0")
    page.evaluate("at => player.player.go(at)", meeting)
    assert "waits: 5" in page.locator(".listed").inner_text()
    page.evaluate("player.player.go(1e9)")
    assert {state for _, state in listed(page)} == {"done"}


@pytest.mark.usefixtures("undrawn")
def test_node_of_the_list_leads_to_its_steps_by_keyboard(play: Open) -> None:
    page = play(stories.fan_in(), 3)
    page.locator(".listed button[tabindex='0']").focus()
    page.keyboard.press("ArrowUp")
    name = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    assert name in page.locator(".found-title").inner_text()


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_list_can_be_read(play: Open, scheme: Any) -> None:
    page = play(stories.fan_in(), 3)
    page.emulate_media(color_scheme=scheme)
    assert unreadable(page, ".listed") == {}
    page.emulate_media(color_scheme="light")


def test_graph_too_large_to_draw_lists_those_around_the_step(play: Open) -> None:
    x = minigrad.tensor(1.0, requires_grad=True)
    with minigrad.record(lines=False) as trace:
        y = x
        for _ in range(2_800):
            y = y * x
    page = play(trace._drawn(), 1)
    assert trace.data["graph"]["svg"] is None
    for position in (9, 1_400, 2_800):
        page.evaluate("at => player.player.go(at)", position)
        assert page.locator(".listed li").count() == 40
        assert current(page) == ["MulBackward0"]
    assert "2,801 nodes" in page.locator(".window-note").inner_text()


def test_pane_without_code_says_why(play: Open) -> None:
    with minigrad.record() as trace:
        minigrad.ones(2)
    assert play(trace.data).locator(".pane.code .empty").is_hidden()
    with minigrad.record(lines=False) as trace:
        minigrad.ones(2, requires_grad=True) * 2
    page = play(trace.data)
    assert page.inner_text(".pane.code .body").strip() == "No lines were recorded."
