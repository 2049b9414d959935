"""What the player gives away as a file, and how it serves a lecture."""

from __future__ import annotations

import struct
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page

import minigrad as mg
from minigrad.views import Recording
from tests.browser.conftest import Open
from tests.views import stories
from tests.views.folding import stops_of

SVG = "{http://www.w3.org/2000/svg}"


def saved(page: Page, way: str) -> bytes:
    page.evaluate("document.querySelector('.more').open = true")
    page.locator(".saving").evaluate("one => one.open = true")
    with page.expect_download() as started:
        page.get_by_role("button", name=way).click()
    return started.value.path().read_bytes()


def test_text_that_is_saved_is_the_recordings_markdown(look: Open) -> None:
    data = stories.failing()
    data["meta"]["title"] = "*two*\n_words_"
    page = look(data)
    for level, name in ((3, "Everything"), (2, "Phases")):
        page.get_by_role("button", name=name).click()
        text = saved(page, "All steps as text").decode()
        assert text == Recording(data).to_markdown(level)
    assert text.startswith("# \\*two\\* \\_words\\_\n")


def test_picture_of_a_step_is_whole_in_svg_and_png(look: Open) -> None:
    data = stories.fan_in()
    page = look(data, len(data["events"]))
    root = ElementTree.fromstring(saved(page, "This step as SVG"))
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert texts[0] == data["events"][-1]["say"]
    assert texts[texts.index(".grad") + 1] == "5"
    assert texts.count("MulBackward0") >= 2
    outlines = [p.get("style") or "" for p in root.iter(f"{SVG}path")]
    assert all("stroke:" in style for style in outlines)
    assert not [one for one in root.iter() if one.get("tabindex")]
    png = saved(page, "This step as PNG")
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert width == 3 * int(float(root.get("width") or 0))
    assert height > 300


def test_picture_that_is_taken_at_once_is_of_the_step_as_it_stands(look: Open) -> None:
    with mg.record() as trace:
        y = mg.tensor(2.0, requires_grad=True) * 3
        y.backward()
    page = look(trace._drawn())
    with page.expect_download() as started:
        page.evaluate(
            "player.player.go(1e6); player.querySelector('.saving button').click()"
        )
    root = ElementTree.fromstring(started.value.path().read_bytes())
    (node,) = [one for one in root.iter(f"{SVG}g") if one.get("id") == "mg_n1"]
    chips = [one for one in root.iter(f"{SVG}g") if "chip" in one.get("class", "")]
    box = next(chips[0].iter(f"{SVG}rect"))
    assert "opacity:1;" in node.get("style", "")
    assert "rx:19px" in box.get("style", "")
    page.wait_for_timeout(500)  # longer than a node takes to change its looks
    settled = "getComputedStyle(document.getElementById('mg_n1')).opacity"
    assert page.evaluate(settled) == "1"


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


CUT_OR_SMALL = """() => {
  const root = document.getElementById("player");
  const found = [];
  for (const part of root.querySelectorAll("*")) {
    const inside = part.closest("svg, .listing, .body, .track");
    const { right, bottom, height } = part.getBoundingClientRect();
    if (!height || (inside && inside !== part)) continue;
    if (right > innerWidth + 1 || bottom > innerHeight + 1) found.push(part.className);
  }
  const texts = ".say, .strip code, .listing, .ask p, .ask li";
  for (const text of root.querySelectorAll(texts)) {
    const { height } = text.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(text).fontSize) * text.currentCSSZoom;
    if (height && size < 24) found.push(`${size} px: ${text.className}`);
  }
  if (document.documentElement.scrollHeight > innerHeight) found.push("scrolls");
  return found;
}"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1400, 900), (1920, 1080)])
def test_presenter_shows_the_whole_player_in_18_points(
    look: Open, width: int, height: int
) -> None:
    page = look(stories.fan_in())
    page.set_viewport_size({"width": width, "height": height})
    assert page.evaluate(CUT_OR_SMALL) != []  # it would be seen
    page.keyboard.press("p")
    for _ in range(9):
        assert page.evaluate(CUT_OR_SMALL) == []
        page.keyboard.press("PageDown")
    page.keyboard.press("e")  # with the engine's code
    assert page.evaluate(CUT_OR_SMALL) == []
    page.keyboard.press("p")
    page.set_viewport_size({"width": 1400, "height": 950})


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
