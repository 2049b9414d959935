"""The number that stands at an edge: what a rule multiplied the gradient with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from minigrad.tracing.pictures import number_text
from minigrad.tracing.reading import Ref, Values

PRECISION: Final = 2e-5
"""Pictures have six digits."""
Candidate = tuple[float, str | None]
"""A number, and whose value it is."""


def slope_of(
    call: Mapping[str, Any],
    builtin: str,
    slot: int,
    box: Mapping[str, Ref],
    arrived: Ref | None,
    sent: Ref | None,
    values: Values,
) -> dict[str, str] | None:
    """The one number that ``arrived`` was multiplied with; None if it was not one.

    ``builtin`` is the operation, empty for a learner's: its rule may do anything, so
    only what is in its box, 1 and -1 are tried.
    """
    before, after = values.array(arrived), values.array(sent)
    if before is None or after is None or before.shape != after.shape:
        return None
    if not before.any():
        return None
    if builtin:
        tried = [*known_slopes(builtin, call, slot, values)]
    else:
        tried = [*kept_numbers(call["ins"][slot], box, values)]
    for number, of in (*tried, (1.0, None), (-1.0, None)):
        if (np.abs(number * before - after) <= PRECISION * np.abs(after)).all():
            found = {"x": number_text(number)}
            return found if of is None else {**found, "of": of}
    if builtin and before.ndim == 0:
        return {"x": number_text(float(after / before))}
    return None


def known_slopes(
    name: str, call: Mapping[str, Any], slot: int, values: Values
) -> Iterator[Candidate]:
    """What the local derivative of a built-in operation is, if that is a value."""
    ins, outs = call["ins"], call["outs"]
    if name == "Mul" and len(ins) > 1:
        yield from number_of(ins[1 - slot], values)
    elif name == "Exp" and outs:
        yield from number_of(outs[0], values)


def number_of(passed: Mapping[str, Any], values: Values) -> Iterator[Candidate]:
    """The value of an argument or an output, if it is one number."""
    if "text" in passed:
        try:
            yield float(passed["text"]), None
        except ValueError:
            return
    elif (number := values.number(passed["v"])) is not None:
        yield number, passed["name"]


def kept_numbers(
    own: Mapping[str, Any], box: Mapping[str, Ref], values: Values
) -> list[Candidate]:
    """The numbers in a learner's box; that of the argument itself comes last."""
    found = []
    for key, ref in box.items():
        number = values.number(ref) if key.startswith("saved.") else None
        if key.startswith("attr.") and ref["t"] == "P":
            number = next((n for n, _ in number_of({"text": ref["r"]}, values)), None)
        if number is not None and abs(number) != 1:
            is_own = ref.get("v") == (own.get("v") or {}).get("v")
            name = ref.get("name") or (key[5:] if key.startswith("attr.") else None)
            found.append((is_own, number, name))
    found.sort(key=lambda one: one[0])
    return [(number, name) for _, number, name in found]
