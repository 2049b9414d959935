"""torch.autograd.graph's names."""

from minigrad.autograd._mutation import allow_mutation_on_saved_tensors
from minigrad.autograd._saved_tensors import (
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from minigrad.autograd._versions import increment_version
from minigrad.engine.gradient_edge import GradientEdge, get_gradient_edge
from minigrad.engine.inspection import Node
from minigrad.engine.multi_hooks import register_multi_grad_hook

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
