"""From ``apply(x, k=5)`` to one value per parameter of forward."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from minigrad import errors

if TYPE_CHECKING:
    from minigrad.engine.function import Function


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


def fits(forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
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
        raise errors.ArgumentTypeError(
            errors.message(
                f"{function.__name__}.apply",
                f"{error}; the positional arguments of forward are {signature}",
                "call apply with what forward takes (ctx is not among it)",
                "01",
            )
        ) from None
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


def misplaced(function: type[Function], what: str) -> errors.ArgumentTypeError:
    """The error for keywords of apply that do not fit forward."""
    return errors.ArgumentTypeError(
        errors.message(
            f"{function.__name__}.apply",
            f"forward() {what}",
            "use the names that forward gives its parameters, and leave no gap",
        )
    )
