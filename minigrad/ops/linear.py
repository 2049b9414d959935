"""A linear layer: one operation where torch's graph has two or three."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.structural import total
from minigrad.ops._registry import op
from minigrad.ops.elementwise import product_rule
from minigrad.ops.linalg import (
    Matmul,
    are_two_matrices,
    keep_factors,
    plus,
    product_name,
    rows_of,
)
from minigrad.ops.shape import reshaped

ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
WEIGHT = [[0.5, -1.0, 2.0], [0.0, 1.0, 1.0]]


def layer_name(bias: Tensor | None, input: Tensor, weight: Tensor) -> str:
    """The name of the node that torch records last.

    The nodes before it, that of the transposed weight and those that change shapes,
    are not there.
    """
    if bias is None:
        return product_name(input, weight)
    array = input.array if isinstance(input, Tensor) else np.empty(0)
    if array.ndim == 2:
        return "AddmmBackward0"
    return "ViewBackward0" if array.flags.c_contiguous else "AddBackward0"


def bias_first(
    input: Tensor, weight: Tensor, bias: Tensor | None = None
) -> tuple[Any, ...]:
    """The arguments in the order in which torch's node sends their gradients."""
    return bias, input, weight


@op(
    "linear",
    node_name=layer_name,
    reference=lambda x, weight, bias=0.0: np.matmul(x, np.transpose(weight)) + bias,
    samples=[
        (ROWS, WEIGHT, [1.0, -2.0]),
        (ROWS, WEIGHT),
        ([ROWS, ROWS], WEIGHT, [1.0, -2.0]),
        (ROWS[0], WEIGHT, [1.0, -2.0]),
    ],
    arguments=bias_first,
    public=False,
)
class Linear(Builtin):
    """input @ weight^T + bias, along the last dimension of ``input``.

    Shape: (..., in) and (out, in), with a bias of (out) or None, give (..., out).
    Saves: ``input`` and ``weight``, each if the other needs a gradient.
    Raises: ShapeError if the inner lengths differ.
    """

    tangent_names_operands = True
    tangent_names_from = 1

    operands = 3
    numbers_have_edges = False
    saved_names = ("input", "weight")

    @staticmethod
    def forward(bias: Array | None, input: Array, weight: Array) -> Any:
        across = weight.T
        if are_two_matrices(input, across):
            product = np.matmul(input, across)
        else:
            product = Matmul.forward(input, across)
        return product if bias is None else plus(bias, product)

    setup_context = staticmethod(keep_factors)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        # Each was kept only if the other needs a gradient.
        input, weight = ctx.saved_values
        into_input = into_weight = None
        rows = grad if grad.ndim == 2 else rows_of(grad)
        if weight is not None:
            into_input = rows @ weight
            if rows is not grad:
                shape = *grad.shape[:-1], weight.shape[-1]
                into_input = reshaped(into_input, shape)
        if input is not None:
            into_weight = rows.T @ (input if input.ndim == 2 else rows_of(input))
        return grad, into_input, into_weight

    @staticmethod
    def jvp(ctx: Any, t_bias: Any, t_input: Any, t_weight: Any) -> Any:
        apply, factors = functools.partial(Linear.apply, None), ctx.saved_values
        products = product_rule(apply, factors, (t_input, t_weight))
        return products if t_bias is None else total(t_bias, products)

    @staticmethod
    def vmap(
        info: Any, in_dims: Any, bias: Tensor | None, input: Tensor, weight: Tensor
    ) -> Any:
        """The layer on every example, each of which may have its own weight."""
        bias_dim, input_dim, weight_dim = in_dims
        if bias_dim is None and weight_dim is None:
            return Linear.apply(bias, input, weight), 0
        one_shape = input.shape if input_dim is None else input.shape[1:]
        batch = () if input_dim is None else (info.batch_size,)
        rows = input.reshape(*batch, one_shape[:-1].numel(), one_shape[-1])
        product = rows @ weight.transpose(-1, -2)
        if bias is not None:
            product = product + (bias if bias_dim is None else bias.unsqueeze(1))
        return product.reshape(info.batch_size, *one_shape[:-1], weight.shape[-2]), 0
