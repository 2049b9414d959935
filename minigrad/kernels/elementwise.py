"""Smooth elementwise functions that must not overflow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.kernels._jit import elementwise_kernel


def sigmoid_in_numpy(array: Any) -> Any:
    """1 / (1 + e**-x), from the side on which the exponential is small."""
    small = np.exp(-np.abs(array))
    return np.where(array >= 0, 1 / (1 + small), small / (1 + small)).astype(
        array.dtype
    )


@elementwise_kernel(sigmoid_in_numpy)
def sigmoid(array: Any, output: Any) -> None:
    """1 / (1 + e**-x), elementwise; exact limits at plus and minus infinity."""
    for i in range(array.size):
        x = array[i]
        if x >= 0:
            output[i] = 1 / (1 + math.exp(-x))
        else:
            small = math.exp(x)
            output[i] = small / (1 + small)


def softplus_in_numpy(array: Any) -> Any:
    """log(1 + e**x)."""
    with np.errstate(invalid="ignore"):  # NaN gives NaN without a word, as elsewhere
        return np.logaddexp(0, array).astype(array.dtype)


@elementwise_kernel(softplus_in_numpy)
def softplus(array: Any, output: Any) -> None:
    """log(1 + e**x), elementwise, without overflow."""
    for i in range(array.size):
        x = array[i]
        output[i] = max(x, 0) + math.log1p(math.exp(-abs(x)))


def erf_in_numpy(array: Any) -> Any:
    """The error function: NumPy has none, so Python's for each element."""
    return np.vectorize(math.erf, otypes=[float])(array).astype(array.dtype)


@elementwise_kernel(erf_in_numpy)
def erf(array: Any, output: Any) -> None:
    """2 / sqrt(pi) times the integral of e**-t**2 from 0 to x, elementwise."""
    for i in range(array.size):
        output[i] = math.erf(array[i])


def erfc_in_numpy(array: Any) -> Any:
    """1 - erf(x)."""
    return np.vectorize(math.erfc, otypes=[float])(array).astype(array.dtype)


@elementwise_kernel(erfc_in_numpy)
def erfc(array: Any, output: Any) -> None:
    """1 - erf(x), elementwise, exact also where that is small."""
    for i in range(array.size):
        output[i] = math.erfc(array[i])


def relu_in_numpy(array: Any) -> Any:
    """max(x, 0)."""
    return np.maximum(array, 0)


@elementwise_kernel(relu_in_numpy, for_many=True)
def relu(array: Any, output: Any) -> None:
    """max(x, 0), elementwise; NaN stays NaN."""
    for i in range(array.size):
        output[i] = 0 if array[i] <= 0 else array[i]


def where_positive_in_numpy(grad: Any, output: Any) -> Any:
    """The gradient with no bit left where the output is not positive."""
    # np.where takes six times as long.
    bits = np.dtype(f"i{grad.dtype.itemsize}")
    kept = (output <= 0).astype(bits) - bits.type(1)
    return (grad.view(bits) & kept).view(grad.dtype)


@elementwise_kernel(where_positive_in_numpy, for_many=True)
def where_positive(grad: Any, output: Any, result: Any) -> None:
    """The gradient where the output of a relu is positive or NaN, else 0."""
    for i in range(grad.size):
        result[i] = 0 if output[i] <= 0 else grad[i]
