"""The layers as functions, which keep no parameters: ``import ... as F``."""

from __future__ import annotations

import warnings
from typing import Any

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.inplace import apply_in_place
from minigrad.engine.interpreters import dispatched
from minigrad.nn.loss_functions import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from minigrad.ops import attention, functions
from minigrad.ops._registry import OPS
from minigrad.ops.activations import Elu, Gelu, LeakyRelu, Silu
from minigrad.ops.elementwise import Relu
from minigrad.ops.embedding import Dropout, drawn_seed
from minigrad.ops.functions import conv1d, conv2d, sigmoid, softplus, tanh
from minigrad.ops.linear import Linear
from minigrad.ops.pooling import MaxPool, of_maxima

__all__ = [
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "huber_loss",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "relu",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "tanh",
]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight^T + bias.

    Shape: (..., in), (out, in) and (out) give (..., out).
    See: torch ``nn.functional.linear``.
    """
    result: Tensor
    if weight.ndim == 2:
        result = Linear.apply(bias, input, weight)
    else:
        result = functions.matmul(input, functions.t(weight))
        result = result if bias is None else result + bias
    return result


def applied(operation: type[Builtin], inplace: bool, *values: Any) -> Tensor:
    """The operation on ``values``; its result in the place of the first if asked."""
    if inplace:
        return apply_in_place(operation, *values)
    result: Tensor = operation.apply(*values)
    return result


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0), elementwise.

    See: torch ``nn.functional.relu``.

    >>> minigrad.nn.functional.relu(minigrad.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return applied(Relu, True, input) if inplace else functions.relu(input)


def leaky_relu(
    input: Tensor, negative_slope: float = 0.01, inplace: bool = False
) -> Tensor:
    """The input; where it is negative, times ``negative_slope``.

    See: torch ``nn.functional.leaky_relu``.

    >>> minigrad.nn.functional.leaky_relu(minigrad.tensor([-1.0, 2.0]), 0.1)
    tensor([-0.1000,  2.0000])
    """
    return applied(LeakyRelu, inplace, input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The input; where it is negative, ``alpha * (e**input - 1)``.

    See: torch ``nn.functional.elu``.

    >>> minigrad.nn.functional.elu(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return applied(Elu, inplace, input, alpha)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """The input times its sigmoid, elementwise: a relu without the corner.

    See: torch ``nn.functional.silu``.

    >>> minigrad.nn.functional.silu(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    return applied(Silu, inplace, input)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """The input times the probability that a normal number is smaller.

    ``approximate="tanh"`` computes that probability from a tanh.
    Raises: OperandError for another approximation.
    See: torch ``nn.functional.gelu``.

    >>> minigrad.nn.functional.gelu(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    return applied(Gelu, False, input, approximate)


def layer_norm(
    input: Tensor,
    normalized_shape: tuple[int, ...] | list[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """The last dimensions with mean 0 and variance 1, times weight plus bias.

    Raises: ShapeError unless ``normalized_shape`` is the end of the input's shape.
    See: torch ``nn.functional.layer_norm``.

    >>> minigrad.nn.functional.layer_norm(minigrad.tensor([[1.0, 3.0]]), (2,))
    tensor([[-1.0000,  1.0000]])
    """
    result: Tensor = functions.layer_norm(input, normalized_shape, weight, bias, eps)
    return result


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Each channel with mean 0 and variance 1, times weight plus bias.

    In ``training`` by the numbers of this batch, towards which the running ones move by
    ``momentum``; else by the running ones.
    Shape: (batch, channels, ...).
    Raises: ArgumentValueError for one number in a channel; ShapeError.
    See: torch ``nn.functional.batch_norm``.

    >>> x = minigrad.tensor([[1.0], [3.0]])
    >>> minigrad.nn.functional.batch_norm(x, None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    if training and input.numel() == input.shape[1:2].numel():
        raise errors.ArgumentValueError.at(
            "batch_norm",
            "Expected more than 1 value per channel when training, got input size "
            f"{input.shape}",
            "give a larger batch, or call eval() first",
        )
    if training and eps <= 0:
        raise errors.ArgumentValueError.at(
            "batch_norm",
            f"batch_norm eps must be positive during training, but got {eps}",
            "it keeps the division finite: give a small number",
        )
    if training and running_mean is not None:
        update_statistics(input)
    statistics = running_mean, running_var, training, momentum, eps
    result: Tensor = functions.batch_norm(input, weight, bias, *statistics)
    return result


@dispatched("update_statistics")
def update_statistics(input: Tensor) -> None:
    """Whether ``input`` may update running statistics; under vmap, no example may."""


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Each element 0 with probability ``p``, else times 1 / (1 - p).

    Without ``training`` the input as it is. What is dropped follows from
    ``minigrad.manual_seed``.
    Raises: ArgumentValueError unless ``p`` is a probability.
    See: torch ``nn.functional.dropout``.

    >>> F = minigrad.nn.functional
    >>> sorted(set(F.dropout(minigrad.ones(100), 0.75).tolist()))
    [0.0, 4.0]
    """
    check_probability(p)
    if inplace and training and 0 < p < 1:
        return apply_in_place(Dropout, input, p, drawn_seed())
    result: Tensor = functions.dropout(input, p, training)
    return input.copy_(result) if inplace and training and p == 1 else result


def check_probability(p: float) -> None:
    """Refuse a number that is no probability.

    Raises: ArgumentValueError.
    """
    if not 0 <= p <= 1:
        raise errors.ArgumentValueError.at(
            "dropout",
            f"dropout probability has to be between 0 and 1, but got {p}",
            "give a probability",
        )


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """The row of ``weight`` for each number in ``input``.

    The row ``padding_idx`` gets no gradient; -1 is the last one.
    Raises: ArgumentAssertionError for padding that is not in the table; IndexingError
    for numbers that are not.
    See: torch ``nn.functional.embedding``.

    >>> table = minigrad.tensor([[0.0, 0.5], [1.0, 1.5]])
    >>> minigrad.nn.functional.embedding(minigrad.tensor([1, 0]), table)
    tensor([[1.0000, 1.5000],
            [0.0000, 0.5000]])
    """
    padding = -1
    if padding_idx is not None:
        padding = padding_in(len(weight), padding_idx)
    result: Tensor = functions.embedding(weight, input, padding)
    return result


def padding_in(length: int, padding_idx: int) -> int:
    """The number of the padding row, counted from the front.

    Raises: ArgumentAssertionError.
    """
    if not -length <= padding_idx < length:
        raise errors.ArgumentAssertionError.at(
            "embedding",
            "Padding_idx must be within num_embeddings",
            f"give a number from {-length} to {length - 1}",
        )
    return padding_idx % length


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest element of each window of the images; if asked, also their places.

    These count the elements of one image, row after row. With ``ceil_mode`` the last
    windows may hang over.
    Shape: (number, channels, height, width), or without the number.
    Raises: ShapeError; ArgumentTypeError.
    See: torch ``nn.functional.max_pool2d``.

    >>> x = minigrad.tensor([[[1.0, 5.0, 3.0], [4.0, -2.0, 6.0]]])
    >>> minigrad.nn.functional.max_pool2d(x, 2, stride=1, return_indices=True)
    (tensor([[[5., 6.]]]), tensor([[[1, 5]]]))
    """
    options = stride, padding, dilation, ceil_mode
    outputs = MaxPool.apply(*of_maxima(input, kernel_size, *options))
    return outputs if return_indices else outputs[0]


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of the images.

    Padding counts as zeros, unless ``count_include_pad`` is False;
    ``divisor_override`` stands in place of the number of elements.
    Shape: (number, channels, height, width), or without the number.
    Raises: DimensionError; ShapeError; ArgumentTypeError.
    See: torch ``nn.functional.avg_pool2d``.

    >>> x = minigrad.tensor([[[1.0, 5.0, 3.0], [4.0, -2.0, 6.0]]])
    >>> minigrad.nn.functional.avg_pool2d(x, 2, stride=1)
    tensor([[[2., 3.]]])
    """
    options = stride, padding, ceil_mode, count_include_pad, divisor_override
    result: Tensor = OPS["avg_pool2d"].call(input, kernel_size, *options)
    return result


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """For each query the mean of the values, weighted by how well its key fits.

    The weights are softmax(query @ key^T * scale), where the scale is 1 / sqrt(width)
    unless it is given. A mask of bools says which keys a query sees, one of numbers is
    added; ``is_causal`` hides the keys behind each query. Who sees nothing gets 0.
    Shape: (..., queries, width), (..., keys, width) and (..., keys, out) give (...,
    queries, out).
    Raises: ShapeError; OperandError; UnsupportedOptionError for ``enable_gqa``.
    See: torch ``nn.functional.scaled_dot_product_attention``.

    >>> x = minigrad.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> F = minigrad.nn.functional
    >>> F.scaled_dot_product_attention(x, x, x, is_causal=True, scale=1.0)
    tensor([[1.0000, 0.0000],
            [0.2689, 0.7311]])
    """
    if enable_gqa:
        raise errors.UnsupportedOptionError.at(
            "scaled_dot_product_attention",
            "enable_gqa is not there: keys have as many heads as queries",
            "repeat the heads of the keys and values",
        )
    attend = attention.scaled_dot_product_attention
    options = attn_mask, dropout_p, is_causal, scale
    result: Tensor = attend(query, key, value, *options)
    return result


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """e**input over their sum along ``dim``.

    Without ``dim`` a warning, and the first or the second dimension, as in torch.
    See: torch ``nn.functional.softmax``.

    >>> minigrad.nn.functional.softmax(minigrad.zeros(4), dim=0)
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    return functions.softmax(input, named_dim("softmax", input, dim), dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """The logarithm of ``softmax``, exact also where that is nearly 0.

    See: torch ``nn.functional.log_softmax``.

    >>> minigrad.nn.functional.log_softmax(minigrad.zeros(4), dim=0)
    tensor([-1.3863, -1.3863, -1.3863, -1.3863])
    """
    where = named_dim("log_softmax", input, dim)
    return functions.log_softmax(input, where, dtype=dtype)


def named_dim(where: str, input: Tensor, dim: int | None) -> int:
    """The dimension that was named, or after a warning the one that torch takes."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {where} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        UserWarning,
        stacklevel=3,
    )
    return 0 if input.ndim in (0, 1, 3) else 1
