"""Answers that are classes, on whose instances histories are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.course.check.facts import Array, Crash
from minigrad.course.check.spy import crash_of


@dataclass(frozen=True)
class Ending:
    """How a history ends: ``ran`` lines came to their end, the next one raised.

    Of the value of the last line: whether it is a toy, the numbers on its list, and how
    it prints itself.
    """

    ran: int
    crash: Crash | None = None
    is_toy: bool = False
    values: Array | None = None
    shown: str = ""


def tell(toy: Any, saved: Any, histories: tuple[tuple[str, ...], ...]) -> Any:
    """How each history ends, told with these two classes; a tuple of endings."""
    return tuple([ending_of(toy, saved, lines) for lines in histories])


def ending_of(toy: Any, saved: Any, lines: tuple[str, ...]) -> Ending:
    """Run the lines of one history; the last one is an expression."""
    names: dict[str, Any] = {"Toy": toy, "Saved": saved}
    *before, last = lines
    for ran, line in enumerate([*before, f"result = {last}"]):
        try:
            exec(line, names)
        except Exception as error:
            return Ending(ran, crash_of("history", error))
    result = names["result"]
    is_toy = isinstance(result, toy)
    values = numbers_in(getattr(result, "values", None)) if is_toy else None
    return Ending(len(lines), None, is_toy, values, f"{result!r:.40}")


def numbers_in(values: Any) -> Array | None:
    """A list of numbers as an array; None for anything else."""
    try:
        return np.array(values, float)
    except (TypeError, ValueError):
        return None
