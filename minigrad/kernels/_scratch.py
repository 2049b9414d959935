"""Memory for what is computed on the way, which each thread keeps and uses again.

What the system hands out anew it first fills with zeros, a page at a time: that takes
longer than to compute what comes there.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

MOST = 1 << 22
"""Of how many bytes at most a thread keeps an array: of four megabytes."""


class Scratch(threading.local):
    """Arrays by name; who asks for one again overwrites what was in it."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, Any], Any] = {}

    def array(self, name: str, dtype: Any, *shape: int) -> Any:
        """An array of this shape, with anything in it."""
        size = math.prod(shape)
        kept = self._kept.get((name, dtype))
        if kept is None or kept.size < size:
            kept = np.empty(size, dtype)
            if kept.nbytes <= MOST:
                self._kept[name, dtype] = kept
        return kept[:size].reshape(shape)


scratch = Scratch()
