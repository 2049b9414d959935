"""torch.utils' names, ``checkpoint`` and ``data``; ``jit`` compiles a loop of yours."""

from minigrad.kernels._jit import jit
from minigrad.utils import checkpoint, data

__all__ = ["checkpoint", "data", "jit"]
