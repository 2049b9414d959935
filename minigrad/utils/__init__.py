"""torch.utils' names: ``checkpoint``."""

from minigrad.utils import checkpoint

__all__ = ["checkpoint"]
