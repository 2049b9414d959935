"""layer_norm and batch_norm: values brought to mean 0 and variance 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import errors, kernels
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.examples import all_batched
from minigrad.engine.structural import total
from minigrad.kernels._jit import shaped
from minigrad.ops._refusals import check_kind
from minigrad.ops._registry import op
from minigrad.ops.losses import first, refuse_gradients
from minigrad.ops.reduce import Mean, Sum
from minigrad.ops.shape import reshaped
from minigrad.ops.smooth import Rsqrt

ROWS = [[[1.0, 5.0, 3.0], [4.0, -2.0, 6.0]], [[0.0, 2.0, 0.5], [1.0, 1.5, -3.0]]]
WEIGHT = [2.0, -0.5, 1.0]
BIAS = [0.1, 0.0, -2.0]
TABLE = [[1.5, 2.0], [0.5, -1.0], [3.0, 0.2]]
OTHERS = [[0.5, 1.0], [2.0, 2.5], [-3.0, 0.0]]
CHANNELS = [[1.0, 5.0, 3.0], [4.0, -2.0, 6.0], [0.5, 0.0, 1.0]]

Dims = tuple[int, ...]


def standardized(x: Any, dims: Dims, eps: float) -> tuple[Any, Any]:
    """``x`` with mean 0 and variance 1 over ``dims``; and 1 / its deviation."""
    centered = x - Mean.of(x, dims, True, None)
    rstd = Rsqrt.of(Mean.of(centered * centered, dims, True, None) + eps)
    return centered * rstd, rstd


def slope_of_standard(moved: Any, standard: Any, rstd: Any, dims: Dims) -> Any:
    """What ``standardized`` makes of a small change; also its transpose.

    A change that moves everything, or stretches everything, changes nothing.
    """
    level = Mean.of(moved, dims, True, None)
    stretch = Mean.of(moved * standard, dims, True, None)
    return (moved - level - standard * stretch) * rstd


def check_dtypes(kernel: str, input: Array, others: tuple[Any, ...], says: str) -> None:
    """Refuse integers, and parameters of another dtype than the input; ``says`` why.

    Raises: UnsupportedOptionError; OperandError.
    """
    check_kind(kernel, kernel, input.dtype)
    if any([one is not None and one.dtype != input.dtype for one in others]):
        raise errors.OperandError.at(
            kernel,
            f"mixed dtype (CPU): {says.format(input.dtype)}",
            f"convert: the input is {input.dtype}",
        )


def of_sizes(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> tuple[Any, ...]:
    """The arguments of ``layer_norm``, which fit together.

    Raises: ArgumentTypeError; ShapeError.
    """
    if not isinstance(normalized_shape, (tuple, list)):
        raise errors.ArgumentTypeError.at(
            "layer_norm()",
            "argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{type(normalized_shape).__name__}",
            "write the lengths of the last dimensions, for example (10,)",
        )
    sizes = tuple(normalized_shape)
    what = ""
    if not sizes:
        what = (
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing "
            "at least one element, but got normalized_shape = []"
        )
    elif tuple(input.shape[-len(sizes) :]) != sizes:
        starred = ", ".join(["*", *map(str, sizes)])
        what = (
            f"Given normalized_shape={list(sizes)}, expected input with shape "
            f"[{starred}], but got input of size{list(input.shape)}"
        )
    for name, value in {"weight": weight, "bias": bias}.items():
        if not what and value is not None and tuple(value.shape) != sizes:
            what = (
                f"Expected {name} to be of same shape as normalized_shape, but got "
                f"{name} of shape {list(value.shape)} and normalized_shape = "
                f"{list(sizes)}"
            )
    if what:
        raise errors.ShapeError.at(
            "layer_norm", what, "name the lengths of the last dimensions"
        )
    return input, sizes, weight, bias, eps


def reference_layer_norm(
    x: Any, sizes: Dims, weight: Any = 1.0, bias: Any = 0.0, eps: float = 1e-5
) -> Any:
    """In NumPy's words."""
    dims = tuple(range(-len(sizes), 0))
    x = np.asarray(x)
    spread = np.sqrt(x.var(dims, keepdims=True) + eps)
    return (x - x.mean(dims, keepdims=True)) / spread * weight + bias


def constants(outputs: tuple[Tensor, ...]) -> list[Tensor]:
    """Mean and spread, outside the graph: a rule that needs slopes takes the input."""
    return [Tensor(output.array) for output in outputs]


@op(
    "layer_norm",
    node_name="NativeLayerNormBackward0",
    reference=reference_layer_norm,
    samples=[
        (ROWS, (3,), WEIGHT, BIAS),
        (ROWS, (2, 3)),
        (ROWS, (3,), WEIGHT),
    ],
    arguments=of_sizes,
    returns=first,
    method=False,
)
class LayerNorm(Builtin):
    """The last dimensions with mean 0 and variance 1, times weight plus bias.

    Saves: the input, the weight, and the mean and 1 / deviation of each row.
    Raises: ShapeError unless ``normalized_shape`` is the end of the input's shape;
    OperandError for parameters of another dtype.

    >>> minigrad.layer_norm(minigrad.tensor([[1.0, 3.0], [50.0, 70.0]]), (2,))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """

    saved_names = ("bias", "input", "weight", "result1", "result2")
    one_by_one = True

    @classmethod
    def vmap(cls, info: Any, in_dims: Any, *values: Any) -> Any:
        """Every example in rows of its own, and times its own parameters."""
        input, sizes, weight, bias, eps = values
        if in_dims[2] is None and in_dims[3] is None:
            return cls.apply(*values), 0
        if weight is None or bias is None or weight.dtype != input.dtype:
            return NotImplemented
        input, weight, bias = all_batched(
            info.batch_size, (in_dims[0], *in_dims[2:4]), (input, weight, bias)
        )
        standard, mean, rstd = cls.apply(input, sizes, None, None, eps)
        lined = info.batch_size, *(1,) * (input.ndim - weight.ndim), *sizes
        result = standard * weight.reshape(lined) + bias.reshape(lined)
        return (result, mean, rstd), 0

    @staticmethod
    @quietly
    def forward(
        input: Array, sizes: Dims, weight: Any, bias: Any, eps: float
    ) -> tuple[Array, Array, Array]:
        check_dtypes(
            "LayerNormKernelImpl",
            input,
            (weight, bias),
            "expect parameter to have scalar type of {}",
        )
        outer = input.shape[: input.ndim - len(sizes)]
        rows = input.reshape(math.prod(outer), math.prod(sizes))
        scale = ones(rows, 1) if weight is None else weight.reshape(-1)
        shift = zeros(rows, 1) if bias is None else bias.reshape(-1)
        result, mean, rstd = kernels.normalization.layer_norm(rows, scale, shift, eps)
        kept = (*outer, *(1,) * len(sizes))
        values = shaped(result, input.shape)
        return values, mean.reshape(kept), rstd.reshape(kept)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        input, sizes, weight, bias, ctx.eps = inputs
        ctx.dims = tuple(range(-len(sizes), 0))
        ctx.save_for_backward(bias, input, weight, *constants(output[1:]))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        grad = grads[0]
        needs = ctx.needs_input_grad
        _, input, weight, mean, rstd = ctx.saved_values
        if isinstance(grad, Tensor):
            standard, rstd = standardized(input, ctx.dims, ctx.eps)
            weighted = grad if weight is None else grad * weight
            into_input = slope_of_standard(weighted, standard, rstd, ctx.dims)
            found = into_input, grad * standard, grad
        else:
            sizes = input.shape[input.ndim - len(ctx.dims) :]
            rows = input.reshape(mean.size, math.prod(sizes))
            scale = ones(rows, 1) if weight is None else weight.reshape(-1)
            into_input, into_weight, into_bias = (
                kernels.normalization.layer_norm_backward(
                    grad.reshape(rows.shape),
                    rows,
                    scale,
                    mean.reshape(-1),
                    rstd.reshape(-1),
                )
            )
            found = (
                shaped(into_input, input.shape),
                shaped(into_weight, sizes),
                shaped(into_bias, sizes),
            )
        return (
            found[0] if needs[0] else None,
            None,
            found[1] if needs[2] else None,
            found[2] if needs[3] else None,
            None,
        )

    @staticmethod
    def jvp(
        ctx: Any, t_input: Any, sizes: Any, t_weight: Any, t_bias: Any, e: Any
    ) -> Any:
        _, input, weight, *_ = ctx.saved_values
        standard, rstd = standardized(input, ctx.dims, ctx.eps)
        moved = t_bias
        if t_weight is not None:
            moved = total(moved, standard * t_weight)
        if t_input is not None:
            into = slope_of_standard(t_input, standard, rstd, ctx.dims)
            moved = total(moved, into if weight is None else into * weight)
        return moved, None, None


def ones(x: Array, dim: int) -> Array:
    """The weights that change nothing."""
    return np.ones(x.shape[dim], x.dtype)


def zeros(x: Array, dim: int) -> Array:
    """The bias that changes nothing."""
    return np.zeros(x.shape[dim], x.dtype)


def of_channels(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> tuple[Any, ...]:
    """The arguments of ``batch_norm``, which fit together.

    Raises: ShapeError; OperandError; DerivativeMissingError.
    """
    statistics = {"running_mean": running_mean, "running_var": running_var}
    refuse_gradients("native_batch_norm", **statistics)
    channels = input.shape[1] if input.ndim > 1 else 0
    for name, value in {**statistics, "weight": weight, "bias": bias}.items():
        if value is None and not training and name in statistics:
            raise errors.OperandError.at(
                "batch_norm",
                f"{name} must be defined in evaluation mode",
                "give the mean and the variance that were measured in training",
            )
        if value is not None and value.numel() != channels:
            raise errors.ShapeError.at(
                "batch_norm",
                f"{name} should contain {channels} elements not {value.numel()}",
                "channels are the second dimension: give one for each",
            )
    return input, weight, bias, running_mean, running_var, training, momentum, eps


def reference_batch_norm(
    x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, *more: Any
) -> Any:
    """In NumPy's words, in training."""
    x = np.asarray(x)
    dims, shape = over_channels(x.ndim)
    spread = np.sqrt(x.var(dims, keepdims=True) + more[1])
    standard = (x - x.mean(dims, keepdims=True)) / spread
    scale = 1 if weight is None else np.reshape(weight, shape)
    return standard * scale + (0 if bias is None else np.reshape(bias, shape))


def over_channels(ndim: int) -> tuple[Dims, Dims]:
    """All dimensions but that of the channels; the shape that lines them up."""
    return (0, *range(2, ndim)), (1, -1, *(1,) * (ndim - 2))


@op(
    "batch_norm",
    node_name="NativeBatchNormBackward0",
    reference=reference_batch_norm,
    samples=[
        ([TABLE, OTHERS], [2.0, -0.5, 1.0], BIAS, None, None, True, 0, 1, False),
        (CHANNELS, None, None, None, None, True, 0, 1, False),
    ],
    arguments=of_channels,
    returns=first,
    method=False,
)
class BatchNorm(Builtin):
    """Each channel, the second dimension, with mean 0 and variance 1 over the batch.

    In training the running statistics move by ``momentum`` towards those of the batch;
    else they take their place.
    Raises: ShapeError, OperandError, DerivativeMissingError.
    See: ``minigrad.nn.functional.batch_norm``, whose arguments are easier.
    """

    one_by_one = True
    without_edges = (3, 4)
    saved_names = (
        "input",
        "weight",
        "running_mean",
        "running_var",
        "result1",
        "result2",
    )

    @staticmethod
    @quietly
    def forward(
        input: Array,
        weight: Any,
        bias: Any,
        running_mean: Any,
        running_var: Any,
        training: bool,
        momentum: float,
        eps: float,
    ) -> tuple[Array, Array, Array]:
        others = weight, bias, running_mean, running_var
        says = "all inputs must share same datatype."
        check_dtypes("batch_norm", input, others, says)
        x = with_places(input)
        scale = ones(x, 1) if weight is None else weight
        shift = zeros(x, 1) if bias is None else bias
        if not training:
            scale = scale / np.sqrt(running_var + input.dtype.type(eps))
            shift = shift - running_mean * scale
            result = x * scale[:, None] + shift[:, None]
            nothing = np.zeros(0, input.dtype)
            return result.reshape(input.shape), nothing, nothing
        result, mean, var = kernels.normalization.batch_norm(x, scale, shift, eps)
        if running_mean is not None:
            towards(running_mean, mean, momentum)
        if running_var is not None:
            number = x.shape[0] * x.shape[2]
            towards(running_var, var * (number / (number - 1)), momentum)
        rstd = 1 / np.sqrt(var + input.dtype.type(eps))
        return shaped(result, input.shape), mean, rstd

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        input, weight, _, mean, var, ctx.training, _, ctx.eps = inputs
        ctx.save_for_backward(input, weight, mean, var, *constants(output[1:]))

    @staticmethod
    def standard(ctx: Any) -> tuple[Any, Any]:
        """The input before weight and bias, and 1 / deviation of each channel."""
        input, _, running_mean, running_var, *_ = ctx.saved_values
        dims, shape = over_channels(input.ndim)
        if ctx.training:
            return standardized(input, dims, ctx.eps)
        rstd = reshaped(Rsqrt.of(running_var + ctx.eps), shape)
        return (input - reshaped(running_mean, shape)) * rstd, rstd

    @staticmethod
    def slope(ctx: Any, moved: Any, standard: Any, rstd: Any) -> Any:
        """What becomes of a small change of the input, before the weight."""
        if not ctx.training:
            return moved * rstd
        return slope_of_standard(moved, standard, rstd, over_channels(moved.ndim)[0])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        grad = grads[0]
        needs = ctx.needs_input_grad
        input, weight, _, _, mean, rstd = ctx.saved_values
        if ctx.training and not isinstance(grad, Tensor):
            x = with_places(input)
            scale = ones(x, 1) if weight is None else weight
            into_input, into_weight, into_bias = (
                kernels.normalization.batch_norm_backward(
                    grad.reshape(x.shape), x, scale, mean, rstd
                )
            )
            into_input = shaped(into_input, input.shape)
        else:
            dims, shape = over_channels(input.ndim)
            standard, spread = BatchNorm.standard(ctx)
            weighted = grad if weight is None else grad * reshaped(weight, shape)
            into_input = BatchNorm.slope(ctx, weighted, standard, spread)
            into_weight = Sum.of(grad * standard, dims, False, None)
            into_bias = Sum.of(grad, dims, False, None)
        found = (
            into_input if needs[0] else None,
            into_weight if needs[1] else None,
            into_bias if needs[2] else None,
        )
        return *found, None, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_weight: Any, t_bias: Any, *more: Any) -> Any:
        input, weight, *_ = ctx.saved_values
        _, shape = over_channels(input.ndim)
        standard, rstd = BatchNorm.standard(ctx)
        moved = None if t_bias is None else reshaped(t_bias, shape)
        if t_weight is not None:
            moved = total(moved, standard * reshaped(t_weight, shape))
        if t_input is not None:
            into = BatchNorm.slope(ctx, t_input, standard, rstd)
            scaled = into if weight is None else into * reshaped(weight, shape)
            moved = total(moved, scaled)
        return moved, None, None


def with_places(x: Array) -> Array:
    """(batch, channel, ...) as (batch, channel, place)."""
    places = math.prod(x.shape[2:])
    return x.reshape(x.shape[0], x.shape[1], places)


def towards(running: Array, measured: Array, momentum: float) -> None:
    """Move a running statistic; as in torch, no version counts it."""
    running += (measured - running) * running.dtype.type(momentum)
