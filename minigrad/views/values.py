"""Values in words and numbers, as the player shows them (see ``player/values.js``)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from minigrad.tracing.messages import message, word
from minigrad.tracing.pictures import number_text

Json = Mapping[str, Any]


def _brief(value: Json) -> str:
    """An array in one line."""
    numbers = [number(x) for row in value["rows"] for x in row]
    if not value["cut"] and not value["shape"]:
        return numbers[0]
    if not value["cut"] and len(value["shape"]) == 1 and len(numbers) <= 4:
        return f"[{', '.join(numbers)}]"
    times = "\u00d7"
    shape = f"[{times.join(map(str, value['shape']))}]"
    odd, size = odd_words(value), math.prod(value["shape"])
    if not size:
        return message("value.none", shape=shape)
    least, most = number(value["min"]), number(value["max"])
    if value["nan"] == size or (least == most and not odd):
        return message("value.all", shape=shape, value=least)
    if value["min"] is None:
        return message("value.odd", shape=shape, odd=odd)
    words = message("value.range", shape=shape, min=least, max=most)
    return message("value.and-odd", value=words, odd=odd) if odd else words


def odd_words(value: Json) -> str:
    """How many elements are no number and how many are infinite; empty without."""
    infinite = value.get("inf", 0)
    words = [message("value.nan", count=value["nan"])] if value["nan"] else []
    words += [message("value.inf", count=infinite)] if infinite else []
    if len(words) == 2:
        return message("value.and-odd", value=words[0], odd=words[1])
    return "".join(words)


def brief_text(data: Json, ref: Json | None) -> str:
    """A value in one line, as the player writes it beside an edge."""
    if ref is None:
        return "None"
    if ref["t"] == "P":
        return word(str(ref["r"]))
    if ref["t"] == "L":
        words = [brief_text(data, item) for item in ref["i"]]
        return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"
    value = data["values"].get(ref["v"])
    return _brief(value) if value else str(ref.get("name") or "?")


def number(x: Any) -> str:
    """A number in at most four digits, as the player writes it.

    >>> number(10.0), number(-0.125), number(0.00001), number(1234567.0), number(None)
    ('10', '-0.125', '1.00e-5', '1.23e+6', 'nan')
    """
    if x is None:
        return "nan"
    if not isinstance(x, (int, float)) or not math.isfinite(x):
        return str(x)  # inf and complex numbers are words in a recording
    return number_text(float(x))
