"""See what is alive, without keeping it alive; and how many bytes were at most."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.lint import teaching
from minigrad.tracing.memory import root_of


class Watched:
    """Things that are watched by their names; printing says which are still alive.

    Of a tensor it is the memory with its numbers that counts: another tensor may still
    use that.
    """

    def __init__(self, things: dict[str, Any]) -> None:
        self._references = {
            name: weakref.ref(watchable(name, thing)) for name, thing in things.items()
        }

    def alive(self) -> dict[str, bool]:
        """For each name, whether it is still there."""
        return {name: one() is not None for name, one in self._references.items()}

    def __repr__(self) -> str:
        width = max(map(len, self._references))
        lines = []
        for name, reference in self._references.items():
            thing = reference()
            size = f", {thing.nbytes} bytes" if isinstance(thing, np.ndarray) else ""
            state = "gone" if thing is None else f"alive{size}"
            lines.append(f"{name:<{width}}  {state}")
        return "\n".join(lines)


def watch(**things: Any) -> Watched:
    """Watch tensors, nodes or other objects, without keeping them alive.

    Raises: ArgumentValueError for nothing; ArgumentTypeError for what cannot be
    watched, such as a number.

    >>> x = minigrad.ones(1000, dtype=minigrad.float64, requires_grad=True)
    >>> z = x * 2
    >>> y = z.exp()
    >>> watched = minigrad.course.watch(z=z, y=y)
    >>> del z
    >>> watched
    z  gone
    y  alive, 8000 bytes
    """
    if not things:
        raise errors.ArgumentValueError(
            errors.message(
                "watch", "there is nothing to watch", "write watch(x=x, y=y)"
            )
        )
    return Watched(things)


def watchable(name: str, thing: Any) -> Any:
    """What a weak reference is made to: the memory of a tensor, or the thing itself.

    Raises: ArgumentTypeError.
    """
    if isinstance(thing, Tensor):
        return root_of(thing.array)
    try:
        weakref.ref(thing)
    except TypeError:
        raise errors.ArgumentTypeError(
            errors.message(
                "watch",
                f"{name} is a {type(thing).__name__}, which can't be watched",
                "watch a Tensor, or a node such as y.grad_fn",
            )
        ) from None
    return thing


def peak_bytes(function: Callable[..., Any], *args: Any) -> int:
    """Call ``function``, and say how many bytes more than before were alive at most.

    Counted is all that Python allocates, arrays above all. It is called twice, because
    what the first call compiles or looks up for good is not meant; and without teaching
    mode, which keeps copies to compare with.

    >>> x = minigrad.ones(100_000, dtype=minigrad.float64)
    >>> round(minigrad.course.peak_bytes(lambda: x + x + x) / x.array.nbytes)
    2
    """
    with teaching(False):
        function(*args)
        gc.collect()
        return traced_peak(function, *args)


def traced_peak(function: Callable[..., Any], *args: Any) -> int:
    """The same of one call, for a function whose like has been called before."""
    _, most = traced(function, *args)
    return most


def traced(function: Callable[..., Any], *args: Any) -> tuple[int, int]:
    """How many bytes more than before are alive after one call, and were at most."""
    if tracemalloc.is_tracing():
        raise errors.ArgumentValueError(
            errors.message(
                "peak_bytes",
                "the memory is being traced already, by something else",
                "let one measurement end before the next: tracemalloc.stop()",
            )
        )
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        function(*args)
        left, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return left - before, most - before
