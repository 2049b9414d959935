"""GELU and its slope."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.kernels._jit import elementwise_kernel
from minigrad.kernels._math import (
    DENSITY,
    FAR,
    HALF,
    HALVES,
    NORMAL_END,
    SLOPE_END,
    ZERO_32,
    gelu_slope,
    normal,
    normal_middle,
    slope_middle,
    tail64,
)


def bell_and_normal(array: Any) -> tuple[Any, Any]:
    """e**(-x*x/2), and the normal distribution, in float64."""
    far = np.minimum(np.abs(array), FAR, dtype=np.float64)
    bell = np.exp(far * far * -0.5)
    tail = bell * tail64(far * HALVES) * 0.5
    return bell, np.where(array < 0, tail, 1 - tail)


def gelu_in_numpy(array: Any) -> Any:
    """The input times the normal distribution."""
    with np.errstate(all="ignore"):
        if array.dtype == np.float32:
            middle = normal_middle(np.clip(array, -NORMAL_END, NORMAL_END)) + HALF
            return array * np.where(array < -NORMAL_END, ZERO_32, middle)
        return (array * bell_and_normal(array)[1]).astype(array.dtype)


@elementwise_kernel(gelu_in_numpy)
def gelu(array: Any, output: Any) -> None:
    """The input times the probability that a normal number is smaller."""
    for i in range(array.size):
        output[i] = array[i] * normal(array[i])


def gelu_backward_in_numpy(grad: Any, array: Any) -> Any:
    """The gradient of the input."""
    with np.errstate(all="ignore"):
        if array.dtype == np.float32:
            middle = slope_middle(np.clip(array, -SLOPE_END, SLOPE_END)) + HALF
            slope = np.where(array < -SLOPE_END, ZERO_32, middle) + array * ZERO_32
        else:
            bell, probability = bell_and_normal(array)
            slope = probability + array * bell * DENSITY
        return (grad * slope).astype(grad.dtype)


@elementwise_kernel(gelu_backward_in_numpy)
def gelu_backward(grad: Any, array: Any, output: Any) -> None:
    """The gradient of the input, from that of GELU."""
    for i in range(array.size):
        output[i] = grad[i] * gelu_slope(array[i])
