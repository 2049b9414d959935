"""Rows, or channels, brought to mean 0 and variance 1; and the slopes of that."""

from __future__ import annotations

from typing import Any

import numpy as np


def layer_norm(x: Any, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any]:
    """Each row of ``x`` standardized, times weight plus bias; mean, 1 / deviation."""
    mean = x.mean(1, keepdims=True)
    centered = x - mean
    rstd = 1 / np.sqrt((centered * centered).mean(1, keepdims=True) + x.dtype.type(eps))
    return centered * rstd * weight + bias, mean, rstd


def layer_norm_backward(
    grad: Any, x: Any, weight: Any, mean: Any, rstd: Any
) -> tuple[Any, Any, Any]:
    """The gradients of the rows, of the weight and of the bias."""
    standard = (x - mean) * rstd
    weighted = grad * weight
    along = (weighted * standard).mean(1, keepdims=True)
    rows = (weighted - weighted.mean(1, keepdims=True) - standard * along) * rstd
    return rows, (grad * standard).sum(0), grad.sum(0)


def batch_norm(x: Any, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any]:
    """Each channel of (batch, channel, place) standardized; mean, variance."""
    mean, var = x.mean((0, 2)), x.var((0, 2))
    scale = weight / np.sqrt(var + x.dtype.type(eps))
    return (x - mean[:, None]) * scale[:, None] + bias[:, None], mean, var


def batch_norm_backward(
    grad: Any, x: Any, weight: Any, mean: Any, rstd: Any
) -> tuple[Any, Any, Any]:
    """The gradients of the input, of the weight and of the bias."""
    number = x.shape[0] * x.shape[2]
    standard = (x - mean[:, None]) * rstd[:, None]
    into_weight, into_bias = (grad * standard).sum((0, 2)), grad.sum((0, 2))
    away = into_bias[:, None] / number + standard * into_weight[:, None] / number
    return (grad - away) * (weight * rstd)[:, None], into_weight, into_bias
