"""What a recording in a cell's output says that a player has to show."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

from minigrad.tracing.messages import message
from minigrad.tracing.picture_words import line_next
from tests.views.folding import state_at
from tests.views.test_page import unpacked

Trace = dict[str, Any]


def trace_in(output: str) -> Trace:
    """The recording inside the HTML that a cell has put out."""
    page = _Finder("iframe", "srcdoc").in_(output)
    page = _Finder("iframe", "srcdoc").in_(page) or page  # of a report card
    script = _Finder("script", "type", id="trace").in_(page)
    kind, _, text = script.partition("\n")
    raw = unpacked(text) if "gzip" in kind else text
    trace: Trace = json.loads(raw)
    for one in trace.get("traces", [trace]):  # two, of a comparison
        for event in one["events"]:
            if "say" not in event:
                event["say"] = line_next(event, one["sources"])
    return trace


class _Finder(HTMLParser):
    """Finds one element: the value of an attribute, and a script's text after it."""

    def __init__(self, tag: str, attribute: str, **having: str) -> None:
        super().__init__()
        self._wanted = (tag, attribute, having)
        self._inside = False
        self._found: list[str] = []

    def in_(self, text: str) -> str:
        self.feed(text)
        return "".join(self._found)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        wanted, attribute, having = self._wanted
        given = dict(attrs)
        if tag != wanted or any(given.get(k) != v for k, v in having.items()):
            return
        self._found.append(given[attribute] or "")
        if tag == "script":
            self._inside = True
            self._found.append("\n")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self._found.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = False


def told(trace: Trace, position: int, level: int = 2) -> dict[str, Any]:
    """What a player of a level shows after ``position`` events; what line runs next."""
    last = trace["events"][position - 1] if position else None
    shown = {**state_at(trace, position), "line": line_at(trace, last)}
    if level == 0:  # its stops have sentences of their own
        title = trace["meta"]["title"]
        shown["say"] = last["why"] if last else message("player.start", title=title)
    return shown


def line_at(trace: Trace, event: dict[str, Any] | None) -> str | None:
    """The text of the line that runs next, where the event is one of a line."""
    if event is None or event["k"] != "line":
        return None
    tokens = trace["sources"][event["s"]]["tokens"][event["l"]]
    return "".join(text for _, text in tokens)


def differences(shown: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Where a screen differs from what was told, in words; empty if nowhere."""
    return [
        f"{key}: shown {shown.get(key)!r}, told {expected[key]!r}"
        for key in expected
        if expected[key] is not None and shown.get(key) != expected[key]
    ]
