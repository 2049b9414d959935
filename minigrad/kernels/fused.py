"""Several elementwise steps in one loop, the lesson's example of why that is faster.

NumPy and torch make a new array for each step, and every array goes through memory. A
loop reads each element once, does all the steps with it, and writes one result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.kernels._jit import elementwise_kernel, kernel
from minigrad.kernels._math import ONE, exp
from minigrad.kernels.elementwise import sigmoid_in_numpy


def gated_sum_in_numpy(values: Any, gates: Any, rest: Any) -> Any:
    """values * sigmoid(gates) + rest, in seven steps."""
    with np.errstate(all="ignore"):
        return values * sigmoid_in_numpy(gates) + rest


@elementwise_kernel(gated_sum_in_numpy)
def gated_sum(values: Any, gates: Any, rest: Any, output: Any) -> None:
    """values * sigmoid(gates) + rest, elementwise."""
    for i in range(values.size):
        small = exp(-abs(gates[i]))
        upper = ONE if gates[i] >= 0 else small
        output[i] = values[i] * (upper / (ONE + small)) + rest[i]


def gated_sum_backward_in_numpy(grad: Any, values: Any, gates: Any) -> tuple[Any, Any]:
    """The gradients of values and gates; that of the rest is ``grad`` itself."""
    with np.errstate(all="ignore"):
        small = np.exp(-np.abs(gates))
        slope = small / (1 + small) ** 2
        return grad * sigmoid_in_numpy(gates), grad * values * slope


def like_both(grad: Any, values: Any, gates: Any) -> tuple[Any, ...]:
    """An empty array for each of two gradients."""
    return np.empty_like(values), np.empty_like(gates)


@kernel(gated_sum_backward_in_numpy, like_both, regroups=False)
def gated_sum_backward(
    grad: Any, values: Any, gates: Any, into_values: Any, into_gates: Any
) -> None:
    """The gradients of values and gates, in one loop; all arrays have one dimension."""
    for i in range(values.size):
        small = exp(-abs(gates[i]))
        upper = ONE if gates[i] >= 0 else small
        share = ONE / (ONE + small)
        into_values[i] = grad[i] * (upper * share)
        into_gates[i] = grad[i] * values[i] * (small * share * share)
