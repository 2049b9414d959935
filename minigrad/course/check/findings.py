"""What a check found in an answer: which mistake of the table, where, in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from minigrad.course.check.facts import Array
from minigrad.mistakes import TABLE

UNNAMED: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """The element that shows a mistake: which one, both values, what came from above.

    ``of`` is the argument whose gradient it is, or the output (``"result"``) that
    forward returned. ``number`` and ``trial`` say which call it was, so that it can be
    made again; ``values`` and ``right`` are the whole arrays, for a picture.
    """

    case: str
    of: str
    index: tuple[int, ...]
    got: float
    expected: float
    upstream: float | None = None
    number: int = 0
    trial: str = "plain"
    values: Array | None = field(default=None, compare=False, repr=False)
    right: Array | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Finding:
    """One mistake in one answer: what happened (in numbers), where, what it looks like.

    ``ids`` holds more than one id where no probe can tell the stories apart, and none
    for a mistake without a name. ``crashed`` says that an exception stopped the answer,
    ``values_right`` that all values are right and the way there is not what was asked,
    ``is_note`` that it refuses nothing, and is said of what is solved. ``arguments``:
    those whose gradients are wrong. ``key``: where its exercise says ``looks_like``.
    ``is_guess``: other mistakes could have given the same numbers.
    """

    ids: tuple[str, ...]
    what: str
    where: str
    looks_like: str = ""
    hint: str = ""
    evidence: Evidence | None = None
    crashed: bool = False
    values_right: bool = False
    is_note: bool = False
    arguments: tuple[str, ...] = ()
    key: str = ""
    is_guess: bool = False

    @property
    def id(self) -> str:
        """The first id, or an empty string."""
        return self.ids[0] if self.ids else ""

    @property
    def name(self) -> str:
        """The names of the mistake, or an empty string."""
        return ", or ".join(TABLE[i].name for i in self.ids)

    @property
    def story(self) -> str:
        """What the mistake looks like, in one or two sentences."""
        return self.looks_like or (TABLE[self.id].looks_like if self.ids else "")

    @property
    def next_step(self) -> str:
        """One thing to try next; never the repair itself."""
        return self.hint or (TABLE[self.id].hint if self.ids else "")

    def with_hint(self, hint: str) -> Finding:
        """This finding with the next step replaced, unless ``hint`` is empty."""
        return replace(self, hint=hint) if hint else self


FEW_DIGITS = "Right to the first digits only, as after a float32 or an approximation."
WHICH_DIGITS = (
    "Print the dtype at every step, starting from float64 inputs. Is there a step that "
    "is an approximation, or a small number that you add?"
)
EXACTLY, NEARLY = 1e-10, 1e-12


def lost_digits(what: str, where: str, got: Array, right: Array) -> Finding | None:
    """Said of numbers that are right, if not in all digits, or not in their dtype."""
    if got.dtype != right.dtype:
        return Finding(("T01",), f"{what} is {got.dtype}; {right.dtype} went in", where)
    if np.allclose(got, right, EXACTLY, NEARLY):
        return None
    said = f"{what} is right to some digits only, and {right.dtype} has sixteen"
    return Finding(UNNAMED, said, where, FEW_DIGITS, WHICH_DIGITS)


Faults: TypeAlias = Iterator[Finding | None]
"""What is wrong, one look after the other; of a program only the first is told."""
