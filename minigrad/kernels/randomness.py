"""Random numbers that are computed from a seed and a place: no state, any order."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    places = np.arange(array.size, dtype=np.uint64).astype(np.uint32)
    low, high = np.uint32(seed % STEPS), np.uint32(seed // STEPS % STEPS)
    drawn = mixed(mixed(places ^ low) + high).reshape(array.shape)
    limit = np.uint32(min(round(p * STEPS), STEPS - 1))
    scale = array.dtype.type(1 / (1 - p))
    return np.where(drawn >= limit, array * scale, array.dtype.type(0))
