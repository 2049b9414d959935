"""torch.utils.checkpoint's names: compute again in backward what forward forgot."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from minigrad import errors
from minigrad.engine.grad_mode import is_grad_enabled
from minigrad.errors import CheckpointError
from minigrad.utils._randomness import same_random_numbers, state_of_randomness
from minigrad.utils._reentrant import (
    CheckpointFunction,
    check_backward_validity,
    detach_variable,
)
from minigrad.utils._region import DETERMINISM_CHECKS, Region

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

_debug_enabled: bool | None = None
_early_stop_enabled: bool | None = None


def noop_context_fn() -> Contexts:
    """Two contexts that do nothing: for the first run and for the recomputation."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, which saves nothing but its arguments.

    Backward runs the function again for what it needs. With ``use_reentrant=False``
    that is done when the first saved value is read, and ends early as soon as all of
    them are there. ``use_reentrant=True`` is the older way, with the limits that its
    errors tell.
    Raises: CheckpointError in backward if the function does something else when it
    runs again; ArgumentValueError for options that do not go together.
    See: torch ``utils.checkpoint.checkpoint``.

    >>> x = minigrad.tensor(2.0, requires_grad=True)
    >>> def cube(x):
    ...     print("cube runs")
    ...     return x * x * x
    >>> y = minigrad.utils.checkpoint.checkpoint(cube, x, use_reentrant=False)
    cube runs
    >>> y.backward()
    cube runs
    >>> x.grad
    tensor(12.)
    """
    if use_reentrant is None:
        warn_of_missing_choice("torch.utils.checkpoint")
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise unexpected(kwargs)
        if context_fn is not noop_context_fn or debug is not False:
            raise only_without_reentrant()
        return CheckpointFunction.apply(function, preserve_rng_state, *args)

    explain = debug if _debug_enabled is None else _debug_enabled
    stops_early = early_stop if _early_stop_enabled is None else _early_stop_enabled
    metadata_of = metadata_function(determinism_check)
    first_context, recompute_context = context_fn()
    state = state_of_randomness(preserve_rng_state)

    def rerun(*again: Any) -> None:
        with same_random_numbers(state), recompute_context:
            function(*again, **kwargs)

    if not is_grad_enabled():
        return function(*args, **kwargs)
    region = Region(rerun, args, stops_early, metadata_of, explain)
    with region.saving(), first_context:
        output = function(*args, **kwargs)
        region.is_complete = True
    if not region.is_complete:
        raise swallowed()
    return output


def checkpoint_sequential(
    functions: Iterable[Callable[..., Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    *,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """One function after the other, in ``segments`` parts; all but the last forget.

    See: torch ``utils.checkpoint.checkpoint_sequential``.
    """
    if use_reentrant is None:
        warn_of_missing_choice("torch.utils.checkpoint.checkpoint_sequential")
        use_reentrant = True
    if kwargs:
        raise unexpected(kwargs)
    steps = list(functions)
    length = len(steps) // segments
    for start in range(0, length * (segments - 1), length):
        input = checkpoint(
            one_after_the_other(steps[start : start + length]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return one_after_the_other(steps[length * (segments - 1) :])(input)


def one_after_the_other(steps: list[Callable[..., Any]]) -> Callable[[Any], Any]:
    """The function that gives each step what the one before has returned."""

    def run(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return run


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Generator[None, None, None]:
    """For checkpoints called in the block: whether a recomputation ends early.

    See: torch ``utils.checkpoint.set_checkpoint_early_stop``.
    """
    global _early_stop_enabled
    before = _early_stop_enabled
    _early_stop_enabled = enable
    try:
        yield
    finally:
        _early_stop_enabled = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Generator[None, None, None]:
    """For checkpoints called in the block: what ``debug`` is, whatever they say.

    See: torch ``utils.checkpoint.set_checkpoint_debug_enabled``.
    """
    global _debug_enabled
    before = _debug_enabled
    _debug_enabled = enabled
    try:
        yield
    finally:
        _debug_enabled = before


def metadata_function(determinism_check: str) -> Callable[..., Any]:
    """What is compared between the first run and the recomputation.

    Raises: ArgumentValueError for a check that does not exist.
    """
    if determinism_check not in DETERMINISM_CHECKS:
        raise errors.ArgumentValueError.at(
            "torch.utils.checkpoint",
            f"determinism_check should be one of {list(DETERMINISM_CHECKS)}, but "
            f"got {determinism_check}",
            'leave it out, or pass "none" to compare nothing',
            "12",
        )
    return DETERMINISM_CHECKS[determinism_check]


def warn_of_missing_choice(where: str) -> None:
    """Warn that ``use_reentrant`` was left out."""
    warnings.warn(
        errors.message(
            where,
            "the use_reentrant parameter should be passed explicitly. "
            "Without it, it is True: the older way, with more limits",
            "pass use_reentrant=False",
            "12",
        ),
        UserWarning,
        stacklevel=3,
    )


def unexpected(kwargs: dict[str, Any]) -> errors.ArgumentValueError:
    """The error for keyword arguments that cannot be passed on."""
    return errors.ArgumentValueError.at(
        "torch.utils.checkpoint",
        f"Unexpected keyword arguments: {','.join(kwargs)}",
        "pass use_reentrant=False, or give the arguments by position",
        "12",
    )


def only_without_reentrant() -> errors.ArgumentValueError:
    """The error for options that the older way does not have."""
    return errors.ArgumentValueError.at(
        "torch.utils.checkpoint",
        "Passing `context_fn` or `debug` is only supported when use_reentrant=False.",
        "pass use_reentrant=False",
        "12",
    )


def swallowed() -> errors.CheckpointError:
    """The error for a context that lets no exception out."""
    return errors.CheckpointError.at(
        "torch.utils.checkpoint",
        "torch.utils.checkpoint: the forward context provided by context_fn "
        "suppressed an exception raised during the checkpointed forward. This is "
        "not supported because there is no result to return",
        "let the exception pass",
        "12",
    )
