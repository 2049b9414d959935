"""Functions of one formula each way, on which an answer that checks rules is tried.

The text file beside a module has them as rows of ``[[rules]]``: what the Function
``does``, its ``forward`` and ``backward`` of x and of g, and whether that is ``right``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import minigrad
from minigrad.course.exercises.messages import text_of

CLASS = """\
class Given(minigrad.autograd.Function):
    @staticmethod
    def forward(ctx, {of}):
        y = {forward}
        ctx.save_for_backward({saves})
        return y

    @staticmethod
    def backward(ctx, g):
        ({saved},) = ctx.saved_tensors
        return {backward}
"""


@dataclass(frozen=True)
class Rule:
    """One of them; ``row`` is what the text says besides."""

    function: Any
    does: str
    right: bool
    row: dict[str, Any]


def rules_of(module: str) -> list[Rule]:
    """The rules of an exercise, in their order."""
    return [
        Rule(function_of(row), row["does"], row.get("right", False), row)
        for row in text_of(module)["rules"]
    ]


def function_of(row: dict[str, Any]) -> Any:
    """The Function, and its source: it may be wanted where this file is not.

    It is a Function ``of`` x, if the row says nothing. What it ``saves`` is that, or
    more, such as its result y; in backward that is ``saved``.
    """
    of = row.get("of", "x")
    saves = row.get("saves", of)
    source = CLASS.format_map({"of": of, "saves": saves, "saved": saves, **row})
    names: dict[str, Any] = {"minigrad": minigrad}
    exec(source, names)
    names["Given"].source = source
    return names["Given"]
