"""The differences from torch that are meant, each with its reason.

One more, which ends without an exception, is ``run.SHARED``.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

from tests.parity.differential.run import run

PLACE = re.compile(r"torch (\w+) in line (\d+): (.*)", re.DOTALL)
"""Where torch alone, or before us, ended with an exception; and what it said."""

LONGER = "[pair for pair in zip({0}.shape, {0}.stride()) if pair[0] > 1]"


def tangent_of_repeated_memory(source: str, line: int) -> bool:
    return "forward_ad.make_dual(" in source.splitlines()[line - 1]


def same_elements_in_one_order(source: str, line: int) -> bool:
    """Whether torch refuses an operand that is, element for element, the tensor."""
    lines = source.splitlines()
    found = re.match(r"( *)(t\d+)\.\w+_\((t\d+)\)", lines[line - 1])
    if found is None:
        return False
    indent, *names = found.groups()
    places = [f"({name}.data_ptr(), {LONGER.format(name)})" for name in names]
    lines[line - 1] = f"{indent}raise Boom({places[0]} == {places[1]})"
    ended = run("\n".join(lines[:line]), importlib.import_module("torch")).error
    return ended is not None and ended[2] == "True"


def gradients_made_of_zeros(source: str, line: int) -> bool:
    return "materialize_grads=True" in source


def anywhere(source: str, line: int) -> bool:
    return True


DELIBERATE: list[tuple[str, Callable[[str, int], bool], str]] = [
    (
        "more than one element of the written-to tensor refers",
        tangent_of_repeated_memory,
        "torch cannot give a tangent to memory that an expand repeats; minigrad can",
    ),
    (
        "some elements of the input tensor and the written-to tensor refer",
        same_elements_in_one_order,
        "torch takes dimensions of length 1 with other strides for another order",
    ),
    (
        "ZeroTensors are immutable",
        gradients_made_of_zeros,
        "torch gives an unused input zeros without memory, which cannot accumulate; "
        "minigrad's zeros are like any others",
    ),
    (
        "INTERNAL ASSERT FAILED",
        anywhere,
        "torch trips over an assertion of its own",
    ),
]
"""What torch says, where it may say so, and why minigrad does not."""


def reason_for(found: str, source: str) -> str | None:
    """Why a difference is meant; None if nobody listed it."""
    place: Any = PLACE.search(found)
    if place is None:
        return None
    for says, may_say_so, reason in DELIBERATE:
        if says in place[3] and may_say_so(source, int(place[2])):
            return reason
    return None
