"""max_pool2d and avg_pool2d: windows that slide over images."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import errors, kernels
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.creation import check_is_tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.examples import all_batched
from minigrad.ops._refusals import check_kind
from minigrad.ops._registry import op
from minigrad.ops.losses import first

PLANES = [
    [[1.0, 5.0, 3.0, 0.5, 7.0], [4.0, -2.0, 6.0, 1.0, 8.0], [0.0, 2.0, -1.0, 9.0, 2.5]],
    [
        [-1.0, 0.5, 2.0, 1.5, 3.0],
        [2.5, 0.0, 1.0, -3.0, 4.0],
        [6.0, -0.5, 0.2, 5.0, 7.0],
    ],
]
Pair = tuple[int, int]
Windows = tuple[Pair, Pair, Pair, Pair, Pair]
"""Their sizes; how many there are, down and across; stride; padding; dilation."""


def pair(where: str, name: str, value: Any) -> Pair:
    """(down, across), from one whole number or two.

    Raises: ArgumentTypeError; ShapeError.
    """
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    for one in given:
        if not isinstance(one, (int, np.integer)):
            raise errors.ArgumentTypeError.at(
                f"{where}()",
                f"argument '{name}' must be tuple of ints, not {type(one).__name__}",
                "give one whole number, or two: down and across",
            )
    if len(given) not in (1, 2):
        must = {"stride": "either be omitted,", "dilation": "be either"}
        raise errors.ShapeError.at(
            where,
            f"{name} must {must.get(name, 'either be')} a single int, or a tuple "
            "of two ints",
            "the two are: down, across",
        )
    return given[0], given[-1]


def windows_of(
    where: str,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> Windows:
    """How windows lie on the images; with ``ceil_mode`` the last may hang over.

    Raises: ShapeError; ArgumentTypeError.
    """
    check_is_tensor(input, where)
    sizes = pair(where, "kernel_size", kernel_size)
    steps = sizes
    if stride is not None and stride not in ((), []):
        steps = pair(where, "stride", stride)
    before = pair(where, "padding", padding)
    apart = pair(where, "dilation", dilation)
    refuse(where, check_windows(sizes, steps, before, apart))
    height, width = input.shape[-2:]
    high = number_of_windows(height, sizes[0], steps[0], before[0], apart[0], ceil_mode)
    wide = number_of_windows(width, sizes[1], steps[1], before[1], apart[1], ceil_mode)
    if high < 1 or wide < 1:
        channels = input.shape[-3]
        refuse(
            where,
            f"Given input size: ({channels}x{height}x{width}). Calculated output size: "
            f"({channels}x{max(high, 0)}x{max(wide, 0)}). Output size is too small",
        )
    return sizes, (high, wide), steps, before, apart


def refuse(where: str, what: str) -> None:
    """Say what does not fit, if anything does not.

    Raises: ShapeError.
    """
    if what:
        raise errors.ShapeError.at(where, what, "use windows that fit into the images")


def check_windows(sizes: Pair, steps: Pair, before: Pair, apart: Pair) -> str:
    """What no windows can be like."""
    if 0 in steps:
        return "stride should not be zero"
    if min(sizes) < 1 or min(steps) < 1:
        return "kernel size and stride should be greater than zero"
    if min(apart) < 1:
        return (
            "dilation should be greater than zero, but got dilationH: "
            f"{apart[0]} dilationW: {apart[1]}"
        )
    for size, zeros, far in zip(sizes, before, apart, strict=True):
        if zeros < 0:
            return f"pad must be non-negative, but got pad: {zeros}"
        if zeros > (far * (size - 1) + 1) // 2:
            return (
                "pad should be at most half of effective kernel size, but got "
                f"pad={zeros}, kernel_size={size} and dilation={far}"
            )
    return ""


def number_of_windows(
    length: int, size: int, step: int, zeros: int, apart: int, ceil_mode: bool
) -> int:
    """How many fit along one dimension."""
    left = length + 2 * zeros - apart * (size - 1) - 1
    number = (left + (step - 1 if ceil_mode else 0)) // step + 1
    if ceil_mode and (number - 1) * step >= length + zeros:
        number -= 1  # it would begin behind the image
    return number


def of_maxima(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> tuple[Any, ...]:
    """The arguments of ``max_pool2d``, which fit together.

    Raises: ShapeError; ArgumentTypeError.
    """
    check_is_tensor(input, "max_pool2d")
    if input.ndim not in (3, 4):
        refuse(
            "max_pool2d",
            "non-empty 3D or 4D (batch mode) tensor expected for input, not "
            f"{input.ndim}D",
        )
    if 0 in input.shape[-3:]:
        refuse(
            "max_pool2d",
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(input.shape)}",
        )
    options = stride, padding, dilation, ceil_mode
    return input, windows_of("max_pool2d", input, kernel_size, *options)


def pooled_by_hand(
    pool: Callable[..., Any],
    fill: float,
    x: Any,
    size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    """The references: one window after the other; ``fill`` is around the images."""
    x = np.asarray(x)
    high, wide = np.broadcast_to(size, 2)
    down, across = np.broadcast_to(size if stride is None else stride, 2)
    top, left = np.broadcast_to(padding, 2)
    far, apart = np.broadcast_to(dilation, 2)
    rows = number_of_windows(x.shape[-2], high, down, top, far, ceil_mode)
    columns = number_of_windows(x.shape[-1], wide, across, left, apart, ceil_mode)
    around = [(0, 0)] * (x.ndim - 2) + [(top, top), (left, left)]
    x = np.pad(x, around, constant_values=fill)
    result = np.empty((*x.shape[:-2], rows, columns))
    for i, j in np.ndindex(rows, columns):
        y, z = i * down, j * across
        seen = x[..., y : y + far * high : far, z : z + apart * wide : apart]
        result[..., i, j] = pool(seen, (-2, -1))
    return result


class OnPlanes(Builtin):
    """An operation on each image by itself: those of all examples are more images."""

    @classmethod
    def vmap(cls, info: Any, in_dims: Any, *inputs: Any) -> Any:
        """The images of all examples; the tensors come first, and options behind."""
        tensors = tuple([value for value in inputs if isinstance(value, Tensor)])
        number = len(tensors)
        batched = all_batched(info.batch_size, in_dims[:number], tensors)
        return cls.apply(*batched, *inputs[number:]), 0


@op(
    "max_pool2d",
    node_name="MaxPool2DWithIndicesBackward0",
    reference=functools.partial(pooled_by_hand, np.max, -np.inf),
    samples=[
        (PLANES, 2),
        ([PLANES], (3, 2), (1, 2), (1, 0), 1, True),
        (PLANES, 2, 1, 1, (1, 2)),
    ],
    arguments=of_maxima,
    returns=first,
    method=False,
)
class MaxPool(OnPlanes):
    """The greatest element of each window; the first of equals gets the gradient.

    Shape: (number, channels, height, width), or without the number. The stride is
    ``kernel_size`` unless it is given; padding is never the greatest.
    Saves: the input, and where the greatest are.
    Raises: ShapeError; ArgumentTypeError; UnsupportedOptionError for bools.
    See: ``minigrad.nn.functional.max_pool2d``, which also returns where they are.

    >>> x = minigrad.tensor([[[1.0, 5.0, 3.0], [4.0, -2.0, 6.0]]])
    >>> minigrad.max_pool2d(x, 2, stride=1)
    tensor([[[5., 6.]]])
    """

    saved_names = ("self", "result1")

    @staticmethod
    @quietly
    def forward(input: Array, windows: Windows) -> tuple[Array, Array]:
        check_kind("max_pool2d", "max_pool2d", input.dtype, "iuf")
        outer = input.shape[:-2]
        planes = input.reshape(math.prod(outer), *input.shape[-2:])
        values, indices = kernels.pooling.max_pool(planes, *windows)
        shape = *outer, *windows[1]
        return values.reshape(shape), indices.reshape(shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.lengths = tuple(inputs[0].shape[-2:])
        ctx.save_for_backward(inputs[0], output[1])

    @staticmethod
    def backward(ctx: Any, grad: Any, grad_of_indices: Any = None) -> Any:
        _, indices = ctx.saved_values
        return Placed.of(grad, indices, ctx.lengths), None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        _, indices = ctx.saved_values
        return Picked.apply(tangent, indices), None


class Picked(OnPlanes):
    """The elements of images that the indices name."""

    linear = True
    without_edges = (1,)

    @staticmethod
    def forward(input: Array, indices: Array) -> Any:
        flat = input.reshape(*input.shape[:-2], -1)
        where = indices.reshape(*indices.shape[:-2], -1)
        return np.take_along_axis(flat, where, -1).reshape(indices.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.lengths = tuple(inputs[0].shape[-2:])
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (indices,) = ctx.saved_values
        return Placed.of(grad, indices, ctx.lengths), None


class Placed(OnPlanes):
    """Images of zeros with each value added where its index says."""

    linear = True
    without_edges = (1,)

    @staticmethod
    @quietly
    def forward(grad: Array, indices: Array, lengths: Pair) -> Any:
        outer = grad.shape[:-2]
        number = math.prod(outer)
        planes = np.zeros((number, lengths[0] * lengths[1]), grad.dtype)
        each = number, math.prod(grad.shape[-2:])
        where = np.ascontiguousarray(indices).reshape(each)
        kernels.pooling.add_at(planes, where, np.ascontiguousarray(grad).reshape(each))
        return planes.reshape(*outer, *lengths)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (indices,) = ctx.saved_values
        return Picked.of(grad, indices), None, None


def of_means(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> tuple[Any, ...]:
    """The arguments of ``avg_pool2d``, which fit together.

    Raises: DimensionError; ShapeError; ArgumentTypeError.
    """
    check_is_tensor(input, "avg_pool2d")
    if input.ndim not in (3, 4):
        most = max(input.ndim, 1)
        raise errors.DimensionError.at(
            "avg_pool2d",
            f"Dimension out of range (expected to be in range of [-{most}, "
            f"{most - 1}], but got -3); the input is {input.ndim}D",
            "the dimensions are number (or none), channels, height, width",
        )
    if divisor_override == 0:
        refuse("avg_pool2d", "divisor must be not zero")
    options = stride, padding, 1, ceil_mode
    windows = windows_of("avg_pool2d", input, kernel_size, *options)
    return input, windows, count_include_pad, divisor_override


def divisors(lengths: Any, windows: Windows, padding_counts: bool) -> Array:
    """How many elements each window has; what hangs over the padding never counts."""
    sizes, places, steps, before, _ = windows
    along = []
    for length, size, number, step, zeros in zip(
        lengths, sizes, places, steps, before, strict=True
    ):
        start = np.arange(number) * step - zeros
        end = np.minimum(start + size, length + zeros)
        if not padding_counts:
            start, end = np.maximum(start, 0), np.minimum(end, length)
        along.append(end - start)
    result: Array = along[0][:, None] * along[1]
    return result


def divided(
    sums: Array, lengths: Any, windows: Windows, counted: bool, divisor: int | None
) -> Any:
    """The means of windows; those of integers lose their fractions."""
    by: Any = divisor
    if divisor is None:
        by = divisors(lengths, windows, counted).astype(sums.dtype)
    if sums.dtype.kind == "f":
        return sums / by
    return np.sign(sums) * (np.abs(sums) // by)


def reference_avg_pool(
    x: Any,
    size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
) -> Any:
    """The sums of windows over how many elements they have."""
    options = size, stride, padding, 1, ceil_mode
    counted = pooled_by_hand(np.sum, count_include_pad, np.ones_like(x), *options)
    return pooled_by_hand(np.sum, 0, x, *options) / (divisor or counted)


@op(
    "avg_pool2d",
    node_name="AvgPool2DBackward0",
    reference=reference_avg_pool,
    samples=[
        (PLANES, 2),
        ([PLANES], (3, 2), (1, 2), (1, 1), True, False),
        (PLANES, 3, 2, 1, True),
        (PLANES, 2, 1, 0, False, True, 3),
    ],
    arguments=of_means,
    public=False,
)
class AvgPool(OnPlanes):
    """The mean of each window; padding counts as zeros.

    Raises: DimensionError, ShapeError, ArgumentTypeError.
    See: ``minigrad.nn.functional.avg_pool2d``.
    """

    linear = True
    saved_names = ("self",)

    @staticmethod
    @quietly
    def forward(
        input: Array, windows: Windows, counted: bool, divisor: int | None
    ) -> Any:
        canvas = around(input.shape, windows, input.dtype)
        canvas[within(input.shape, windows)] = input
        sums = np.zeros((*input.shape[:-2], *windows[1]), input.dtype)
        for seen in views(canvas, windows):
            sums += seen
        return divided(sums, input.shape[-2:], windows, counted, divisor)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        input, *ctx.options = inputs
        ctx.lengths = tuple(input.shape[-2:])
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return AvgSlope.of(grad, ctx.lengths, *ctx.options), None, None, None


class AvgSlope(OnPlanes):
    """To each element its share of the gradients of the windows that see it."""

    linear = True

    @staticmethod
    @quietly
    def forward(
        grad: Array,
        lengths: Pair,
        windows: Windows,
        counted: bool,
        divisor: int | None,
    ) -> Any:
        shape = *grad.shape[:-2], *lengths
        canvas = around(shape, windows, grad.dtype)
        shares = divided(grad, lengths, windows, counted, divisor)
        for seen in views(canvas, windows):
            seen += shares
        return np.ascontiguousarray(canvas[within(shape, windows)])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.options = inputs[2:]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return AvgPool.of(grad, *ctx.options), None, None, None, None


def around(shape: tuple[int, ...], windows: Windows, dtype: Any) -> Array:
    """Zeros in which images of this shape and all windows have room."""
    sizes, places, steps, before, _ = windows
    rooms = [
        max(zeros + length, (number - 1) * step + size)
        for length, size, number, step, zeros in zip(
            shape[-2:], sizes, places, steps, before, strict=True
        )
    ]
    return np.zeros((*shape[:-2], *rooms), dtype)


def within(shape: tuple[int, ...], windows: Windows) -> tuple[Any, ...]:
    """Where the images lie in what is around them."""
    top, left = windows[3]
    height, width = shape[-2:]
    return ..., slice(top, top + height), slice(left, left + width)


def views(canvas: Any, windows: Windows) -> list[Array]:
    """For each element of a window, that of all windows."""
    sizes, (down, across), (step, along), *_ = windows
    return [
        canvas[..., y : y + step * down : step, x : x + along * across : along]
        for y in range(sizes[0])
        for x in range(sizes[1])
    ]
