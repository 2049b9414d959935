"""scaled_dot_product_attention: means of values, weighted by how keys fit a query."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import errors, kernels
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.creation import check_is_tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.examples import all_batched
from minigrad.engine.structural import total
from minigrad.ops import functions
from minigrad.ops._refusals import scalar_type
from minigrad.ops._registry import composite, recorded_as
from minigrad.ops.reduce import Sum
from minigrad.ops.shape import Transpose

QUERY = [[[1.0, 0.5], [-0.3, 2.0]], [[0.2, -1.0], [0.7, 0.4]]]
KEY = [[[0.5, 1.0], [1.5, -0.4], [0.1, 0.2]], [[-1.0, 0.3], [0.6, 0.9], [2.0, 0.0]]]
VALUE = [[[2.0, 1.0], [0.0, -1.0], [3.0, 0.5]], [[1.0, 4.0], [-2.0, 0.3], [0.5, 1.0]]]
SEEN = np.array([[True, False, True], [True, True, False]])
BIAS = [[0.1, -0.5, 1.0], [0.3, 0.0, -2.0]]


def transposed(x: Any) -> Any:
    """Matrices with rows and columns exchanged."""
    return Transpose.of(x, -1, -2)


def slope_of_weights(moved: Any, weights: Any, scale: float) -> Any:
    """What weights make of a small change of their scores; also its transpose."""
    weighted = moved * weights
    return (weighted - weights * Sum.of(weighted, -1, True, None)) * scale


@recorded_as("SafeSoftmaxBackward0")
class Weights(Builtin):
    """e**(score * scale) over their sum along the last dimension, for each query.

    A mask says which keys are seen; ``causal`` hides those behind each query. Who sees
    nothing has weights of 0.
    """

    without_edges = (1,)
    saved_names = ("result",)
    one_by_one = True

    @staticmethod
    def vmap(info: Any, in_dims: Any, scores: Tensor, *more: Any) -> Any:
        """The weights of every example, with one mask for all."""
        if in_dims[1] is not None:
            return NotImplemented
        return Weights.apply(scores, *more), 0

    @staticmethod
    @quietly
    def forward(scores: Array, mask: Any, causal: bool, scale: float) -> Any:
        result = np.array(scores, order="C")
        if mask is not None:
            np.copyto(result, -np.inf, where=~mask)
        stack = result.reshape(math.prod(scores.shape[:-2]), *scores.shape[-2:])
        kernels.attention.weigh(stack, float(scale), causal, 0)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.scale = inputs[3]
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (weights,) = ctx.saved_values
        return slope_of_weights(grad, weights, ctx.scale), None, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        (weights,) = ctx.saved_values
        return slope_of_weights(tangent, weights, ctx.scale)


# torch's, of the only kind that it has for a processor.
@recorded_as("ScaledDotProductFlashAttentionForCpuBackward0")
class Attention(Builtin):
    """All of it in one node, without the weights, which backward computes again."""

    without_edges = (3,)
    saved_names = ("query", "key", "value", "attn_mask")

    @staticmethod
    @quietly
    def forward(
        query: Array, key: Array, value: Array, mask: Any, causal: bool, scale: float
    ) -> Any:
        stacks = [stacked(x) for x in (query, key, value)]
        hidden = mask_of_stack(mask, query, key)
        result = kernels.attention.attend(*stacks, hidden, scale, causal)
        return result.reshape(*query.shape[:-1], value.shape[-1])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        query, key, value, mask, ctx.causal, ctx.scale = inputs
        ctx.save_for_backward(query, key, value, mask)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        """The heads of all examples are more heads."""
        query, key, value, mask, *options = inputs
        three = all_batched(info.batch_size, in_dims[:3], (query, key, value))
        if in_dims[3] is not None:
            ones = (1,) * (three[0].ndim - mask.ndim)
            mask = mask.reshape(info.batch_size, *ones, *mask.shape[1:])
        return Attention.apply(*three, mask, *options), 0

    @staticmethod
    def weights(ctx: Any) -> Any:
        """The weights, in the graph of what they are computed from."""
        query, key, _, mask = ctx.saved_values
        scores = query @ transposed(key)
        return Weights.of(scores, mask, ctx.causal, ctx.scale)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        query, key, value, mask = ctx.saved_values
        if isinstance(grad, Tensor):
            weights = Attention.weights(ctx)
            slopes = slope_of_weights(grad @ transposed(value), weights, ctx.scale)
            into = slopes @ key, transposed(slopes) @ query, transposed(weights) @ grad
            return *into, None, None, None
        stacks = [stacked(x) for x in (grad, query, key, value)]
        hidden = mask_of_stack(mask, query, key)
        found = kernels.attention.attend_back(*stacks, hidden, ctx.scale, ctx.causal)
        pairs = zip(found, (query, key, value), strict=True)
        return *[one.reshape(x.shape) for one, x in pairs], None, None, None

    @staticmethod
    def jvp(ctx: Any, t_query: Any, t_key: Any, t_value: Any, *more: Any) -> Any:
        query, key, value, _ = ctx.saved_values
        weights = Attention.weights(ctx)
        moved = total(
            None if t_query is None else t_query @ transposed(key),
            None if t_key is None else query @ transposed(t_key),
        )
        by_weights = None
        if moved is not None:
            by_weights = slope_of_weights(moved, weights, ctx.scale) @ value
        return total(by_weights, None if t_value is None else weights @ t_value)


def stacked(x: Array) -> Array:
    """All leading dimensions as one."""
    return x.reshape(math.prod(x.shape[:-2]), *x.shape[-2:])


def mask_of_stack(mask: Any, query: Array, key: Array) -> Any:
    """The mask as the kernels take it: one for all heads, or one for each."""
    if mask is None:
        return None
    each = query.shape[-2], key.shape[-2]
    if mask.ndim <= 2 or mask.size == math.prod(mask.shape[-2:]):
        return np.broadcast_to(mask.reshape(mask.shape[-2:]), each)[None]
    return stacked(np.broadcast_to(mask, (*query.shape[:-2], *each)))


def kind(x: Any) -> str:
    """torch's word for a dtype, in small letters."""
    return scalar_type(x).lower()


def check_attention(query: Any, key: Any, value: Any, mask: Any, p: float) -> None:
    """Refuse what cannot attend.

    Raises: ArgumentTypeError; ShapeError; OperandError.
    """
    where = "scaled_dot_product_attention"
    for one in (query, key, value, *([] if mask is None else [mask])):
        check_is_tensor(one, where)
    what, fix = "", "give (..., queries, width) and (..., keys, width)"
    if min(query.ndim, key.ndim, value.ndim) < 2:
        what = (
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"query.dim: {query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} "
            "instead."
        )
    elif query.shape[-1] != key.shape[-1]:
        what = (
            f"queries and keys are as wide as each other: got {query.shape[-1]} and "
            f"{key.shape[-1]}"
        )
    elif key.shape[-2] != value.shape[-2]:
        what = f"a value for each key: got {key.shape[-2]} and {value.shape[-2]}"
    if what:
        raise errors.ShapeError.at(where, what, fix)
    fix = "convert: all have one dtype, masks may be bools"
    if not kind(query) == kind(key) == kind(value):
        what = (
            "Expected query, key, and value to have the same dtype, but got "
            f"query.dtype: {kind(query)} key.dtype: {kind(key)} and value.dtype: "
            f"{kind(value)} instead."
        )
    elif query.dtype.kind != "f":
        what = f"expected scalar type Float but found {kind(query).title()}"
    elif mask is not None and kind(mask) not in ("bool", kind(query)):
        what = (
            "Expected attn_mask dtype to be bool or float or to match query dtype, but "
            f"got attn_mask.dtype: {kind(mask)} and  query.dtype: {kind(query)} "
            "instead."
        )
    elif not 0 <= p <= 1:
        what = f"dropout probability has to be between 0 and 1, but got {p}"
        fix = "give a probability"
    if what:
        raise errors.OperandError.at(where, what, fix)


def attention_weights(
    query: Tensor, key: Tensor, mask: Any, causal: bool, scale: float
) -> Tensor:
    """How much each query takes of each value."""
    scores = functions.matmul(query, transposed(key))
    if mask is not None and mask.dtype.kind == "f":
        scores = scores * scale + mask
        mask, scale = None, 1.0
    weights: Tensor = Weights.apply(scores, mask, causal, scale)
    return weights


def reference_attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    dropout: float = 0,
    causal: bool = False,
) -> Any:
    """In NumPy's words."""
    query, key = np.asarray(query), np.asarray(key)
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        mask = np.asarray(mask)
        scores = (
            np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
        )
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    powers = np.exp(scores)
    return powers / powers.sum(-1, keepdims=True) @ np.asarray(value)


@composite(
    "scaled_dot_product_attention",
    reference=reference_attention,
    samples=[
        (QUERY, KEY, VALUE),
        (QUERY, KEY, VALUE, None, 0, True),
        (QUERY[0], KEY[0], VALUE[0], SEEN),
        (QUERY, KEY, VALUE, BIAS),
    ],
    public=False,
)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """For each query the mean of the values, weighted by how well its key fits.

    See: ``minigrad.nn.functional.scaled_dot_product_attention``.
    """
    check_attention(query, key, value, attn_mask, dropout_p)
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else math.inf
    alike = query.shape[:-2] == key.shape[:-2] == value.shape[:-2]
    added = attn_mask is not None and attn_mask.dtype.kind == "f"
    result: Tensor
    # In one node if it can be, as in torch; there also with a mask that is added.
    if query.ndim == 4 and alike and dropout_p == 0 and not added:
        result = Attention.apply(query, key, value, attn_mask, is_causal, scale)
        return result
    weights = attention_weights(query, key, attn_mask, is_causal, scale)
    if dropout_p:
        weights = functions.dropout(weights, dropout_p, True)
    result = functions.matmul(weights, value)
    return result
