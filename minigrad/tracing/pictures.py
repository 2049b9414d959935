"""Arrays as pictures: a corner, the range, a key; drawn when first asked for."""

from __future__ import annotations

import hashlib
import math
import re
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

    __slots__ = ("__weakref__", "_dtype", "_key", "_picture", "_text", "digest")

    def __init__(self, array: Any, digest: tuple[Any, ...]) -> None:
        self.digest = digest
        self._dtype = digest[-1]
        self._key: str | None = None
        self._text: str | None = None
        self._picture: dict[str, Any] | None = None
        if array is not None:
            self._draw(array)

    @property
    def key(self) -> str:
        """A short text; equal arrays have equal keys in all recordings."""
        if self._key is None:
            self._key = key_of(self.digest)
        return self._key

    @property
    def picture(self) -> dict[str, Any]:
        """What is shown of the array."""
        if self._picture is None:
            self._draw(self._whole())
        return self._picture or {}

    @property
    def text(self) -> str:
        """The array inside a sentence: a number, a short list, or a shape."""
        if self._text is None:
            self._text = text_of(self._whole())
        return self._text

    def _whole(self) -> Any:
        shape, dtype, numbers = self.digest[:3]
        return np.ndarray(shape, dtype, numbers)

    def _draw(self, array: Any) -> None:
        with np.errstate(all="ignore"):  # the learner may have set "raise"
            span = range_of(array)
            self._picture = picture(array, span)
            self._text = text_of(array, span)
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


def key_of(digest: tuple[Any, ...]) -> str:
    """A short text for a digest: equal arrays have equal keys in all recordings."""
    return hashlib.blake2b(repr(digest).encode(), digest_size=8).hexdigest()


def picture(array: Any, span: Range | None = None) -> dict[str, Any]:
    """What is shown of an array: its corner, its range, how many are not a number."""
    part, cut = corner(array)
    least, most, missing, is_finite = range_of(array) if span is None else span
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


def text_of(array: Any, span: Range | None = None) -> str:
    """An array in words; ``span`` is its range, if that is known already."""
    if array.ndim == 0:
        return number_text(array[()])
    if array.ndim == 1 and array.size <= 6:
        return f"[{', '.join([number_text(item) for item in array.tolist()])}]"
    if array.ndim == 2 and 0 < array.size <= 4:
        rows = [", ".join(map(number_text, row)) for row in array.tolist()]
        return f"[[{'], ['.join(rows)}]]"
    lengths = " x ".join([str(length) for length in array.shape])
    if array.size and is_uniform(array, span):
        value = number_text(array.flat[0])
        return message("array.uniform", value=value, shape=lengths)
    return message("array.of-shape", shape=lengths)


def is_told_by_shape(text: str) -> bool:
    """Whether an array in words is told by its shape alone, without numbers."""
    start, _, end = message("array.of-shape", shape="\0").partition("\0")
    return text.startswith(start) and text.endswith(end)


def is_uniform(array: Any, span: Range | None = None) -> bool:
    """Whether all elements are the same number; most that are not show it at once."""
    numbers = different(array)
    first = numbers.flat[0]
    middle = numbers.flat[numbers.size // 2]
    if not numbers.flat[-1] == first == middle:
        return False
    if span is not None and span[3] and numbers.dtype.kind != "c":
        return span[0] == span[1]
    return bool((numbers == first).all())


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
