"""Values as data: small pictures of arrays, each kept once; short texts of the rest."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from minigrad.engine.tensor import Tensor
from minigrad.tracing.foreign import SavedSeen, is_torch_tensor, seen, seen_torch
from minigrad.tracing.names import Names
from minigrad.tracing.pictures import DRAWN, Sketch, digest_of, text_of

Ref = dict[str, Any] | None
T = TypeVar("T")

MOST_ITEMS = 8
MOST_DEPTH = 4
NUMBERS = frozenset({bool, float, type(None)})
FORGOTTEN = "computed again when needed"
"""What stands for a saved value that a checkpoint does not keep."""
SECRET = re.compile(r"password|passwd|secret|token|api_?key|credential", re.IGNORECASE)


class Told:
    """What a sentence says of something that has no picture."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def put_keys(item: Any, found: dict[str, Sketch]) -> None:
    """Put keys in the place of sketches, however deep, and add those to ``found``."""
    for place, value in item.items() if type(item) is dict else enumerate(item):
        kind = type(value)
        if kind is Sketch:
            item[place] = value.key
            found[value.key] = value
        elif kind is dict or kind is list:
            put_keys(value, found)


class ValueStore:
    """Turns values into references; equal arrays are kept once.

    While recording a reference leads to a sketch; ``finish`` puts keys in their place.
    """

    def __init__(self, names: Names) -> None:
        self._sketches: dict[Any, Sketch] = {}
        self.names = names

    def ref(self, value: Any, name: str = "") -> Ref:
        """What the player needs to show ``value``; a string named like a secret hides.

        None stays None: a gradient that did not arrive.
        """
        try:
            return self._ref(value, name, MOST_DEPTH)
        except Exception:  # their length or comparison is theirs, and may raise
            return unknown(value)

    def look(self, value: Any) -> tuple[Ref, Any]:
        """The same, and what a sentence can say of ``value`` later."""
        if value is None:
            return None, None
        shown = self.ref(value)
        sketch = None if shown is None else shown.get("v")
        return shown, sketch or Told(brief(value))

    def _ref(self, value: Any, name: str, depth: int) -> Ref:
        kind = type(value)
        if kind is np.ndarray and value.dtype.kind in DRAWN:
            return {"t": "A", "v": self.sketch(value)}
        if kind in NUMBERS:
            return plain(repr(value))
        if kind is tuple and len(value) <= MOST_ITEMS and depth:
            items = [self._ref(item, name, depth - 1) for item in value]
            return {"t": "L", "i": items}
        tensor = seen(value)
        if tensor is not None:
            shown = {
                "t": "T",
                "v": self.sketch(tensor.array, tensor.version, tensor.dtype),
                "rg": tensor.requires_grad,
                "name": self.names.of(value),
                "ver": tensor.version,
                "fn": tensor.node,
            }
            for numbers, version in tensor.tangents:
                shown["tan"] = self.sketch(numbers, version)
            return shown
        if isinstance(value, str) and SECRET.search(name):
            return plain("(hidden)")
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in DRAWN:
            return {"t": "A", "v": self.sketch(np.asarray(value))}
        if isinstance(value, (tuple, list)) and len(value) <= MOST_ITEMS and depth:
            items = [self._ref(item, name, depth - 1) for item in value]
            return {"t": "L", "i": [item or plain("None") for item in items]}
        return plain(short_repr(value))

    def saved_ref(self, saved: Any) -> Ref:
        """A saved value: the tensor, its version then and now, whose output it is."""
        tensor = saved.tensor
        now = tensor._seen_version()
        shown = {
            "t": "S",
            "v": self.sketch(tensor.array, now),
            "name": self.names.of(tensor),
            "ver": saved.version,
            "now": now,
            "out": saved.output_nr,
        }
        return shown

    def seen_ref(self, saved: SavedSeen) -> Ref:
        """The same of a tensor that torch has saved."""
        kept = saved.kept
        if saved.is_packed:
            return kept
        now = safely(lambda: self._ref(saved.now(), "", 0), None)
        if now is None or "v" not in now:
            now = kept  # nobody but torch has it any more
        told = {"v": now["v"], "name": now["name"] or kept["name"]}
        shown = {"t": "S", **told, "ver": kept["ver"], "now": now["ver"], "out": None}
        return shown

    def sketch(self, array: Any, version: int = 0, dtype: str = "") -> Sketch:
        """What is noted of ``array``: the same sketch for equal ones.

        ``dtype`` is the name of one that NumPy does not have.
        """
        if type(array) is not np.ndarray:
            array = np.asarray(array)
        digest = (*digest_of(array, version), dtype)
        known = self._sketches.get(digest)
        if known is None:
            known = self._sketches[digest] = Sketch(array, digest)
        return known

    def forget_unused(self) -> None:
        """Keep no sketch that no reference leads to any more."""
        # It is held by the dictionary, by the loop and by the call that counts.
        self._sketches = {
            digest: one
            for digest, one in self._sketches.items()
            if sys.getrefcount(one) > 3
        }

    def finish(self, events: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """All pictures by their keys; references lead to the keys from now on."""
        found: dict[str, Sketch] = {}
        for event in events:
            put_keys(event, found)
        return {key: sketch.picture for key, sketch in found.items()}


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
    if isinstance(value, (Sketch, Told)):
        return value.text
    if isinstance(value, Tensor):
        value = value.array
    elif is_torch_tensor(value):
        value = seen_torch(value).array
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in DRAWN:
        return short_repr(value)
    return text_of(np.asarray(value))
