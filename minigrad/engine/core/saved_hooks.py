"""Hooks on saved tensors: what is kept instead of a tensor, and how it comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minigrad import errors
from minigrad.engine.core.saved import (
    FREED,
    Packed,
    Record,
    check_not_inference,
    freed_error,
    keep_tangent,
    unpack,
)
from minigrad.engine.core.tensor import Tensor
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
            raise errors.SavedTypeError(
                errors.message(
                    "saved_tensors_hooks",
                    "Output of saved tensor unpack_hook expected to be a Tensor but "
                    f"got result of type {type(unpacked).__name__}",
                    "return a Tensor with the values that pack_hook was given",
                    "12",
                )
            )
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
        raise errors.SavedHookError(
            errors.message(
                "saved_tensors_hooks",
                "A saved tensor pack hook is modifying its input in place. The "
                f"tensor of shape {tensor.shape} was at version {version} and is now "
                f"at version {tensor._version}",
                "let pack_hook work on a copy: tensor.clone()",
                "12",
            )
        )
    notify("tensor_packed", pack_hook, tensor, packed)
    return packed


class SavedTensor:
    """A handle of one value that a node has saved: to look at it, or to hook it.

    See: torch ``SavedTensor``, as ``grad_fn._raw_saved_self`` gives it.
    """

    __slots__ = ("_node", "_place")

    def __init__(self, node: _FunctionBase, place: int) -> None:
        self._node = node
        self._place = place

    def _packed(self) -> Packed:
        saved = self._node._saved
        return None if saved is FREED else saved[self._place]

    @property
    def data(self) -> Any:
        """What is stored: the tensor, an alias of an output, or what was packed."""
        packed = self._packed()
        if isinstance(packed, Record):
            return packed.tensor
        return packed.packed if isinstance(packed, HookedRecord) else packed

    @property
    def unpack_hook(self) -> UnpackHook | None:
        """The hook that will make a tensor of ``data``; None if there are no hooks."""
        packed = self._packed()
        return packed.unpack_hook if isinstance(packed, HookedRecord) else None

    @property
    def tensor(self) -> Tensor | None:
        """The stored tensor; None if there is none, or hooks have taken its place."""
        packed = self._packed()
        if isinstance(packed, Record):
            return packed.tensor
        return packed if isinstance(packed, Tensor) else None

    @property
    def version(self) -> int:
        """The version of ``tensor`` when it was saved."""
        packed = self._packed()
        return packed.version if isinstance(packed, Record) else 0

    @property
    def output_nr(self) -> int | None:
        """Which output of the node it is; None for anything else."""
        packed = self._packed()
        return packed.output_nr if isinstance(packed, Record) else None

    def unpack(self) -> Tensor | None:
        """The tensor as backward will see it, with the checks."""
        if self._node._saved is FREED:
            raise freed_error(self._node)
        return unpack(self._packed(), self._node)

    def register_hooks(self, pack_hook: PackHook, unpack_hook: UnpackHook) -> None:
        """Put what ``pack_hook`` makes of the saved tensor in its place, now.

        Raises: SavedHookError if it has hooks, is None or was freed by backward;
        ArgumentTypeError for hooks that cannot be called.
        """
        check_hooks("SavedTensor.register_hooks", pack_hook, unpack_hook)
        saved = self._node._saved
        packed = self._packed()
        if saved is FREED:
            raise cannot_hook(
                "after it has been freed. Saved intermediate values of the graph are "
                "freed when you call .backward() or autograd.grad()",
                "register the hooks before backward, or pass it retain_graph=True",
            )
        if packed is None:
            raise cannot_hook(
                "with value None is forbidden", "look at its .data before you hook it"
            )
        if isinstance(packed, HookedRecord):
            raise cannot_hook(
                "whose hooks have already been set. Hint: only one pair of hooks is "
                "allowed at a time.",
                "put both steps into one pair of hooks",
            )
        tensor = packed if isinstance(packed, Tensor) else packed.restore(self._node)
        stored = call_pack_hook(pack_hook, tensor.detach())
        hooked = HookedRecord(stored, unpack_hook, tensor, self._node)
        before, after = saved[: self._place], saved[self._place + 1 :]
        self._node._saved = (*before, hooked, *after)


def saved_value(place: int) -> Any:
    """The property ``_saved_<name>`` of a node: what it saved, unpacked and checked."""
    return property(lambda node: SavedTensor(node, place).unpack())


def saved_handle(place: int) -> Any:
    """The property ``_raw_saved_<name>`` of a node: the handle of what it saved."""
    return property(lambda node: SavedTensor(node, place))


def cannot_hook(why: str, fix: str) -> errors.SavedHookError:
    """The error for ``register_hooks`` on a saved value that cannot have hooks."""
    return errors.SavedHookError(
        errors.message(
            "SavedTensor.register_hooks",
            f"Calling register_hooks on a saved tensor {why}",
            fix,
            "12",
        )
    )


def check_hooks(where: str, pack_hook: Any, unpack_hook: Any) -> None:
    """Refuse hooks that cannot be called.

    Raises: ArgumentTypeError.
    """
    for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
        if not callable(hook):
            raise errors.ArgumentTypeError(
                errors.message(
                    where,
                    "incompatible function arguments: "
                    f"{name} is {type(hook).__name__}, which cannot be called",
                    f"give a function as {name}",
                    "12",
                )
            )
