"""Values as data: small pictures of arrays, each kept once; short texts of the rest."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from minigrad.engine.tensor import Tensor
from minigrad.tracing.foreign import SavedSeen, is_torch_tensor, seen, seen_torch

Ref = dict[str, Any] | None
T = TypeVar("T")

MOST_ROWS = 8
MOST_COLUMNS = 8
MOST_ITEMS = 8
MOST_DEPTH = 4
MOST_BYTES_TO_KEEP = 256
MOST_BYTES_TO_HASH = 65536
DRAWN = "biufc"
"""The kinds of dtype that have a picture: numbers."""
SECRET = re.compile(r"password|passwd|secret|token|api_?key|credential", re.IGNORECASE)


class ValueStore:
    """Turns values into references; equal arrays are kept once."""

    def __init__(self, name_of: Callable[[Any], str | None]) -> None:
        self.values: dict[str, dict[str, Any]] = {}
        self._keys: dict[Any, str] = {}
        self._name_of = name_of

    def ref(self, value: Any, name: str = "") -> Ref:
        """What the player needs to show ``value``; a string named like a secret hides.

        None stays None: a gradient that did not arrive.
        """
        return safely(lambda: self._ref(value, name, MOST_DEPTH), unknown(value))

    def _ref(self, value: Any, name: str, depth: int) -> Ref:
        tensor = seen(value)
        if tensor is not None:
            shown = {
                "t": "T",
                "v": self.keep(tensor.array, tensor.version, tensor.dtype),
                "rg": tensor.requires_grad,
                "name": self._name_of(value),
                "ver": tensor.version,
                "fn": tensor.node,
            }
            for tangent in tensor.tangents:
                shown["tan"] = self.keep(tangent.array, tangent._seen_version())
            return shown
        if isinstance(value, str) and SECRET.search(name):
            return plain("(hidden)")
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in DRAWN:
            return {"t": "A", "v": self.keep(np.asarray(value))}
        if isinstance(value, (tuple, list)) and len(value) <= MOST_ITEMS and depth:
            items = [self._ref(item, name, depth - 1) for item in value]
            return {"t": "L", "i": [item or plain("None") for item in items]}
        return plain(short_repr(value))

    def saved_ref(self, saved: Any) -> Ref:
        """A saved value: the tensor, its version then and now, whose output it is."""
        tensor = saved.tensor
        return {
            "t": "S",
            "v": self.keep(tensor.array, tensor._seen_version()),
            "name": self._name_of(tensor),
            "ver": saved.version,
            "now": tensor._seen_version(),
            "out": saved.output_nr,
        }

    def seen_ref(self, saved: SavedSeen) -> Ref:
        """The same of a tensor that torch has saved."""
        kept = saved.kept
        if saved.is_packed:
            return kept
        now = safely(lambda: self._ref(saved.now(), "", 0), None)
        if now is None or "v" not in now:
            now = kept  # nobody but torch has it any more
        told = {"v": now["v"], "name": now["name"] or kept["name"]}
        return {"t": "S", **told, "ver": kept["ver"], "now": now["ver"], "out": None}

    def keep(self, array: Any, version: int = 0, dtype: str = "") -> str:
        """The key of a picture of ``array``, which is drawn if it is new.

        ``dtype`` is the name of one that NumPy does not have.
        """
        array = np.asarray(array)
        digest = (*digest_of(array, version), dtype)
        known = self._keys.get(digest)
        if known is not None:
            return known
        key = self._keys[digest] = key_of(digest)
        if key not in self.values:
            with np.errstate(all="ignore"):  # the learner may have set "raise"
                self.values[key] = picture(array) | ({"dtype": dtype} if dtype else {})
        return key


def digest_of(array: Any, version: int = 0) -> tuple[Any, ...]:
    """Something that differs when the array's values do; quick to make and compare."""
    if array.nbytes <= MOST_BYTES_TO_KEEP:
        return array.shape, array.dtype, array.tobytes()
    if array.nbytes <= MOST_BYTES_TO_HASH:
        digest = hashlib.blake2b(array.tobytes(), digest_size=8)
        return array.shape, array.dtype, digest.digest()
    # The whole of a large array is too slow to read at every step.
    place = array.__array_interface__["data"][0]
    return array.shape, array.dtype, place, version, corner(array)[0].tobytes()


def key_of(digest: tuple[Any, ...]) -> str:
    """A short text for a digest: equal arrays have equal keys in all recordings."""
    return hashlib.blake2b(repr(digest).encode(), digest_size=8).hexdigest()


def picture(array: Any) -> dict[str, Any]:
    """What is shown of an array: its corner, its range, how many are not a number."""
    part, cut = corner(array)
    least, most, missing = range_of(array)
    return {
        "shape": list(array.shape),
        "dtype": array.dtype.name,
        "min": least,
        "max": most,
        "nan": missing,
        "rows": [[json_number(item) for item in row] for row in part.tolist()],
        "cut": cut,
    }


def range_of(array: Any) -> tuple[float | None, float | None, int]:
    """The least and the greatest finite number, and how many are not a number."""
    numbers = different(array)
    if numbers.dtype.kind == "c":
        numbers = np.abs(numbers)
    if not numbers.size:
        return None, None, 0
    least, most = float(numbers.min()), float(numbers.max())
    if math.isfinite(least) and math.isfinite(most):
        return least, most, 0
    missing = int(np.isnan(numbers).sum()) * (array.size // numbers.size)
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return None, None, missing
    return float(finite.min()), float(finite.max()), missing


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


def safely(look: Callable[[], T], otherwise: T) -> T:
    """What ``look`` finds in a value of the learner, or ``otherwise``: never raises."""
    try:
        return look()
    except Exception:  # their repr, length or comparison is theirs, and may raise
        return otherwise


def unknown(value: Any) -> Ref:
    """A value of which nothing but the type can be told."""
    return plain(f"<{type(value).__name__}>")


def plain(text: str) -> Ref:
    """A value shown as text."""
    return {"t": "P", "r": text}


def short_repr(value: Any) -> str:
    """``repr`` in at most 60 characters; for a class or a function its name."""
    return safely(lambda: _short_repr(value), f"<{type(value).__name__}>")


def _short_repr(value: Any) -> str:
    if isinstance(value, type) or callable(value):
        return str(getattr(value, "__qualname__", type(value).__name__))
    if isinstance(value, (str, bytes)):
        text = repr(value[:61])  # a long text is cut before it is spelled out
    elif value is None or isinstance(value, (bool, int, float, complex)):
        text = repr(value)
    elif isinstance(value, (tuple, list, dict, set)):
        text = f"{type(value).__name__} of {len(value)}"
    else:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."


def error_text(error: BaseException) -> str:
    """An exception as the last line of a traceback."""
    name = type(error).__name__
    return safely(lambda: f"{name}: {error}", name)


def brief(value: Any) -> str:
    """A value inside a sentence: a number, a short list, or a shape."""
    return safely(lambda: _brief(value), f"<{type(value).__name__}>")


def _brief(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        value = value.array
    elif is_torch_tensor(value):
        value = seen_torch(value).array
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in DRAWN:
        return short_repr(value)
    array = np.asarray(value)
    if array.ndim == 0:
        return number_text(array[()])
    if array.ndim == 1 and array.size <= 6:
        return f"[{', '.join([number_text(item) for item in array.tolist()])}]"
    if array.ndim == 2 and 0 < array.size <= 4:
        rows = [", ".join(map(number_text, row)) for row in array.tolist()]
        return f"[[{'], ['.join(rows)}]]"
    lengths = " x ".join([str(length) for length in array.shape])
    if array.size and is_uniform(array):
        return f"{number_text(array.flat[0])} everywhere ({lengths})"
    return f"an array of {lengths}"


def is_uniform(array: Any) -> bool:
    """Whether all elements are the same number; most that are not show it at once."""
    numbers = different(array)
    first = numbers.flat[0]
    middle = numbers.flat[numbers.size // 2]
    return bool(numbers.flat[-1] == first == middle and (numbers == first).all())


def number_text(number: Any) -> str:
    """A number in at most four digits, without a trailing point."""
    if isinstance(number, (np.bool_, bool)):
        return str(bool(number))
    return f"{number:.4g}"
