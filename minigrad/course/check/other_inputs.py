"""Wrong numbers as right ones of something else: of another input, or of a short sum.

What is said here is true of every number that was seen, so it may be said without a
name from the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from minigrad.course.check.casefile import CaseFile, error_of
from minigrad.course.check.facts import Array, Trial, is_float

EXACT = 1e-7
"""How near numbers have to be to what is said of them."""

SHORT = 4
"""More terms than this fit to almost anything."""

CHANGES: dict[str, Callable[[Any], Any]] = {
    "0": lambda v: 0 * v,
    "1": lambda v: 0 * v + 1,
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
}
"""What a number, or each number of a tensor, may have been taken for."""

OF_PLACES = ("{0} + 1", "{0} - 1")
"""Those that make sense for integers in a tensor, too."""

OF_TENSORS: dict[str, Callable[[Any], Any]] = {
    "0 at the end of each row": lambda v: _with_zeros(v, -1),
    "0 at the beginning of each row": lambda v: _with_zeros(v, 0),
}
"""What a loop makes of a tensor that begins late, or ends early."""

FUNCTIONS = (
    *("floor", "ceil", "trunc", "rint", "abs", "sign", "square", "sqrt"),
    *("exp", "log", "sin", "cos", "tan", "tanh"),
)
"""What may have been computed in place of what was asked."""

REDUCTIONS = ("min", "max", "sum", "mean", "prod")
"""The same where the result has fewer numbers, along one axis or all."""

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
        if name in ("axis", "dim"):
            ways.append(("-1", _changed(i, lambda v: -1)))
        ways += [(names[j], _changed(i, None, j)) for j in others]
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


def _with_zeros(array: Array, place: int) -> Array:
    found = np.array(array)
    if found.ndim and found.size:
        found[..., place] = 0
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
    i: int, way: Callable[[Any], Any] | None, other: int = 0
) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    def change(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        value = way(inputs[i]) if way else inputs[other]
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


def scale_of_input(
    case: CaseFile, seen: Sequence[tuple[Trial, Array]], right: Right
) -> float | None:
    """The k for which all results are the right ones of k times the one tensor."""
    tensors = [i for i, v in enumerate(seen[0][0].inputs) if isinstance(v, np.ndarray)]
    told = [(t, y) for t, y in seen if y.dtype == np.float64 and y.size > 1][:3]
    if tensors != [0] or not told:
        return None

    def times(k: float) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        return lambda inputs: (np.asarray(k * inputs[0]), *inputs[1:])

    def error(k: float) -> float:
        with np.errstate(all="ignore"):
            found = [error_of(y, _array(right(t, times(k)(t.inputs)))) for t, y in told]
        return max(found)

    sizes = np.logspace(-3, 3, 181)
    grid = [*-sizes[::-1], *sizes]
    errors = [error(k) for k in grid]
    at = int(np.argmin(errors))
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    for _ in range(80):
        third = (high - low) / 3
        if error(low + third) < error(high - third):
            high -= third
        else:
            low += third
    k = (low + high) / 2
    whole = [(t, y) for t, y in seen if y.dtype == np.float64]
    return k if abs(k - 1) > 1e-3 and _all_fit(whole, right, times(k)) else None


def _array(value: Array | None) -> Array:
    return np.zeros(0) if value is None else value


def another_function(
    name: str, arrays: Sequence[Array], seen: Sequence[tuple[Trial, Array]]
) -> str:
    """``ceil(x)``, if all results are those of this function of these arrays."""
    for each in FUNCTIONS:
        with np.errstate(all="ignore"):
            told = [getattr(np, each)(array) for array in arrays]
        pairs = zip(seen, told, strict=True)
        if all([error_of(got, y) <= _close_to(t) for (t, got), y in pairs]):
            return f"{each}({name})"
    numbered = [array for array in arrays if array.ndim and array.size]
    for each in REDUCTIONS if len(numbered) == len(arrays) else ():
        for axis in (None, 0, -1):
            told = [getattr(np, each)(array, axis=axis) for array in arrays]
            pairs = zip(seen, told, strict=True)
            if all([error_of(got, y) <= _close_to(t) for (t, got), y in pairs]):
                return f"{each}({name})"
    return ""


def sum_of_products(
    names: Sequence[str], rows: Sequence[tuple[Sequence[Any], Array]]
) -> str:
    """Numbers as a short sum of what they are made from; empty if they are none."""
    terms = list(_terms(names))
    bases, values = [], []
    for given, got in rows:
        try:
            wide = [np.broadcast_to(a, got.shape).ravel().astype(float) for a in given]
        except (ValueError, TypeError):
            return ""
        bases.append(np.array([term(wide) for _, term in terms]))
        values.append(got.ravel())
    if sum(v.size for v in values) < 3 * len(terms):
        return ""
    basis, whole = np.concatenate(bases, 1).T, np.concatenate(values)
    if not np.all(np.isfinite(whole)) or not np.all(np.isfinite(basis)):
        return ""
    # What is like another term for these numbers, as abs(x) may be, is left out.
    kept: list[int] = []
    for i in range(len(terms)):
        if np.linalg.matrix_rank(basis[:, [*kept, i]]) > len(kept):
            kept.append(i)
    basis, terms = basis[:, kept], [terms[i] for i in kept]
    found, *_ = np.linalg.lstsq(basis, whole, rcond=None)
    found = np.where(np.abs(found) < 1e-6, 0.0, found)
    usual = np.isclose(found * 12, np.round(found * 12)) | np.isclose(
        found * 100, np.round(found * 100)
    )
    # Any few numbers are a sum of powers with some factors or other.
    if np.count_nonzero(found) > SHORT or not np.all(usual):
        return ""
    if error_of(basis @ found, whole) > EXACT:
        return ""
    parts = []
    for (text, _), k in zip(terms, found, strict=True):
        if k:
            number = f"{k:.4g}"
            parts.append(number if text == "1" else f"{number} * {text}")
    joined = " + ".join(parts).replace("+ -", "- ") or "0"
    return f" {joined}".replace(" 1 * ", " ").replace(" -1 * ", " -").strip()


def _terms(
    names: Sequence[str],
) -> Iterator[tuple[str, Callable[[list[Array]], Array]]]:
    """What a sum may be made of: powers, and products of two."""

    def power(i: int, n: int) -> Callable[[list[Array]], Array]:
        return lambda v: np.asarray(v[i] ** n)

    def product(i: int, j: int) -> Callable[[list[Array]], Array]:
        return lambda v: v[i] * v[j]

    yield "1", power(0, 0)
    for i, name in enumerate(names):
        yield name, power(i, 1)
        for n in range(2, 5 if len(names) == 1 else 3):
            yield f"{name} ** {n}", power(i, n)
        for j in range(i):
            yield f"{names[j]} * {name}", product(j, i)
    if len(names) == 1:
        yield f"abs({names[0]})", lambda v: np.abs(v[0])
