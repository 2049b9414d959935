"""How a player serves a lecture: what is read from afar, and what a key does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

import minigrad as mg
from minigrad.views.recording import Recording
from tests.browser import scenes
from tests.browser.conftest import READY, Open
from tests.browser.presented import SIZES, faults
from tests.views import stories
from tests.views.folding import stops_of


@pytest.fixture(autouse=True)
def usual_size(page: Page) -> Iterator[None]:
    yield
    page.set_viewport_size({"width": 1400, "height": 950})


def test_presenter_pauses_before_an_outcome_and_one_key_goes_on(look: Open) -> None:
    data = stories.fan_in()
    stops = stops_of(data)
    before = next(i for i, e in enumerate(data["events"]) if e["k"] == "grad")
    page = look(data, before)
    plain = page.locator(".say").bounding_box()
    page.keyboard.press("p")
    large = page.locator(".say").bounding_box()
    assert plain is not None
    assert large is not None
    assert large["height"] > 1.2 * plain["height"]
    assert "program, line " in (page.locator(".strip").text_content() or "")
    says = page.locator(".say")
    page.keyboard.press(" ")
    assert says.text_content() == "What happens next?"
    assert page.evaluate("player.player.position") == before
    page.keyboard.press("PageUp")
    assert says.text_content() == data["events"][before - 1]["say"]
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    assert page.evaluate("player.player.position") == stops[before + 1]
    assert says.text_content() == data["events"][before]["say"]
    page.keyboard.press("PageUp")
    assert page.evaluate("player.player.position") == before


def test_presenter_does_not_pause_where_nothing_comes_out(look: Open) -> None:
    page = look(stories.fan_in())
    page.keyboard.press("p")
    page.keyboard.press(" ")
    assert page.evaluate("player.player.position") == 1
    page.keyboard.press("p")
    page.keyboard.press(" ")
    assert page.get_by_role("button", name="Pause").is_visible()
    page.keyboard.press(" ")


def large() -> Recording:
    """A picture that no screen has room for at once."""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record("Many") as trace:
        y = x
        for _ in range(6):
            y = scenes.Mul.apply(y, x).sin()
        y.sum().backward()
    return trace


@pytest.mark.parametrize("recorded", [scenes.product, scenes.in_place, large])
def test_presenter_shows_the_whole_player_in_18_points(
    look: Open, recorded: Callable[[], Any]
) -> None:
    page = look(recorded()._pictured())
    page.keyboard.press("p")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        every = 1 if width == SIZES[0][0] else 4  # the smallest has least room
        assert faults(page, every) == []
        for key in "ec":  # with the engine's code, with all of ctx
            page.keyboard.press(key)
            assert faults(page, 4 * every) == []
            page.keyboard.press(key)


def test_presenter_shows_two_pictures_in_18_points(page: Page, tmp_path: Path) -> None:
    page.goto(scenes.two().save_html(tmp_path / "two.html").as_uri())
    page.wait_for_function(READY)
    page.keyboard.press("p")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert faults(page) == []
    page.keyboard.press("p")
    assert page.locator(".mg-comparison").get_attribute("data-way") is None
    assert faults(page) != []


def test_picture_goes_back_to_its_page_as_it_was(look: Open) -> None:
    page = look(large()._pictured(), 20)
    view = "player.player.graph.view"
    before = page.evaluate(view)
    page.keyboard.press("p")
    assert page.evaluate(view) != before
    assert page.locator(".map").is_visible()
    page.keyboard.press("p")
    assert page.evaluate(view) == before
    assert page.locator(".map").is_hidden()


def test_columns_come_closer_on_a_wall_and_keep_their_labels(look: Open) -> None:
    page = look(scenes.product()._pictured())
    size = "player.player.graph.picture.size"
    wide, tall = page.evaluate(size)
    labels = page.locator(".scene .tag").count()
    page.keyboard.press("p")
    closer, high = page.evaluate(size)
    assert (closer < 0.9 * wide, high) == (True, tall)
    assert page.locator(".scene .tag").count() == labels > 0
    page.keyboard.press("p")
    assert page.evaluate(size) == [wide, tall]


def test_letters_become_narrower_until_the_picture_is_whole(look: Open) -> None:
    page = look(scenes.product()._pictured(), 20)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.keyboard.press("p")
    whole = "player.player.graph.isWhole"
    kind = "parseFloat(player.style.getPropertyValue('--type'))"
    narrow = page.evaluate(kind)
    assert (page.evaluate(whole), 14 < narrow <= 18) == (True, True)
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.wait_for_function(f"narrow => {kind} < narrow", arg=narrow)
    assert page.evaluate(whole)


COVERS = """() => {
  const { map, body, svg } = player.player.graph;
  const [room, own] = [body, map].map((one) => one.getBoundingClientRect());
  const parts = [...svg.querySelectorAll(".parts > *")];
  const covered = (x, y) => parts.filter((part) => {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    return left < x + own.width && x < right && top < y + own.height && y < bottom;
  }).length;
  const xs = [room.left + 8, room.right - own.width - 8];
  const ys = [room.top + 8, room.bottom - own.height - 8];
  const corners = xs.flatMap((x) => ys.map((y) => [x, y]));
  const far = (x, y) => Math.hypot(x - own.left, y - own.top);
  const [[here], ...others] = corners.map(([x, y]) => [covered(x, y), far(x, y)])
    .sort((one, other) => one[1] - other[1]);
  return here - Math.min(...others.map(([count]) => count));
}"""


def test_map_lies_where_it_covers_least(look: Open) -> None:
    page = look(large()._pictured(), 20)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.keyboard.press("p")
    stops = page.evaluate("player.player.stops.filter((_, place) => place % 9 === 0)")
    more = [
        page.evaluate(f"at => {{ player.player.go(at); return ({COVERS})(); }}", stop)
        for stop in stops
    ]
    assert (len(more) > 5, max(more)) == (True, 0)


def test_faults_would_be_seen(look: Open) -> None:
    page = look(large()._pictured(), 20)
    assert any(" px: " in one for one in faults(page, 9))
    page.set_viewport_size({"width": 1280, "height": 720})
    page.keyboard.press("p")
    hides = """() => {
      const { map } = player.player.graph;
      Object.assign(map.style, { inset: 0, maxWidth: "none", maxHeight: "none" });
      document.querySelector(".say").style.fontSize = "15px";
      const title = document.querySelector(".scene .op .title");
      title.style.setProperty("font-size", "200px", "important");
      document.querySelector(".count").style.translate = "900px";
    }"""
    page.evaluate(hides)
    said = " ".join(faults(page, 9))
    for what in ("out of sight", " px: say", "too wide", "cut"):
        assert what in said


def test_sentence_has_the_room_of_the_longest_at_each_width(look: Open) -> None:
    data = stories.fan_in()
    data["events"][3]["say"] = "word " * 20
    page = look(data, next(i for i, e in enumerate(data["events"]) if e["k"] == "grad"))
    said = "parseFloat(player.style.getPropertyValue('--said'))"
    page.keyboard.press("p")
    page.keyboard.press(" ")
    wide = page.wait_for_function(said).json_value()
    page.set_viewport_size({"width": 800, "height": 950})
    page.wait_for_function(f"wide => {said} > wide", arg=wide)
    assert page.locator(".say").text_content() == "What happens next?"
    page.set_viewport_size({"width": 1400, "height": 950})
    page.wait_for_function(f"wide => {said} === wide", arg=wide)


def test_memory_stays_where_the_picture_does_not_cover_it(look: Open) -> None:
    page = look(large()._pictured(), 20)
    page.evaluate("player.player.timeline.box.open = true")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.keyboard.press("p")
    assert faults(page, 5) == []
    assert page.locator(".memory .curve").is_visible()


def test_presenter_in_a_notebook_takes_the_whole_screen(page: Page) -> None:
    low = '<body style="padding: 300px 200px">'
    page.set_content(low + Recording(stories.fan_in())._repr_mimebundle_()["text/html"])
    frame = page.frames[1]
    frame.wait_for_function("() => document.getElementById('player').player")
    covered = """() => {
      const player = document.querySelector(".mg-player");
      const { width, height } = player.getBoundingClientRect();
      return width >= screen.width - 1 && height >= screen.height - 1;
    }"""
    assert not frame.evaluate(covered)
    frame.locator(".say").click()
    page.keyboard.press("p")
    frame.wait_for_function(covered)
    page.keyboard.press("PageDown")
    assert frame.evaluate("document.getElementById('player').player.position") == 1
    frame.evaluate("document.exitFullscreen()")  # as Esc does
    frame.wait_for_function("() => !document.querySelector('.presenting')")
