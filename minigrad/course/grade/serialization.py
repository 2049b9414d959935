"""Dataclasses as plain data, strictly typed, and back: what goes through the wall.

Each value is written and read by the type of its field. Whatever does not fit is
refused on reading, so that a stranger's answer is either well formed or none.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar, Union, cast

import numpy as np

from minigrad.course.check import Array, facts
from minigrad.course.grade import quotas
from minigrad.course.grade.frames import FrameError

Message = TypeVar("Message")

OMITTED: dict[type, tuple[str, ...]] = {
    facts.Facts: ("case",),
    facts.Trial: ("inputs", "needed"),
    facts.Pass: ("upstreams",),
    facts.Second: ("weights",),
    facts.Tangent: ("tangents",),
}
"""What a worker is not asked for, because the judge knows what it has handed in."""

_OTHERS = ("f2", "f4", "f8", "c8", "c16", "?")
_WHOLE = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
_DTYPES = {np.dtype(name).str: np.dtype(name) for name in (*_OTHERS, *_WHOLE)}
_MOST_AXES = 16


TAGGED: dict[str, type] = {}
"""Dataclasses that may stand among plain values, by their name."""


def tagged(record: type[Message]) -> type[Message]:
    """Let instances of a dataclass stand among plain values."""
    TAGGED[record.__name__] = record
    return record


@dataclasses.dataclass(frozen=True)
class Other:
    """Stands for a value that is not plain: the name of its type is all there is."""

    kind: str


class Writer:
    """Collects the bytes of the arrays, in the order in which they are met.

    A ``trusted`` writer cuts nothing: it sends whole notebooks.
    """

    def __init__(self, trusted: bool = False) -> None:
        self.trusted = trusted
        self._pieces: list[bytes] = []

    @property
    def body(self) -> bytes:
        """All arrays."""
        return b"".join(self._pieces)

    def write(self, hint: Any, value: Any) -> Any:
        """What the header says of ``value``, a field of type ``hint``."""
        if hint is Any:
            return self._anything(value)
        if hint is str:
            return self._text(value)
        if hint is bool:
            return bool(value)
        if hint is int:
            return int(value)
        if hint is float:
            return self._number(float(value))
        if dataclasses.is_dataclass(hint):
            fields = fields_of(cast(type, hint))
            return [self.write(h, getattr(value, n)) for n, h in fields]
        if is_array(hint):
            return self._array(value)
        if (item := item_of(hint)) is not None:
            items = value if self.trusted else tuple(value)[: quotas.ITEMS]
            return [self.write(item, each) for each in items]
        return None if value is None else self.write(without_none(hint), value)

    def _text(self, value: Any) -> str:
        text = str(value)
        return text if self.trusted else text[: quotas.TEXT]

    def _number(self, value: float) -> Any:
        return value if math.isfinite(value) else {"f": repr(value)}

    def _array(self, value: Array) -> list[Any]:
        array = np.asarray(value)
        if array.dtype.kind in "fc" and array.dtype.itemsize > 8 * (
            1 + (array.dtype.kind == "c")
        ):
            array = array.astype("f8" if array.dtype.kind == "f" else "c16")
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        too_large = not self.trusted and array.nbytes > quotas.ONE_ARRAY
        if array.dtype.str not in _DTYPES or too_large:
            # It is equal to nothing, whatever it was.
            array = np.full((0,) if too_large else array.shape, np.nan)
        # The order of its axes in memory is kept, as an answer may depend on it.
        order = sorted(range(array.ndim), key=lambda i: -abs(array.strides[i]))
        self._pieces.append(np.ascontiguousarray(array.transpose(order)).tobytes())
        return [array.dtype.str, list(array.shape), order]

    def _anything(self, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int):
            return int(value) if abs(value) < 2**63 else {"o": "int"}
        if isinstance(value, float):
            return self._number(float(value))
        if isinstance(value, np.ndarray):
            return {"a": self._array(value)}
        if isinstance(value, tuple | list):
            kind = "t" if isinstance(value, tuple) else "l"
            return {kind: [self._anything(each) for each in value[: quotas.ITEMS]]}
        if isinstance(value, dict):
            pairs = list(value.items())[: quotas.ITEMS]
            return {"d": [[self._text(k), self._anything(v)] for k, v in pairs]}
        name = type(value).__name__
        if type(value) is TAGGED.get(name):
            return {"r": [name, self.write(type(value), value)]}
        return {"o": name[:80]}


class Reader:
    """Reads what a Writer wrote, or raises FrameError; nothing is taken on trust."""

    def __init__(self, body: bytes, trusted: bool = False) -> None:
        self._left = memoryview(body)
        self._trusted = trusted

    def finish(self) -> None:
        """See that nothing is left over. Raises: FrameError."""
        if self._left:
            raise FrameError(f"{len(self._left)} bytes that belong to no array")

    def read(self, hint: Any, said: Any) -> Any:
        """A value of type ``hint``. Raises: FrameError."""
        if hint is Any:
            return self._anything(said)
        if hint is str:
            return self._text(said)
        if hint is bool:
            return _of(bool, said)
        if hint is int:
            return self._integer(said)
        if hint is float:
            return self._number(said)
        if dataclasses.is_dataclass(hint):
            return self._record(hint, said)
        if is_array(hint):
            return self._array(said)
        if (item := item_of(hint)) is not None:
            return tuple([self.read(item, each) for each in self._list(said)])
        return None if said is None else self.read(without_none(hint), said)

    def _record(self, hint: Any, said: Any) -> Any:
        fields = fields_of(hint)
        said = _of(list, said)
        if len(said) != len(fields):
            raise FrameError(f"{len(said)} values for a {hint.__name__}")
        given = {n: self.read(h, v) for (n, h), v in zip(fields, said, strict=True)}
        return hint(**dict.fromkeys(OMITTED.get(hint, ()), ()), **given)

    def _list(self, said: Any) -> list[Any]:
        found: list[Any] = _of(list, said)
        if len(found) > quotas.ITEMS and not self._trusted:
            raise FrameError(f"{len(found)} things where there should be a few")
        return found

    def _text(self, said: Any) -> str:
        text: str = _of(str, said)
        if len(text) > quotas.TEXT and not self._trusted:
            raise FrameError(f"a text of {len(text)} characters")
        # Half a surrogate could not be written to any file.
        return text.encode("utf-8", "replace").decode("utf-8")

    def _integer(self, said: Any) -> int:
        number: int = _of(int, said)
        if abs(number) >= 2**63:
            raise FrameError("an integer of more than 64 bits")
        return number

    def _number(self, said: Any) -> float:
        if isinstance(said, dict):
            text = self._text(said.get("f"))
            if text not in ("inf", "-inf", "nan"):
                raise FrameError(f"{text!r:.40} is no number")
            return float(text)
        if type(said) is int:
            return float(self._integer(said))
        number: float = _of(float, said)
        return number

    def _array(self, said: Any) -> Array:
        parts = _of(list, said)
        if len(parts) != 3:
            raise FrameError("an array without dtype, shape and order")
        name, shape, order = parts
        if not isinstance(name, str) or name not in _DTYPES:
            raise FrameError(f"an array of dtype {name!r:.40}")
        sizes = [self._integer(n) for n in self._list(shape)]
        axes = [self._integer(n) for n in self._list(order)]
        if len(sizes) > _MOST_AXES or sorted(axes) != list(range(len(sizes))):
            raise FrameError("an array with axes that do not exist")
        dtype = _DTYPES[name]
        most = math.inf if self._trusted else quotas.ONE_ARRAY
        if any(n < 0 for n in sizes) or (
            math.prod(max(n, 1) for n in sizes) * dtype.itemsize > most
        ):
            raise FrameError(f"an array of shape {sizes!s:.80}")
        count = math.prod(sizes) * dtype.itemsize
        if count > len(self._left):
            raise FrameError("an array with more numbers than came")
        piece, self._left = self._left[:count], self._left[count:]
        if dtype.kind == "b":
            flat = np.frombuffer(piece, np.uint8) != 0
        else:
            flat = np.frombuffer(piece, dtype).copy()
        in_memory = flat.reshape([sizes[i] for i in axes])
        array: Array = in_memory.transpose(np.argsort(axes) if axes else None)
        return array

    def _anything(self, said: Any) -> Any:
        if said is None or isinstance(said, bool):
            return said
        if isinstance(said, str):
            return self._text(said)
        if isinstance(said, int):
            return self._integer(said)
        if isinstance(said, float):
            return said
        if not isinstance(said, dict) or len(said) != 1:
            raise FrameError("a value of no kind")
        ((kind, value),) = said.items()
        if kind == "f":
            return self._number(said)
        if kind == "a":
            return self._array(value)
        if kind in "tl":
            items = [self._anything(each) for each in self._list(value)]
            return tuple(items) if kind == "t" else items
        if kind == "d":
            pairs = [self._list(pair) for pair in self._list(value)]
            if any(len(pair) != 2 for pair in pairs):
                raise FrameError("a mapping that is none")
            return {self._text(k): self._anything(v) for k, v in pairs}
        if kind == "r":
            name, record = (*self._list(value), None, None)[:2]
            if not isinstance(name, str) or name not in TAGGED:
                raise FrameError(f"a value of the type {name!r:.40}")
            return self._record(TAGGED[name], record)
        if kind == "o":
            return Other(self._text(value))
        raise FrameError(f"a value of the kind {kind!r:.20}")


def packed(message: Any, trusted: bool = False) -> tuple[list[Any], bytes]:
    """A message as header and body of a frame."""
    writer = Writer(trusted)
    said = writer.write(type(message), message)
    return [type(message).__name__, said], writer.body


def unpacked(
    header: object,
    body: bytes,
    kinds: Iterable[type[Message]],
    trusted: bool = False,
) -> Message:
    """The message in a frame, one of ``kinds``. Raises: FrameError."""
    if not isinstance(header, list) or len(header) != 2:
        raise FrameError("an answer that is no message")
    for kind in kinds:
        if header[0] == kind.__name__:
            reader = Reader(body, trusted)
            message: Message = reader.read(kind, header[1])
            reader.finish()
            return message
    raise FrameError(f"an answer to something else: {header[0]!r:.40}")


@cache
def fields_of(record: type) -> tuple[tuple[str, Any], ...]:
    """The fields that are sent, with their types."""
    hints = typing.get_type_hints(record)
    left_out = OMITTED.get(record, ())
    names = [field.name for field in dataclasses.fields(record)]
    return tuple([(name, hints[name]) for name in names if name not in left_out])


def is_array(hint: Any) -> bool:
    """Whether a field of this type is an array."""
    origin = typing.get_origin(hint)
    # From some version of NumPy on, its alias for arrays is a type statement.
    return typing.get_origin(getattr(origin, "__value__", hint)) is np.ndarray


def item_of(hint: Any) -> Any:
    """What a tuple of any length holds; None for every other type."""
    if typing.get_origin(hint) is not tuple:
        return None
    return typing.get_args(hint)[0]


def without_none(hint: Any) -> Any:
    """The type of what may also be None; Any for one of several types."""
    if typing.get_origin(hint) not in (Union, types.UnionType):
        raise TypeError(f"no encoding for {hint}")
    rest = [each for each in typing.get_args(hint) if each is not type(None)]
    return rest[0] if len(rest) == 1 else Any


def _of(kind: type, said: Any) -> Any:
    if type(said) is not kind:
        raise FrameError(f"a {type(said).__name__} in place of a {kind.__name__}")
    return said
