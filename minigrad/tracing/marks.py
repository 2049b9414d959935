"""Marks: something small that differs when what is shown of a value has changed."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from minigrad.engine.core.node import NonTensorArgument, _FunctionBase
from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.foreign import SavedSeen, is_torch_tensor, maker_of, seen_torch
from minigrad.tracing.pictures import MOST_BYTES_TO_KEEP, digest_of
from minigrad.tracing.values import MOST_DEPTH, MOST_ITEMS

ATOMS: Final = frozenset({str, bytes, int, float, complex, bool, type(None)})
"""Types whose values never change."""


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
