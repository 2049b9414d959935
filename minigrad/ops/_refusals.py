"""What several families refuse, in torch's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.dtypes import TENSOR_TYPES
from minigrad.engine.operands import must_be_tensor


def check_kind(
    where: str,
    kernel: str,
    dtype: np.dtype[Any],
    kinds: str = "f",
    fix: str = "convert first, for example x.float()",
) -> None:
    """Refuse a dtype that is not of NumPy's ``kinds``: by default, all but floats.

    Raises: UnsupportedOptionError, as torch a NotImplementedError.
    """
    if dtype.kind not in kinds:
        word = TENSOR_TYPES.get(dtype.name, dtype.name).removesuffix("Tensor")
        what = f"\"{kernel}\" not implemented for '{word}'"
        raise errors.UnsupportedOptionError.at(where, what, fix)


def check_array(where: str, name: str, position: int, value: Any) -> None:
    """Refuse what is no tensor, whose array a forward would have in its place.

    Raises: ArgumentTypeError.
    """
    if not isinstance(value, (Tensor, np.ndarray, np.generic)):
        raise must_be_tensor(where, name, position, value)


def check_two_tensors(where: str, input: Any, other: Any) -> None:
    """Refuse a number in the place of one of the two.

    Raises: ArgumentTypeError.
    """
    check_array(where, "input", 1, input)
    check_array(where, "other", 2, other)


def scalar_type(value: Any) -> str:
    """torch's word for the dtype of a tensor or an array, such as Float."""
    return TENSOR_TYPES.get(value.dtype.name, "").removesuffix("Tensor")
