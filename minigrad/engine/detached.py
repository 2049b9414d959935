"""A tensor's values outside of its graph: ``detach``, ``data`` and copies."""

from __future__ import annotations

import operator
from copy import deepcopy
from typing import Any

from minigrad import errors
from minigrad.engine import interpreters
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import next_sequence_nr
from minigrad.engine.tensor_memory import NO_COUNTER, VersionCounter


def detach(self: Tensor) -> Tensor:
    """The same memory without the graph: a leaf that requires no gradient."""
    alias = Tensor(self.array)
    alias._share_version(self)
    alias._remember_memory(self)
    return alias


def detach_(self: Tensor) -> Tensor:
    """Cut this tensor off the graph that made it, and return it.

    Raises: GraphError for a view: its history is that of its base.
    """
    if self._base is not None:
        raise errors.GraphError.at(
            "Tensor.detach_",
            "Can't detach views in-place. Use detach() instead. The history "
            "of a view is that of its base",
            "use detach(), which gives another tensor",
        )
    if self._grad_node is not None:
        self._detached_at = next_sequence_nr()
        if self._version_counter is None:
            # So that a node that has saved it reads it the way that checks.
            self._version_counter = VersionCounter()
    self._grad_node = None
    self.output_nr = 0
    self._requires_grad = False
    self._update_views()
    return self


def set_grad_fn(self: Tensor, value: None) -> None:
    """Let None take the place of the history, as ``detach_`` does.

    Raises: GraphError for anything else.
    """
    if value is not None:
        raise errors.GraphError.at(
            "Tensor._grad_fn",
            f"_grad_fn can be only set to None, not to {type(value).__name__}",
            "use detach() to get a tensor outside the graph",
        )
    self.detach_()


def refuse_grad_fn_deletion(self: Tensor) -> None:
    """Refuse ``del x._grad_fn``."""
    raise errors.GraphError.at(
        "Tensor._grad_fn",
        "Deletion of _grad_fn not allowed. Detach tensor instead!",
        "use x.detach(), or x.detach_() for this very tensor",
    )


def data(self: Tensor) -> Tensor:
    """The same memory without the graph, and with a count of changes of its own.

    So backward does not notice what is written through it; prefer ``detach()``.
    Set to another tensor, it exchanges the values and leaves all else as it is.
    """
    values = Tensor(self.array)
    values._version_counter = NO_COUNTER if self.is_inference() else None
    values._remember_memory(self)
    return values


@interpreters.dispatched("exchange_values")
def set_data(self: Tensor, value: Tensor) -> None:
    """Exchange the values.

    Raises: ArgumentTypeError; RequiresGradError for integers that would need one.
    """
    if not isinstance(value, Tensor):
        raise errors.ArgumentTypeError.at(
            "Tensor.data",
            f"Variable data has to be a tensor, but got {type(value).__name__}",
            "wrap it: minigrad.tensor(value)",
        )
    if self._requires_grad and value.dtype.kind not in "fc":
        raise errors.RequiresGradError.at(
            "Tensor.data",
            "data set to a tensor that requires gradients must be floating "
            f"point or complex dtype, not {value.dtype}",
            "convert it first, for example value.to(minigrad.float32)",
        )
    self.array = value.array
    if self._memory is not None:
        self._memory = None
    self._remember_memory(value)
    self._update_accumulate_node()


def refuse_data_deletion(self: Tensor) -> None:
    """Refuse ``del x.data``."""
    raise errors.GraphError.at(
        "Tensor.data",
        "Deleting tensor data is not allowed. Delete tensor instead!",
        "delete the name: del x",
    )


def copy(self: Tensor) -> Tensor:
    """Another tensor on the same memory; of a leaf, a leaf of its own."""
    copied = self.detach()
    copied._requires_grad = self._requires_grad
    copied._grad_node = self.grad_fn
    copied.output_nr = self.output_nr
    copied._grad = self._grad
    return copied


@interpreters.dispatched("read_values")
def copy_of_leaf(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf with a copy of the values and of ``.grad``.

    Raises: GraphError unless this is a leaf.
    """
    node = self.grad_fn
    if node is not None:
        raise errors.GraphError.at(
            "copy.deepcopy",
            "Only Tensors created explicitly by the user (graph leaves) "
            "support the deepcopy protocol at the moment. This one was made "
            f"by {node.name()}",
            "copy x.detach(), or record the copy: x.clone()",
        )
    copied = Tensor(deepcopy(self.array, memo), self._requires_grad)
    memo[id(self)] = copied
    copied._grad = deepcopy(self._grad, memo)
    return copied


Tensor.detach = detach
Tensor.detach_ = detach_
Tensor._grad_fn = property(
    operator.attrgetter("_grad_node"), set_grad_fn, refuse_grad_fn_deletion
)
Tensor.data = property(data, set_data, refuse_data_deletion)
Tensor.__copy__ = copy
Tensor.__deepcopy__ = copy_of_leaf
for method in (detach, detach_):
    method.__qualname__ = f"Tensor.{method.__name__}"
