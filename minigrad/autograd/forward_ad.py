"""torch.autograd.forward_ad's names: derivatives along a direction, forward.

>>> with dual_level():
...     x = make_dual(minigrad.tensor(3.0), minigrad.tensor(1.0))
...     unpack_dual(x * x)
UnpackedDualTensor(primal=tensor(9.), tangent=tensor(6.))
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import EVERY_LEVEL, NO_LEVEL, _this_thread
from minigrad.engine.operands import must_be_tensor
from minigrad.transforms import forward_ad_duals
from minigrad.transforms.forward_ad_interpreter import enter_level
from minigrad.transforms.forward_ad_levels import Level, exit_level, open_levels

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_public: Level | None = None
"""The level that ``enter_dual_level`` opened: number 0 to its users."""

_current_level = -1
"""The number of the level that is open; -1 for none."""


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent, as ``unpack_dual`` returns them."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Open the level; its number is 0, for there is only one.

    Raises: LevelError if one is open already.
    See: torch ``forward_ad.enter_dual_level``.
    """
    global _current_level, _public
    if open_levels():
        raise errors.LevelError.at(
            "enter_dual_level",
            "Nested forward mode AD is not supported at the moment",
            "leave the level that is open, or use minigrad.func.jvp, which nests",
            "11",
        )
    _public = enter_level()
    _current_level = 0
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: every tangent is dropped, and duals are plain tensors.

    Raises: LevelError if ``level`` is not the one that is open.
    See: torch ``forward_ad.exit_dual_level``.
    """
    global _current_level, _public
    if _public is None or level not in (None, 0):
        raise errors.LevelError.at(
            "exit_dual_level",
            "Trying to exit a forward AD level that was not the last one that was "
            "created. This is not supported.",
            "enter a level first, and leave out level=",
            "11",
        )
    leaving, _public = _public, None
    _current_level = -1
    exit_level(leaving)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of ``tensor`` that carries ``tangent`` forward through operations.

    Shape: ``tangent`` as ``tensor``. Dtype: both floating point.
    Raises: LevelError outside a level; ArgumentValueError for integers; TangentError.
    See: torch ``forward_ad.make_dual``.
    """
    if _public is None and (level is None or level < 0):
        raise errors.LevelError.at(
            "make_dual",
            "Trying to create a dual Tensor for forward AD but no level exists, "
            "make sure to enter_dual_level() first.",
            "work inside `with dual_level():`",
            "11",
        )
    for position, name, value in ((1, "tensor", tensor), (2, "tangent", tangent)):
        if not isinstance(value, Tensor):
            raise must_be_tensor("make_dual", name, position, value)
    forward_ad_duals.check_floating(tensor, tangent)
    return forward_ad_duals.make_dual(tensor, tangent, numbered(level, "make_dual"))


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The plain value, as a view, and the tangent: None if there is none.

    See: torch ``forward_ad.unpack_dual``.
    """
    if _public is None and (level is None or level < 0):
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise must_be_tensor("unpack_dual", "tensor", 1, tensor)
    level_ = numbered(level, "unpack_dual")
    return UnpackedDualTensor(*forward_ad_duals.unpack_dual(tensor, level_))


def numbered(number: int | None, where: str) -> Level:
    """The level that users know as ``number``.

    Raises: LevelError for any but the one that is open.
    """
    if _public is None or number not in (None, 0):
        raise errors.LevelError.at(
            where,
            f"Invalid level given: {number}. The level that is open is 0",
            "leave out level=",
        )
    return _public


class dual_level:
    """A ``with`` block, or a decorator, inside which duals can be made.

    See: torch ``forward_ad.dual_level``.
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *error: object) -> None:
        exit_dual_level()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def at_a_level(*args: Any, **kwargs: Any) -> Any:
            with dual_level():
                return function(*args, **kwargs)

        return at_a_level


class _set_fwd_grad_enabled:
    """Switch forward mode off or on for this thread: at once, or for a block.

    See: torch ``forward_ad._set_fwd_grad_enabled``.
    """

    def __init__(self, mode: bool) -> None:
        self._mode = _this_thread.mode
        self._previous = self._mode.forward_limit
        self._mode.forward_limit = EVERY_LEVEL if mode else NO_LEVEL

    def __enter__(self) -> None:
        """The mode is set already, as in torch."""

    def __exit__(self, *error: object) -> None:
        self._mode.forward_limit = self._previous


def _is_fwd_grad_enabled() -> bool:
    """Whether this thread computes tangents."""
    return _this_thread.mode.forward_limit == EVERY_LEVEL
