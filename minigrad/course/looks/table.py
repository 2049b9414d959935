"""All looks by name, and the records in which they say what was seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.course.looks.chains import peaks_of_chains
from minigrad.course.looks.histories import Ending, tell
from minigrad.course.looks.lifetimes import (
    Left,
    gradient_of_a_sum,
    kept_on_ctx,
    left_behind,
)
from minigrad.course.looks.opinions import Opinion, opinion_on
from minigrad.course.looks.traversals import Program, Traversal, traverse
from minigrad.course.looks.walks import Graph, Walk, walk

LOOKS: dict[str, Callable[..., Any]] = {
    look.__name__: look
    for look in (
        walk,
        traverse,
        tell,
        left_behind,
        gradient_of_a_sum,
        kept_on_ctx,
        opinion_on,
        peaks_of_chains,
    )
}

RECORDS = (Graph, Walk, Program, Traversal, Ending, Left, Opinion)
