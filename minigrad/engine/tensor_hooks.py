"""What a tensor lets its user hang on its gradient."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from minigrad import errors
from minigrad.engine.hooks import (
    Hooks,
    RemovableHandle,
    register,
    register_tensor_hook,
)

if TYPE_CHECKING:
    from minigrad.engine.core.node import _FunctionBase
    from minigrad.engine.core.tensor import Tensor


class TensorHooks:
    """The part of Tensor that is about hooks."""

    __slots__ = ()

    # On the class until a tensor sets its own: few tensors have any of them.
    _tensor_hooks: Hooks | None = None
    _post_accumulate_hooks: Hooks | None = None

    _grad_node: _FunctionBase | None
    _requires_grad: bool

    @property
    def _backward_hooks(self) -> Hooks | None:
        """The hooks on the gradient of this tensor, by the id of their handle."""
        tensor = cast("Tensor", self)
        node = tensor.grad_fn
        if node is None:
            return tensor._tensor_hooks
        attached = node._attached
        return None if attached is None else attached.on_outputs.get(tensor.output_nr)

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise errors.GraphError.at(
            "Tensor._backward_hooks",
            "Deletion of _backwards_hooks not allowed!",
            "remove a hook by its handle: handle.remove()",
        )

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad)`` when the gradient of this tensor is complete.

        It returns None, or a Tensor that takes the gradient's place.
        Raises: HookError for a tensor that does not require grad.
        See: torch ``Tensor.register_hook``.

        >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 10)
        >>> (x * 3).sum().backward()
        >>> x.grad
        tensor([30., 30.])
        """
        self._check_can_have_hooks("Tensor.register_hook")
        return register_tensor_hook(cast("Tensor", self), hook)

    def register_post_accumulate_grad_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call ``hook(tensor)`` each time this leaf's ``.grad`` has been updated.

        It may change ``.grad`` and the values, and returns None.
        Raises: HookError unless this is a leaf that requires grad.
        See: torch ``Tensor.register_post_accumulate_grad_hook``.
        """
        where = "Tensor.register_post_accumulate_grad_hook"
        self._check_can_have_hooks(where)
        leaf = cast("Tensor", self)
        if leaf.grad_fn is not None:
            raise errors.HookError.at(
                where,
                "post accumulate grad hooks cannot be registered on non-leaf "
                f"tensors; this one was made by {leaf.grad_fn.name()}",
                "use register_hook, or register it on the leaf",
            )
        if leaf._post_accumulate_hooks is None:
            leaf._post_accumulate_hooks = OrderedDict()
        return register(leaf._post_accumulate_hooks, hook)

    def _check_can_have_hooks(self, where: str) -> None:
        if not self._requires_grad:
            raise errors.HookError.at(
                where,
                "cannot register a hook on a tensor that doesn't require gradient",
                "create it with requires_grad=True",
                "04",
            )
