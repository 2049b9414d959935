"""The page and the notebook output: self-contained, safe, and not too heavy."""

import gzip
import html
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from minigrad.views import graph, page, script
from tests.browser import pictures
from tests.views import stories

EVIL = "</script><img src=x onerror=alert(1)>'\"&\u2028"


def poisoned() -> stories.Json:
    """A trace whose every text tries to be markup."""
    data = stories.grid()
    data["meta"]["title"] = EVIL
    data["graph"]["nodes"][1]["tensor"] = EVIL
    for event in data["events"]:
        event["say"] = EVIL
        if "ctx" in event:
            event["ctx"]["set"]["attr.text"] = stories.plain(EVIL)
    data["sources"][0]["tokens"] = [[["", EVIL]]]
    return data


def trace_in(text: str) -> Any:
    found = re.search(r'<script type="([^"]*)" id="trace">(.*?)</script>', text, re.S)
    assert found is not None
    if found[1] == "application/json":
        return json.loads(found[2])
    return json.loads(unpacked(found[2]))


def unpacked(text: str) -> bytes:
    """What ``unpack.js`` makes of digits, by one number of all bits."""
    number = 0
    pairs = [text[at : at + 2] for at in range(0, len(text), 2)]
    for pair in reversed(pairs):
        low, high = (script._DIGITS.index(ord(one)) for one in f"{pair} "[:2])
        number = number << 13 | low + 91 * high
    return gzip.decompress(number.to_bytes(len(text) * 13 // 16 + 1, "little"))


def frame_in(output: str) -> str:
    found = re.search(r"srcdoc='([^']*)'", output)
    assert found is not None
    return html.unescape(found[1])


def test_page_carries_the_trace_whole() -> None:
    data = stories.grid()
    assert trace_in(page.page_of(data)) == data


def test_large_trace_travels_compressed() -> None:
    data = stories.grid()
    data["events"] *= 10
    text = page.page_of(data)
    assert 'type="application/gzip" id="trace"' in text
    assert trace_in(text) == data


def test_text_of_a_trace_never_becomes_markup() -> None:
    data = poisoned()
    text = page.page_of(data)
    assert trace_in(text) == data
    assert "<img" not in text
    assert text.count("</script>") == text.count("<script")


def test_page_in_a_notebook_output_is_the_page() -> None:
    for data in (stories.grid(), poisoned()):
        assert frame_in(page.output_of(data)) == page.page_of(data)


def test_fallback_shows_no_markup_of_the_trace() -> None:
    assert "<img src=x" not in page.fallback_of(poisoned())


def drawing(svg: str) -> Callable[[str], tuple[str, str]]:
    return lambda dot: (svg, "dot")


def test_fallback_has_the_graph_and_the_last_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graph, "svg_of", drawing("<svg/>"))
    fallback = page.fallback_of(stories.fan_in())
    assert 'src="data:image/svg+xml;base64,PHN2Zy8+"' in fallback
    assert "program returns None." in fallback


def test_page_loads_nothing_from_elsewhere() -> None:
    text = page.page_of(stories.grid())
    assert not re.findall(r"(?:src|href)=", text)


def test_bundle_says_so_of_a_drawing_that_is_too_large_to_carry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    large = f"<svg>{' ' * page.MOST_PICTURE}</svg>"
    monkeypatch.setattr(graph, "svg_of", drawing(large))
    bundle = page.bundle_of(stories.fan_in(), "key")
    assert set(bundle) == {"text/html", "text/plain"}
    assert "too many for a picture" in bundle["text/html"]
    assert len(bundle["text/html"]) < page.MOST_PICTURE


def test_plain_text_tells_the_story_and_how_much_more_there_is() -> None:
    lines = page.text_of(stories.fan_in(), most=2).split("\n")
    assert lines == [
        "Two ways lead to x: their gradients add up: 13 steps",
        "  1. a = 7 \u00d7 2 = 14. Its box keeps 2 for backward.",
        "  2. b = 7 \u00d7 3 = 21. Its box keeps 3 for backward.",
        "  ... and 11 more",
    ]


def test_page_of_the_same_told_four_times_is_at_most_60_kilobytes() -> None:
    data = stories.mul_constant()
    data["events"] *= 4
    assert len(page.page_of(data)) < 60_000


def test_page_of_the_product_with_all_lines_is_at_most_60_kilobytes() -> None:
    assert len(page.page_of(pictures.recorded()._pictured()).encode()) < 60_000


def test_values_have_numbers_in_a_page_as_hashes_cannot_be_packed() -> None:
    data = pictures.recorded()._pictured()
    shown = trace_in(page.page_of(data))
    numbers = {name: str(i) for i, name in enumerate(data["values"])}
    assert list(shown["values"]) == list(numbers.values())
    told = [
        [event["g"]["v"] for event in one["events"] if event["k"] == "grad"]
        for one in (data, shown)
    ]
    assert told[1] == [numbers[name] for name in told[0]] != []


def test_words_count_the_steps_that_the_player_opens_with() -> None:
    data = stories.fan_in()
    levels = [event["lvl"] for event in data["events"]]
    for level in (0, 2, 3):
        data["meta"]["level"] = level
        count = sum([one <= level for one in levels])
        assert f": {count} steps. Run" in re.sub("<.*?>", "", page.fallback_of(data))
    del data["meta"]["level"]
    opened = 0 if 0 in levels else 2
    count = sum([one <= opened for one in levels])
    assert f": {count} steps. Run" in re.sub("<.*?>", "", page.fallback_of(data))
