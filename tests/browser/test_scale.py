"""A recording with thousands of steps and a graph of a thousand nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.figures import long_recording, mounted, moves, sizes
from tests.browser.seen import on_screen
from tests.views.folding import state_at

# Several times what is asked of a quiet machine, for the quickest tenth of the moves: a
# machine that does other things as well must not turn this red.
MOST_STEP, MOST_JUMP, MOST_MOUNT = 30, 200, 5000
MOST_LAYOUTS = 3  # of the page, for one step: this does not depend on the machine

IN_VIEW = """
name => {
  const { body } = document.getElementById("player").player.graph;
  const node = document.querySelector(`#mg_${name} .op`);
  if (!node) return false;
  const [place, room] = [node.getBoundingClientRect(), body.getBoundingClientRect()];
  return place.top >= room.top && place.bottom <= room.bottom
    && place.left >= room.left && place.right <= room.right;
}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Any:
    trace = long_recording()
    folder = tmp_path_factory.mktemp("long")
    found = sizes(trace)
    return trace.data | {"file": trace.save_html(folder / "long.html"), "sizes": found}


@pytest.fixture(scope="module")
def shown(browser: Browser, data: Any) -> Iterator[Page]:
    page, took = mounted(browser, data["file"])
    assert took < MOST_MOUNT
    page.evaluate("player.player.setLevel(2)")
    yield page
    page.context.close()


def elements(page: Page) -> int:
    return int(page.evaluate("document.querySelectorAll('*').length"))


def go(page: Page, position: int) -> Any:
    page.evaluate("at => player.player.go(at)", position)
    return on_screen(page)


def test_page_is_no_larger_than_two_megabytes(data: Any) -> None:
    found = data["sizes"]
    assert found["steps"] > 12_800
    assert found["nodes"] > 1_000
    assert 100 < found["page in kB"] < 2_000


@pytest.mark.parametrize(("kind", "most"), [("step", MOST_STEP), ("jump", MOST_JUMP)])
def test_moves_are_quick(shown: Page, kind: str, most: float) -> None:
    took = moves(shown, kind)
    assert took[len(took) // 10] < most


def layouts(page: Page, script: str) -> int:
    """How often the page is laid out while a script runs."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    counts = []
    for _ in range(2):
        found = session.send("Performance.getMetrics")["metrics"]
        counts += [m["value"] for m in found if m["name"] == "LayoutCount"]
        page.evaluate(script)
    session.detach()
    return int(counts[1] - counts[0])


def test_a_step_lays_the_page_out_once_or_twice(shown: Page) -> None:
    steps = "for (let k = 0; k < 20; k++) { player.player.step(); %s }"
    place = "player.player.root.getBoundingClientRect();"
    assert layouts(shown, steps % place) < 20 * MOST_LAYOUTS
    wide = "player.style.width = `${800 + 40 * Math.random()}px`; player.offsetWidth;"
    clumsy = wide * MOST_LAYOUTS
    assert layouts(shown, steps % clumsy) > 20 * MOST_LAYOUTS
    shown.evaluate("player.style.width = ''")


def test_every_jump_shows_what_the_trace_says(shown: Page, data: Any) -> None:
    nodes = [i for i, e in enumerate(data["events"], 1) if e["k"] == "graph.node"]
    for position in (len(data["events"]) // 2, nodes[2]):
        seen, told = go(shown, position), state_at(data, position)
        assert (seen["say"], seen["ctx"]) == (told["say"], told["ctx"])
        for kind in ("nodes", "edges"):  # only those in view are in the page
            assert seen[kind].items() <= told[kind].items()
            assert seen[kind]


def test_only_the_part_in_view_is_in_the_page_and_it_follows_the_step(
    shown: Page, data: Any
) -> None:
    # A leaf is drawn beside each of its readers, so it has no one place.
    drawn_once = {n["id"] for n in data["graph"]["nodes"] if n["kind"] == "function"}
    events = enumerate(data["events"], 1)
    spoken = [
        (i, e["n"])
        for i, e in events
        if e["k"] in ("ctx.free", "node.enter") and e["n"] in drawn_once
    ]
    for position, node in spoken[:: len(spoken) // 6]:
        go(shown, position)
        assert shown.evaluate(IN_VIEW, node), node
        assert 2 < shown.locator("g.node").count() < 120
        assert elements(shown) < 2_500
    assert "1,041 nodes" in (shown.locator(".window-note").text_content() or "")


def test_moving_draws_what_comes_into_view(shown: Page, data: Any) -> None:
    nodes = [n["id"] for n in data["graph"]["nodes"] if n["kind"] == "function"]
    go(shown, len(data["events"]) // 2)
    for there in (nodes[0], nodes[-1]):
        assert not shown.evaluate(IN_VIEW, there)
        shown.evaluate(
            "name => { const { graph } = player.player;"
            " const { box } = graph.parts.get(name)[0];"
            " graph.look([box.x - 9, box.y - 9, graph.view[2], graph.view[3]]); }",
            there,
        )
        assert shown.evaluate(IN_VIEW, there)
        go(shown, len(data["events"]) // 2)


def test_node_with_the_focus_stays_and_keys_go_on_from_it(
    shown: Page, data: Any
) -> None:
    go(shown, len(data["events"]))
    node = shown.locator("g.node").first
    name = node.get_attribute("id")
    node.locator(".hit").focus()
    shown.evaluate("player.player.graph.look([90_000, 9_000, 900, 500])")
    focused = "document.activeElement.closest('.node')?.id"
    assert shown.evaluate(focused) == name
    shown.evaluate("at => player.player.go(at)", len(data["events"]) - 1)
    shown.evaluate("at => player.player.go(at)", len(data["events"]) // 2)
    shown.keyboard.press("ArrowDown")
    assert shown.evaluate(focused) != name


def test_picture_of_a_step_is_the_part_in_view(shown: Page, data: Any) -> None:
    go(shown, len(data["events"]) // 2)
    with shown.expect_download() as saved:
        shown.evaluate("document.querySelector('.saving-list button').click()")
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert 5 < text.count('class="node') < 120
