"""What cases, or single elements, have in common where an answer is wrong.

A trait is a pair of words, for what has it and for what hasn't. One that all that is
wrong has, and nothing that is right, is true to say; so no two cases are compared that
differ in other things as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.course.check.facts import Array, Case, is_float

LARGE = 50.0
"""From numbers like this on, exponentials begin to overflow."""

TINY = 1e-4

Trait = tuple[str, str]


def of_case(
    case: Case, arguments: Sequence[str], with_shapes: bool
) -> dict[Trait, bool]:
    """The traits of the arguments of one call, those that decide most first.

    There are so many of shapes that one of them fits to any few cases.
    """
    pairs = list(zip(arguments, case.inputs, strict=True))
    arrays = [(name, v) for name, v in pairs if isinstance(v, np.ndarray)]
    first = next((v for _, v in arrays if is_float(v)), np.zeros(()))
    found: dict[Trait, bool] = {}
    for name, value in pairs:
        if not isinstance(value, np.ndarray):
            found |= _of_number(name, value, first.ndim)
    for name, array in arrays:
        found |= _of_numbers(name, array)
    for name, array in arrays if with_shapes else ():
        found |= _of_shape(name, array, [other for _, other in arrays])
    return found


def _of_number(name: str, value: Any, axes: int) -> dict[Trait, bool]:
    if isinstance(value, bool):
        return {(f"{name} is True", f"{name} is False"): value}
    if not isinstance(value, int | float):
        return {}
    if name in ("axis", "dim"):
        last, axes = f"{name} is the last one", max(axes, 1)
        return {
            (last, f"{name} isn't the last one"): value % axes == axes - 1,
            (f"{name} is 0", f"{name} isn't 0"): value % axes == 0,
            (f"{name} is negative", f"{name} counts from the front"): value < 0,
        }
    return {
        (f"{name} is 0", f"{name} isn't 0"): value == 0,
        (f"{name} is negative", f"{name} isn't negative"): value < 0,
        (f"{name} is positive", f"{name} isn't positive"): value > 0,
        (f"{name} is a whole number", f"{name} isn't whole"): value == int(value),
        (f"{name} is 1", f"{name} isn't 1"): value == 1,
        (f"{name} is large", f"{name} isn't large"): abs(value) >= LARGE,
    }


def _of_numbers(name: str, array: Array) -> dict[Trait, bool]:
    steps = np.diff(np.sort(array, None))
    twice = f"numbers of {name} are equal", f"no numbers of {name} are equal"
    near = f"numbers of {name} are nearly equal", f"no numbers of {name} nearly are"
    zeros = f"{name} holds zeros", f"{name} holds no zeros"
    large = f"{name} holds large numbers", f"{name} holds no large numbers"
    negative = f"{name} holds negative numbers", f"{name} holds no negative numbers"
    tiny = f"{name} holds tiny numbers", f"{name} holds no tiny numbers"
    within = np.diff(np.sort(array, -1)) if array.ndim else steps
    in_a_row = (
        f"numbers in one row of {name} are equal",
        f"in each row of {name} all differ",
    )
    one = f"{name} is a single number", f"{name} has several numbers"
    lies = f"{name} lies transposed in memory", f"{name} lies row after row"
    square = array.ndim > 1 and len({*array.shape}) == 1 < len(array)
    found = {
        one: array.size == 1,
        lies: array.size > 1 and not array.flags.c_contiguous,
        (f"{name} is square", f"{name} isn't square"): square,
        twice: bool(np.any(steps == 0)),
        in_a_row: bool(np.any(within == 0)),
    }
    if is_float(array):
        found[large] = bool(np.any(np.abs(array) >= LARGE))
        found[tiny] = bool(np.any((array != 0) & (np.abs(array) < TINY)))
        found[near] = bool(np.any((steps > 0) & (steps < 1e-6)))
        found[zeros] = bool(np.any(array == 0))
        found[negative] = bool(np.any(array < 0))
    return found


def _of_shape(name: str, array: Array, others: list[Array]) -> dict[Trait, bool]:
    single = array.dtype == np.float32
    widest = max(other.ndim for other in others)
    most = max(other.size for other in others)
    lacks = array.ndim < widest
    found = {
        (f"{name} holds no number at all", f"{name} has numbers"): not array.size,
        (f"{name} is float32", f"{name} is float64"): single,
        (f"{name} has an axis of length 1", f"{name} has no axis of length 1"): (
            1 in array.shape
        ),
    }
    if len(others) > 1 and is_float(array):
        found[f"{name} lacks an axis", f"{name} has all axes"] = lacks
        found[f"{name} is copied", f"{name} isn't copied"] = array.size < most
    for count, text in enumerate(("no axis", "one axis", "two axes", "three axes")):
        more = f"{name} has more than {text}" if count else f"{name} has an axis"
        less = f"{name} has at most {text}" if count else f"{name} has no axis"
        found[more, less] = array.ndim > count
    return found


def separating(
    wrong: Iterable[Mapping[Trait, bool]], right: Iterable[Mapping[Trait, bool]]
) -> list[str]:
    """What is true of all that is wrong, and of nothing that is right."""
    bad, good = list(wrong), list(right)
    if not bad or not good:
        return []
    found = []
    for trait in bad[0]:
        for has, words in zip((True, False), trait, strict=True):
            if all(each[trait] is has for each in bad) and not any(
                each[trait] is has for each in good
            ):
                found.append(words)
    return found


Elements = Iterator[tuple[str, Array]]


def of_elements(
    arrays: Mapping[str, Array], numbers: Mapping[str, Any], shape: tuple[int, ...]
) -> Elements:
    """Words for elements, each with a mask of those that they are true of."""
    for name, array in arrays.items():
        if array.shape != shape or array.dtype.kind != "f":
            continue
        yield f"{name} is negative", array < 0
        yield f"{name} is positive", array > 0
        yield f"{name} isn't positive", array <= 0
        yield f"{name} isn't negative", array >= 0
        yield f"{name} is 0", array == 0
        yield f"{name} is a whole number", array == np.round(array)
        for other, value in numbers.items():
            if type(value) in (int, float):
                yield f"{name} is above {other}", array > value
                yield f"{name} is below {other}", array < value
                yield f"{name} is {other}", array == value
        yield f"{name} is above 1 or below -1", np.abs(array) > 1
        yield f"{name} is between -1 and 1", np.abs(array) < 1
        yield f"{name} is large", np.abs(array) >= LARGE
        yield f"{name} is positive and tiny", (array > 0) & (array < TINY)
        yield f"{name} is close to 0", np.abs(array) < 1e-3
    for axis, places in enumerate(np.indices(shape)):
        yield f"the index along axis {axis} is 0", places == 0
        yield f"the index along axis {axis} isn't 0", places != 0


def where_wrong(
    masks: Sequence[tuple[Array, Array]], elements: Callable[[int], Elements]
) -> str:
    """The words true of just the elements that are wrong; empty if there are none.

    ``masks`` say of each array which elements are wrong, and which count as right.
    """
    if not any(off.any() for off, _ in masks) or not any(on.any() for _, on in masks):
        return ""
    told = [dict(elements(number)) for number in range(len(masks))]
    for words in told[0]:
        if all(
            words in each
            and not np.any(off & ~each[words])
            and not np.any(on & each[words])
            for (off, on), each in zip(masks, told, strict=True)
        ):
            return words
    return ""


def threshold(
    name: str, masks: Sequence[tuple[Array, Array]], arrays: Sequence[Array]
) -> str:
    """From which number on it is wrong, if there is one; empty if there is none."""
    pairs = list(zip(masks, arrays, strict=True))
    wrong = np.concatenate([a[off] for (off, _), a in pairs])
    right = np.concatenate([a[on] for (_, on), a in pairs])
    if min(wrong.size, right.size) < 3:
        return ""
    if wrong.min() > right.max():
        return f"{name} is {wrong.min():.4g} or more"
    if wrong.max() < right.min():
        return f"{name} is {wrong.max():.4g} or less"
    if np.any((right >= wrong.min()) & (right <= wrong.max())):
        return ""
    return f"{name} is between {wrong.min():.4g} and {wrong.max():.4g}"
