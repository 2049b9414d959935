"""Views: tensors in another one's memory, whose history follows what is written there.

A view remembers its base, which owns the memory. Once that memory was changed in
place, the history of the view is no longer true: it is made anew, as "what the view
shows of the base", the next time it is needed.
"""

from __future__ import annotations

from typing import Any, Final

from minigrad import errors
from minigrad.engine.builtin import create_builtin_ctx
from minigrad.engine.core.node import (
    NOT_A_TENSOR,
    Edge,
    _FunctionBase,
    accumulate_node,
    edge_of,
    needs_gradient,
)
from minigrad.engine.core.saved import FREED
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.core.validate import freed_error, sums_to
from minigrad.engine.grad_mode import next_sequence_nr
from minigrad.engine.hooks import _HookMixin
from minigrad.engine.inspection import run_alone
from minigrad.engine.observe import notify
from minigrad.engine.strides import AsStrided, ReplaceShown, geometry_of
from minigrad.engine.structural import CloneInRows
from minigrad.engine.tensor_memory import ViewKind


def both_sides_of(block: str) -> str:
    """torch's words for a view and its change on two sides of the edge of a block."""
    return (
        " Given that this use case is ambiguous and error-prone, it is forbidden. You "
        "can clarify your code by moving both the view and the inplace either both "
        f"inside the {block} block (if you don't want the inplace to be tracked) or "
        "both outside (if you want the inplace to be tracked)."
    )


FORBIDDEN: Final = {
    ViewKind.SEVERAL_OUTPUTS: (
        " This view is the output of a function that returns multiple views. Such "
        "functions do not allow the output views to be modified inplace. You should "
        "replace the inplace operation by an out-of-place one."
    ),
    ViewKind.IN_CUSTOM_FUNCTION: (
        " This view was created inside a custom Function (or because an input was "
        "returned as-is) and the autograd logic to handle view+inplace would override "
        "the custom backward associated with the custom Function, leading to "
        "incorrect gradients. This behavior is forbidden. You can fix this by cloning "
        "the output of the custom Function."
    ),
    ViewKind.NO_GRAD: both_sides_of("no_grad"),
    ViewKind.INFERENCE: both_sides_of("inference_mode"),
}
"""Why the history of a view of some kind cannot be rewritten, in torch's words."""

REMEDIES: Final = {
    ViewKind.SEVERAL_OUTPUTS: "change a copy (x.clone()), or index the base instead",
    ViewKind.IN_CUSTOM_FUNCTION: "clone the output of the custom Function first",
    ViewKind.NO_GRAD: "make the view and the change both inside no_grad(), or both "
    "outside",
    ViewKind.INFERENCE: "make the view and the change both inside inference_mode(), "
    "or both outside",
}


class CopySlices(_FunctionBase, _HookMixin):
    """The history of a base after one of its views was changed in place.

    It wraps the node of that change, ``inner``: the gradient of the part that the view
    shows goes through it, that of the rest passes by.
    """

    __slots__ = ("geometry", "inner", "slot")

    __call__ = run_alone

    inner: _FunctionBase | None

    def __init__(self, base: Tensor, view: Tensor, inner: _FunctionBase, slot: int):
        edges = list(inner._edges)
        edges[slot] = edge_of(base)
        self._edges = tuple(edges)
        self.needs_input_grad = tuple([needs_gradient(edge) for edge in edges])
        self._number = next_sequence_nr()
        self._output_metadata = ((base.shape, base.array.dtype),)
        self._attached = None
        self.geometry = geometry_of(view.array, base.array)
        self.inner = inner
        self.slot = slot
        notify("node_made", self)

    def name(self) -> str:
        """torch's name for this node, with its C++ namespace."""
        return "torch::autograd::CopySlices"

    def _run_backward(self, gradients: list[Any], create_graph: bool) -> Any:
        (gradient,) = gradients
        if gradient is None:
            return [None] * len(self._edges)
        inner = self.inner
        if inner is None:
            raise freed_error(self)
        part = CloneInRows.of(AsStrided.of(gradient, self.geometry))
        returned = inner._run_backward([part], create_graph)
        checked = inner._gradients_by_edge(returned, isinstance(part, Tensor))
        before = checked[self.slot]
        if before is not None and needs_gradient(self._edges[self.slot]):
            self._check_shape(inner, before)
            before = ReplaceShown.of(gradient, before, self.geometry)
        checked[self.slot] = before
        return checked

    def _gradients_by_edge(self, returned: Any, as_tensors: bool) -> list[Any]:
        gradients: list[Any] = returned
        return gradients

    def _check_shape(self, inner: _FunctionBase, part: Any) -> None:
        """Refuse a gradient that does not fit the part that was changed."""
        shape = self.geometry.shape
        if not sums_to(shape, part.shape):
            raise errors.GradientShapeError.at(
                f"{inner.operation_name()}.backward",
                f"The size of tensor a ({list(shape)}) must match the size of tensor b "
                f"({list(part.shape)}): the gradient of an input that is a view",
                f"return a gradient of shape {shape}",
                "08",
            )

    @property
    def _saved(self) -> tuple[Any, ...]:
        return FREED if self.inner is None else ()

    @_saved.setter
    def _saved(self, saved: tuple[Any, ...]) -> None:
        if saved is FREED:
            # Whoever else holds it, by an output it saved, may still need it.
            self.inner = None


def history_of(view: Tensor) -> _FunctionBase | None:
    """The view's ``grad_fn``, made anew if the memory was changed since it was made.

    Raises: InplaceError if a view of its kind cannot follow the change.
    """
    base = view._base
    if base is None or (view._grad_node is None and not base._requires_grad):
        return view._grad_node
    version = view._seen_version()
    if view._history_version != version:
        refuse_kind(
            view, "Tensor.grad_fn", "its base or another view of its base has been"
        )
        geometry = geometry_of(view.array, base.array)
        edges = edge_of(base), NOT_A_TENSOR
        node = create_builtin_ctx(AsStrided, (base, geometry), edges)
        node._output_metadata = ((view.shape, view.dtype),)
        node.geometry = geometry
        view._set_history(node, 0)
        view._history_version = version
    return view._grad_node


def edge_of_view(view: Tensor) -> Edge:
    """Where a gradient for the view goes.

    Nowhere, if it was made without recording and requires grad only because its base
    does.
    """
    node = history_of(view)
    if node is not None:
        return (node, view.output_nr) if view.output_nr else node
    return accumulate_node(view) if view._is_leaf_by_request else None


def rebase_history(
    tensor: Tensor, node: _FunctionBase, slot: int = 0, output_nr: int = 0
) -> None:
    """Say that ``node`` changed its argument ``slot``, which is ``tensor``, in place.

    The history of a view's base is rewritten, and with it that of all its views.
    """
    base = tensor._base
    owner = tensor if base is None else base
    joins_the_graph = not owner._requires_grad
    if base is None:
        tensor._set_history(node, output_nr)
    else:
        base._set_history(CopySlices(base, tensor, node, slot), 0)
    if joins_the_graph:
        owner._update_views()
    if base is not None:
        tensor._history_version = -1
        history_of(tensor)


def refuse_kind(view: Tensor, where: str, changed: str = "is being") -> None:
    """Refuse a change in place that a view of this kind cannot follow.

    Raises: InplaceError.
    """
    kind = view._view_kind
    if kind is None:
        return
    node = view._grad_node
    unrecorded = kind in (ViewKind.NO_GRAD, ViewKind.INFERENCE)
    if unrecorded or node is None:
        what = "A view was created in"
        if node is not None:
            what = (
                f"Output {view.output_nr} of {node.operation_name()} is a view of a "
                "view which was created in"
            )
        if kind is ViewKind.INFERENCE:
            what += f" inference mode and {changed} modified inplace in normal mode."
        else:
            what += (
                f" no_grad mode and {changed} modified inplace with grad mode enabled."
            )
    else:
        what = (
            f"Output {view.output_nr} of {node.operation_name()} is a view and "
            f"{changed} modified inplace."
        )
    raise errors.InplaceError.at(where, what + FORBIDDEN[kind], REMEDIES[kind], "08")


def check_in_place(tensor: Tensor, where: str) -> None:
    """Refuse a change in place that no graph can describe.

    Raises: InplaceError for a leaf that requires grad, a view of one, and views of
    which torch does not know how they came about.
    """
    if tensor._base is not None:
        refuse_kind(tensor, where)
        if tensor._requires_grad and tensor._base._grad_node is None:
            raise on_a_leaf(where, "a view of a leaf Variable")
    if tensor._requires_grad and tensor._grad_node is None:
        if tensor._base is not None and tensor._base._requires_grad:
            raise without_history_yet(where)
        raise on_a_leaf(where, "a leaf Variable")


def without_history_yet(where: str) -> errors.InplaceError:
    """The error for a view that had no history, until its base got one: as in torch,
    the view counts as a leaf for as long as its own is not needed.
    """
    return errors.InplaceError.at(
        where,
        "a leaf Variable that requires grad is being used in an in-place "
        "operation. It is a view that was made before its base became part of the "
        "graph, and has no history of its own yet",
        "take the view again, base[...], or read view.grad_fn, which makes its "
        "history, before the change",
        "08",
    )


def on_a_leaf(where: str, what: str) -> errors.InplaceError:
    """The error for a change of what the graph begins with."""
    return errors.InplaceError.at(
        where,
        f"{what} that requires grad is being used in an in-place operation. Its "
        "gradient would be that of a value that is gone",
        "change it inside no_grad(), or work on a copy: x.clone()",
        "08",
    )


Tensor._history_of_view = history_of
Tensor._edge_of_view = edge_of_view
Tensor._rebase_history = rebase_history
Tensor._check_in_place = check_in_place
