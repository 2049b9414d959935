"""Which gradients nobody but the traversal holds, so that a leaf may take them over."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from minigrad.engine.node import AccumulateGrad, _FunctionBase
from minigrad.engine.tensor import Tensor

if TYPE_CHECKING:
    from minigrad.engine.backward import GraphTask

CALLS: Final = (3, 4) if sys.version_info < (3, 14) else (1, 1)
"""References to what a rule returned from the calls that run in ``note_own``.

They are ``GraphTask.run``, ``_check_returned`` and ``note_own``, and in anomaly mode
one more; since Python 3.14 all but the first may only borrow theirs. Too low a number
costs a copy, nothing else.
"""


def note_own(
    task: GraphTask, node: _FunctionBase, returned: Any, gradients: list[Any]
) -> None:
    """Note in ``task.own`` what the leaves below a custom node may keep as it is.

    It is asked here, and not when a leaf accumulates, because here it is known who
    holds a gradient: ``gradients``, ``returned``, and the calls that run now.
    """
    if references([returned])[0] > CALLS[task.is_watched]:
        return
    several = type(returned) is tuple
    holders = references(gradients)
    sharers = references(returned) if several else [0]
    for slot, edge in enumerate(node._edges):
        if type(edge) is not AccumulateGrad or edge.variable._grad is not None:
            continue
        gradient = gradients[slot]
        if not owns_memory(gradient):
            continue
        value = returned[slot] if several else returned
        holds = isinstance(value, Tensor) and value.array is gradient
        if sharers[slot] > 0 and holds:
            continue
        if holders[slot] <= holds:
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
        and owns_memory(gradients[0])
        and references(task.received) == [0]
        and references(gradients) == [1]
    ):
        task.own[leaf_node] = gradients[0]


def references(values: Any) -> list[int]:
    """For each value of a list or tuple: how many references to it exist elsewhere."""
    # One more is that of map itself. No local variable holds a value meanwhile.
    return [count - 2 for count in map(sys.getrefcount, values)]


def owns_memory(gradient: Any) -> bool:
    """Whether it is a whole array, and not a view of one or a number."""
    return (
        type(gradient) is np.ndarray
        and gradient.base is None
        and gradient.flags.owndata
        and gradient.flags.writeable
    )
