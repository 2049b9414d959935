"""The traversal's side of the hooks: what is called around one node, and when.

In this order: tensor hooks, retain_grad, prehooks, the node itself, the checks of what
it returned, post hooks. Hooks get and return Tensors, however gradients travel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from minigrad.engine.core.node import (
    NOT_A_TENSOR,
    _FunctionBase,
    needs_gradient,
    split_edge,
)
from minigrad.engine.core.tensor import Gradient, Tensor
from minigrad.engine.core.validate import check_tuple, check_value
from minigrad.engine.hooks import attached_to
from minigrad.engine.observe import notify

if TYPE_CHECKING:
    from minigrad.engine.core.backward import GraphTask


def run_before(
    task: GraphTask, node: _FunctionBase, gradients: list[Gradient | None]
) -> list[Gradient | None]:
    """All that happens to the gradients of a node's outputs before the node runs."""
    values = run_tensor_hooks(node, gradients)
    attached = attached_to(node)
    for hook in list(attached.prehooks.values()):
        given = tuple(values)
        result = hook(given)
        if result is not None and result is not given:
            check_tuple(hook, given, result)
            values = list(result)
        notify("hook_called", "pre", node, 0, hook, given, result)
    task.received = [*values] if task.carries_tensors else as_arrays(values)
    return task.received


def run_tensor_hooks(
    node: _FunctionBase, gradients: list[Gradient | None]
) -> list[Tensor | None]:
    """The gradients as Tensors, after the hooks of the tensors they belong to."""
    attached = attached_to(node)
    values: list[Tensor | None] = [as_tensor(gradient) for gradient in gradients]
    for output_nr, hooks in list(attached.on_outputs.items()):
        for hook in list(hooks.values()):
            value = values[output_nr]
            result = hook(value)
            if result is not None and result is not value:
                check_value(hook, value, result)
                values[output_nr] = result
            notify("hook_called", "tensor", node, output_nr, hook, value, result)
    for output_nr, reference in list(attached.retained.items()):
        keep_grad(reference(), values[output_nr])
    return values


def run_captured(
    task: GraphTask, node: _FunctionBase, gradients: list[Gradient | None]
) -> list[Gradient | None]:
    """What happens to gradients that are asked for, of a node that does not run."""
    values = run_tensor_hooks(node, gradients)
    task.leave_open_modes()
    return list(values) if task.carries_tensors else as_arrays(values)


def keep_grad(tensor: Tensor | None, gradient: Tensor | None) -> None:
    """Add to the ``.grad`` of a tensor that retains it; always a new tensor."""
    if tensor is not None and gradient is not None:
        old = tensor._grad
        tensor._grad = gradient.clone() if old is None else old + gradient


def run_after(
    task: GraphTask,
    node: _FunctionBase,
    returned: list[Gradient | None],
    gradients: list[Gradient | None],
) -> list[Gradient | None]:
    """The post hooks: they see ``returned`` where no gradient is needed, too."""
    hooks = attached_to(node).posthooks
    if not hooks:
        task.leave_open_modes()
        return gradients
    slots = [i for i, edge in enumerate(node._edges) if edge is not NOT_A_TENSOR]
    seen = [returned[i] if node._edges[i] is None else gradients[i] for i in slots]
    if not node._is_learners:
        seen = [gradients[i] if is_needed(task, node, i) else None for i in slots]
    values = tuple([as_tensor(gradient) for gradient in seen])
    received = tuple([as_tensor(gradient) for gradient in task.received])
    for hook in list(hooks.values()):
        result = hook(values, received)
        if result is not None and result is not values:
            check_tuple(hook, values, result)
        else:
            result = None
        notify("hook_called", "post", node, 0, hook, values, result)
        values = values if result is None else result
    task.leave_open_modes()
    for slot, value in zip(slots, values, strict=True):
        gradients[slot] = value
    return gradients if task.carries_tensors else as_arrays(gradients)


def is_needed(task: GraphTask, node: _FunctionBase, slot: int) -> bool:
    """Whether the gradient of argument ``slot`` goes to a node that wants it."""
    edge = node._edges[slot]
    if not needs_gradient(edge):
        return False
    return task.needed is None or split_edge(edge)[0] in task.needed


def as_tensor(gradient: Gradient | None) -> Tensor | None:
    """A gradient as users see it, whichever way it travels."""
    if gradient is None or isinstance(gradient, Tensor):
        return gradient
    return Tensor(gradient)


def as_arrays(gradients: Sequence[Gradient | None]) -> list[Gradient | None]:
    """Gradients as built-in rules want them."""
    return [g.array if isinstance(g, Tensor) else g for g in gradients]
