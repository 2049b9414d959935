"""Copies of nodes and of arrays, each as it is now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from minigrad.engine.builtin import BuiltinBackward
from minigrad.engine.core.node import NOT_A_TENSOR, split_edge
from minigrad.engine.core.saved import FREED, Record
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.engine.views import CopySlices
from minigrad.tracing.nodes import attributes_of

SLOTS: Final = ("geometry", "slot", "_materialize_grads")
"""What some kinds of nodes hold beside what all hold."""

Copy = Callable[[Any], Any]


@dataclass
class Receiver:
    """What is asked of the node at the other end of an edge: shapes and dtypes."""

    _output_metadata: Any


def is_array(value: Any) -> bool:
    """Whether a value holds numbers."""
    return isinstance(value, (Tensor, np.ndarray, np.generic))


def array_of(value: Any) -> Any:
    """The plain numbers of a value."""
    return np.asarray(value.array if isinstance(value, Tensor) else value)


def copied(value: Any, copy: Copy) -> Any:
    """``value`` with copies of its arrays, also inside a list; without its history."""
    if isinstance(value, Tensor):
        tensor = Tensor(copy(value.array))
        tensor._requires_grad = value._requires_grad
        return tensor
    if isinstance(value, (np.ndarray, np.generic)):
        return copy(value)
    if type(value) in (list, tuple):
        return type(value)([copied(item, copy) for item in value])
    if type(value) is dict:
        return {key: copied(item, copy) for key, item in value.items()}
    return value


def node_like(node: Any, copy: Copy) -> Any:
    """A node with copies of all that ``node`` holds, which leads to no other node."""
    if node is None:
        return None
    like: Any = object.__new__(type(node))
    like._edges = tuple([edge_like(edge) for edge in node._edges])
    like._output_metadata = node._output_metadata
    like._number = node._number
    like._attached = None
    saved = () if node._saved is FREED else tuple.__iter__(node._saved)
    like._saved = tuple([saved_like(one, copy) for one in saved])
    if not isinstance(node, BuiltinBackward):
        like.needs_input_grad = node.needs_input_grad
    if hasattr(type(node), "to_save"):
        like.to_save = like.saved_for_forward = None
        like.dirty_tensors = like.non_differentiable = None
    for name in SLOTS:
        if hasattr(node, name):
            setattr(like, name, getattr(node, name))
    for name, value in attributes_of(node).items():
        setattr(like, name, copied(value, copy))
    if isinstance(node, CopySlices):
        like.inner = node_like(node.inner, copy)
    return like


def edge_like(edge: Any) -> Any:
    """An edge to something that stands for the node at its other end."""
    if edge is None or edge is NOT_A_TENSOR:
        return edge
    receiver, slot = split_edge(edge)
    return Receiver(receiver._output_metadata), slot


def saved_like(packed: Any, copy: Copy) -> Any:
    """What a node like another one saves; what is packed until it is unpacked."""
    if isinstance(packed, HookedRecord):
        return packed
    tensor = packed.tensor if isinstance(packed, Record) else packed
    return copied(tensor, copy) if isinstance(tensor, Tensor) else None


def exact_copy(array: Any) -> Any:
    """A copy whose elements lie in memory at the same distances.

    Sums are made in the order of memory: elsewhere they would round differently.
    """
    if array.dtype.hasobject or array.size == 0 or array.ndim == 0:
        return array.copy()
    memory = np.empty(span_of(array), np.uint8).data
    start = place_of(array) - lowest_of(array)
    copy: Any = np.ndarray(array.shape, array.dtype, memory, start, array.strides)
    # Written once where several elements are one place in memory.
    once = tuple([slice(0, 1) if step == 0 else slice(None) for step in copy.strides])
    copy[once] = array[once]
    return copy


def span_of(array: Any) -> int:
    """The bytes from the first element in memory to the last."""
    if array.ndim == 0:
        return int(array.nbytes)
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(high - low)


def lowest_of(array: Any) -> int:
    """The address of the element that lies first in memory."""
    return int(np.lib.array_utils.byte_bounds(array)[0])


def place_of(array: Any) -> int:
    """The address of the first element."""
    return int(array.__array_interface__["data"][0])
