"""The greatest element of each window, where it is, and what goes back there."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.kernels._jit import kernel
from minigrad.kernels.convolution import Pair, seen


def least_of(dtype: Any) -> Any:
    """Nothing is smaller."""
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def inside(number: int, stride: int, before: int, dilation: int, length: int) -> Any:
    """For each window along one dimension, its first element that is no padding.

    Far apart, all can be padding: then the last element stands for them.
    """
    start = np.arange(number) * stride - before
    start = np.where(start < 0, start + -(start // dilation) * dilation, start)
    return np.minimum(start, length - 1)


def max_pool_in_numpy(
    planes: Any, sizes: Pair, places: Pair, stride: Pair, before: Pair, dilation: Pair
) -> tuple[Any, Any]:
    """The same in plain NumPy."""
    number, height, width = planes.shape
    least = least_of(planes.dtype)
    # Windows may hang over: so much that all their elements are somewhere.
    high = (places[0] - 1) * stride[0] + (sizes[0] - 1) * dilation[0] + 1
    wide = (places[1] - 1) * stride[1] + (sizes[1] - 1) * dilation[1] + 1
    canvas = np.full(
        (1, number, max(high, before[0] + height), max(wide, before[1] + width)),
        least,
        planes.dtype,
    )
    top, left = before
    canvas[0, :, top : top + height, left : left + width] = planes
    rows = np.arange(canvas.shape[2])[:, None] - top
    flat = (rows * width + np.arange(canvas.shape[3]) - left)[None, None]
    steps = sizes, places, 0, stride, dilation
    values = np.full((number, *places), least, planes.dtype)
    first = inside(places[0], stride[0], top, dilation[0], height)[:, None] * width
    first = first + inside(places[1], stride[1], left, dilation[1], width)
    indices = np.broadcast_to(first, values.shape).copy()
    with np.errstate(invalid="ignore"):
        for part, where in zip(seen(canvas, *steps), seen(flat, *steps), strict=True):
            greater = (part[0] > values) | (part[0] != part[0])
            np.copyto(values, part[0], where=greater)
            np.copyto(indices, where[0], where=greater)
    return values, indices


@kernel(
    max_pool_in_numpy,
    lambda planes, sizes, places, *_: (
        np.empty((len(planes), *places), planes.dtype),
        np.empty((len(planes), *places), np.int64),
    ),
    regroups=False,
)
def max_pool(
    planes: Any,
    sizes: Any,
    places: Any,
    stride: Any,
    before: Any,
    dilation: Any,
    values: Any,
    indices: Any,
) -> None:
    """The greatest of each window, and its place in its plane: the first of equals.

    NaN is greater than all numbers. Windows may hang over; padding never wins.
    """
    _, height, width = planes.shape
    low, right = places[0] * stride[0], places[1] * stride[1]
    low, right = low - stride[0] + dilation[0], right - stride[1] + dilation[1]
    if sizes == (2, 2) and before == (0, 0) and low < height and right < width:
        # Nothing hangs over, and a loop over four is unrolled: four times as fast.
        across, down = np.uint64(dilation[1]), np.uint64(dilation[0] * width)
        for n in range(len(planes)):
            plane = planes[n].reshape(-1)
            for y in range(places[0]):
                for x in range(places[1]):
                    at = np.uint64(y * stride[0] * width + x * stride[1])
                    most, best = plane[at], at
                    for place in (at + across, at + down, at + down + across):
                        value = plane[place]
                        if value > most or value != value:
                            most, best = value, place
                    values[n, y, x] = most
                    indices[n, y, x] = best
        return
    for n in range(len(planes)):
        plane = planes[n]
        for y in range(places[0]):
            top = y * stride[0] - before[0]
            for x in range(places[1]):
                left = x * stride[1] - before[1]
                most = planes.dtype.type(-np.inf)
                index = -1
                # Steps are counted: a range with a step would have to divide.
                for ky in range(sizes[0]):
                    i = top + ky * dilation[0]
                    if i < 0 or i >= height:
                        continue
                    for kx in range(sizes[1]):
                        j = left + kx * dilation[1]
                        if j < 0 or j >= width:
                            continue
                        value = plane[i, j]
                        if value > most or value != value or index < 0:
                            most = value
                            index = i * width + j
                if index < 0:  # padding only: the element behind it, if there is one
                    i, j = top, left
                    while i < 0:
                        i += dilation[0]
                    while j < 0:
                        j += dilation[1]
                    index = min(i, height - 1) * width + min(j, width - 1)
                values[n, y, x] = most
                indices[n, y, x] = index


def add_at_in_numpy(planes: Any, indices: Any, values: Any) -> None:
    """The same in plain NumPy."""
    rows = np.arange(len(planes))[:, None]
    np.add.at(planes, (rows, indices), values)


@kernel(add_at_in_numpy)
def add_at(planes: Any, indices: Any, values: Any) -> None:
    """Add each value to the element of its plane that its index names."""
    for n in range(len(planes)):
        plane, where, given = planes[n], indices[n], values[n]
        for i in range(where.size):
            plane[where[i]] += given[i]
