"""torch.utils' names: ``checkpoint`` and ``data``."""

from minigrad.utils import checkpoint, data

__all__ = ["checkpoint", "data"]
