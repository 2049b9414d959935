"""The differences from torch that are meant, each with its reason."""

from __future__ import annotations

import re

NOT_YET = r"(has no attribute|is not there yet|cannot rewrite the history of views)"

DELIBERATE: list[tuple[str, str, str]] = [
    (rf"ours .*Error.*{NOT_YET}", "", "a part of the engine that is not there yet"),
    ("FillBackward", "", "a part of the engine that is not there yet"),
    ("", r"backward\(inputs", "a part of the engine that is not there yet"),
]
"""Pattern of the difference, pattern of the program, and why it is meant."""


def reason_for(found: str, source: str) -> str | None:
    """Why a difference is meant; None if nobody listed it."""
    for difference, program, reason in DELIBERATE:
        if re.search(difference, found) and re.search(program, source):
            return reason
    return None
