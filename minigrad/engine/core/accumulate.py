"""How a gradient becomes a leaf's ``.grad``: kept as it is, copied, or added to it."""

from __future__ import annotations

import sys
import threading
from typing import Final

import numpy as np

from minigrad.engine.core.tensor import Array, Gradient, Tensor
from minigrad.engine.core.validate import cannot_add_to, check_value, hook_refused
from minigrad.engine.grad_mode import modes
from minigrad.engine.hooks import Hooks
from minigrad.engine.observe import may_keep, notify

accumulating: Final = threading.RLock()
"""Held while a ``.grad`` is read and replaced: several threads may run backward.

One that may be taken twice, since Ctrl-C and finalizers can run code at any point.
"""


def first_grad(leaf: Tensor, gradients: list[Gradient], create_graph: bool) -> Tensor:
    """The ``.grad`` of a leaf that had none: the array that arrived, or a copy.

    The leaf may keep the array if nothing but the list ``gradients`` refers to it: no
    ctx, hook, caller or other gradient, and no Tensor or view of theirs. A later change
    of ``.grad`` would reach them. A variable is a reference, too, so Python is asked
    for their number before there is one.
    """
    (references,) = map(sys.getrefcount, gradients)
    (gradient,) = gradients
    if isinstance(gradient, Tensor):
        if create_graph:
            return gradient.clone()  # it may be on its way to another leaf, too
        return Tensor(copied(gradient.array, leaf.array))

    is_held = references > OF_THE_LIST or (modes.observed and may_keep())
    if is_held or not can_be_grad(gradient, leaf.array):
        gradient = copied(gradient, leaf.array)
    return Tensor(gradient)


OF_THE_LIST: Final = 2
"""The references that ``sys.getrefcount`` counts: the list's, and its own argument."""


def sum_of(old: Tensor, gradient: Gradient, create_graph: bool) -> Tensor:
    """``old`` after ``gradient`` was added in place; with a graph, a new Tensor."""
    if isinstance(gradient, Tensor) and create_graph:
        total: Tensor = old + gradient
        return total
    if not old.array.flags.writeable:
        raise cannot_add_to(old)
    if isinstance(gradient, Tensor):
        return old.add_(gradient)  # with its tangents
    np.add(old.array, gradient, out=old.array)
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
