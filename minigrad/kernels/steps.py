"""Steps of optimizers, which write into the memory of the parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.kernels._jit import kernel


def adam_in_numpy(
    memory: Any,
    gradient: Any,
    mean: Any,
    square: Any,
    length: float,
    beta1: float,
    beta2: float,
    eps: float,
    spread: float,
) -> None:
    """The same in plain NumPy."""
    mean += (1 - beta1) * (gradient - mean)
    square *= beta2
    square += (1 - beta2) * (gradient * gradient)
    size = np.sqrt(square)
    size /= spread
    size += eps
    memory -= length * (mean / size)


@kernel(adam_in_numpy)
def adam(
    memory: Any,
    gradient: Any,
    mean: Any,
    square: Any,
    length: float,
    beta1: float,
    beta2: float,
    eps: float,
    spread: float,
) -> None:
    """A step of Adam: both running means move, then the parameter does.

    ``length`` and ``spread`` make up for means that began at 0.
    """
    number = memory.dtype.type
    keep, add = number(beta2), number(1 - beta2)
    towards, by = number(1 - beta1), number(length)
    small, stretch = number(eps), number(spread)
    flat, slopes = memory.reshape(-1), gradient.reshape(-1)
    firsts, seconds = mean.reshape(-1), square.reshape(-1)
    for i in range(flat.size):
        g = slopes[i]
        first = firsts[i] + towards * (g - firsts[i])
        second = seconds[i] * keep + add * (g * g)
        firsts[i], seconds[i] = first, second
        flat[i] -= by * (first / (math.sqrt(second) / stretch + small))
