"""Forward mode's levels, and the tangents that tensors have at them.

A level is one differentiation in progress. The public one (``forward_ad.dual_level``)
stands alone; ``func.jvp`` opens its own inside it, so levels nest. A tensor may have a
tangent at each, and the tangent at an inner level may have tangents at the outer ones.
"""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from minigrad.engine.grad_mode import forward_limit

if TYPE_CHECKING:
    from minigrad.engine.tensor import Tensor

_numbers = itertools.count(1)
_lock: Final = threading.Lock()


class Level:
    """One level; it is open from its creation until ``exit_level``.

    Its ``number`` is greater than that of every level before it; ``depth`` counts the
    levels around it.
    """

    __slots__ = ("depth", "duals", "number")

    def __init__(self) -> None:
        self.number = next(_numbers)
        self.depth = len(open_levels)
        # By id, because == of tensors compares their elements.
        self.duals: WeakValueDictionary[int, Tensor] = WeakValueDictionary()

    def __repr__(self) -> str:
        return f"Level({self.number})"


open_levels: tuple[Level, ...] = ()
"""The levels that are open, outermost first: for all threads, as in torch."""


def enter_level() -> Level:
    """Open a level inside those that are open."""
    global open_levels
    level = Level()
    with _lock:
        open_levels += (level,)
    return level


def exit_level(level: Level) -> None:
    """Close a level: every tangent at it is dropped."""
    global open_levels
    with _lock:
        open_levels = tuple([one for one in open_levels if one is not level])
    for tensor in list(level.duals.values()):
        drop_tangent(tensor, level)
    level.duals.clear()


def active_levels() -> tuple[Level, ...]:
    """The open levels at which this thread computes tangents now, outermost first."""
    limit = forward_limit()
    return tuple([level for level in open_levels if level.number < limit])


def drop_tangent(tensor: Tensor, level: Level) -> None:
    """Make ``tensor`` plain at one level."""
    tangents = tensor._tangents
    if tangents is not None and tangents.pop(level, None) is not None and not tangents:
        del tensor._tangents
