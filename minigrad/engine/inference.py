"""``inference_mode``: nothing is recorded, and nothing that is made can be later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from minigrad import errors
from minigrad.engine.grad_mode import (
    EVERY_LEVEL,
    NO_LEVEL,
    _Mode,
    _this_thread,
    in_mode,
    is_inference_mode_enabled,
)

open_blocks = 0
"""How many blocks are open in all threads: every tensor that is made asks for it."""

_counting = threading.Lock()


class inference_mode:
    """Make tensors that no gradient will ever be asked of: block or decorator.

    They do not count their changes, so no node can save them, and outside of the
    block they cannot be changed in place. ``inference_mode(False)`` inside of one is
    as if outside.
    See: torch ``inference_mode``.

    >>> with minigrad.inference_mode():
    ...     y = minigrad.ones(2) * 3
    >>> y.is_inference()
    True
    """

    __slots__ = ("_before", "_enabled", "_mode")

    _before: tuple[bool, bool, float]
    _enabled: bool
    _mode: _Mode

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        if not callable(mode):
            raise errors.ArgumentTypeError.at(
                "inference_mode",
                f"argument 'mode' (position 1) must be bool, not {type(mode).__name__}",
                "give True or False, or write it before a function: @inference_mode()",
            )
        return cls()(mode)

    def __init__(self, mode: bool | Callable[..., Any] = True) -> None:
        self._enabled = mode is not False

    def __enter__(self) -> Self:
        self._mode = mode = _this_thread.mode
        before = mode.inference_enabled, mode.grad_enabled, mode.forward_limit
        self._before = before
        count_blocks(1)
        mode.inference_enabled = self._enabled
        mode.grad_enabled = not self._enabled
        mode.forward_limit = NO_LEVEL if self._enabled else EVERY_LEVEL
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        mode = self._mode
        mode.inference_enabled, mode.grad_enabled, mode.forward_limit = self._before
        count_blocks(-1)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        enabled = self._enabled
        return in_mode(lambda: inference_mode(enabled), function)


def count_blocks(change: int) -> None:
    """Note that a block was opened or closed."""
    global open_blocks
    with _counting:
        open_blocks += change


def check_inside(where: str, what: str) -> None:
    """Refuse ``what`` outside of inference mode.

    Raises: InferenceError.
    """
    if not is_inference_mode_enabled():
        raise errors.InferenceError.at(
            where,
            f"{what} is not allowed. It does not count its changes, so backward "
            "would not notice them",
            "make a normal tensor of it: x.clone()",
            "12",
        )
