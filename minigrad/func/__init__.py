"""torch.func's names: transforms that take a function and return a function."""

from minigrad.func.forward import jvp, linearize
from minigrad.func.jacobians import hessian, jacfwd, jacrev
from minigrad.func.mapping import vmap
from minigrad.func.modules import functional_call, stack_module_state
from minigrad.func.reverse import grad, grad_and_value, vjp

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
