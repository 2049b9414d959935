"""Tensors, the graph, and the functions that run it forwards and backwards."""

# These attach methods to Tensor that need more than a tensor.
from minigrad.engine import detached, gradients, views

__all__ = ["detached", "gradients", "views"]
