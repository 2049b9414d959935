"""A translation that nobody speaks: longer than English, in letters of its own.

What a page or a sentence still says in plain letters has not been translated, if it is
none of the program's own names.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from minigrad.tracing import messages

PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
OTHER = "åbçđéƒğĥîĵķļɱñöþɋřšţûṽŵẋýžÅƁÇĐÉƑĞĤÎĴĶĻṀÑÖÞɊŘŠŢÛṼŴẊÝŽ".replace("b", "ƀ")
LETTERS = str.maketrans(PLAIN, OTHER)
KEPT = re.compile(r"(\{\w+\}|\.grad\b|\.(?:forward|backward)\b)")
LENGTHEN = 0.4


def pseudo(text: str) -> str:
    """A text in other letters, and longer by two fifths; fields stay as they are."""
    parts = KEPT.split(text)
    other = "".join([p if KEPT.fullmatch(p) else p.translate(LETTERS) for p in parts])
    more = "·" * round(LENGTHEN * len(KEPT.sub("", text)))
    return f"{other}{more}" if text.strip(" ,;") else text


def translated(path: Path) -> Path:
    """The table of messages in that language, written to a file."""
    lines = []
    for name, texts in messages.read(messages.ENGLISH).items():
        lines.append(f"[{name}]")
        for key, text in texts.items():
            told = "eo" if name == "language" else pseudo(text)
            quoted = [json.dumps(one, ensure_ascii=False) for one in (key, told)]
            lines.append(" = ".join(quoted))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def untranslated(text: str, data: dict[str, Any]) -> list[str]:
    """The words in plain letters that no program has brought there."""
    theirs = set(re.findall(r"[A-Za-z]+", json.dumps(program_of(data))))
    return [
        word
        for word in re.findall(r"[A-Za-z]{2,}", text)
        if word not in theirs and word not in NAMES
    ]


NAMES = {
    *("ctx", "grad", "apply", "forward", "backward", "saved"),
    *("nan", "inf", "None", "True", "False", "mul", "sum", "bool", "locals", "lambda"),
}
"""Names that code has in all languages."""


NONE: dict[str, Any] = {"set": {}}


def program_of(data: dict[str, Any]) -> list[Any]:
    """What comes from the program: its code, its names, its errors."""
    shown = [{**one, "name": "", "file": ""} for one in data["sources"]]
    names = [one["name"] for one in data["sources"]]
    graph = [[node["label"], node["tensor"]] for node in data["graph"]["nodes"]]
    graph += [[event["label"]] for event in data["events"] if "label" in event]
    ctxs = [[ctx["name"], ctx.get("function")] for ctx in data["ctxs"]]
    errors = data["meta"].get("error", "")
    errors += " ".join(key for e in data["events"] for key in e.get("ctx", NONE)["set"])
    known = [name for name in names if name not in ("your cell", "your program")]
    return [shown, known, graph, ctxs, errors, data["meta"]["title"]]
