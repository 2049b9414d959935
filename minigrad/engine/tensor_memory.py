"""Whose memory a tensor uses: its base, its views, and how often it was changed."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final
from weakref import ref

from minigrad import errors

if TYPE_CHECKING:
    from minigrad.engine.core.tensor import Array, Tensor


class VersionCounter:
    """Counts the in-place changes of one piece of memory; its aliases share it."""

    value = 0


class NoCounter(VersionCounter):
    """Stands in every tensor made in inference mode: no change of it is counted."""

    @property
    def value(self) -> int:  # type: ignore[override]  # it has none to write either
        raise errors.InferenceError.at(
            "Tensor._version",
            "Inference tensors do not track version counter.",
            "make a normal tensor of it, outside of inference_mode: x.clone()",
        )


NO_COUNTER: Final = NoCounter()


class ViewKind(enum.Enum):
    """How a view came about, where a change in place cannot be followed."""

    IN_CUSTOM_FUNCTION = enum.auto()
    SEVERAL_OUTPUTS = enum.auto()
    NO_GRAD = enum.auto()
    INFERENCE = enum.auto()


class PlainViews:
    """Those views of a tensor that were made unrecorded, as long as they live."""

    __slots__ = ("limit", "references")

    def __init__(self) -> None:
        self.references: list[ref[Tensor]] = []
        self.limit = 32

    def add(self, view: Tensor) -> None:
        """Remember ``view``, and now and then forget those that are gone."""
        if len(self.references) >= self.limit:
            alive = [found for found in self.references if found() is not None]
            self.references = alive
            self.limit = max(32, 2 * len(alive))
        self.references.append(ref(view))


def become_view_of(view: Tensor, tensor: Tensor, kind: ViewKind | None = None) -> None:
    """Remember whose memory ``view`` uses; changes are counted together.

    A view requires grad if its base does; what shows an inference tensor is another
    one and no view.
    """
    if tensor._version_counter is NO_COUNTER:
        view._version_counter = NO_COUNTER
        view._memory = tensor._whole_memory()
        return
    base = tensor if tensor._base is None else tensor._base
    view._base = base
    if tensor._forward_base is not None:
        own = tensor._forward_base
        view._forward_base = tensor if own is False else own
    counter = base._version_counter
    if counter is None:
        counter = base._version_counter = VersionCounter()
    view._version_counter = counter
    if counter.value:
        view._history_version = counter.value
    if kind is not None or tensor._view_kind is not None:
        view._view_kind = kind or tensor._view_kind
    if base._requires_grad:
        view._requires_grad = True
    if kind is not None or not base._requires_grad:
        if base._plain_views is None:
            base._plain_views = PlainViews()
        base._plain_views.add(view)


def update_views(base: Tensor) -> None:
    """Let the views know whether ``base`` requires grad now."""
    views = base._plain_views
    for reference in () if views is None else views.references:
        view = reference()
        if view is not None and view._grad_node is None:
            required = base._requires_grad or view._is_leaf_by_request
            view._requires_grad = required


def remember_memory(tensor: Tensor, shown: Tensor) -> None:
    """Keep the whole memory that ``shown``, and so ``tensor``, is a part of."""
    if shown._base is not None:
        tensor._memory = shown._base._whole_memory()
    elif shown._memory is not None:
        tensor._memory = shown._memory


def whole_memory(tensor: Tensor) -> Array:
    """The array that all steps and offsets of ``as_strided`` count in."""
    if tensor._base is not None:
        return tensor._base._whole_memory()
    return tensor.array if tensor._memory is None else tensor._memory
