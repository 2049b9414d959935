"""Rows, or channels, brought to mean 0 and variance 1; and the slopes of that."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.kernels._jit import kernel


def empty(array: Any, *shape: int) -> Any:
    """An empty array of another shape."""
    return np.empty(shape, array.dtype)


def layer_norm_in_numpy(
    x: Any, weight: Any, bias: Any, eps: float
) -> tuple[Any, Any, Any]:
    """The same in plain NumPy."""
    with np.errstate(all="ignore"):
        mean = x.mean(1)
        centered = x - mean[:, None]
        square = (centered * centered).mean(1)
        rstd = 1 / np.sqrt(square + x.dtype.type(eps))
        return centered * rstd[:, None] * weight + bias, mean, rstd


@kernel(
    layer_norm_in_numpy,
    lambda x, *_: (np.empty_like(x), empty(x, len(x)), empty(x, len(x))),
)
def layer_norm(
    x: Any, weight: Any, bias: Any, eps: float, output: Any, mean: Any, rstd: Any
) -> None:
    """Each row standardized, times weight plus bias; mean and 1 / deviation."""
    length = x.dtype.type(x.shape[1])
    small = x.dtype.type(eps)
    zero = x.dtype.type(0)
    for i in range(x.shape[0]):
        row, result = x[i], output[i]
        total = zero
        for j in range(row.size):
            total += row[j]
        middle = total / length
        squares = zero
        for j in range(row.size):
            away = row[j] - middle
            squares += away * away
        scale = x.dtype.type(1) / math.sqrt(squares / length + small)
        mean[i], rstd[i] = middle, scale
        for j in range(row.size):
            result[j] = (row[j] - middle) * scale * weight[j] + bias[j]


def like_the_gradient_and_its_channels(grad: Any, *_: Any) -> tuple[Any, ...]:
    """Empty for the input; zeros for the weight and for the bias, to be added to."""
    channels = grad.shape[1]
    return (
        np.empty_like(grad),
        np.zeros(channels, grad.dtype),
        np.zeros(channels, grad.dtype),
    )


def layer_norm_backward_in_numpy(
    grad: Any, x: Any, weight: Any, mean: Any, rstd: Any
) -> tuple[Any, Any, Any]:
    """The same in plain NumPy."""
    with np.errstate(all="ignore"):
        standard = (x - mean[:, None]) * rstd[:, None]
        weighted = grad * weight
        along = (weighted * standard).mean(1, keepdims=True)
        away = weighted - weighted.mean(1, keepdims=True) - standard * along
        return away * rstd[:, None], (grad * standard).sum(0), grad.sum(0)


@kernel(
    layer_norm_backward_in_numpy,
    like_the_gradient_and_its_channels,
)
def layer_norm_backward(
    grad: Any,
    x: Any,
    weight: Any,
    mean: Any,
    rstd: Any,
    into_x: Any,
    into_weight: Any,
    into_bias: Any,
) -> None:
    """The gradients of the rows, of the weight and of the bias."""
    length = x.dtype.type(x.shape[1])
    for i in range(x.shape[0]):
        g, row, result = grad[i], x[i], into_x[i]
        middle, scale = mean[i], rstd[i]
        level = x.dtype.type(0)
        stretch = x.dtype.type(0)
        for j in range(row.size):
            weighted = g[j] * weight[j]
            level += weighted
            stretch += weighted * (row[j] - middle)
        level = level / length
        stretch = stretch / length * scale
        for j in range(row.size):
            standard = (row[j] - middle) * scale
            into_weight[j] += g[j] * standard
            into_bias[j] += g[j]
            result[j] = (g[j] * weight[j] - level - standard * stretch) * scale


def batch_norm_in_numpy(
    x: Any, weight: Any, bias: Any, eps: float
) -> tuple[Any, Any, Any]:
    """The same in plain NumPy."""
    with np.errstate(all="ignore"):
        mean, var = x.mean((0, 2)), x.var((0, 2))
        scale = weight / np.sqrt(var + x.dtype.type(eps))
        return (x - mean[:, None]) * scale[:, None] + bias[:, None], mean, var


@kernel(
    batch_norm_in_numpy,
    lambda x, *_: (
        np.empty_like(x),
        np.zeros(x.shape[1], x.dtype),
        np.zeros(x.shape[1], x.dtype),
    ),
)
def batch_norm(
    x: Any, weight: Any, bias: Any, eps: float, output: Any, mean: Any, var: Any
) -> None:
    """Each channel of (batch, channel, place) standardized; mean and variance."""
    batch, channels, places = x.shape
    number = x.dtype.type(batch * places)
    small = x.dtype.type(eps)
    if places == 1:  # the channels lie side by side: all of a row at a time
        for i in range(batch):
            for c in range(channels):
                mean[c] += x[i, c, 0]
        for c in range(channels):
            mean[c] = mean[c] / number
        for i in range(batch):
            for c in range(channels):
                away = x[i, c, 0] - mean[c]
                var[c] += away * away
        scale = np.empty(channels, x.dtype)
        for c in range(channels):
            var[c] = var[c] / number
            scale[c] = weight[c] / math.sqrt(var[c] + small)
        for i in range(batch):
            for c in range(channels):
                output[i, c, 0] = (x[i, c, 0] - mean[c]) * scale[c] + bias[c]
        return
    for c in range(channels):
        total = x.dtype.type(0)
        for i in range(batch):
            row = x[i, c]
            part = x.dtype.type(0)
            for j in range(places):
                part += row[j]
            total += part
        middle = total / number
        squares = x.dtype.type(0)
        for i in range(batch):
            row = x[i, c]
            part = x.dtype.type(0)
            for j in range(places):
                away = row[j] - middle
                part += away * away
            squares += part
        mean[c], var[c] = middle, squares / number
        factor = weight[c] / math.sqrt(var[c] + small)
        shift = bias[c]
        for i in range(batch):
            row, result = x[i, c], output[i, c]
            for j in range(places):
                result[j] = (row[j] - middle) * factor + shift


def batch_norm_backward_in_numpy(
    grad: Any, x: Any, weight: Any, mean: Any, rstd: Any
) -> tuple[Any, Any, Any]:
    """The same in plain NumPy."""
    with np.errstate(all="ignore"):
        number = x.shape[0] * x.shape[2]
        standard = (x - mean[:, None]) * rstd[:, None]
        into_weight, into_bias = (grad * standard).sum((0, 2)), grad.sum((0, 2))
        away = into_bias[:, None] + standard * into_weight[:, None]
        into_x = (grad - away / x.dtype.type(number)) * (weight * rstd)[:, None]
        return into_x, into_weight, into_bias


@kernel(
    batch_norm_backward_in_numpy,
    like_the_gradient_and_its_channels,
)
def batch_norm_backward(
    grad: Any,
    x: Any,
    weight: Any,
    mean: Any,
    rstd: Any,
    into_x: Any,
    into_weight: Any,
    into_bias: Any,
) -> None:
    """The gradients of the input, of the weight and of the bias."""
    batch, channels, places = x.shape
    number = x.dtype.type(batch * places)
    if places == 1:
        for i in range(batch):
            for c in range(channels):
                g = grad[i, c, 0]
                into_bias[c] += g
                into_weight[c] += g * (x[i, c, 0] - mean[c]) * rstd[c]
        for i in range(batch):
            for c in range(channels):
                standard = (x[i, c, 0] - mean[c]) * rstd[c]
                away = (into_bias[c] + standard * into_weight[c]) / number
                into_x[i, c, 0] = (grad[i, c, 0] - away) * weight[c] * rstd[c]
        return
    for c in range(channels):
        middle, scale = mean[c], rstd[c]
        level = x.dtype.type(0)
        stretch = x.dtype.type(0)
        for i in range(batch):
            g, row = grad[i, c], x[i, c]
            one = x.dtype.type(0)
            other = x.dtype.type(0)
            for j in range(places):
                one += g[j]
                other += g[j] * (row[j] - middle)
            level += one
            stretch += other
        stretch = stretch * scale
        into_weight[c], into_bias[c] = stretch, level
        factor = weight[c] * scale
        level = level / number
        along = stretch / number * scale
        for i in range(batch):
            g, row, result = grad[i, c], x[i, c], into_x[i, c]
            for j in range(places):
                result[j] = (g[j] - level - (row[j] - middle) * along) * factor
