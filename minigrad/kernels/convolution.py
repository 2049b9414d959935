"""Convolution as a product of matrices: what a kernel sees at one place is a column.

Some images at a time, or some rows of one, so that their columns stay in the
processor's cache. In forward a row of places is as wide as the padded image: then all
that one element of the kernel sees is a single run in memory, and what hangs over is
left out of the result. Backward has no such places: there they would be multiplied by
0, and 0 times infinity is not 0.

Narrow images are woven into a single wide one first: rows of four numbers would take as
long to find as to copy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from minigrad.kernels._jit import in_order, kernel
from minigrad.kernels._scratch import scratch

Pair = tuple[int, int]

CHUNK = 1 << 18
"""About how many numbers the columns of a chunk have: a megabyte in float32."""

NARROW, NARROW_BACKWARD = 8, 9
"""Images with fewer places across than this are woven into one.

Backward gains sooner: its rows of places are no wider than these.
"""


class Sliding(NamedTuple):
    """How a kernel moves over an image; pairs are (down, across).

    ``before`` and ``after`` count the zeros around the image.
    """

    stride: Pair = (1, 1)
    before: Pair = (0, 0)
    after: Pair = (0, 0)
    dilation: Pair = (1, 1)
    groups: int = 1

    def padded(self, lengths: Pair) -> Pair:
        """Height and width of an image with the zeros around it."""
        return (
            lengths[0] + self.before[0] + self.after[0],
            lengths[1] + self.before[1] + self.after[1],
        )

    def places(self, lengths: Pair, sizes: Pair) -> Pair:
        """How often a kernel of these sizes fits into the image, down and across."""
        high, wide = self.padded(lengths)
        return (
            (high - self.dilation[0] * (sizes[0] - 1) - 1) // self.stride[0] + 1,
            (wide - self.dilation[1] * (sizes[1] - 1) - 1) // self.stride[1] + 1,
        )

    def weaves(self, number: int, lengths: Any, sizes: Any, narrow: int) -> bool:
        """Whether so many images are so narrow that they are woven into one."""
        across = self.places(lengths, sizes)[1]
        return number > 1 and across < narrow and self.stride[1] == 1

    def woven(self, number: int) -> Sliding:
        """The same on images that are woven: all is farther apart."""
        return self._replace(
            before=(self.before[0], self.before[1] * number),
            after=(self.after[0], self.after[1] * number),
            dilation=(self.dilation[0], self.dilation[1] * number),
        )


class Part(NamedTuple):
    """Some images, and of their places the rows from ``first`` on."""

    images: slice
    first: int
    rows: int


def parts(number: int, down: int, columns_of_a_row: int) -> Iterator[Part]:
    """As many images, or rows of places in one, as make about ``CHUNK`` columns."""
    together = CHUNK // max(1, columns_of_a_row * down)
    if together:
        for start in range(0, number, together):
            yield Part(slice(start, min(start + together, number)), 0, down)
        return
    rows = max(1, CHUNK // columns_of_a_row)
    for start in range(number):
        for first in range(0, down, rows):
            yield Part(slice(start, start + 1), first, min(rows, down - first))


def seen(
    padded: Any, sizes: Pair, places: Pair, first: int, stride: Pair, dilation: Pair
) -> Iterator[Any]:
    """For each element of the kernel, what it sees of the padded images."""
    for y in range(sizes[0]):
        for x in range(sizes[1]):
            top, left = y * dilation[0] + first * stride[0], x * dilation[1]
            bottom = top + stride[0] * places[0]
            right = left + stride[1] * places[1]
            yield padded[:, :, top : bottom : stride[0], left : right : stride[1]]


def fill_columns_in_numpy(
    images: Any,
    columns: Any,
    padded: Pair,
    sizes: Pair,
    places: Pair,
    first: int,
    stride: Pair,
    before: Pair,
    dilation: Pair,
) -> None:
    """The same in plain NumPy."""
    number, channels, height, width = images.shape
    # A place that hangs over needs zeros behind the image.
    reach = (sizes[1] - 1) * dilation[1]
    canvas = np.zeros((number, channels, padded[0], padded[1] + reach), images.dtype)
    top, left = before
    canvas[:, :, top : top + height, left : left + width] = images
    each = columns.reshape(channels, -1, number, *places)
    for i, part in enumerate(seen(canvas, sizes, places, first, stride, dilation)):
        each[:, i] = part.swapaxes(0, 1)


@kernel(fill_columns_in_numpy)
def fill_columns(
    images: Any,
    columns: Any,
    padded: Any,
    sizes: Any,
    places: Any,
    first: int,
    stride: Any,
    before: Any,
    dilation: Any,
) -> None:
    """In each column, channel by channel, what the kernel sees at one place.

    ``places`` are so many rows from ``first`` on, which may be as wide as the padded
    image if the stride is 1.
    """
    number, channels, height, width = images.shape
    wide = padded[1]
    # Numbers without a sign: no index is counted from the end.
    area = np.uint64(places[0] * places[1])
    across, step = np.uint64(places[1]), np.uint64(stride[1])
    inside = np.uint64(width)
    one_run = places[1] == wide and stride[0] == 1 and stride[1] == 1
    # The part of the padded image that these places see, and zeros behind it.
    top = first * stride[0]
    band = (places[0] - 1) * stride[0] + (sizes[0] - 1) * dilation[0] + 1
    from_row = max(0, top - before[0])
    to_row = min(height, top + band - before[0])
    hanging = (sizes[1] - 1) * dilation[1]
    canvas = np.zeros(band * wide + hanging, images.dtype)
    for c in range(channels):
        for i in range(number):
            image = images[i, c].reshape(-1)
            for y in range(from_row, to_row):
                at = np.uint64(y * width)
                to = np.uint64((y + before[0] - top) * wide + before[1])
                for x in range(inside):
                    canvas[to + x] = image[at + x]
            for ky in range(sizes[0]):
                for kx in range(sizes[1]):
                    column = columns[(c * sizes[0] + ky) * sizes[1] + kx]
                    begin = np.uint64(i) * area
                    start = ky * dilation[0] * wide + kx * dilation[1]
                    if one_run:
                        at = np.uint64(start)
                        for p in range(area):
                            column[begin + p] = canvas[at + p]
                        continue
                    for y in range(places[0]):
                        at = np.uint64(start + y * stride[0] * wide)
                        to = begin + np.uint64(y) * across
                        if stride[1] == 1:
                            for x in range(across):
                                column[to + x] = canvas[at + x]
                        else:
                            for x in range(across):
                                column[to + x] = canvas[at + x * step]


def add_columns_in_numpy(
    images: Any,
    columns: Any,
    padded: Pair,
    sizes: Pair,
    places: Pair,
    first: int,
    stride: Pair,
    before: Pair,
    dilation: Pair,
) -> None:
    """The same in plain NumPy."""
    number, channels, height, width = images.shape
    canvas = np.zeros((number, channels, *padded), images.dtype)
    each = columns.reshape(channels, -1, number, *places)
    with np.errstate(all="ignore"):
        for i, part in enumerate(seen(canvas, sizes, places, first, stride, dilation)):
            part += each[:, i].swapaxes(0, 1)
        top, left = before
        images += canvas[:, :, top : top + height, left : left + width]


@kernel(add_columns_in_numpy)
def add_columns(
    images: Any,
    columns: Any,
    padded: Any,
    sizes: Any,
    places: Any,
    first: int,
    stride: Any,
    before: Any,
    dilation: Any,
) -> None:
    """To each image the sum of what is in the columns that see it: the transpose."""
    number, channels, height, width = images.shape
    wide = padded[1]
    area = np.uint64(places[0] * places[1])
    across, step = np.uint64(places[1]), np.uint64(stride[1])
    inside = np.uint64(width)
    top = first * stride[0]
    band = (places[0] - 1) * stride[0] + (sizes[0] - 1) * dilation[0] + 1
    from_row = max(0, top - before[0])
    to_row = min(height, top + band - before[0])
    canvas = np.empty(band * wide, images.dtype)
    for c in range(channels):
        for i in range(number):
            canvas[:] = 0
            for ky in range(sizes[0]):
                for kx in range(sizes[1]):
                    column = columns[(c * sizes[0] + ky) * sizes[1] + kx]
                    begin = np.uint64(i) * area
                    start = ky * dilation[0] * wide + kx * dilation[1]
                    for y in range(places[0]):
                        to = np.uint64(start + y * stride[0] * wide)
                        at = begin + np.uint64(y) * across
                        if stride[1] == 1:
                            for x in range(across):
                                canvas[to + x] += column[at + x]
                        else:
                            for x in range(across):
                                canvas[to + x * step] += column[at + x]
            image = images[i, c].reshape(-1)
            for y in range(from_row, to_row):
                at = np.uint64((y + before[0] - top) * wide + before[1])
                to = np.uint64(y * width)
                for x in range(inside):
                    image[to + x] += canvas[at + x]


def take_results_in_numpy(
    product: Any, bias: Any, results: Any, first: int, rows: int
) -> None:
    """The same in plain NumPy."""
    number, outputs, _, across = results.shape
    each = product.reshape(outputs, number, rows, -1)[..., :across]
    with np.errstate(all="ignore"):
        results[:, :, first : first + rows] = each.swapaxes(0, 1) + bias[:, None, None]


@kernel(take_results_in_numpy)
def take_results(product: Any, bias: Any, results: Any, first: int, rows: int) -> None:
    """Each result at its place, plus the bias of its channel."""
    number, outputs, _, across = results.shape
    wide = np.uint64(product.shape[1] // (number * rows))
    inside = np.uint64(across)
    for c in range(outputs):
        source, shift = product[c], bias[c]
        at = np.uint64(0)
        for i in range(number):
            target = results[i, c].reshape(-1)
            to = np.uint64(first * across)
            for _ in range(rows):
                for x in range(inside):
                    target[to + x] = source[at + x] + shift
                at += wide
                to += inside


def turned_in_numpy(matrix: Any) -> Any:
    """The same in plain NumPy."""
    return np.ascontiguousarray(matrix.T)


@kernel(turned_in_numpy, lambda matrix: (np.empty(matrix.shape[::-1], matrix.dtype),))
def turned(matrix: Any, output: Any) -> None:
    """Rows and columns exchanged, eight rows at a time: so they stay in the cache."""
    # Numbers without a sign: no index is counted from the end.
    rows, columns = np.uint64(matrix.shape[0]), np.uint64(matrix.shape[1])
    source, target = matrix.reshape(-1), output.reshape(-1)
    together = np.uint64(8)
    whole = rows // together * together
    for first in range(np.uint64(0), whole, together):
        for column in range(columns):
            for more in range(8):
                row = first + np.uint64(more)
                target[column * rows + row] = source[row * columns + column]
    for last in range(whole, rows):
        for column in range(columns):
            target[column * rows + last] = source[last * columns + column]


def woven(images: Any) -> Any:
    """All images as one: the same element of each next to that of the others."""
    number, channels, height, width = images.shape
    one = turned(images.reshape(number, channels * height * width))
    return one.reshape(1, channels, height, width * number)


def unwoven(image: Any, number: int) -> Any:
    """The images that were woven into one."""
    _, channels, height, width = image.shape
    each = turned(image.reshape(-1, number))
    return each.reshape(number, channels, height, width // number)


def convolve(images: Any, weight: Any, bias: Any, sliding: Sliding) -> Any:
    """Each kernel's product with what it sees of each image at each place.

    Shape: (number, channels, height, width) and (outputs, channels / groups, kernel
    height, kernel width) give (number, outputs, places down, places across).
    """
    images, weight = in_order(images), in_order(weight)
    outputs, _, *sizes = weight.shape
    number, channels, *lengths = images.shape
    if sliding.weaves(number, lengths, sizes, NARROW):
        one = convolve(woven(images), weight, bias, sliding.woven(number))
        return unwoven(one, number)
    groups = sliding.groups
    padded = sliding.padded(lengths)
    down, across = sliding.places(lengths, sizes)
    wide = across
    if sliding.stride == (1, 1):
        # One row's zeros on the right are those of the next row on the left.
        between = max(sliding.before[1], sliding.after[1])
        padded = padded[0], max(lengths[1] + between, across)
        wide = padded[1]
    results = np.empty((number, outputs, down, across), images.dtype)
    matrix = as_matrices(weight, groups)
    height = channels * sizes[0] * sizes[1]
    shift = np.zeros(outputs, images.dtype) if bias is None else in_order(bias)
    for some, first, rows in parts(number, down, height * wide):
        inside = images[some]
        width = len(inside) * rows * wide
        columns = scratch.array("columns", images.dtype, height, width)
        steps = first, sliding.stride, sliding.before, sliding.dilation
        fill_columns(inside, columns, padded, tuple(sizes), (rows, wide), *steps)
        product = scratch.array("product", images.dtype, outputs, width)
        np.matmul(matrix, grouped(columns, groups), out=grouped(product, groups))
        take_results(product, shift, results[some], first, rows)
    return results


def grouped(matrix: Any, groups: int) -> Any:
    """The rows of each group as a matrix of its own."""
    rows, width = matrix.shape
    return matrix.reshape(groups, rows // groups, width)


def as_matrices(weight: Any, groups: int) -> Any:
    """A matrix for each group: a row for each output."""
    outputs, *inner = weight.shape
    return weight.reshape(groups, outputs // groups, math.prod(inner))


def side_by_side(grad: Any, groups: int) -> Any:
    """(number, outputs, down, across) as a matrix for each group: outputs, places."""
    number, outputs, down, across = grad.shape
    rows = scratch.array("grad", grad.dtype, outputs, number, down, across)
    np.copyto(rows, grad.swapaxes(0, 1))
    return grouped(rows.reshape(outputs, number * down * across), groups)


def convolve_images(grad: Any, weight: Any, lengths: Pair, sliding: Sliding) -> Any:
    """What ``convolve`` sends back to its images, of these heights and widths."""
    grad, weight = in_order(grad), in_order(weight)
    _, inner, *sizes = weight.shape
    number, _, down, across = grad.shape
    if sliding.weaves(number, lengths, sizes, NARROW_BACKWARD):
        wide = lengths[0], lengths[1] * number
        return unwoven(
            convolve_images(woven(grad), weight, wide, sliding.woven(number)), number
        )
    groups = sliding.groups
    channels = inner * groups
    images = np.zeros((number, channels, *lengths), grad.dtype)
    turned = as_matrices(weight, groups).swapaxes(1, 2)
    height = channels * sizes[0] * sizes[1]
    padded = sliding.padded(lengths)
    for some, first, rows in parts(number, down, height * across):
        given = side_by_side(grad[some, :, first : first + rows], groups)
        columns = scratch.array("columns", grad.dtype, height, given.shape[2])
        np.matmul(turned, given, out=grouped(columns, groups))
        steps = first, sliding.stride, sliding.before, sliding.dilation
        add_columns(images[some], columns, padded, tuple(sizes), (rows, across), *steps)
    return images


def convolve_weight(grad: Any, images: Any, sizes: Pair, sliding: Sliding) -> Any:
    """What ``convolve`` sends back to its weight, of these kernel sizes."""
    grad, images = in_order(grad), in_order(images)
    number, outputs, down, across = grad.shape
    _, channels, *lengths = images.shape
    if sliding.weaves(number, lengths, sizes, NARROW_BACKWARD):
        both = woven(grad), woven(images)
        return convolve_weight(*both, sizes, sliding.woven(number))
    groups = sliding.groups
    inner = channels // groups
    height = channels * sizes[0] * sizes[1]
    padded = sliding.padded(lengths)
    total = np.zeros((groups, height // groups, outputs // groups), grad.dtype)
    for some, first, rows in parts(number, down, height * across):
        inside = images[some]
        width = len(inside) * rows * across
        columns = scratch.array("columns", grad.dtype, height, width)
        steps = first, sliding.stride, sliding.before, sliding.dilation
        fill_columns(inside, columns, padded, tuple(sizes), (rows, across), *steps)
        given = side_by_side(grad[some, :, first : first + rows], groups)
        # The long side first: BLAS is a third faster so than the other way round.
        total += grouped(columns, groups) @ given.swapaxes(1, 2)
    return total.swapaxes(1, 2).reshape(outputs, inner, *sizes)
