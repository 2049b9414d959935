"""What a live player lets one change: arguments as sliders, switches and text.

The page sends what stands in an input; ``read`` makes the argument of it, or says in
one sentence why it cannot.
"""

from __future__ import annotations

import ast
import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.creation import tensor
from minigrad.tracing.messages import message

MOST_NUMBERS: Final = 100  # in one text input
MOST_TYPED: Final = 5_000  # characters
STEPS: Final = 100  # of a slider that nobody gave a step

Json = dict[str, Any]
Fresh = Callable[[Any], Any]  # makes the argument of a number or of nested lists


class InputError(ValueError):
    """What stands in an input is no argument; the text is the sentence beside it."""


@dataclass
class Input:
    """An argument that can be changed: how the page shows it, and what is in it first.

    ``read`` gives the argument for what was typed or chosen.
    """

    spec: Json
    text: Any
    read: Callable[[Any], Any]


def slider(
    start: Any, low: float, high: float, step: float, fresh: Fresh = lambda new: new
) -> Input:
    """A number, by a slider and a box; the box may go beyond the slider's ends."""
    ints = int | np.integer
    whole = all([isinstance(part, ints) for part in (start, low, high, step)])

    def read(given: Any) -> Any:
        try:
            number = int(given) if whole else float(given)
        except ValueError:
            key = "input.not-whole" if whole else "input.not-number"
            raise InputError(message(key, text=brief(str(given)))) from None
        return fresh(number)

    spec = {"kind": "slider", "low": low, "high": high, "step": step}
    return Input(spec, str(start), read)


def typed(
    name: str, array: np.ndarray[Any, Any], text: str, fresh: Fresh, whole: bool
) -> Input:
    """Numbers in nested brackets, read as literals: nothing that is typed is run."""
    if array.size > MOST_NUMBERS:
        raise errors.ArgumentValueError.at(
            "live",
            f"{name} has {array.size} numbers, too many to type",
            f"make it inside the function; at most {MOST_NUMBERS} can be typed",
        )

    def read(given: str) -> Any:
        try:
            if len(given) > MOST_TYPED:
                raise ValueError("too long")
            numbers = ast.literal_eval(given.strip())  # nothing in it is run
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise InputError(message("input.not-list", text=brief(given))) from None
        new = even(numbers)
        if new.size > MOST_NUMBERS:
            raise InputError(message("input.many", most=MOST_NUMBERS))
        if whole and new.size and new.dtype.kind != "i":
            raise InputError(message("input.only-whole"))
        return fresh(numbers)

    return Input({"kind": "numbers"}, text, read)


def even(numbers: Any) -> np.ndarray[Any, Any]:
    """Nested lists of numbers as an array, for its size and kind."""
    try:
        array = np.asarray(numbers)
    except (ValueError, OverflowError):
        raise InputError(message("input.uneven")) from None
    if array.dtype.kind not in "if" or isinstance(numbers, (set, dict)):
        raise InputError(message("input.only-numbers"))
    return array


def input_for(name: str, given: Any, start: Any = None) -> Input | None:
    """The input for an argument; None for what is passed on as it is, a model say.

    A tuple is the range of a slider, (low, high) or (low, high, step), and ``start``
    where it stands at first. A tensor is a new leaf each time, of its dtype and flag.
    """
    if isinstance(given, tuple):
        return ranged(name, given, start)
    if isinstance(given, bool | np.bool_):
        return Input({"kind": "switch"}, bool(given), bool)
    if isinstance(given, str):
        return Input({"kind": "words"}, given, str)
    if isinstance(given, int | float | np.integer | np.floating):
        return around(given)
    if isinstance(given, list):
        with contextlib.suppress(InputError):  # a list of anything else
            return typed(name, even(given), str(given), as_list, False)
    fresh: Fresh
    if isinstance(given, Tensor):
        array, flag = given.detach().numpy(), given.requires_grad
        fresh = partial(tensor, dtype=given.dtype, requires_grad=flag)
    elif isinstance(given, np.ndarray):
        array, fresh = given, partial(np.array, dtype=given.dtype)
    else:
        return None
    if array.dtype.kind not in "if":
        return None
    if not array.ndim:
        return around(array[()], fresh)
    lines = np.array2string(array, separator=", ", formatter={"all": str})
    text = " ".join(lines.split())  # as it would be typed
    return typed(name, array, text, fresh, array.dtype.kind == "i")


def ranged(name: str, given: tuple[Any, ...], start: Any) -> Input:
    """A slider with the ends that were given."""
    numbers = all(is_number(part) for part in given)
    if not numbers or len(given) not in (2, 3) or not given[0] < given[1]:
        raise errors.ArgumentValueError.at(
            "live",
            f"{name}={given!r} isn't the range of a slider",
            "give (low, high) or (low, high, step); values to type as a list",
        )
    low, high = given[:2]
    whole = all(isinstance(part, int) for part in given)
    step = 1 if whole else round_step((high - low) / STEPS)
    if len(given) == 3:
        step = given[2]
    if not is_number(start):
        middle = low + round((high - low) / (2 * step)) * step
        start = middle if whole else float(f"{middle:g}")
    start = min(max(start, low), high)
    if isinstance(start, float) and whole:
        step = round_step((high - low) / STEPS)
    return slider(start, low, high, step)


def around(start: Any, fresh: Fresh = lambda new: new) -> Input:
    """A slider for a number of which only the value is known."""
    number = start.item() if isinstance(start, np.generic) else start
    if isinstance(number, int):
        low = 0 if number >= 0 else 2 * number
        return slider(start, low, max(10, 2 * abs(number)), 1, fresh)
    most = 2 * abs(number) if number and math.isfinite(number) else 1.0
    return slider(start, -most, most, round_step(most / (STEPS / 2)), fresh)


def round_step(step: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is at most ``step``."""
    power = 10.0 ** math.floor(math.log10(step))
    factor = max(part for part in (1, 2, 5) if part * power <= step * (1 + 1e-9))
    return float(f"{factor * power:g}")


def is_number(item: Any) -> bool:
    """Whether ``item`` is a finite int or float, and no bool."""
    plain = isinstance(item, int | float) and not isinstance(item, bool)
    return plain and math.isfinite(item)


def as_list(numbers: Any) -> Any:
    """The numbers of a list input; brackets are part of them."""
    if not isinstance(numbers, list | tuple):
        raise InputError(message("input.one-number"))
    return list(numbers)


def brief(text: str) -> str:
    """A text in quotation marks, not more of it than a line takes."""
    shown = " ".join(text.split())
    cut = shown if len(shown) <= 30 else shown[:29] + "…"
    return message("input.quoted", text=cut)


def problem_of(one: Input, given: Any) -> str | None:
    """Why no argument can be made of what was given, as a sentence; None if it can."""
    try:
        one.read(given)
    except InputError as problem:
        return str(problem)
    except (ValueError, OverflowError):
        return message("input.not-fitting", text=brief(str(given)))
    return None
