"""What surrounds the change of a ``.grad``: a lock, hooks, and where it may lie."""

from __future__ import annotations

import threading
from typing import Final

import numpy as np

from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.core.validate import check_value, hook_refused
from minigrad.engine.hooks import Hooks
from minigrad.engine.observe import notify

accumulating: Final = threading.RLock()
"""Held while a ``.grad`` is read and replaced: several threads may run backward.

One that may be taken twice, since Ctrl-C and finalizers can run code at any point.
"""


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


def can_be_grad(values: Array, leaf: Array) -> bool:
    """Whether it may be written, owns its memory, and lies there as ``.grad`` does.

    No view owns its memory, nor does a number of NumPy's.
    """
    flags = values.flags
    if type(values) is not np.ndarray or not (flags.owndata and flags.writeable):
        return False
    if leaf.flags.c_contiguous:
        return bool(flags.c_contiguous)
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
