"""torch.autograd.graph's names."""

from minigrad.engine.node import Node

__all__ = ["Node"]
