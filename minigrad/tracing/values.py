"""Values as data: small pictures of arrays, each kept once; short texts of the rest.

And marks: something small that differs when what is shown of a value has changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from minigrad import errors
from minigrad.engine.core.node import NonTensorArgument, _FunctionBase
from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.foreign import (
    SavedSeen,
    is_tensor,
    is_torch_tensor,
    maker_of,
    seen_torch,
    version_of,
)
from minigrad.tracing.messages import message
from minigrad.tracing.names import Names
from minigrad.tracing.pictures import (
    DRAWN,
    MOST_BYTES_TO_KEEP,
    Sketch,
    digest_of,
    picture,
    text_of_picture,
)

Ref = Any
"""A note, the digest of a small array, or what the player needs of a value that has no
numbers; or None."""
T = TypeVar("T")
NameOf = Callable[[Any], str | None]

MOST_ITEMS = 8
MOST_DEPTH = 4
NUMBERS = frozenset({bool, float, type(None)})
ATOMS: Final = frozenset({str, bytes, int, float, complex, bool, type(None)})
"""Types whose values never change."""
FORGOTTEN = "computed again when needed"
"""What stands for a saved value that a checkpoint does not keep."""
SECRET = re.compile(
    r"pass(word|wd|phrase)|secret|token|credential|(api|access|private)_?key",
    re.IGNORECASE,
)


class Note(tuple[Any, ...]):
    """What is noted of an array or a tensor while the program runs.

    Its kind, a digest or a sketch of the numbers, and more by kind, as FIELDS names it.
    Of the kind W is a text: what makes it in the end, and what that is given.
    """

    __slots__ = ()

    def ref(self, drawn: dict[Any, Sketch]) -> dict[str, Any]:
        """What the player needs; the sketches of numbers are added to ``drawn``."""
        kind, numbers, *more = self
        if kind == "W":
            words: dict[str, Any] = plain(numbers(*more))
            return words
        shown = {"t": kind, "v": key_of_numbers(numbers, drawn)}
        for field, fact in zip(FIELDS[kind], more, strict=False):
            shown[field] = fact
        for tangent in more[len(FIELDS[kind]) :]:
            shown["tan"] = key_of_numbers(tangent, drawn)
        return shown


FIELDS: Final = {
    "A": (),
    "T": ("rg", "name", "ver", "fn"),
    "S": ("name", "ver", "now", "out"),
}
"""What a note has beside the numbers; that of a tensor may end with tangents."""


def key_of_numbers(numbers: Any, drawn: dict[Any, Sketch]) -> str:
    """The key of a digest or a sketch, whose sketch is then in ``drawn``."""
    sketch = drawn.get(numbers)
    if sketch is None:
        is_sketch = type(numbers) is Sketch
        sketch = drawn[numbers] = numbers if is_sketch else Sketch(None, numbers)
    return sketch.key


def put_refs(item: Any, drawn: dict[Any, Sketch]) -> None:
    """Put references in the place of notes, however deep."""
    places: Any = item.items() if type(item) is dict else enumerate(item)
    for place, value in places:
        kind = type(value)
        if kind is Note:
            item[place] = value.ref(drawn)
        elif kind is tuple:
            item[place] = {"t": "A", "v": key_of_numbers(value, drawn)}
        elif kind is dict or kind is list:
            put_refs(value, drawn)


class ValueStore:
    """Notes values, for ``finish`` to make pictures of; equal arrays are drawn once."""

    def __init__(self, names: Names) -> None:
        # A sketch lives as long as a note leads to it.
        self._sketches: WeakValueDictionary[Any, Sketch] = WeakValueDictionary()
        self.names = names

    def ref(self, value: Any, name: str = "") -> Ref:
        """What the player needs of ``value``; a string named like a secret hides."""
        if type(value) is Tensor:
            return self.tensor(value)
        try:
            return self._ref(value, name, MOST_DEPTH)
        except Exception:  # their length or comparison is theirs, and may raise
            return plain(f"<{type(value).__name__}>")

    def look(self, value: Any) -> Ref:
        """The same of a gradient, mostly an array; None if it did not arrive."""
        if type(value) is np.ndarray and (dtype := value.dtype).kind in DRAWN:
            if value.nbytes <= MOST_BYTES_TO_KEEP:
                return value.shape, dtype, value.tobytes(), ""
            return Note(("A", self.numbers(value)))
        return None if value is None else self.ref(value)

    def _ref(self, value: Any, name: str, depth: int) -> Ref:
        kind = type(value)
        if isinstance(value, Tensor):
            return self.tensor(value)
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in DRAWN:
            return Note(("A", self.numbers(value)))
        if kind in NUMBERS:
            return plain(repr(value))
        if kind is int:
            return Note(("W", short_repr, value))
        if kind is dict:
            return Note(("W", items_text, "dict", len(value)))
        if isinstance(value, (tuple, list)) and len(value) <= MOST_ITEMS and depth:
            return {"t": "L", "i": [self._ref(item, name, depth - 1) for item in value]}
        if isinstance(value, _FunctionBase):
            return plain(f"<{kind.__name__}>")
        if is_torch_tensor(value):
            return self._torch_tensor(value)
        if isinstance(value, (str, bytes)) and SECRET.search(name):
            return plain("(hidden)")
        return plain(short_repr(value))

    def tensor(self, tensor: Tensor) -> Note:
        """What is noted of a tensor."""
        version = 0 if tensor._version_counter is None else tensor._seen_version()
        maker = tensor._grad_node if tensor._base is None else maker_of(tensor)
        numbers = self.numbers(tensor.array, version)
        name = self.names.of(tensor)
        made_by = None if maker is None else maker.name()
        note = ("T", numbers, tensor._requires_grad, name, version, made_by)
        if not tensor._tangents:
            return Note(note)
        tangents = tensor._tangents.values()
        return Note((*note, *[self.numbers(t.array, version_of(t)) for t in tangents]))

    def _torch_tensor(self, value: Any) -> Note:
        tensor = seen_torch(value)
        numbers = self.numbers(tensor.array, tensor.version, tensor.dtype)
        name = self.names.of(value)
        facts = tensor.requires_grad, name, tensor.version, tensor.node
        tangents = [self.numbers(*tangent) for tangent in tensor.tangents]
        return Note(("T", numbers, *facts, *tangents))

    def saved_ref(
        self, tensor: Any, array: Any, version: int, now: int, output: int | None
    ) -> Ref:
        """A saved value: its numbers, its version then and now, whose output it is."""
        numbers = self.numbers(array, now)
        name = None if output is not None else self.names.of(tensor)
        return Note(("S", numbers, name, version, now, output))

    def seen_ref(self, saved: SavedSeen) -> Ref:
        """The same of a tensor that torch has saved."""
        kept = saved.kept
        if saved.is_packed:
            return kept
        now: Any = safely(lambda: self._ref(saved.now(), "", 0), None)
        if type(now) is not Note:
            now = kept  # nobody but torch has it any more
        _, numbers, _, name, version, *_ = now
        return Note(("S", numbers, name or kept[3], kept[4], version, None))

    def numbers(self, array: Any, version: int = 0, dtype: str = "") -> Any:
        """What is noted of ``array``: all of a small one, the sketch of a large one.

        ``dtype`` is the name of one that NumPy does not have.
        """
        if type(array) is not np.ndarray:
            array = np.asarray(array)
        if array.nbytes <= MOST_BYTES_TO_KEEP:  # as digest_of, without its call
            return array.shape, array.dtype, array.tobytes(), dtype
        digest = digest_of(array, version, dtype)
        known = self._sketches.get(digest)
        if known is None:
            known = self._sketches[digest] = Sketch(array, digest)
        return known

    def finish(self, events: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """All pictures by their keys; references lead to the keys from now on."""
        drawn: dict[Any, Sketch] = {}
        for event in events:
            put_refs(event, drawn)
        return {sketch.key: sketch.picture for sketch in drawn.values()}


def safely(look: Callable[[], T], otherwise: T) -> T:
    """What ``look`` finds in a value of the learner, or ``otherwise``: never raises."""
    try:
        return look()
    except Exception:  # their repr, length or comparison is theirs, and may raise
        return otherwise


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
        text = items_text(type(value).__name__, len(value))
    else:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."


def items_text(kind: str, count: int) -> str:
    """A container by its type, and how much is in it."""
    return message("value.items", type=kind, count=count)


def error_text(error: BaseException) -> str:
    """An exception as the last line of a traceback."""
    name, text = type(error).__name__, safely(lambda: errors.in_words(str(error)), "")
    return f"{name}: {text}" if text else name


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
    return text_of_picture(picture(np.asarray(value)))


def seen(tensor: Any, name_of: NameOf) -> str | tuple[int, ...]:
    """A tensor by its name, else its shape; or how it is written."""
    if not is_tensor(tensor):
        return short_repr(tensor)
    if name := name_of(tensor):
        return name
    if tensor.ndim == 0:
        return message("tensor.of-value", value=brief(tensor))
    return tuple(tensor.shape)


def called(tensor: str | tuple[int, ...]) -> str:
    """A tensor that was seen in a sentence."""
    if isinstance(tensor, str):
        return tensor
    return message("tensor.of-shape", shape=tensor)


def bytes_text(size: int) -> str:
    """A number of bytes, short."""
    if size < 10_000:
        return message("bytes.few", count=size)
    if size < 10_000_000:
        return message("bytes.kilo", count=f"{size / 1000:.4g}")
    return message("bytes.mega", count=f"{size / 1_000_000:.4g}")


def mark_of(value: Any, depth: int = MOST_DEPTH) -> Any:
    """Something small that differs when what is shown of ``value`` has changed."""
    kind = type(value)  # the usual kinds first, as this runs for every line
    if kind is Tensor:
        return tensor_mark(value)
    if kind in ATOMS:
        return (kind, value)
    if kind is NonTensorArgument or isinstance(value, _FunctionBase):
        return (kind, id(value))
    try:
        return _mark_of(value, kind, depth)
    except Exception:  # their length or comparison is theirs, and may raise
        return (kind, id(value))


def _mark_of(value: Any, kind: type, depth: int) -> Any:
    if isinstance(value, (tuple, list)) and len(value) <= MOST_ITEMS and depth:
        return (kind, *[mark_of(item, depth - 1) for item in value])
    if isinstance(value, (tuple, list, dict, set)):
        return (kind, id(value), len(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return (kind, digest_of(np.asarray(value)))
    if isinstance(value, SavedSeen):
        return value.mark()
    if isinstance(value, Tensor):
        return tensor_mark(value)
    if is_torch_tensor(value):
        tensor = seen_torch(value)
        digest = digest_of(tensor.array, tensor.version)
        return (id(value), tensor.version, tensor.node, digest)
    return (kind, id(value))


def tensor_mark(tensor: Tensor) -> Any:
    """Differs when another tensor, version, history or content is there."""
    version = 0 if tensor._version_counter is None else tensor._seen_version()
    maker = tensor._grad_node if tensor._base is None else maker_of(tensor)
    array = tensor.array
    if array.nbytes <= MOST_BYTES_TO_KEEP:  # as digest_of, without its call
        digest: Any = array.shape, array.dtype, array.tobytes(), ""
    else:
        digest = digest_of(array, version)
    return (id(tensor), version, id(maker), digest)
