"""The element in the middle."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.engine.core.tensor import Array, Tensor
from minigrad.ops._refusals import check_kind
from minigrad.ops._registry import composite, op
from minigrad.ops.extremes import Chosen, Shared, along, referred
from minigrad.ops.return_types import values_and_indices

MATRIX = [[1.0, 5.0, 3.0], [4.0, -2.0, 6.0]]


def middle(array: Any, axis: int, keepdims: bool = False) -> Any:
    """Where the median is; of an even number the lower of two, and NaN if there is one.

    It is among the first of equals in the order of a stable sort.
    """
    order = np.argsort(array, axis, kind="stable")
    place = (array.shape[axis] - 1) // 2
    found = np.take(order, [place], axis)
    nan = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
    is_nan = nan.any(axis=axis, keepdims=True)
    found = np.where(is_nan, nan.argmax(axis=axis, keepdims=True), found)
    return found if keepdims else found.squeeze(axis)


def refuse_bools(input: Array) -> None:
    """Refuse what has no middle."""
    fix = "convert first, for example x.int()"
    check_kind("median", "median_cpu", input.dtype, "iuf", fix)


def lower_median(x: Any) -> Any:
    """The reference: of an even number the lower of two."""
    return np.sort(np.ravel(x))[(np.size(x) - 1) // 2]


@op(
    "median.all",
    node_name="MedianBackward0",
    reference=lower_median,
    samples=[(2.0,), ([1.0, -2.0, 0.5],), (MATRIX,)],
)
class MedianOfAll(Shared):
    """The median of all elements; equals share the gradient."""

    one_by_one = True
    counts_nan = True

    @staticmethod
    def forward(input: Array) -> Any:
        refuse_bools(input)
        if not input.size:
            return np.full((), np.nan, input.dtype)
        flat = input.reshape(-1)
        return flat[middle(flat, 0)]


named_median = values_and_indices("median")


@op(
    "median.dim",
    node_name="MedianBackward1",
    reference=referred(middle),
    samples=[(MATRIX, 0), (MATRIX, -1, True), (2.0, 0)],
    returns=named_median,
)
class MedianAlong(Chosen):
    """The medians along ``dim``, and their indices."""

    dim_at = 1

    @staticmethod
    def forward(input: Array, dim: int, keepdim: bool = False) -> Any:
        refuse_bools(input)
        return along("median", middle, input, dim, keepdim)


@composite("median")
def median(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The element in the middle of all; along ``dim``, ``(values, indices)``.

    Of an even number of elements it is the lower of the two.

    >>> minigrad.tensor([4.0, 1.0, 3.0, 2.0]).median()
    tensor(2.)
    """
    if dim is None:
        return MedianOfAll.apply(input)
    return named_median(MedianAlong.apply(input, dim, keepdim))
