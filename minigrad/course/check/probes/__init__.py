"""What is seen of an answer that is handed live objects: here, or in its box.

Each look makes the objects from plain data, runs the answer on them, and says in plain
data what it did. No right value is in here, so a look may run beside a stranger's code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from minigrad.course.check.facts import Crash
from minigrad.course.check.spy import crash_of

Seen = TypeVar("Seen")


@dataclass(frozen=True)
class Elsewhere:
    """Where the answer is that something stands for: its place, and how to ask there.

    ``ask`` is given the name of a look, the places of the answers, and the rest; with
    no place, it asks where no answer is.
    """

    place: int
    ask: Callable[[str, tuple[int, ...], tuple[Any, ...]], Any]


def stands_for(stand_in: Any, elsewhere: Elsewhere) -> None:
    """Note of a function or class that it stands for an answer elsewhere."""
    stand_in.stands_for = elsewhere


def seen(look: Callable[..., Seen], answers: tuple[Any, ...], *given: Any) -> Seen:
    """What a look sees of these answers, wherever they are."""
    places = [getattr(answer, "stands_for", None) for answer in answers]
    there = [place for place in places if isinstance(place, Elsewhere)]
    if len(there) < len(answers):
        return look(*answers, *given)
    found: Seen = there[0].ask(look.__name__, tuple([t.place for t in there]), given)
    return found


def tried(
    look: Callable[..., Seen], answers: tuple[Any, ...], *given: Any
) -> Seen | Crash:
    """The same, or the exception that stopped it."""
    try:
        return seen(look, answers, *given)
    except Exception as error:
        return crash_of("", error)


def seen_alone(look: Callable[..., Seen], answer: Any, *given: Any) -> Seen:
    """What a look sees without any answer: here, or in an empty box.

    In a judge other threads are at work, which a look at memory would see too.
    """
    there = getattr(answer, "stands_for", None)
    if not isinstance(there, Elsewhere):
        return look(*given)
    found: Seen = there.ask(look.__name__, (), given)
    return found
