"""Values of a finished recording: in words, and the local derivatives they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from minigrad.tracing.pictures import number_text, text_of_picture

Ref = Mapping[str, Any]
PRECISION: Final = 2e-5
"""Pictures have six digits."""
Candidate = tuple[float, str | None]
"""A number, and whose value it is."""


class Values:
    """The pictures of a recording's values, and what a sentence says of each."""

    def __init__(self, pictures: Mapping[str, Any]) -> None:
        self._pictures = pictures
        self._texts: dict[str, str] = {}

    def text(self, ref: Ref | None) -> str:
        """A value inside a sentence: a number, a short list, a shape, or several."""
        if ref is None:
            return "None"
        if "i" in ref:
            inside = ", ".join([self.text(one) for one in ref["i"]])
            return f"({inside},)" if len(ref["i"]) == 1 else f"({inside})"
        key = ref.get("v")
        if key is None:
            return str(ref.get("r", ""))
        if key not in self._texts:
            self._texts[key] = text_of_picture(self._pictures[key])
        return self._texts[key]

    def shape(self, ref: Ref) -> tuple[int, ...]:
        """The shape of an array or a tensor."""
        return tuple(self._pictures[ref["v"]]["shape"])

    def array(self, ref: Ref | None) -> Any:
        """The numbers of a value that is drawn whole; None for any other."""
        picture = self._pictures.get((ref or {}).get("v", ""))
        return None if picture is None else array_of(picture)

    def number(self, ref: Ref | None) -> float | None:
        """The value of a scalar; None for any other."""
        array = self.array(ref)
        return None if array is None or array.ndim else float(array)


def array_of(picture: Mapping[str, Any]) -> Any:
    """The numbers that a picture shows, if they are all, real and finite."""
    numbers = [item for row in picture["rows"] for item in row]
    if picture["cut"] or any([type(item) is str for item in numbers]):
        return None
    kind = bool if picture["dtype"] == "bool" else np.float64
    return np.array(numbers, kind).reshape(picture["shape"])


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
