"""What a recording keeps in full: values as they were, nodes, and what was computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from minigrad.engine.node import _FunctionBase
from minigrad.engine.tensor import Tensor

MOST_BYTES: Final = 200_000_000


@dataclass
class Kept:
    """A Tensor or an array as it was, in memory of its own, in the same order."""

    array: Any
    is_tensor: bool
    requires_grad: bool = False

    def again(self) -> Any:
        """The same again, for a rule that may change it."""
        array = exact_copy(self.array)
        if not self.is_tensor:
            return array
        tensor = Tensor(array)
        tensor._requires_grad = self.requires_grad
        return tensor


@dataclass
class Receiver:
    """What is asked of the node at the other end of an edge: shapes and dtypes."""

    _output_metadata: Any


@dataclass
class NodeState:
    """A node as it was before its rule ran: enough to make one like it."""

    kind: type[_FunctionBase]
    edges: tuple[Any, ...]
    outputs: Any
    number: int
    needs: Any
    saved: list[Any]
    packed: list[Any]
    attributes: dict[str, Any]
    slots: dict[str, Any]
    inner: NodeState | None = None


@dataclass
class Run:
    """Something that was computed, from what, with which result.

    ``what``: forward, backward, sum, arrival or accumulate.
    """

    what: str
    label: str
    event: Any
    given: list[Any]
    found: list[Any] | None = None
    function: Any = None
    node: NodeState | None = None
    create_graph: bool = False
    carries_tensors: bool = False
    has_hooks: bool = False
    in_place: bool = False
    skipped: str = ""


@dataclass
class KeptValues:
    """All that a recording kept for ``replay``."""

    runs: list[Run] = field(default_factory=list)
    size: int = 0
    most: int = MOST_BYTES
    is_full: bool = False
    foreign: int = 0
    """How many nodes are torch's, which cannot be run again from here."""


def forget_packed(state: NodeState | None) -> None:
    """Let go of what hooks packed: what they unpacked has taken its place."""
    while state is not None:
        state.packed = []
        state = state.inner


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
