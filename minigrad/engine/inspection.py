"""What a node shows and does on request, outside of a backward."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

from minigrad import errors
from minigrad.engine.core.node import (
    NOT_A_TENSOR,
    AccumulateGrad,
    _FunctionBase,
    needs_gradient,
)
from minigrad.engine.core.saved import FREED, Packed, Record, unpack
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.core.validate import freed_error
from minigrad.engine.device import CPU
from minigrad.engine.device import device as Device
from minigrad.engine.dtypes import DType, default_dtype, known_dtype
from minigrad.engine.grad_mode import _this_thread
from minigrad.engine.saved_hooks import (
    HookedRecord,
    PackHook,
    UnpackHook,
    call_pack_hook,
    cannot_hook,
    check_hooks,
)
from minigrad.engine.tensor_properties import Size


class OutputInfo(NamedTuple):
    """What a node remembers of one of its outputs."""

    shape: Size
    dtype: DType | None

    @property
    def device(self) -> Device:
        """Where the elements lie: always the processor's memory."""
        return CPU

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient can arrive there."""
        return True

    def numel(self) -> int:
        """The number of elements."""
        return self.shape.numel()


def input_metadata(node: _FunctionBase) -> tuple[OutputInfo, ...]:
    """Shape, dtype and device of each output, whose gradient is an input here.

    An output that is not a Tensor counts as a number of the default dtype.
    """
    number = (), default_dtype()
    known = [pair or number for pair in node._output_metadata]
    return tuple(
        [
            OutputInfo(Size(shape), dtype and known_dtype(dtype))
            for shape, dtype in known
        ]
    )


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


def raw_saved_tensors(node: _FunctionBase) -> tuple[SavedTensor, ...]:
    """One handle for each saved value, without the checks."""
    if node._saved is FREED:
        raise freed_error(node)
    return tuple([SavedTensor(node, place) for place in range(len(node._saved))])


def run_alone(node: _FunctionBase, *gradients: Tensor | None) -> Any:
    """The gradients of a node's inputs from those of its outputs, outside a backward.

    No hook runs, nothing is checked against shapes, and what was saved stays. One
    gradient comes as it is, several as a tuple.
    Raises: ArgumentTypeError for another number of gradients, or no Tensor.
    See: torch, where a built-in ``grad_fn`` can be called.

    >>> x = minigrad.tensor(3.0, requires_grad=True)
    >>> (x * 2).grad_fn(minigrad.tensor(1.0))
    (tensor(2.), None)
    """
    check_gradients_of(node, gradients)
    mode = _this_thread.mode
    before = mode.rules_see_tensors
    try:
        mode.rules_see_tensors = True
        returned = node._run_backward(list(gradients), mode.grad_enabled)
    finally:
        mode.rules_see_tensors = before
    pairs = zip(node._edges, node._gradients_by_edge(returned, True), strict=True)
    found = [
        gradient if needs_gradient(edge) else None
        for edge, gradient in pairs
        if edge is not NOT_A_TENSOR
    ]
    return found[0] if len(found) == 1 else tuple(found)


class Node(abc.ABC):  # noqa: B024  only isinstance is asked of it
    """The type of every ``grad_fn``, for ``isinstance``.

    See: torch ``autograd.graph.Node``.
    """

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        return issubclass(subclass, _FunctionBase) or NotImplemented


def accumulate_alone(node: AccumulateGrad, *gradients: Tensor | None) -> Any:
    """Add a gradient, stretched to the leaf's shape, into its ``.grad``."""
    check_gradients_of(node, gradients)
    shape = node.variable.shape
    return run_alone(node, *[None if g is None else g.expand(shape) for g in gradients])


_FunctionBase._input_metadata = property(input_metadata)
_FunctionBase._raw_saved_tensors = property(raw_saved_tensors)
AccumulateGrad.__call__ = accumulate_alone


def check_gradients_of(node: _FunctionBase, gradients: tuple[object, ...]) -> None:
    """Refuse what a node cannot be called with.

    Raises: ArgumentTypeError.
    """
    wanted = len(node._output_metadata)
    wrong = [i for i, g in enumerate(gradients) if not isinstance(g, Tensor | None)]
    what = ""
    if len(gradients) != wanted:
        what = f"expected {wanted} arguments, got {len(gradients)} instead"
    elif wrong:
        what = f"argument {wrong[0]} is not a Variable"
    if what:
        raise errors.ArgumentTypeError.at(
            node.name(), what, "give a Tensor or None for each output of the node"
        )
