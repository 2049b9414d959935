"""Functions of one formula each way, on which an answer that checks rules is tried.

The text file beside a module has them as rows of ``[[rules]]``: what the Function
``does``, its ``forward`` and ``backward`` of x and of g, and whether that is ``right``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import minigrad
from minigrad.course.check import Array
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.checkers import Judged, judged
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


def asked(answer: Any, rule: Rule, inputs: Iterable[Array], luck: int) -> Judged:
    """What an answer that checks rules said of this one, by one of its tries.

    It has to accept a right rule each time. A wrong one may look right by ``luck``, so
    many times: what is compared may come out small by accident, and a comparison that
    forgets the sign of a difference takes every second one for right.
    """
    tries = [seen(judged, (answer,), rule.function, x) for x in inputs]
    accepted = [found for found in tries if found.said]
    others = [found for found in tries if not found.said]
    silent = [found for found in others if found.said is None]
    is_taken = not rule.right and len(accepted) > luck
    return (silent or (accepted if is_taken or not others else others))[0]
