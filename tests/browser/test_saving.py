"""What the player gives away as a file."""

from __future__ import annotations

import struct
from xml.etree import ElementTree

from playwright.sync_api import Page

import minigrad as mg
from minigrad.views.recording import Recording
from tests.browser.conftest import Open
from tests.views import stories

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
    page = look(trace._pictured())
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
