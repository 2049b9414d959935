"""conv1d and conv2d: kernels that slide over sequences and images."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from minigrad import errors, kernels
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.creation import check_is_tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.examples import all_batched
from minigrad.engine.structural import total
from minigrad.ops._refusals import scalar_type
from minigrad.ops._registry import composite, recorded_as
from minigrad.ops.elementwise import product_rule
from minigrad.ops.reduce import Sum
from minigrad.ops.shape import reshaped

IMAGE = [
    [[1.0, 5.0, 3.0, 0.5], [4.0, -2.0, 6.0, 1.0], [0.0, 2.0, -1.0, 3.0]],
    [[-1.0, 0.5, 2.0, 1.5], [2.5, 0.0, 1.0, -3.0], [1.0, -0.5, 0.2, 2.0]],
]
KERNELS = [
    [[[1.0, -0.5], [0.3, 2.0]], [[0.0, 1.5], [-1.0, 0.7]]],
    [[[0.2, 1.0], [-2.0, 0.4]], [[1.1, -0.6], [0.9, 0.1]]],
]
THIN = [[[[1.0, -0.5, 0.3]]], [[[2.0, 0.1, -1.0]]]]
SEQUENCES = [[[1.0, 5.0, 3.0, 0.5, -1.0], [4.0, -2.0, 6.0, 1.0, 2.0]]]
SHORT = [[[1.0, -0.5], [0.3, 2.0]], [[0.0, 1.5], [-1.0, 0.7]]]
BIAS = [0.5, -1.0]


@recorded_as("ConvolutionBackward0")
class Convolution(Builtin):
    """Each kernel's product with what it sees at each place, plus its bias.

    Its two slopes, ``ImageSlope`` and ``KernelSlope``, are linear in both of their
    inputs as well, and the slopes of each of the three are the other two.
    """

    saved_names = ("input", "weight")

    @staticmethod
    @quietly
    def forward(input: Array, weight: Array, bias: Any, sliding: Any) -> Any:
        check_dtypes(input, weight, bias)
        images, kernel = with_height(input), with_height(weight)
        result = kernels.convolution.convolve(images, kernel, bias, sliding)
        return like_the_input(result, input)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        input, weight, _, ctx.sliding = inputs
        ctx.save_for_backward(input, weight)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        """In one call: more images; or, if the kernels differ, more groups."""
        input, weight, bias, sliding = inputs
        if in_dims[1] is None and in_dims[2] is None:
            result = Convolution.apply(merged(input, 0), weight, bias, sliding)
            return apart(result, 0, info.batch_size), 0
        images, kernel = all_batched(info.batch_size, in_dims[:2], (input, weight))
        if bias is not None:
            (bias,) = all_batched(info.batch_size, in_dims[2:3], (bias,))
            bias = merged(bias, 0)
        groups = of_all(sliding, info.batch_size)
        result = Convolution.apply(merged(images, 1), merged(kernel, 0), bias, groups)
        return apart(result, 1, info.batch_size), 1

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        input, weight = ctx.saved_values
        needs = ctx.needs_input_grad
        lengths, sizes = tuple(input.shape[2:]), tuple(weight.shape[2:])
        into_bias = None
        if needs[2]:
            # Images first: they are added as they lie, row after row.
            each = Sum.of(grad, 0, False, None)
            into_bias = Sum.of(each, tuple(range(1, grad.ndim - 1)), False, None)
        return (
            ImageSlope.of(grad, weight, lengths, ctx.sliding) if needs[0] else None,
            KernelSlope.of(grad, input, sizes, ctx.sliding) if needs[1] else None,
            into_bias,
            None,
        )

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_weight: Any, t_bias: Any, *more: Any) -> Any:
        input, weight = ctx.saved_values
        options = None, ctx.sliding
        two = t_input, t_weight
        moved = product_rule(Convolution.apply, (input, weight), two, *options)
        if t_bias is not None:
            moved = total(moved, reshaped(t_bias, (-1, *(1,) * (input.ndim - 2))))
        return moved


class Slope(Builtin):
    """A gradient of a convolution: linear in each of its first two inputs."""

    one_by_one = True
    kernel: ClassVar[str]
    """The function that computes it, in ``kernels.convolution``."""

    @classmethod
    @quietly
    def forward(cls, grad: Array, other: Array, lengths: Any, sliding: Any) -> Any:
        compute = getattr(kernels.convolution, cls.kernel)
        both = with_height(grad), with_height(other)
        return like_the_input(compute(*both, (1, *lengths)[-2:], sliding), grad)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        first, second, *ctx.options = inputs
        ctx.save_for_backward(first, second)

    @classmethod
    def jvp(cls, ctx: Any, *tangents: Any) -> Any:
        factors = ctx.saved_values
        return product_rule(cls.apply, factors, tangents[:2], *ctx.options)


class ImageSlope(Slope):
    """The gradient of the images: each kernel, weighted, at each place it was at."""

    kernel = "convolve_images"

    @staticmethod
    def vmap(info: Any, in_dims: Any, grad: Any, weight: Any, *options: Any) -> Any:
        """In one call, as in ``Convolution``."""
        lengths, sliding = options
        if in_dims[1] is None:
            result = ImageSlope.apply(merged(grad, 0), weight, lengths, sliding)
            return apart(result, 0, info.batch_size), 0
        grad, weight = all_batched(info.batch_size, in_dims[:2], (grad, weight))
        groups = of_all(sliding, info.batch_size)
        result = ImageSlope.apply(merged(grad, 1), merged(weight, 0), lengths, groups)
        return apart(result, 1, info.batch_size), 1

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        given, weight = ctx.saved_values
        sizes, sliding = tuple(weight.shape[2:]), ctx.options[1]
        needs = ctx.needs_input_grad
        return (
            Convolution.of(grad, weight, None, sliding) if needs[0] else None,
            KernelSlope.of(given, grad, sizes, sliding) if needs[1] else None,
            None,
            None,
        )


class KernelSlope(Slope):
    """The gradient of the kernels: what each saw, weighted, at each of its places."""

    kernel = "convolve_weight"

    @staticmethod
    def vmap(info: Any, in_dims: Any, grad: Any, input: Any, *options: Any) -> Any:
        """In one call: more groups."""
        sizes, sliding = options
        grad, input = all_batched(info.batch_size, in_dims[:2], (grad, input))
        groups = of_all(sliding, info.batch_size)
        result = KernelSlope.apply(merged(grad, 1), merged(input, 1), sizes, groups)
        return apart(result, 0, info.batch_size), 0

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        given, input = ctx.saved_values
        lengths, sliding = tuple(input.shape[2:]), ctx.options[1]
        needs = ctx.needs_input_grad
        return (
            Convolution.of(input, grad, None, sliding) if needs[0] else None,
            ImageSlope.of(given, grad, lengths, sliding) if needs[1] else None,
            None,
            None,
        )


def check_dtypes(input: Array, weight: Array, bias: Any) -> None:
    """Refuse kernels, or a bias, of another dtype than the input.

    Raises: OperandError.
    """
    others = weight, input if bias is None else bias
    names = [scalar_type(one) for one in (input, *others)]
    what = ""
    if names[0] != names[1]:
        what = f"expected scalar type {names[0]} but found {names[1]}"
    elif names[0] != names[2]:
        kinds = names[0].lower(), names[2].lower()
        what = f"Input type ({kinds[0]}) and bias type ({kinds[1]}) should be the same"
    if what:
        raise errors.OperandError.at(
            "convolution", what, "convert: weight.to(input.dtype)"
        )


def with_height(array: Array) -> Array:
    """Sequences as images of one row; images as they are."""
    return array[:, :, None] if array.ndim == 3 else array


def like_the_input(result: Array, input: Array) -> Array:
    """A result without the height that its input did not have."""
    if input.ndim == 4:
        return result
    return result.reshape(*result.shape[:2], result.shape[3])


def merged(batch: Tensor, dim: int) -> Tensor:
    """The examples, at the front, become part of a dimension of each example."""
    ordered = batch.transpose(0, 1) if dim else batch
    shape = list(ordered.shape)
    shape[dim : dim + 2] = [shape[dim] * shape[dim + 1]]
    result: Tensor = ordered.reshape(shape)
    return result


def apart(whole: Tensor, dim: int, size: int) -> Tensor:
    """The examples in ``dim`` once more in a dimension of their own, before it."""
    shape = list(whole.shape)
    shape[dim : dim + 1] = [size, shape[dim] // size]
    result: Tensor = whole.reshape(shape)
    return result


def of_all(sliding: Any, size: int) -> Any:
    """The groups of all examples, side by side."""
    return sliding._replace(groups=sliding.groups * size)


def sizes_of(where: str, name: str, value: Any, number: int) -> tuple[int, ...]:
    """One whole number for each dimension; a single one is for all.

    Raises: ArgumentTypeError; ShapeError for another number of numbers.
    """
    many = isinstance(value, (tuple, list))
    given = tuple(value) if many else (value,)
    if not all([isinstance(one, (int, np.integer)) for one in given]):
        raise errors.ArgumentTypeError.at(
            where,
            f"{where}() received an invalid combination of arguments - got "
            f"{name}={value!r}",
            "give a whole number, or one for each dimension",
        )
    given = given * number if len(given) == 1 else given
    if len(given) != number:
        raise errors.ShapeError.at(
            where,
            f"expected {name} to be a single integer value or a list of {number} "
            f"values to match the convolution dimensions, but got {name}={list(given)}",
            f"give one number, or {number}",
        )
    return given


def padding_of(
    where: str, padding: Any, stride: Any, dilation: Any, sizes: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many zeros come before and after, in each dimension.

    Raises: ShapeError for a word that means nothing, or ``"same"`` with a stride.
    """
    if not isinstance(padding, str):
        zeros = sizes_of(where, "padding", padding, len(sizes))
        return zeros, zeros
    if padding not in ("same", "valid"):
        raise errors.ShapeError.at(
            where, f"Invalid padding string: '{padding}'", "write 'same' or 'valid'"
        )
    if padding == "valid":
        return (0,) * len(sizes), (0,) * len(sizes)
    if any([one != 1 for one in stride]):
        raise errors.ShapeError.at(
            where,
            "padding='same' is not supported for strided convolutions",
            "give the padding as numbers",
        )
    both = [far * (size - 1) for far, size in zip(dilation, sizes, strict=True)]
    before = tuple([one // 2 for one in both])
    after = tuple([one - one // 2 for one in both])
    return before, after


def check_fit(
    where: str, input: Tensor, weight: Tensor, bias: Any, sliding: Any
) -> None:
    """Refuse numbers, channels and lengths that make no convolution.

    Raises: ShapeError.
    """
    what, fix = "", "use whole numbers from 1 on"
    groups, shown = sliding.groups, list(weight.shape)
    lengths = (1, *input.shape[2:])[-2:]
    sizes = (1, *weight.shape[2:])[-2:]
    if min(sliding.before) < 0:
        what, fix = "negative padding is not supported", "use 0 for none"
    elif min(sliding.stride) < 1:
        what = "non-positive stride is not supported"
    elif min(sliding.dilation) < 1:
        what = "non-positive dilation is not supported"
    elif groups < 1:
        what = "non-positive groups is not supported"
    elif min(sizes) < 1:
        what = f"a kernel has no elements: weight of size {shown}"
    elif weight.shape[0] < groups:
        what = (
            f"Given groups={groups}, expected weight to be at least {groups} at "
            f"dimension 0, but got weight of size {shown} instead"
        )
        fix = "give each group a kernel"
    elif weight.shape[0] % groups:
        what = (
            f"Given groups={groups}, expected weight to be divisible by {groups} at "
            f"dimension 0, but got weight of size [{shown}] instead"
        )
        fix = "give each group as many kernels"
    elif input.shape[1] != weight.shape[1] * groups:
        what = (
            f"Given groups={groups}, weight of size {shown}, expected input"
            f"{list(input.shape)} to have {weight.shape[1] * groups} channels, but got "
            f"{input.shape[1]} channels instead"
        )
        fix = "dimension 1 of the weight is the channels of one group"
    elif bias is not None and tuple(bias.shape) != (weight.shape[0],):
        what = (
            f"Given weight of size {shown}, expected bias to be 1-dimensional with "
            f"{weight.shape[0]} elements, but got bias of size {list(bias.shape)} "
            "instead"
        )
        fix = "give one number for each kernel"
    elif min(sliding.places(lengths, sizes)) < 1:
        number = input.ndim - 2
        padded = " x ".join(map(str, sliding.padded(lengths)[-number:]))
        reach = [
            far * (size - 1) + 1
            for far, size in zip(sliding.dilation, sizes, strict=True)
        ]
        kernel = " x ".join(map(str, reach[-number:]))
        what = (
            f"Calculated padded input size per channel: ({padded}). Kernel size: "
            f"({kernel}). Kernel size can't be greater than actual input size"
        )
        fix = "give more padding, or a smaller kernel"
    if what:
        raise errors.ShapeError.at(where, what, fix)


def convolved(
    where: str,
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    options: tuple[Any, Any, Any, int],
) -> Tensor:
    """``conv1d`` or ``conv2d``, as ``dims`` says.

    Raises: ShapeError; ArgumentTypeError.
    """
    for value in (input, weight, *([] if bias is None else [bias])):
        check_is_tensor(value, where)
    if input.ndim not in (dims + 1, dims + 2):
        raise errors.ShapeError.at(
            where,
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to "
            f"{where}, but got input of size: {list(input.shape)}",
            "the dimensions are number (or none), channels, and lengths",
        )
    stride, padding, dilation, groups = options
    number = weight.ndim - 2
    steps = sizes_of(where, "stride", stride, dims)
    apart = sizes_of(where, "dilation", dilation, dims)
    if number != dims:
        sizes_of(where, "stride", steps, number)
    before, after = padding_of(where, padding, steps, apart, tuple(weight.shape[2:]))
    # A sequence is an image of one row.
    sliding = kernels.convolution.Sliding(
        (1, *steps)[-2:], (0, *before)[-2:], (0, *after)[-2:], (1, *apart)[-2:], groups
    )
    batch = input.unsqueeze(0) if input.ndim == dims + 1 else input
    check_fit(where, batch, weight, bias, sliding)
    result: Tensor = Convolution.apply(batch, weight, bias, sliding)
    return result.squeeze(0) if input.ndim == dims + 1 else result


def reference_convolution(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """In NumPy's words: one element of the kernels after the other."""
    x, weight = np.asarray(x), np.asarray(weight)
    dims = weight.ndim - 2
    if x.ndim == dims + 1:
        whole = reference_convolution(
            x[None], weight, bias, stride, padding, dilation, groups
        )
        return whole[0]
    steps, apart = np.broadcast_to(stride, dims), np.broadcast_to(dilation, dims)
    reach = apart * (np.array(weight.shape[2:]) - 1)
    zeros = [(0, 0), (0, 0)]
    if padding == "same":
        zeros += [(one // 2, one - one // 2) for one in reach]
    else:
        sides = 0 if padding == "valid" else padding
        zeros += [(one, one) for one in np.broadcast_to(sides, dims)]
    x = np.pad(x, zeros)
    places = (np.array(x.shape[2:]) - reach - 1) // steps + 1
    inside = x.reshape(len(x), groups, -1, *x.shape[2:])
    each = weight.reshape(groups, -1, *weight.shape[1:])
    result: Any = 0 if bias is None else np.reshape(bias, (-1, *(1,) * dims))
    for index in np.ndindex(*weight.shape[2:]):
        seen = tuple(
            [
                slice(far * i, far * i + step * number, step)
                for far, i, step, number in zip(
                    apart, index, steps, places, strict=True
                )
            ]
        )
        product = np.einsum(
            "ngc...,goc->ngo...", inside[(..., *seen)], each[(..., *index)]
        )
        result = result + product.reshape(len(x), -1, *places)
    return result


@composite(
    "conv1d",
    reference=reference_convolution,
    samples=[
        (SEQUENCES, SHORT, BIAS),
        (SEQUENCES, SHORT, None, 2, 1, 2),
        (SEQUENCES[0], [[[1.0, -0.5, 2.0]], [[0.3, 2.0, -1.0]]], BIAS, 1, "same", 1, 2),
    ],
    method=False,
)
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Each kernel's product with every stretch of the sequences, plus its bias.

    Shape: (number, channels, length) and (outputs, channels / groups, kernel length)
    give (number, outputs, places); one sequence may come without its number.
    Raises: ShapeError; ArgumentTypeError.
    See: ``conv2d``.

    >>> x = minigrad.tensor([[[1.0, 2.0, 4.0]]])
    >>> minigrad.conv1d(x, minigrad.tensor([[[1.0, -1.0]]]))
    tensor([[[-1., -2.]]])
    """
    options = stride, padding, dilation, groups
    return convolved("conv1d", 1, input, weight, bias, options)


@composite(
    "conv2d",
    reference=reference_convolution,
    samples=[
        ([IMAGE], KERNELS, BIAS),
        ([IMAGE], KERNELS, None, (2, 1), (0, 1), (1, 2)),
        ([IMAGE], THIN, BIAS, 1, "same", 1, 2),
        (IMAGE, KERNELS),
    ],
    method=False,
)
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Each kernel's product with what it sees at every place of the images.

    Around the images lie ``padding`` zeros, or as many as keep the size (``"same"``);
    ``groups`` of channels have kernels of their own.
    Shape: (number, channels, height, width) and (outputs, channels / groups, kernel
    height, kernel width) give (number, outputs, places down, places across); one image
    may come without its number.
    Raises: ShapeError; ArgumentTypeError; OperandError for two dtypes.

    >>> x = minigrad.tensor([[[[1.0, 2.0], [4.0, 8.0]]]])
    >>> minigrad.conv2d(x, minigrad.tensor([[[[1.0, -1.0]]]]))
    tensor([[[[-1.],
              [-4.]]]])
    """
    options = stride, padding, dilation, groups
    return convolved("conv2d", 2, input, weight, bias, options)
