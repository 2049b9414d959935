"""Wrong numbers as right ones of another input.

What is said here is true of every number that was seen, so it may be said without a
name from the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from minigrad.course.check.casefile import CaseFile, error_of
from minigrad.course.check.facts import Array, Trial, is_float

EXACT = 1e-7
"""How near numbers have to be to what is said of them."""

CHANGES: dict[str, Callable[[Any], Any]] = {
    "0": lambda v: 0 * v,
    "1": lambda v: 0 * v + 1,
    "1e-5": lambda v: 0 * v + 1e-5,
    "-{0}": lambda v: -v,
    "abs({0})": abs,
    "1 / {0}": lambda v: 1 / v,
    "2 * {0}": lambda v: 2 * v,
    "{0} / 2": lambda v: v / 2,
    "{0} ** 2": lambda v: v**2,
    "sqrt({0})": np.sqrt,
    "{0} + 1": lambda v: v + 1,
    "{0} - 1": lambda v: v - 1,
    "1 - {0}": lambda v: 1 - v,
    "{0} * log(2)": lambda v: v * np.log(2),
    "{0} * log(10)": lambda v: v * np.log(10),
    "{0} * pi / 180": lambda v: v * np.pi / 180,
}
"""What a number, or each number of a tensor, may have been taken for."""

JOINED = {"+": np.add, "*": np.multiply}
"""What of two tensors may have been taken for one of them."""

OF_PLACES = ("0", "{0} + 1", "{0} - 1")
"""Those that make sense for integers in a tensor, too."""

OF_TENSORS: dict[str, Callable[[Any], Any]] = {
    "0 at the end of each row": lambda v: _with_zeros(v, np.s_[..., -1:]),
    "0 at the beginning of each row": lambda v: _with_zeros(v, np.s_[..., :1]),
    "0 in its last row": lambda v: _with_zeros(v, (-1,) * (v.ndim - 1)),
    "0 in its first row": lambda v: _with_zeros(v, (0,) * (v.ndim - 1)),
}
"""What a loop makes of a tensor that begins late, or ends early."""

Right = Callable[[Trial, tuple[Any, ...]], Array | None]
"""What is right for other inputs of a call."""


def taken_for(case: CaseFile, seen: Sequence[tuple[Trial, Array]], right: Right) -> str:
    """``lam were 1 / lam``, if that is what all these numbers are right for."""
    names = case.contract.arguments
    first = seen[0][0].inputs
    for i, name in enumerate(names):
        kind, is_tensor = type(first[i]), is_float(first[i])
        places = isinstance(first[i], np.ndarray) and first[i].dtype.kind == "i"
        if kind not in (int, float) and not is_tensor and not places:
            continue
        tried = OF_PLACES if places else tuple(CHANGES)
        changes = {text: CHANGES[text] for text in tried}
        changes |= OF_TENSORS if is_tensor else {}
        others = [j for j, v in enumerate(first) if j != i and type(v) is kind]
        ways = [(text.format(name), _changed(i, way)) for text, way in changes.items()]
        if kind in (int, float):
            for n in (first[i], *[-1] * (name in ("axis", "dim"))):
                ways.append((f"{n:g} in every call", _changed(i, lambda v, n=n: n)))
        ways += [(names[j], _changed(i, None, j)) for j in others]
        alike = [j for j in others if is_tensor and is_float(first[j])]
        for (sign, joined), j in product(JOINED.items(), alike):
            ways.append((f"{name} {sign} {names[j]}", _changed(i, joined, j)))
        for words, change in ways:
            if _all_fit(seen, right, change):
                return f"{name} were {words}"
    for j, i in combinations(range(len(names)), 2):
        if _all_fit(seen, right, _exchanged(i, j)):
            return f"{names[j]} were {names[i]}, and {names[i]} were {names[j]}"
    in_a_row = _one_row(names.index("axis") if "axis" in names else None)
    if is_float(first[0]) and _all_fit(seen, right, in_a_row, any_shape=True):
        return f"{names[0]} were one single row"
    return ""


def _with_zeros(array: Array, places: Any) -> Array:
    found = np.array(array)
    if found.ndim and found.size and places:
        found[places] = 0
    return found


def _exchanged(i: int, j: int) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    def change(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        turned = list(inputs)
        turned[i], turned[j] = inputs[j], inputs[i]
        return tuple(turned)

    return change


def _one_row(axis: int | None) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    def change(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        rest = [-1 if i == axis else v for i, v in enumerate(inputs)]
        return (inputs[0].reshape(-1), *rest[1:])

    return change


def _changed(
    i: int, way: Callable[..., Any] | None, other: int | None = None
) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    def change(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        given = [inputs[n] for n in (i, other) if n is not None]
        value = way(*given) if way else given[-1]
        value = np.asarray(value) if is_float(inputs[i]) else value
        return (*inputs[:i], value, *inputs[i + 1 :])

    return change


def _all_fit(
    seen: Sequence[tuple[Trial, Array]],
    right: Right,
    change: Callable[[tuple[Any, ...]], tuple[Any, ...]],
    *,
    any_shape: bool = False,
) -> bool:
    """Whether all that was seen is right for other inputs, which differ somewhere."""
    some = False
    for trial, got in seen:
        try:
            with np.errstate(all="ignore"):
                inputs = change(trial.inputs)
                told = right(trial, inputs)
        except ArithmeticError:
            continue  # such as 1 / 0
        except (ValueError, TypeError, IndexError, AttributeError):
            return False
        if told is not None and any_shape and told.size == got.size:
            told = told.reshape(got.shape)
        elif told is not None and any_shape and told.size == 1:
            told = np.broadcast_to(told.reshape(()), got.shape)
        if told is None or error_of(got, told) > _close_to(trial):
            return False
        pairs = zip(inputs, trial.inputs, strict=True)
        some = some or not all(a is b or np.array_equal(a, b) for a, b in pairs)
    return some


def _close_to(trial: Trial) -> float:
    narrow = any(is_float(v) and v.dtype == np.float32 for v in trial.inputs)
    return 1e-5 if narrow else EXACT
