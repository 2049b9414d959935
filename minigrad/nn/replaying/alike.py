"""Whether two values, or two calls, are alike; and the error where they are not."""

from __future__ import annotations

import linecache
import random
import sys
from typing import Any, NamedTuple

import numpy as np

from minigrad import errors

SIMPLE = (int, float, complex, str, bytes, slice, np.generic, np.dtype, type(None))
"""Of these types are values that say themselves whether they are still the same."""


PLAIN = (*SIMPLE, tuple)
"""Of these types are values that decide what a step does, wherever it finds them."""


class Setting(NamedTuple):
    """Where a value is looked up that decides what the step does, and the value."""

    found: Any
    name: str
    value: Any
    of: str


def same(one: Any, other: Any) -> bool:
    """Whether two values of a kind that can be compared are the same, to the bit."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return bool(alike and one.tobytes() == other.tobytes())
    if isinstance(one, np.generic):
        return bool(one.dtype == other.dtype and one.tobytes() == other.tobytes())
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, SIMPLE):
        return bool(one == other) or repr(one) == repr(other)
    return callable(one) and bool(one == other)


def current(setting: Setting) -> Any:
    """The value as it is now."""
    if type(setting.found) is dict:
        return setting.found.get(setting.name)
    return getattr(setting.found, setting.name, None)


def is_as_set(setting: Setting) -> bool:
    """Whether the value is still what it was."""
    now = current(setting)
    return now is setting.value or same(now, setting.value)


def refused(name: str, what: str, fix: str) -> errors.ReplayError:
    """The error for a step that cannot be recorded, or a call that is not like it."""
    return errors.ReplayError(errors.message(f"replay({name})", what, fix))


INSIDE = "minigrad.", "numpy.", "contextlib", "functools"


def line_of_the_step() -> str:
    """File, number and text of the innermost line that is not of a package."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not module.startswith(INSIDE):
            path, number = frame.f_code.co_filename, frame.f_lineno
            text = linecache.getline(path, number).strip()
            return f"line {number} of {path.rpartition('/')[2]}, `{text}`"
        frame = frame.f_back
    return "the step"


def states_of_other_generators() -> tuple[Any, Any]:
    """Those of Python, and of NumPy, that everybody shares."""
    of_numpy: Any = np.random.get_state()
    name, numbers, *more = of_numpy
    return random.getstate(), (name, bytes(numbers), *more)
