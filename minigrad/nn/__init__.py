"""torch.nn's names: what models are made of."""

from minigrad.nn import functional, init
from minigrad.nn.linear import Identity, Linear
from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.nn.sequential import Sequential

__all__ = [
    "Identity",
    "Linear",
    "Module",
    "Parameter",
    "Sequential",
    "functional",
    "init",
]
