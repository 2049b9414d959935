"""What a function is told that leaves something behind on what it was given."""

from __future__ import annotations

from minigrad.course.check import Finding
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def left_behind(function: str, changed: tuple[str, ...]) -> Finding | None:
    """The first thing that isn't as it was before the call; None if all is."""
    if not changed:
        return None
    name, _, part = changed[0].partition(".")
    return say(part, function=function, name=name)
