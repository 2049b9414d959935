"""torch.autograd.grad_mode's names."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Self

from minigrad.autograd._versions import _unsafe_preserve_version_counter
from minigrad.engine.grad_mode import (
    enable_grad,
    in_mode,
    no_grad,
    set_grad_enabled,
)
from minigrad.engine.inference import inference_mode

__all__ = [
    "_unsafe_preserve_version_counter",
    "enable_grad",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class _Multithreading(threading.local):
    """What each thread has said about threads of backward."""

    enabled = True


_multithreading = _Multithreading()


def is_multithreading_enabled() -> bool:
    """What ``set_multithreading_enabled`` has been told last in this thread."""
    return _multithreading.enabled


class set_multithreading_enabled:
    """Whether backward may use threads of its own: here it never does.

    It is taken so that programs run unchanged: as a call, a ``with`` block or a
    decorator.
    See: torch ``autograd.set_multithreading_enabled``.
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.previous = _multithreading.enabled
        _multithreading.enabled = mode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        _multithreading.enabled = self.previous

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return in_mode(lambda: type(self)(self.mode), function)
