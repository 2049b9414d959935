"""Hooks on saved tensors: what is kept instead of a tensor, and how it comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minigrad import errors
from minigrad.engine.core.saved import keep_tangent
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.core.validate import check_not_inference
from minigrad.engine.grad_mode import unrecorded
from minigrad.engine.observe import notify

if TYPE_CHECKING:
    from minigrad.engine.core.node import _FunctionBase

PackHook = Callable[[Tensor], Any]
UnpackHook = Callable[[Any], Tensor]


class HooksInForce:
    """The pair that packs what this thread saves, and the pair it has replaced."""

    __slots__ = ("outer", "pack_hook", "unpack_hook")

    def __init__(
        self,
        pack_hook: PackHook,
        unpack_hook: UnpackHook,
        outer: HooksInForce | None,
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self.outer = outer

    def pack(self, tensor: Tensor, node: _FunctionBase | None) -> HookedRecord:
        """What ``node`` keeps for ``tensor``."""
        check_not_inference(tensor, node)
        packed = call_pack_hook(self.pack_hook, tensor)
        return HookedRecord(packed, self.unpack_hook, tensor, node)


class HookedRecord:
    """What a pack hook made of a tensor, and the place in the graph that it had.

    The place is kept apart because the unpack hook returns values alone.
    """

    __slots__ = (
        "accumulate_node",
        "grad_fn",
        "is_own_output",
        "output_nr",
        "packed",
        "requires_grad",
        "tangents",
        "unpack_hook",
    )

    def __init__(
        self,
        packed: Any,
        unpack_hook: UnpackHook,
        tensor: Tensor,
        node: _FunctionBase | None,
    ) -> None:
        self.packed = packed
        self.unpack_hook = unpack_hook
        history = tensor.grad_fn
        self.is_own_output = node is not None and history is node
        # Not the node itself, which would then keep itself alive.
        self.grad_fn = None if self.is_own_output else history
        self.output_nr = tensor.output_nr
        self.requires_grad = tensor._requires_grad
        self.accumulate_node = tensor._accumulate_node
        self.tangents = tensor._tangents

    def unpack(self, node: _FunctionBase | None) -> Tensor:
        """What the unpack hook returns, put back in its place in the graph.

        There is no version to check: the hooks may have kept a copy.
        Raises: SavedTypeError if the hook returns no Tensor.
        """
        unpacked = self.unpack_hook(self.packed)
        notify("tensor_unpacked", self.unpack_hook, node, self.packed, unpacked)
        if not isinstance(unpacked, Tensor):
            raise not_unpacked(unpacked)
        grad_fn = self.grad_fn
        if self.is_own_output and node is not None:
            grad_fn = node._history_of_output()
        has_place = grad_fn is not None or self.requires_grad or self.tangents
        if not has_place and not unpacked._requires_grad:
            return unpacked
        tensor = unpacked.detach()
        if grad_fn is not None:
            tensor._set_history(grad_fn, self.output_nr)
        elif self.requires_grad:
            tensor._requires_grad = True
            tensor._accumulate_node = self.accumulate_node
        for level, tangent in (self.tangents or {}).items():
            keep_tangent(tensor, tangent, level)
        return tensor


def call_pack_hook(pack_hook: PackHook, tensor: Tensor) -> Any:
    """What the hook makes of ``tensor``; nothing of it is recorded.

    Raises: SavedHookError if it changes the tensor in place.
    """
    version = tensor._version
    packed = unrecorded(pack_hook, tensor)
    if tensor._version != version:
        raise changed_by_pack_hook(tensor, version)
    notify("tensor_packed", pack_hook, tensor, packed)
    return packed


def check_hooks(where: str, pack_hook: object, unpack_hook: object) -> None:
    """Refuse hooks that cannot be called.

    Raises: ArgumentTypeError.
    """
    for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
        if not callable(hook):
            raise errors.ArgumentTypeError.at(
                where,
                "incompatible function arguments: "
                f"{name} is {type(hook).__name__}, which cannot be called",
                f"give a function as {name}",
                "12",
            )


def cannot_hook(why: str, fix: str) -> errors.SavedHookError:
    """The error for ``register_hooks`` on a saved value that cannot have hooks."""
    return errors.SavedHookError.at(
        "SavedTensor.register_hooks",
        f"Calling register_hooks on a saved tensor {why}",
        fix,
        "12",
    )


def not_unpacked(value: object) -> errors.SavedTypeError:
    """The error for an unpack hook that returns no Tensor."""
    return errors.SavedTypeError.at(
        "saved_tensors_hooks",
        "Output of saved tensor unpack_hook expected to be a Tensor but "
        f"got result of type {type(value).__name__}",
        "return a Tensor with the values that pack_hook was given",
        "12",
    )


def changed_by_pack_hook(tensor: Tensor, version: int) -> errors.SavedHookError:
    """The error for a pack hook that changes the tensor it is given."""
    return errors.SavedHookError.at(
        "saved_tensors_hooks",
        "A saved tensor pack hook is modifying its input in place. The "
        f"tensor of shape {tensor.shape} was at version {version} and is now "
        f"at version {tensor._version}",
        "let pack_hook work on a copy: tensor.clone()",
        "12",
    )
