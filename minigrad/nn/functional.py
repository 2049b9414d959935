"""The layers as functions, which keep no parameters: ``import ... as F``."""

from __future__ import annotations

import warnings
from typing import Any

from minigrad.engine.builtin import Builtin
from minigrad.engine.inplace import apply_in_place
from minigrad.engine.tensor import Tensor
from minigrad.nn.loss_functions import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from minigrad.ops import functions
from minigrad.ops.activations import Elu, Gelu, LeakyRelu, Silu
from minigrad.ops.elementwise import Relu
from minigrad.ops.functions import sigmoid, softplus, tanh

__all__ = [
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "elu",
    "gelu",
    "huber_loss",
    "l1_loss",
    "leaky_relu",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "relu",
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
    across = functions.t(weight)
    if bias is None:
        return functions.matmul(input, across)
    if input.ndim == 2:
        return functions.addmm(bias, input, across)
    return functions.matmul(input, across) + bias


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
    return applied(Relu, inplace, input)


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
