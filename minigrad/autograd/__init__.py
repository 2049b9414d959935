"""torch.autograd's names."""

from minigrad.autograd import function, graph
from minigrad.engine.backward import backward, grad
from minigrad.engine.function import Function
from minigrad.engine.grad_mode import enable_grad, no_grad, set_grad_enabled

__all__ = [
    "Function",
    "backward",
    "enable_grad",
    "function",
    "grad",
    "graph",
    "no_grad",
    "set_grad_enabled",
]
