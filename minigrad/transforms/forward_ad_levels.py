"""Forward mode's levels: which are open, and which tensors have tangents there.

A level is one differentiation in progress. The public one (``forward_ad.dual_level``)
stands alone; ``func.jvp`` opens its own inside it, so levels nest. A tensor may have a
tangent at each, and the tangent at an inner level may have tangents at the outer ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from minigrad.engine import interpreters
from minigrad.engine.grad_mode import _this_thread
from minigrad.engine.interpreters import Interpreter

if TYPE_CHECKING:
    from minigrad.engine.core.tensor import Tensor

_numbers = itertools.count(1)


class Level(Interpreter):
    """One level, for all threads as in torch.

    Its ``number`` is greater than that of every level before it; ``depth`` counts the
    levels around it.
    """

    kind = "level"

    def __init__(self) -> None:
        self.number = next(_numbers)
        self.depth = len(open_levels())
        # By id, because == of tensors compares their elements.
        self.duals: WeakValueDictionary[int, Tensor] = WeakValueDictionary()

    def __repr__(self) -> str:
        return f"Level({self.number})"

    def below(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``call(*args)``; tangents are computed only at the levels around this one."""
        mode = _this_thread.mode
        before = mode.interpreters, mode.forward_limit
        try:  # for the reason that stands in `unrecorded`
            mode.interpreters, mode.forward_limit = (), self.number
            return call(*args, **kwargs)
        finally:
            mode.interpreters, mode.forward_limit = before


def open_levels() -> tuple[Any, ...]:
    """The levels that are open, outermost first: for all threads, as in torch."""
    return interpreters.everywhere


def active_levels() -> tuple[Level, ...]:
    """The open levels at which this thread computes tangents now, outermost first."""
    limit = _this_thread.mode.forward_limit
    return tuple([level for level in open_levels() if level.number < limit])


def exit_level(level: Level) -> None:
    """Close a level: every tangent at it is dropped."""
    interpreters.take_away(level)
    for tensor in list(level.duals.values()):
        drop_tangent(tensor, level)
    level.duals.clear()


def drop_tangent(tensor: Tensor, level: Level) -> None:
    """Make ``tensor`` plain at one level."""
    tangents = tensor._tangents
    if tangents is not None and tangents.pop(level, None) is not None and not tangents:
        del tensor._tangents
