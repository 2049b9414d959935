"""Arrays as pictures: a corner, the range, a key; drawn when first asked for."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad.tracing.messages import message

MOST_ROWS = 8
MOST_COLUMNS = 8
MOST_BYTES_TO_KEEP = 256
MOST_BYTES_TO_HASH = 65536
DRAWN = "biufc"
"""The kinds of dtype that have a picture: numbers."""
Range = tuple[float | None, float | None, int, bool]


class Sketch:
    """What is noted of an array while recording; key, picture and text come later.

    A small array is noted whole, in its digest. The picture of a larger one is drawn at
    once, for it may change: once for each version.
    """

    __slots__ = ("__weakref__", "_dtype", "_key", "_picture", "digest")

    def __init__(self, array: Any, digest: tuple[Any, ...]) -> None:
        self.digest = digest
        self._dtype = digest[-1]
        self._key: str | None = None
        self._picture: dict[str, Any] | None = None
        if array is not None:
            self._draw(array)

    @property
    def key(self) -> str:
        """A short text; equal arrays have equal keys in all recordings."""
        if self._key is None:
            digest = repr(self.digest).encode()
            self._key = hashlib.blake2b(digest, digest_size=8).hexdigest()
        return self._key

    @property
    def picture(self) -> dict[str, Any]:
        """What is shown of the array."""
        if self._picture is None:
            shape, dtype, numbers = self.digest[:3]
            self._draw(np.ndarray(shape, dtype, numbers))
        return self._picture or {}

    def _draw(self, array: Any) -> None:
        with np.errstate(all="ignore"):  # the learner may have set "raise"
            self._picture = picture(array)
        if self._dtype:
            self._picture["dtype"] = self._dtype


def digest_of(array: Any, version: int = 0, dtype: str = "") -> tuple[Any, ...]:
    """Something that differs when the array's values do; quick to make and compare."""
    if array.nbytes <= MOST_BYTES_TO_KEEP:
        return array.shape, array.dtype, array.tobytes(), dtype
    if array.nbytes <= MOST_BYTES_TO_HASH:
        digest = hashlib.blake2b(array.tobytes(), digest_size=8)
        return array.shape, array.dtype, digest.digest(), dtype
    # The whole of a large array is too slow to read at every step.
    place = array.__array_interface__["data"][0]
    first = corner(array)[0].tobytes()
    return array.shape, array.dtype, place, version, first, dtype


def picture(array: Any) -> dict[str, Any]:
    """What is shown of an array: its corner, its range, how many are not a number."""
    part, cut = corner(array)
    least, most, missing, is_finite = range_of(array)
    infinite = 0 if is_finite else int(np.isinf(array).sum())
    return {
        "shape": list(array.shape),
        "dtype": array.dtype.name,
        "min": least,
        "max": most,
        "nan": missing,
        **({"inf": infinite} if infinite else {}),
        "rows": [[json_number(item) for item in row] for row in part.tolist()],
        "cut": cut,
    }


def range_of(array: Any) -> Range:
    """The least and the greatest finite number, how many are not a number, and
    whether all are finite."""
    numbers = different(array)
    if numbers.dtype.kind == "c":
        numbers = np.abs(numbers)
    if not numbers.size:
        return None, None, 0, True
    least, most = float(numbers.min()), float(numbers.max())
    if math.isfinite(least) and math.isfinite(most):
        return least, most, 0, True
    missing = int(np.isnan(numbers).sum()) * (array.size // numbers.size)
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return None, None, missing, False
    return float(finite.min()), float(finite.max()), missing, False


def different(array: Any) -> Any:
    """The array without what broadcasting repeats."""
    steps = zip(array.shape, array.strides, strict=True)
    if not any([step == 0 and length > 1 for length, step in steps]):
        return array
    once = [slice(None, None if step else 1) for step in array.strides]
    return array[tuple(once)]


def corner(array: Any) -> tuple[Any, bool]:
    """The first rows and columns, and whether there is more."""
    if array.ndim < 2:
        table = array.reshape(1, -1)
    else:
        table = array.reshape(-1, array.shape[-1]) if array.size else array[:0].T[:0]
    part = table[:MOST_ROWS, :MOST_COLUMNS] if table.ndim == 2 else np.zeros((0, 0))
    return part, part.size < array.size


def json_number(item: Any) -> Any:
    """A number that JSON can carry; what is not finite or not real becomes a word."""
    number = item.item() if isinstance(item, np.generic) else item
    if isinstance(number, float) and math.isfinite(number):
        return float(f"{number:.6g}")
    return int(number) if isinstance(number, int) else str(number)


def text_of_picture(picture: Mapping[str, Any]) -> str:
    """An array in words, by its picture.

    >>> two = {"shape": [2], "dtype": "float32", "rows": [[1.0, 0.5]], "cut": False}
    >>> text_of_picture(two)
    '[1, 0.5]'
    """
    shape, dtype, size = picture["shape"], picture["dtype"], math.prod(picture["shape"])
    rows = [[element_text(item, dtype) for item in row] for row in picture["rows"]]
    if not shape:
        return rows[0][0]
    if len(shape) == 1 and size <= 6:
        return f"[{', '.join(rows[0])}]"
    if len(shape) == 2 and 0 < size <= 4:
        return f"[[{'], ['.join(map(', '.join, rows))}]]"
    lengths = " x ".join(map(str, shape))
    if size and is_uniform(picture):
        return message("array.uniform", value=rows[0][0], shape=lengths)
    return message("array.of-shape", shape=lengths)


def element_text(item: Any, dtype: str) -> str:
    """An element of a picture in a sentence."""
    if dtype.startswith("complex"):
        return number_text(complex(item))
    if isinstance(item, str):
        return item
    return str(bool(item)) if dtype == "bool" else number_text(item)


def is_told_by_shape(text: str) -> bool:
    """Whether an array in words is told by its shape alone, without numbers."""
    start, _, end = message("array.of-shape", shape="\0").partition("\0")
    return text.startswith(start) and text.endswith(end)


def is_uniform(picture: Mapping[str, Any]) -> bool:
    """Whether all elements are the same number."""
    if picture["dtype"].startswith("complex"):  # its range is that of their sizes
        elements = {item for row in picture["rows"] for item in row}
        return len(elements) == 1 and not picture["cut"] and not picture["nan"]
    odd = picture["nan"] or picture.get("inf")
    return not odd and bool(picture["min"] == picture["max"])


def number_text(number: Any) -> str:
    """A number in at most four digits; a whole one below a million in all of its own.

    The player writes the same.

    >>> [number_text(one) for one in (0.015625, -0.0, 12345.0, 12345.6, 1e6, 0.0005)]
    ['0.01562', '0', '12345', '12350', '1.00e+6', '5.00e-4']
    """
    if isinstance(number, (np.bool_, bool)):
        return str(bool(number))
    size = abs(number)
    if 1e-3 <= size < 1e4 or np.iscomplexobj(number) or not math.isfinite(size):
        return f"{number:.4g}"
    if size < 1e6 and number == int(number):
        return str(int(number))
    if size >= 1e5 or size < 1e-3:
        return re.sub(r"e([+-])0", r"e\1", f"{number:.2e}")
    return repr(float(f"{number:.4g}")).removesuffix(".0")
