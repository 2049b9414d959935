"""A trace as a page that plays by itself, and as the output of a notebook cell."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import secrets
from collections.abc import Mapping
from typing import Any, Final

from minigrad.tracing import messages
from minigrad.tracing.messages import message
from minigrad.tracing.picture_words import line_next
from minigrad.tracing.trace import sentences_of
from minigrad.views import graph, script

LEVELS: Final = {"picture": 0, "phases": 2, "everything": 3}
"""The player's levels: each stops where those before do, and more often."""
PACK_ABOVE = 4_000  # characters of JSON; beyond this the trace travels compressed
MOST_PICTURE = 200_000  # characters of SVG; a larger one would swell the notebook

_VALUE = re.compile('"([0-9a-f]{16})"')


def page_of(data: Mapping[str, Any], key: str = "") -> str:
    """A self-contained HTML document that plays ``data``: no kernel, no network.

    It keeps its place through a reload under ``key``, by default made of the content.
    """
    raw = json.dumps(played(data), separators=(",", ":"), ensure_ascii=False)
    # Hashes can't be compressed: values have numbers.
    values = [name for one in data.get("traces", [data]) for name in one["values"]]
    numbers = {name: f'"{place}"' for place, name in enumerate(dict.fromkeys(values))}
    raw = _VALUE.sub(lambda found: numbers.get(found[1], found[0]), raw)
    key = key or hashlib.blake2b(raw.encode(), digest_size=8).hexdigest()
    parts = ["compare" if "traces" in data else "page"]
    if any(event["k"] == "ask" for event in data.get("events", ())):
        parts.append("asks")
    code = script.packed_code(messages.in_use, *parts)
    if len(raw) > PACK_ABOVE:
        kind, raw = "gzip", script.packed(raw)
    else:
        kind, raw = "json", raw.replace("<", "\\u003c")
    trace = f'<script type="application/{kind}" id="trace">{raw}</script>'
    return _document(title_of(data), key, trace, code, data["meta"].get("start", 0))


def played(data: Mapping[str, Any]) -> dict[str, Any]:
    """What the page plays: recordings without what it makes itself."""
    if "traces" in data:
        return {**data, "traces": [played(trace) for trace in data["traces"]]}
    events = [dict(event) for event in data["events"]]
    for event in events:
        # The page makes this sentence of the line.
        if event["k"] == "line" and event["say"] == line_next(event, data["sources"]):
            del event["say"]
    return {**data, "events": events}


def live_page(title: str) -> str:
    """The document of a live player: its traces come later, from Python."""
    code = script.packed_code(messages.in_use, "live")
    return _document(title, secrets.token_hex(8), "", code)


def _document(title: str, key: str, trace: str, code: str, start: int = 0) -> str:
    title, language = html.escape(title), html.escape(messages.in_use.code)
    return (
        f'<!doctype html><html lang="{language}" style="min-height:100vh">'
        '<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{title}</title></head>"
        f'<body><main hidden><h1 class="unseen">{title}</h1>'
        f'<div id="player" data-key="{key}" data-start="{start}"></div></main>{trace}'
        f'<script type="application/gzip" id="code">{code}</script>'
        f'<script type="module">{script.bundle("unpack.js")}</script></body></html>'
    )


def output_of(data: Mapping[str, Any], height: int = 560, key: str = "") -> str:
    """The HTML of a notebook output: the player in a frame, over what shows without it.

    Where a notebook is not trusted the frame is taken out, and the last sentence and
    the graph as an image remain.
    """
    players, height = ("two", 900) if "traces" in data else ("", height)
    page = page_of(data, key).replace("&", "&amp;").replace("'", "&#39;")
    name = html.escape(message("notebook.frame"))
    outer = f"position:relative;height:{height}px;overflow:hidden"
    inner = "position:absolute;inset:0;width:100%;height:100%;border:0"
    return (
        f'<div data-minigrad-player="{players}" style="{outer}">{fallback_of(data)}'
        f"<iframe srcdoc='{page}' title=\"{name}\" "
        f'style="{inner};background:var(--jp-layout-color0,Canvas)"></iframe></div>'
    )


def fallback_of(data: Mapping[str, Any]) -> str:
    """What can be seen of a recording where nothing can run: words and the graph."""
    title = f"<b>{html.escape(title_of(data))}</b>"
    are_two = "traces" in data
    key = "notebook.run-both" if are_two else "notebook.run"
    told = message(key, title="\0", count=0 if are_two else steps_at_first(data))
    told = html.escape(told).replace("\0", title)
    if are_two:
        return f"<p>{told}</p><p>{html.escape(data['say'])}</p>"
    events = data["events"]
    last = message("notebook.last", sentence=events[-1]["say"] if events else "")
    words = f"<p>{told}</p><p>{html.escape(last)}</p>"
    nodes = data["graph"]["nodes"]
    drawn = graph.svg_of(graph.dot_of(data)) if nodes else None
    if drawn is None:
        return words
    svg, _ = drawn
    if len(svg) > MOST_PICTURE:
        large = message("notebook.large", count=f"{len(nodes):,}")
        return f"{words}<p>{html.escape(large)}</p>"
    image = base64.b64encode(svg.encode()).decode()
    name = html.escape(message("notebook.graph"))
    return f'{words}<img alt="{name}" src="data:image/svg+xml;base64,{image}">'


def steps_at_first(data: Mapping[str, Any]) -> int:
    """How many steps the player has at the level at which it opens."""
    levels = [event["lvl"] for event in data["events"]]
    level = data["meta"].get("level")
    if level is None:  # as player.js does
        level = 0 if 0 in levels else 2
    return sum(one <= level for one in levels)


def title_of(data: Mapping[str, Any]) -> str:
    """The title of a recording, or what stands for it."""
    return data["meta"].get("title") or message("player.title")


def bundle_of(data: Mapping[str, Any], key: str) -> dict[str, str]:
    """The forms in which a notebook may show recordings, by MIME type.

    Each time under another ``key``: run again, the cell starts where it did at first;
    reloaded, it keeps its place.
    """
    return {"text/html": output_of(data, key=key), "text/plain": text_of(data)}


def text_of(data: Mapping[str, Any], most: int = 12) -> str:
    """The title and the first sentences of the story, for a terminal."""
    if "traces" in data:
        return str(data["say"])
    story = sentences_of(data, 1)
    lines = [message("notebook.title", title=title_of(data), count=len(story))]
    lines += [f"  {number}. {say}" for number, say in enumerate(story[:most], 1)]
    if len(story) > most:
        lines.append(f"  {message('notebook.more', count=len(story) - most)}")
    return "\n".join(lines)
