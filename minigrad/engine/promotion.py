"""The dtype of a result: torch's rules where NumPy's differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad import errors
from minigrad.engine.dtypes import DType, default_dtype, known_dtype

KINDS = "biufc"
"""Bool, integers, floating point, complex: the later kind decides."""


def promoted(a: Any, b: Any) -> tuple[Any, Any]:
    """Both operands in the dtype of their result.

    A tensor of dimension 0 or a Python number changes the dtype only if it is of a
    later kind than the other operand (integer with a float), and then to the default
    dtype if it is a number.
    """
    if type(a) is ndarray and type(b) is ndarray:
        if a.dtype is b.dtype:
            return a, b
        dtype = result_type(a, b)
        return a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    if type(a) is ndarray:
        return with_number(a, b)
    if type(b) is ndarray:
        array, number = with_number(b, a)
        return number, array
    a, b = as_number(a), as_number(b)
    dtype = result_type(a, b)
    return np.asarray(a, dtype), np.asarray(b, dtype)


def as_number(value: Any) -> Any:
    """The Python number in a NumPy scalar, which must not decide a dtype."""
    return value.item() if isinstance(value, np.generic) else value


def with_number(array: Any, number: Any) -> tuple[Any, Any]:
    """An array and a Python number in the dtype of their result."""
    if type(number) is float and array.dtype.kind == "f":
        return array, number
    number = as_number(number)
    if array.dtype.kind == "f" and isinstance(number, (int, float)):
        return array, number
    dtype = result_type(array, number)
    return array.astype(dtype, copy=False), np.asarray(number, dtype)


def result_type(a: Any, b: Any) -> np.dtype[Any]:
    """The dtype of an operation on ``a`` and ``b``: arrays or Python numbers.

    See: torch ``result_type``.
    """
    rank_a, dtype_a = rank_and_dtype(a)
    rank_b, dtype_b = rank_and_dtype(b)
    if rank_a == rank_b:
        return common_dtype(dtype_a, dtype_b)
    if rank_a < rank_b:
        dtype_a, dtype_b = dtype_b, dtype_a
    later = KINDS.index(kind_of(dtype_b)) > KINDS.index(kind_of(dtype_a))
    return dtype_b if later else dtype_a


def result_type_of(operands: Sequence[Any]) -> np.dtype[Any]:
    """The dtype of an operation on any number of arrays.

    Those with dimensions decide before single elements.
    """
    ranks = [rank_and_dtype(operand) for operand in operands]
    found: dict[int, np.dtype[Any]] = {}
    for rank, dtype in ranks:
        known = found.get(rank)
        found[rank] = dtype if known is None else common_dtype(known, dtype)
    dtype, *later = [found[rank] for rank in sorted(found, reverse=True)]
    for other in later:
        if KINDS.index(kind_of(other)) > KINDS.index(kind_of(dtype)):
            dtype = other
    return dtype


def kind_of(dtype: np.dtype[Any]) -> str:
    """The kind of a dtype; integers without a sign count as integers."""
    return "i" if dtype.kind == "u" else dtype.kind


def rank_and_dtype(operand: Any) -> tuple[int, np.dtype[Any]]:
    """How much say an operand has (2 array, 1 one element, 0 number), and its dtype."""
    if isinstance(operand, (np.ndarray, np.generic)):
        return (2 if operand.ndim else 1), operand.dtype
    return 0, dtype_of_number(operand)


def common_dtype(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that holds both; an integer beside a float does not widen it."""
    if a.kind == "f" and b.kind in "biu":
        return a
    if b.kind == "f" and a.kind in "biu":
        return b
    return np.promote_types(a, b)


def promote_types(type1: Any, type2: Any) -> DType:
    """The smallest dtype that both can be converted to without a change of kind.

    See: torch ``promote_types``.

    >>> minigrad.promote_types(minigrad.int64, minigrad.float32)
    minigrad.float32
    """
    return known_dtype(common_dtype(np.dtype(type1), np.dtype(type2)))


def dtype_of_number(number: Any) -> np.dtype[Any]:
    """The dtype that a Python number has where it decides alone.

    Raises: ArgumentTypeError for what is no number.
    """
    if not isinstance(number, (bool, int, float)):
        raise not_a_number(number)
    if isinstance(number, bool):
        return np.dtype("bool")
    return np.dtype("int64") if isinstance(number, int) else default_dtype()


def not_a_number(operand: Any) -> errors.ArgumentTypeError:
    """The error for an operand that is neither a Tensor nor a number."""
    return errors.ArgumentTypeError.at(
        "operand",
        f"unsupported operand type(s): 'Tensor' and '{type(operand).__name__}'",
        "give a Tensor or a number",
    )


def refuse_bools(where: str, array: Any) -> None:
    """Refuse an operation that has no meaning for True and False.

    Raises: OperandError.
    """
    if array.dtype.char == "?":
        raise errors.OperandError.at(
            where,
            "is not supported on a bool tensor",
            "convert it first, for example x.to(minigrad.int64)",
        )


def as_floating(array: Any) -> Any:
    """Integers and bools in the default dtype, for functions like ``exp``."""
    if array.dtype.kind in "fc":
        return array
    return array.astype(default_dtype())


def do_not_broadcast(where: str, a: Any, b: Any) -> errors.ShapeError:
    """The error for shapes that have no common shape."""
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    wrong = [i for i in range(ndim) if a[i] != b[i] and 1 not in (a[i], b[i])][-1]
    return errors.ShapeError.at(
        where,
        f"The size of tensor a ({a[wrong]}) must match the size of tensor b "
        f"({b[wrong]}) at non-singleton dimension {wrong}",
        "give both the same shape, or length 1 where one is to be repeated; "
        "shapes are compared from the last dimension",
        "06",
    )
