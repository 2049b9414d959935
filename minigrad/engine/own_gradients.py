"""Which gradients nobody but the traversal holds, so that a leaf may take them over."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from minigrad.engine.node import AccumulateGrad, _FunctionBase
from minigrad.engine.tensor import Tensor

if TYPE_CHECKING:
    from minigrad.engine.backward import GraphTask

CALLS: Final = 3 if sys.version_info < (3, 14) else 1
"""References to what a rule returned from the calls that run in ``note_own``.

They are ``GraphTask.run``, ``_check_returned`` and ``note_own``; since Python 3.14 all
but the first may only borrow theirs. Too low a number costs a copy, nothing else; tests
of what a leaf takes over turn red if it is not the right one.
"""

HELD: Final = 2
"""References that ``sys.getrefcount`` counts of a value in a list: the list's, and that
of ``map``. No local variable holds a value meanwhile."""


def note_own(
    task: GraphTask, node: _FunctionBase, returned: Any, gradients: list[Any]
) -> None:
    """Note in ``task.own`` what the leaves below a custom node may keep as it is.

    It is asked here, and not when a leaf accumulates, because here it is known who
    holds a gradient: ``gradients``, ``returned``, and the calls that run now.
    """
    if sys.getrefcount(returned) - 1 > CALLS:
        return
    several = type(returned) is tuple
    holders = list(map(sys.getrefcount, gradients))
    sharers = list(map(sys.getrefcount, returned)) if several else [HELD]
    for slot, edge in enumerate(node._edges):
        if type(edge) is not AccumulateGrad or edge.variable._grad is not None:
            continue
        gradient = gradients[slot]
        # A whole array, and not a view of one or a number.
        is_whole = type(gradient) is np.ndarray and gradient.base is None
        if not is_whole or not gradient.flags.owndata or not gradient.flags.writeable:
            continue
        value = returned[slot] if several else returned
        holds = isinstance(value, Tensor) and value.array is gradient
        if sharers[slot] > HELD and holds:
            continue
        if holders[slot] <= HELD + holds:
            task.own[edge] = gradient


def note_own_after_hooks(
    task: GraphTask, leaf_node: AccumulateGrad, gradients: list[Any]
) -> None:
    """Note whether a leaf may keep what its hooks have made of the gradient.

    The Tensor that they saw is held by ``task.received`` alone, and the array by that
    Tensor and by ``gradients``, unless somebody else keeps one of them.
    """
    task.own.pop(leaf_node, None)
    if (
        leaf_node.variable._grad is None
        and is_whole(gradients[0])
        and list(map(sys.getrefcount, task.received)) == [HELD]
        and list(map(sys.getrefcount, gradients)) == [HELD + 1]
    ):
        task.own[leaf_node] = gradients[0]


def is_whole(gradient: Any) -> bool:
    """Whether it owns its memory, and is not a view of an array or a number."""
    return (
        type(gradient) is np.ndarray
        and gradient.base is None
        and gradient.flags.owndata
        and gradient.flags.writeable
    )
