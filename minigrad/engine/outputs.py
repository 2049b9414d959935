"""From what forward returned to the tensors that apply hands out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from minigrad import errors
from minigrad.engine.tensor import Array, Tensor, ViewKind

if TYPE_CHECKING:
    from minigrad.engine.node import OutputMetadata


def wrap_outputs(
    ctx: Any,
    inputs: tuple[Any, ...],
    result: Any,
    dirty: tuple[Any, ...],
    non_differentiable: tuple[Any, ...],
    recording: bool,
) -> tuple[list[Any], list[bool]]:
    """The outputs, and which of them a gradient can reach.

    Only a tuple is several outputs. Values that are not Tensors pass through. A view
    that forward made, or that is handed out for an input, must not change in place.
    Raises: InplaceError if a dirty tensor cannot be, or is not among the outputs.
    """
    marked = dirty or non_differentiable or ctx._is_pure_view
    if recording and not marked and is_new_tensor(result, inputs):
        return [result], [True]

    values = result if isinstance(result, tuple) else (result,)
    outputs = []
    differentiable = []
    for value in values:
        can = recording and can_have_gradient(value, non_differentiable)
        if dirty and contains(dirty, value):
            check_dirty(ctx, value, inputs, can, len(values))
        outputs.append(wrap_output(value, inputs, dirty, can))
        differentiable.append(can)

    for tensor in dirty:
        if not contains(values, tensor):
            raise not_returned(ctx)
    if ctx._is_pure_view:
        check_pure_view(ctx, inputs, outputs)
    else:
        mark_views(outputs, dirty, sum(differentiable) > 1)
    return outputs, differentiable


def is_new_tensor(result: Any, inputs: tuple[Any, ...]) -> bool:
    """Whether forward returned the usual thing: one new floating-point Tensor."""
    return (
        isinstance(result, Tensor)
        and not result._requires_grad
        and result._base is None
        and result.array.dtype.kind in "fc"
        and not contains(inputs, result)
    )


def can_have_gradient(value: Any, non_differentiable: tuple[Any, ...]) -> bool:
    """Whether an output is a floating-point Tensor that forward did not mark."""
    return (
        isinstance(value, Tensor)
        and value.array.dtype.kind in "fc"
        and not (non_differentiable and contains(non_differentiable, value))
    )


def wrap_output(
    value: Any, inputs: tuple[Any, ...], dirty: tuple[Any, ...], can: bool
) -> Any:
    """What apply hands out for ``value``; ``can``: a gradient can reach it."""
    if not isinstance(value, Tensor):
        return value
    is_input = contains(inputs, value)

    if can or not value._requires_grad:
        # An input keeps its own history: what is handed out is a view of it.
        as_it_is = is_input and not (dirty and contains(dirty, value))
        return view_of(value) if as_it_is else value
    if is_input:
        return value.detach()
    if value._base is None:
        value._grad_fn = None
        value._requires_grad = False
    return value


def check_pure_view(ctx: Any, inputs: tuple[Any, ...], outputs: list[Any]) -> None:
    """Refuse ``ctx._is_pure_view`` where there is more than one tensor to follow.

    A change in place of the output is recorded as one of any view; the learner's
    backward is not called for it.
    Raises: CtxUseError.
    """
    tensors = [value for value in inputs if isinstance(value, Tensor)]
    if len(tensors) != 1 or len(outputs) != 1:
        raise errors.CtxUseError(
            errors.message(
                f"{type(ctx).__name__.removesuffix('Backward')}.forward",
                "Pure view custom Function can only have one input Tensor and one "
                f"output Tensor. This one has {len(tensors)} and {len(outputs)}",
                "return one view of one tensor, or leave _is_pure_view out",
                "08",
            )
        )
    for output in outputs:
        if isinstance(output, Tensor) and output._base is not None:
            output._view_kind = None


def mark_views(outputs: list[Any], dirty: tuple[Any, ...], several: bool) -> None:
    """Note on views that their history is a learner's, which nothing may rewrite."""
    for output in outputs:
        if isinstance(output, Tensor) and output._base is not None:
            if several:
                output._view_kind = ViewKind.SEVERAL_OUTPUTS
            elif not (dirty and contains(dirty, output)):
                output._view_kind = ViewKind.IN_CUSTOM_FUNCTION


def contains(tensors: tuple[Any, ...], tensor: Any) -> bool:
    """Whether this very object is among ``tensors``; ``in`` would compare values."""
    for candidate in tensors:  # noqa: SIM110  apply asks often; any() takes three times as long
        if candidate is tensor:
            return True
    return False


def view_of(tensor: Tensor) -> Tensor:
    """Another tensor on the same memory, outside any graph."""
    view = Tensor(tensor.array)
    view._become_view_of(tensor)
    return view


def check_dirty(
    ctx: Any, tensor: Any, inputs: tuple[Any, ...], can: bool, count: int
) -> None:
    """Refuse a change in place that no graph can describe.

    Of what no gradient can reach, anything goes: there is no graph to describe it.
    """
    where = f"{type(ctx).__name__.removesuffix('Backward')}.forward"
    if not can:
        return
    if tensor._requires_grad and tensor._grad_fn is None:
        raise errors.InplaceError(
            errors.message(
                where,
                "a leaf Variable that requires grad has been used in an in-place "
                "operation. Its values are changed already",
                "apply it to a copy: x.clone()",
                "08",
            )
        )
    if contains(inputs, tensor):
        if tensor._base is not None:
            check_dirty_view(tensor, where, count)
        return
    says = errors.message(
        where,
        "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors "
        "that have been mutated should be passed to ctx.mark_dirty().",
        "mark the input that forward changed, and return that input",
        "08",
    )
    if tensor._base is not None:
        raise errors.InplaceError(says)
    warnings.warn(says, UserWarning, stacklevel=4)


def check_dirty_view(view: Tensor, where: str, count: int) -> None:
    """Refuse a changed view beside other outputs, or whose history cannot follow."""
    # Imported here because the history of views is built on Functions.
    from minigrad.engine.views import check_in_place

    if count > 1:
        raise errors.InplaceError(
            errors.message(
                where,
                "If your Function modifies inplace an input that is a view of another "
                "Tensor, your Function cannot return more than one Tensor. This one "
                f"returned {count}",
                "give it a copy (x.clone()), or make two Functions, one of which "
                "changes the view and returns it alone",
                "08",
            )
        )
    check_in_place(view, where)


def not_returned(ctx: Any) -> errors.InplaceError:
    """The error for a dirty tensor that forward did not return."""
    return errors.InplaceError(
        errors.message(
            f"{type(ctx).__name__.removesuffix('Backward')}.forward",
            "Some elements marked as dirty during the forward method were not returned "
            "as output. The inputs that are modified inplace must all be outputs of "
            "the Function.",
            "return the very tensor that was given to ctx.mark_dirty",
            "08",
        )
    )


def metadata_of_output(array: Array) -> tuple[OutputMetadata, ...] | None:
    """Shape and dtype of the only output of a node; None if it can have no gradient.

    Most outputs are like the one before: their nodes share what says so.
    """
    global latest
    metadata = latest
    ((shape, dtype),) = metadata
    if array.dtype is dtype and array.shape == shape:
        return metadata
    if array.dtype.kind not in "fc":
        return None
    metadata = latest = ((array.shape, array.dtype),)
    return metadata


latest: tuple[tuple[tuple[int, ...], Any]] = (((), None),)
"""What ``metadata_of_output`` gave last."""
