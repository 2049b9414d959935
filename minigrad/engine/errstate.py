"""NumPy's warnings, switched off where a result may be infinite without being wrong."""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

Computes = TypeVar("Computes", bound=Callable[..., Any])


def numpy_warnings() -> tuple[contextvars.ContextVar[Any], Any]:
    """Where NumPy keeps what it warns of, and the value for nothing at all.

    ``np.errstate`` changes the same, but Ctrl-C can make it forget the former value,
    and it takes longer than many an operation.
    """
    context = contextvars.copy_context()
    context.run(np.seterr, all="ignore")
    here = contextvars.copy_context()
    ((where, silence),) = [
        (var, value) for var, value in context.items() if here.get(var) is not value
    ]
    return where, silence


NUMPY_WARNINGS, SILENCE = numpy_warnings()


def quietly(forward: Computes) -> Computes:
    """For a forward that gives inf or nan, as torch does, without a warning."""

    @functools.wraps(forward)
    def silent(*args: Any, **kwargs: Any) -> Any:
        before = NUMPY_WARNINGS.get()
        try:
            NUMPY_WARNINGS.set(SILENCE)
            return forward(*args, **kwargs)
        finally:
            NUMPY_WARNINGS.set(before)

    return cast("Computes", silent)
