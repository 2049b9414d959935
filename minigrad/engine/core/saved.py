"""What a node keeps for its backward: the tensor, its version, whether it owns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from minigrad import errors
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.core.validate import (
    check_not_inference,
    freed_error,
    modified_error,
    read_twice,
)
from minigrad.engine.tensor_memory import NO_COUNTER, VersionCounter

if TYPE_CHECKING:
    from minigrad.engine.core.node import _FunctionBase
    from minigrad.engine.saved_hooks import HookedRecord


class Record:
    """One value kept by ``save_for_backward``.

    ``version`` is the tensor's version when ``apply`` ended. ``output_nr`` is None
    unless the tensor is an output of the node that keeps it: then ``tensor`` is a
    detached alias, because keeping the output itself would make a cycle of references
    (output -> grad_fn -> saved output).
    """

    __slots__ = ("output_nr", "tensor", "version")

    def __init__(self, tensor: Tensor, version: int, output_nr: int | None) -> None:
        self.tensor = tensor
        self.version = version
        self.output_nr = output_nr

    def unpack(self, node: _FunctionBase | None) -> Tensor:
        """The tensor as backward sees it: an output comes back as a new object.

        Raises: SavedModifiedError if it was changed in place since it was saved.
        """
        self.check(node)
        return self.restore(node)

    def check(self, node: _FunctionBase | None) -> None:
        """See that the values are still those that were saved.

        Raises: SavedModifiedError if it was changed in place since it was saved;
        InplaceError for a view whose place in the graph a change has taken away.
        """
        if self.output_nr is None and self.tensor._base is not None:
            self.tensor._history_of_view()
        if self.tensor._version != self.version:
            raise modified_error(self, node)
        if self.tensor._detached_at is not None:
            check_detached(self.tensor, node)

    def restore(self, node: _FunctionBase | None) -> Tensor:
        """The tensor in its place in the graph, whatever its version."""
        if self.output_nr is None:
            return self.tensor
        output = without_history(self.tensor)
        if node is not None:
            output._set_history(node._history_of_output(), self.output_nr)
        return output


class OwnOutput(Record):
    """An output that its own node keeps: the alias is made on first use.

    Backward needs no more than the array and its count of changes.
    """

    __slots__ = ("alias", "array", "counter")

    def __init__(self, output: Tensor) -> None:
        counter = output._version_counter
        if counter is None:
            counter = output._version_counter = VersionCounter()
        self.array = output.array
        self.counter = counter
        self.version = counter.value
        self.output_nr = output.output_nr
        self.alias: Tensor | None = None

    @property
    def tensor(self) -> Tensor:  # type: ignore[override]  # a slot of Record
        """The detached alias."""
        alias = self.alias
        if alias is None:
            alias = self.alias = Tensor(self.array)
            alias._version_counter = self.counter
        return alias

    def check(self, node: _FunctionBase | None) -> None:
        """See that the values are still those that were saved.

        Raises: SavedModifiedError if they were changed in place.
        """
        if self.counter.value != self.version:
            raise modified_error(self, node)


class Freed(tuple[()]):
    """Stands in place of saved values that backward has released."""

    def __repr__(self) -> str:
        return "freed"


FREED: Final = Freed()


class ReadOnce(tuple["Packed", ...]):
    """What a node saved that gives it away when it is read for the first time."""


WAS_READ: Final = ReadOnce()


def take(node: _FunctionBase, saved: tuple[Packed, ...]) -> tuple[Packed, ...]:
    """What ``node`` saved, if it is still there; what may be read once then is not.

    Raises: SavedFreedError.
    """
    if saved is FREED:
        raise freed_error(node)
    if saved is WAS_READ:
        raise read_twice(node)
    if isinstance(saved, ReadOnce):
        node._saved = WAS_READ
    return saved


Packed: TypeAlias = "Tensor | Record | HookedRecord | None"
"""How a node keeps a value: a Tensor by itself was saved at version 0."""


def without_history(tensor: Tensor) -> Tensor:
    """A detached alias that keeps its tangents: the same value, not cut off."""
    alias = tensor.detach()
    if tensor._tangents is not None:
        share_tangents(tensor, alias)
    return alias


def pack(tensor: Tensor, node: _FunctionBase | None) -> Tensor | Record:
    """What ``node`` keeps for ``tensor``; nothing is copied."""
    if node is not None and tensor._grad_node is node:
        if tensor._base is None and tensor._memory is None and tensor._tangents is None:
            return OwnOutput(tensor)
        return Record(without_history(tensor), tensor._version, tensor.output_nr)
    counter = tensor._version_counter
    if counter is None:
        return tensor
    if counter is NO_COUNTER:
        check_not_inference(tensor, node)
    return Record(tensor, counter.value, None) if counter.value else tensor


def check_detached(tensor: Tensor, node: _FunctionBase | None) -> None:
    """Refuse to give a built-in rule a tensor that has lost its history meanwhile.

    Raises: SavedDetachedError if it was detached in place after ``node`` saved it.
    """
    if node is None or node._takes_detached or tensor._detached_at is None:
        return
    if tensor._detached_at > node._number:
        raise errors.SavedDetachedError.at(
            node.name(),
            "Trying to use a saved tensor that has been detached in-place, i.e. "
            "with .detach_(). Its own gradient would be lost",
            "use detach(), which gives another tensor",
            "08",
        )


def unpack(packed: Packed, node: _FunctionBase | None) -> Tensor | None:
    """The tensor that ``packed`` was made from.

    Raises: SavedModifiedError if it was changed in place since it was saved.
    """
    if isinstance(packed, Tensor):
        if packed._version_counter is not None:
            return Record(packed, 0, None).unpack(node)
        return packed
    return None if packed is None else packed.unpack(node)


def unpack_values(packed: Packed, node: _FunctionBase) -> Array | None:
    """The values of ``unpack``, for a rule that computes with arrays.

    Raises: SavedModifiedError if they were changed in place since they were saved.
    """
    if packed is None:
        return None
    if type(packed) is OwnOutput:
        if packed.counter.value != packed.version:
            packed.check(node)
        return packed.array
    if isinstance(packed, Tensor):
        tensor, version = packed, 0
    elif isinstance(packed, Record):
        tensor, version = packed.tensor, packed.version
    else:
        return packed.unpack(node).array

    counter = tensor._version_counter
    is_as_saved = version == (0 if counter is None else counter.value)
    if not is_as_saved or tensor._base is not None or tensor._detached_at is not None:
        # What is wrong, if anything is, a record knows.
        record = packed if isinstance(packed, Record) else Record(packed, 0, None)
        tensor = record.unpack(node)
    return tensor.array


def keep_tangent(tensor: Tensor, tangent: Tensor, level: Any) -> None:
    """Hang ``tangent`` on ``tensor`` until ``level`` is closed."""
    if tensor._tangents is None:
        tensor._tangents = {}
    tensor._tangents[level] = tangent
    level.duals[id(tensor)] = tensor


def share_tangents(tensor: Tensor, alias: Tensor) -> None:
    """Give another tensor of the same values the same tangents."""
    if tensor._tangents is not None:
        for level, tangent in tensor._tangents.items():
            keep_tangent(alias, tangent, level)
