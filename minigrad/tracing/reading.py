"""Values of a finished recording, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad.tracing.pictures import text_of_picture

Ref = Mapping[str, Any]


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
