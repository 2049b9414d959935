"""The arguments of apply by position, as forward declares them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minigrad.engine.core.validate import do_not_fit, misplaced

if TYPE_CHECKING:
    from minigrad.engine.core.function import Function


def bind_arguments(
    function: type[Function],
    takes_ctx: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, ...]:
    """All arguments of ``apply`` by position, as forward declares them.

    If forward takes no ctx, keywords and defaults are filled in, as torch does; if it
    does, keywords are put in their places and defaults are left to forward.
    Raises: ArgumentTypeError if they do not fit forward.
    """
    if takes_ctx:
        return place_keywords(function, args, kwargs) if kwargs else args
    if fits(function.forward, args, kwargs):
        return args
    return bind(function, args, kwargs)


def fits(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Whether there is one positional argument for each parameter, and no more."""
    code = getattr(forward, "__code__", None)
    return not kwargs and code is not None and len(args) == code.co_argcount


def bind(
    function: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Arguments, keywords and defaults in the order of forward's parameters."""
    signature = inspect.signature(function.forward)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise do_not_fit(function, error, signature) from None
    bound.apply_defaults()
    if bound.kwargs:
        name = next(iter(bound.kwargs))
        raise misplaced(function, f"got an unexpected keyword argument '{name}'")
    return bound.args


def place_keywords(
    function: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Keywords put behind ``args`` in the order of forward's parameters."""
    names = list(inspect.signature(function.forward).parameters)[1:]
    unknown = [name for name in kwargs if name not in names]
    if unknown:
        raise misplaced(function, f"got an unexpected keyword argument '{unknown[0]}'")
    twice = [name for name in names[: len(args)] if name in kwargs]
    if twice:
        raise misplaced(function, f"got multiple values for argument '{twice[0]}'")

    placed = list(args)
    for name in names[len(args) :]:
        if len(placed) == len(args) + len(kwargs):
            break
        if name not in kwargs:
            position = names.index(name)
            raise misplaced(
                function, f"missing required argument: '{name}' (position {position})"
            )
        placed.append(kwargs[name])
    return tuple(placed)
