"""GELU and its slope."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.kernels._jit import elementwise_kernel
from minigrad.kernels._math import DENSITY, FAR, HALVES, below, exp, tail32, tail64


def bell_and_probability(array: Any) -> tuple[Any, Any]:
    """e**(-x*x/2), and the normal distribution function."""
    bell = np.exp(array * array * array.dtype.type(-0.5))
    far = np.minimum(np.abs(array), FAR) * array.dtype.type(HALVES)
    tail = (tail32 if array.dtype == np.float32 else tail64)(far)
    tail = (bell * tail * 0.5).astype(array.dtype)
    return bell, np.where(array < 0, tail, 1 - tail)


def gelu_in_numpy(array: Any) -> Any:
    """The input times the normal distribution function."""
    with np.errstate(all="ignore"):
        return array * bell_and_probability(array)[1]


@elementwise_kernel(gelu_in_numpy)
def gelu(array: Any, output: Any) -> None:
    """The input times the probability that a normal number is smaller."""
    half = array.dtype.type(-0.5)
    for i in range(array.size):
        x = array[i]
        output[i] = x * below(x, exp(x * x * half))


def gelu_backward_in_numpy(grad: Any, array: Any) -> Any:
    """The gradient of the input."""
    with np.errstate(all="ignore"):
        bell, probability = bell_and_probability(array)
        slope = probability + array * bell * array.dtype.type(DENSITY)
        return (grad * slope).astype(grad.dtype)


@elementwise_kernel(gelu_backward_in_numpy)
def gelu_backward(grad: Any, array: Any, output: Any) -> None:
    """The gradient of the input, from that of GELU."""
    half = array.dtype.type(-0.5)
    height = array.dtype.type(DENSITY)
    for i in range(array.size):
        x = array[i]
        bell = exp(x * x * half)
        output[i] = grad[i] * (below(x, bell) + x * bell * height)
