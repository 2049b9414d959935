"""Random numbers that are computed from a seed and a place: no state, any order."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.kernels._jit import kernel, like_the_first

STEPS = 2**32
"""How many different numbers a place can draw."""


def mixed(x: Any) -> Any:
    """Each uint32 hashed: two that differ in a bit come out far apart.

    The constants are those of the public-domain hash "lowbias32".
    """
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def dropout(array: Any, p: float, seed: int) -> Any:
    """0 with probability ``p``, else the element times 1 / (1 - p).

    What an element draws depends on the seed and on its place alone.
    """
    limit = min(round(p * STEPS), STEPS - 1)
    flat = array.reshape(-1)
    low, high = seed % STEPS, seed // STEPS % STEPS
    kept = drop(flat, low, high, limit, 1 / (1 - p))
    return kept.reshape(array.shape)


def drop_in_numpy(array: Any, low: int, high: int, limit: int, scale: float) -> Any:
    """The same in plain NumPy: the same elements, to the bit."""
    places = np.arange(array.size, dtype=np.uint64).astype(np.uint32)
    drawn = mixed(mixed(places ^ np.uint32(low)) + np.uint32(high))
    zero = array.dtype.type(0)
    with np.errstate(all="ignore"):
        return np.where(drawn >= limit, array * array.dtype.type(scale), zero)


@kernel(drop_in_numpy, like_the_first)
def drop(
    array: Any, low: int, high: int, limit: int, scale: float, output: Any
) -> None:
    """The elements whose places draw at least ``limit``, times ``scale``; else 0."""
    factor = array.dtype.type(scale)
    zero = array.dtype.type(0)
    here, there, least = np.uint32(low), np.uint32(high), np.uint32(limit)
    first, second = np.uint32(0x7FEB352D), np.uint32(0x846CA68B)
    for i in range(array.size):
        # Without these conversions Numba would compute with 64 bits.
        x = np.uint32(np.uint32(i) ^ here)
        x = np.uint32(np.uint32(x ^ (x >> np.uint32(16))) * first)
        x = np.uint32(np.uint32(x ^ (x >> np.uint32(15))) * second)
        x = np.uint32(np.uint32(x ^ (x >> np.uint32(16))) + there)
        x = np.uint32(np.uint32(x ^ (x >> np.uint32(16))) * first)
        x = np.uint32(np.uint32(x ^ (x >> np.uint32(15))) * second)
        x = np.uint32(x ^ (x >> np.uint32(16)))
        output[i] = array[i] * factor if x >= least else zero
