"""How a gradient becomes a leaf's ``.grad``: taken over, copied, or added to it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

import numpy as np

from minigrad.engine.core.tensor import Array, Gradient, Tensor
from minigrad.engine.core.validate import cannot_add_to, check_value, hook_refused
from minigrad.engine.grad_mode import _this_thread
from minigrad.engine.observe import notify

if TYPE_CHECKING:
    from minigrad.engine.core.node import AccumulateGrad
    from minigrad.engine.hooks import Hooks

accumulating: Final = threading.RLock()
"""Held while a ``.grad`` is read and replaced: several threads may run backward.

One that may be taken twice, since Ctrl-C and finalizers can run code at any point.
"""


def added(leaf: Tensor, gradient: Gradient, create_graph: bool, is_own: bool) -> Tensor:
    """What the leaf's ``.grad`` is after ``gradient`` has arrived.

    The same object, changed in place, unless there was none or it gets a graph.
    ``is_own``: the backward alone holds the gradient, so it need not be copied.
    """
    old = leaf._grad
    if create_graph and isinstance(gradient, Tensor):
        # A copy: the same tensor may be on its way to another leaf.
        total: Tensor = gradient.clone() if old is None else old + gradient
        return total
    values = gradient.array if isinstance(gradient, Tensor) else gradient
    if old is None:
        taken = is_own and has_layout_of(values, leaf.array)
        return Tensor(values if taken else copied(values, leaf.array))
    if not old.array.flags.writeable:
        raise cannot_add_to(old)
    if isinstance(gradient, Tensor):
        return old.add_(gradient)  # with its tangents
    np.add(old.array, values, out=old.array)
    old._bump_version()
    return old


def run_post_accumulate(leaf: Tensor, hooks: Hooks) -> None:
    """Call the hooks of a leaf whose ``.grad`` is up to date.

    Raises: HookError, HookTypeError if one returns anything but None.
    """
    for hook in list(hooks.values()):
        result = hook(leaf)
        if result is None or result is leaf:
            node = leaf._living_accumulate_node()
            notify("hook_called", "accumulated", node, 0, hook, leaf, None)
            continue
        check_value(hook, leaf, result)
        raise hook_refused(
            hook,
            "Tensor post accumulate grad hooks should return None.",
            "change leaf.grad inside the hook, and return nothing",
        )


def is_own(node: AccumulateGrad, gradient: Gradient) -> bool:
    """Whether the running backward alone holds ``gradient``."""
    task = _this_thread.mode.task
    return task is not None and task.own.get(node) is gradient


def has_layout_of(values: Array, leaf: Array) -> bool:
    """Whether the elements lie in memory in the order that ``.grad`` has."""
    if leaf.flags.c_contiguous:
        return bool(values.flags.c_contiguous)
    return values.strides == leaf.strides and is_dense(leaf)


def copied(values: Array, leaf: Array) -> Array:
    """A copy, in the leaf's layout if that has no gaps nor overlaps."""
    if leaf.flags.c_contiguous or not is_dense(leaf):
        return np.array(values, order="C")
    copy = np.empty_like(leaf, dtype=values.dtype)
    copy[...] = values
    return copy


def is_dense(array: Array) -> bool:
    """Whether the elements fill a piece of memory, in whatever order."""
    return np.empty_like(array).strides == array.strides
