"""Teaching mode: warnings for what runs, and still is not what its writer meant."""

from __future__ import annotations

import inspect
import warnings
import weakref
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from minigrad import errors
from minigrad.engine.tensor import Tensor

if TYPE_CHECKING:
    from minigrad.engine.function import Function

enabled = False


class TeachingWarning(UserWarning):
    """A habit that will lead to a wrong gradient or to lost memory one day."""


class teaching_mode:
    """Warn about habits that run today and hurt later: from now on, or in a block.

    >>> _ = minigrad.teaching_mode(False)
    """

    def __init__(self, mode: bool = True) -> None:
        global enabled
        self._previous = enabled
        enabled = mode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        global enabled
        enabled = self._previous

    def __repr__(self) -> str:
        return f"teaching mode is {'on' if enabled else 'off'}"


def look_at_call(function: type[Function], ctx: Any, result: Any) -> None:
    """Warn about what forward left behind: on ctx, on the class, in its result."""
    name = function.__name__
    results = result if isinstance(result, tuple) else (result,)
    for attribute, value in vars(ctx).items():
        if any([value is output for output in results if isinstance(output, Tensor)]):
            tell(
                function,
                f"{name}.forward",
                f"ctx.{attribute} is an output of this call: the output holds ctx as "
                "its grad_fn and ctx holds the output, so neither is freed",
                f"use ctx.save_for_backward({attribute})",
                "03",
            )
        elif isinstance(value, (Tensor, np.ndarray)):
            tell(
                function,
                f"{name}.forward",
                f"ctx.{attribute} is a {type(value).__name__} kept as an attribute: "
                "no version check, and backward does not release it",
                f"use ctx.save_for_backward({attribute})",
                "02",
            )
    for attribute, value in vars(function).items():
        if isinstance(value, (Tensor, np.ndarray)):
            tell(
                function,
                name,
                f"{name}.{attribute} is a {type(value).__name__} on the class: all "
                "calls share it, and the last one wins",
                f"keep it on ctx, which each call has for itself: {attribute}",
                "01",
            )
    look_at_methods(function)
    for value in results:
        if isinstance(value, (list, np.ndarray, np.generic)):
            tell(
                function,
                f"{name}.forward",
                f"returned a {type(value).__name__}, which can carry no gradient",
                "return a Tensor, or a tuple of Tensors",
                "07",
            )


def look_at_methods(function: type[Function]) -> None:
    """Warn about rules that are not static methods."""
    plain = [
        method
        for method in ("forward", "setup_context", "backward", "vjp", "jvp")
        if not isinstance(inspect.getattr_static(function, method, None), STATIC)
    ]
    if plain:
        tell(
            function,
            function.__name__,
            f"without @staticmethod: {', '.join(plain)}. It runs: apply finds them",
            "write @staticmethod above each `def`",
            "01",
        )


STATIC = (staticmethod, type(None))
"""What a rule may be: a static method, or not there at all."""

_told: weakref.WeakKeyDictionary[type, set[str]] = weakref.WeakKeyDictionary()


def tell(
    function: type[Function], where: str, what: str, fix: str, lesson: str
) -> None:
    """Show one message of teaching mode: once for each class, at its own lines."""
    text = errors.message(where, what, fix, lesson)
    told = _told.setdefault(function, set())
    if text in told:
        return
    told.add(text)
    forward = getattr(function.forward, "__code__", None)
    warnings.warn_explicit(
        text,
        TeachingWarning,
        filename="<unknown>" if forward is None else forward.co_filename,
        lineno=1 if forward is None else forward.co_firstlineno,
    )
