"""What teaching mode says during a recording, with the line that is meant."""

from __future__ import annotations

import inspect
import linecache
import re
from typing import Any, Final

from minigrad.tracing.sources import lines_of

ABOUT_WHAT_IS_RETURNED: Final = ("A05", "R01", "T03", "A17")


def advice_of(owner: Any, subject: str, warning: Any) -> dict[str, Any]:
    """The parts of a piece of advice; ``line`` has a number and a text, or is None."""
    what, *rest = str(warning).split("\n")
    where, _, _ = what.partition(":")
    return {
        "id": warning.id,
        "what": what,
        "rest": [line.strip() for line in rest],
        "line": line_of(owner, where, warning.id, subject),
    }


def phase_of_advice(what: str) -> str:
    """When a class is looked at: after its forward, after its backward."""
    where = what.partition(":")[0]
    if where == "saved_tensors_hooks":
        return ""
    return "call its backward" if where.endswith(".backward") else "run forward"


def line_of(owner: Any, where: str, id: str, subject: str) -> list[Any] | None:
    """The line of a class or a hook that a piece of advice is about."""
    rule = getattr(owner, where.rpartition(".")[2], owner)
    code = getattr(inspect.unwrap(rule) if callable(rule) else rule, "__code__", None)
    if code is None or not linecache.getlines(code.co_filename):
        return None
    lines = lines_of(code)
    place = place_in(lines, id, subject)
    return [code.co_firstlineno + place, lines[place].strip()]


def place_in(lines: list[str], id: str, subject: str) -> int:
    """The line that speaks of what is meant; else the one that names the rule."""
    named = rf"\bctx\.{re.escape(subject)}\s*=" if subject.isidentifier() else "$^"
    if id in ABOUT_WHAT_IS_RETURNED:
        named = r"^\s*return\b"
    elif id in ("S03", "M04", "D01") or subject == "unread":
        named = r"\bsave_for_backward\("
    definition = [at for at, line in enumerate(lines) if re.match(r"\s*def ", line)]
    found = [at for at, line in enumerate(lines) if re.search(named, line)]
    return (found or definition or [0])[-1 if found else 0]
