"""Hooks: what a user wants called when a gradient arrives, or when a node has run."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    from minigrad.engine.core.node import _FunctionBase
    from minigrad.engine.core.tensor import Tensor

Hooks: TypeAlias = "OrderedDict[int, Callable[..., Any]]"
"""Hooks by the id of their handle, in the order in which they were registered."""


class RemovableHandle:
    """What registering a hook returns; as a ``with`` block it removes the hook after.

    See: torch ``utils.hooks.RemovableHandle``.
    """

    next_id = 0

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = weakref.ref(hooks)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self) -> None:
        """Unregister the hook; a second time does nothing."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register(hooks: Hooks, hook: Callable[..., Any]) -> RemovableHandle:
    """Put ``hook`` behind the others."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class Attached:
    """What few nodes have: hooks, and outputs that retain their grad."""

    __slots__ = ("on_outputs", "posthooks", "prehooks", "retained")

    def __init__(self) -> None:
        self.on_outputs: dict[int, Hooks] = {}
        self.retained: dict[int, weakref.ref[Tensor]] = {}
        self.prehooks: Hooks = OrderedDict()
        self.posthooks: Hooks = OrderedDict()


def attached_to(node: Any) -> Attached:
    """What is attached to ``node``, for more to be added."""
    if node._attached is None:
        node._attached = Attached()
    attached: Attached = node._attached
    return attached


class _HookMixin:
    """The methods by which hooks are put on a node."""

    __slots__ = ()

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` just before this node runs.

        It returns None, or a tuple that takes the place of ``grad_outputs``.
        See: torch ``autograd.graph.Node.register_prehook``.
        """
        return register(attached_to(self).prehooks, fn)

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` each time this node has run.

        ``grad_inputs`` has one entry for each tensor argument of forward. It returns
        None, or a tuple that takes the place of ``grad_inputs``.
        See: torch ``autograd.graph.Node.register_hook``.

        >>> x = minigrad.tensor(2.0, requires_grad=True)
        >>> y = x * 3
        >>> handle = y.grad_fn.register_hook(lambda grads, _: (grads[0] * 10, None))
        >>> y.backward()
        >>> x.grad
        tensor(30.)
        """
        return register(attached_to(self).posthooks, fn)


def register_tensor_hook(tensor: Tensor, hook: Callable[..., Any]) -> RemovableHandle:
    """Put a hook on the gradient of ``tensor``: on its node, or on it as a leaf."""
    node = tensor.grad_fn
    if node is not None:
        on_outputs = attached_to(node).on_outputs
        return register(on_outputs.setdefault(tensor.output_nr, OrderedDict()), hook)
    if tensor._tensor_hooks is None:
        tensor._tensor_hooks = OrderedDict()
        node = tensor._living_accumulate_node()
        if node is not None:
            attached_to(node).on_outputs[0] = tensor._tensor_hooks
    return register(tensor._tensor_hooks, hook)


def attached_to_leaf(hooks: Hooks) -> Attached:
    """What the new node of a leaf with hooks has from the start."""
    attached = Attached()
    attached.on_outputs[0] = hooks
    return attached


def retain_grad(tensor: Tensor) -> None:
    """Let backward also keep the gradient of a tensor that is no leaf."""
    attached_to(tensor.grad_fn).retained[tensor.output_nr] = weakref.ref(tensor)
    tensor._retains_grad = True


def follow(tensor: Tensor, node: _FunctionBase, output_nr: int) -> None:
    """A tensor that retains its grad gets a new history: retain the new gradient."""
    if not tensor._retains_grad or tensor._grad_node is None:
        return
    left = tensor._grad_node._attached
    if left is not None:
        reference = left.retained.get(tensor.output_nr)
        if reference is not None and reference() is tensor:
            del left.retained[tensor.output_nr]
    attached_to(node).retained[output_nr] = weakref.ref(tensor)
