"""Function.apply: how an operation runs, and how it is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from minigrad.engine import interpreters
from minigrad.engine.compat import called_object, init_object
from minigrad.engine.core.arguments import bind_arguments
from minigrad.engine.core.ctx import (
    BackwardCFunction,
    FunctionCtx,
    FunctionMeta,
    no_backward,
    no_setup_context,
    no_vjp,
)
from minigrad.engine.core.node import Edge, _FunctionBase, collect_edges
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.core.validate import (
    check_dirty,
    check_marked,
    contains,
    forward_missing,
    jvp_missing,
    not_one_view,
    not_returned,
)
from minigrad.engine.grad_mode import _this_thread, modes, unrecorded
from minigrad.engine.hooks import _HookMixin
from minigrad.engine.observe import notify
from minigrad.engine.tensor_memory import ViewKind


class Function(_FunctionBase, FunctionCtx, _HookMixin, metaclass=FunctionMeta):
    """Base of every operation with its own gradient rule; call ``apply``.

    Write ``forward`` and ``backward`` as static methods. forward gets ctx first, or,
    if the class also has ``setup_context(ctx, inputs, output)``, no ctx at all.

    See: torch ``autograd.Function``.
    """

    _ctx_base: ClassVar[type[_FunctionBase]] = BackwardCFunction

    clear_saved_tensors_on_access: ClassVar[bool] = False
    """With True, ctx lets go of what it saved when it is read for the first time."""

    boxed_grads_call: ClassVar[bool] = False
    """With True, backward gets one list of all gradients, and may empty it."""

    generate_vmap_rule: ClassVar[bool] = False
    """Whether ``vmap`` may run forward, backward and jvp themselves on a batch."""

    _on_arrays: ClassVar[bool] = False
    """Whether forward maps arrays to arrays, as that of a built-in operation does.

    Its arguments are bound by the function that users call.
    """

    _run_on_arrays: ClassVar[Any]  # of Builtin
    _wrap_outputs: ClassVar[Callable[..., tuple[list[object], list[bool]]]]

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward on ``args``; record it if a gradient may be asked for later.

        Every call makes one new ctx. Exceptions of forward pass through unchanged.
        """
        # collect inputs
        takes_ctx = cls.setup_context is no_setup_context
        inputs = args
        if kwargs or not (takes_ctx or cls._on_arrays):
            inputs = bind_arguments(cls, takes_ctx, args, kwargs)
        if interpreters.active and (top := interpreters.top()) is not None:
            return top.apply(cls, inputs)
        needs_input_grad, edges = cls._collect_edges(inputs)

        # create ctx
        ctx = cls._create_ctx(inputs, needs_input_grad, edges)
        observed = modes.observed
        if observed:
            notify("ctx_created", ctx, ctx._forward_cls, inputs)

        # run forward
        if takes_ctx:
            result = unrecorded(cls.forward, ctx, *inputs)
        elif cls._on_arrays:
            result = cls._run_on_arrays(inputs)
        else:
            result = unrecorded(cls.forward, *inputs)
            unrecorded(cls.setup_context, ctx, inputs, result)
        if observed:
            notify("forward_returned", ctx, inputs, result)

        # wrap outputs
        outputs, differentiable = cls._wrap_outputs(ctx, inputs, result)

        # link outputs
        if edges or observed:
            ctx._link_outputs(inputs, outputs, differentiable)

        # take what was saved
        ctx._take_what_was_saved(inputs, result)
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]

    @classmethod
    def _create_ctx(
        cls,
        inputs: tuple[object, ...],
        needs_input_grad: tuple[bool, ...],
        edges: tuple[Edge, ...],
    ) -> Any:
        """A new ctx: a node that already knows where its inputs came from."""
        ctx = cls._backward_cls()
        ctx.needs_input_grad = needs_input_grad
        ctx._edges = edges
        ctx._number = _this_thread.mode.next_sequence_nr()
        ctx._output_metadata = ()
        ctx._saved = ()
        ctx._attached = None
        ctx._materialize_grads = True
        ctx.to_save = None
        ctx.saved_for_forward = None
        ctx.dirty_tensors = None
        ctx.non_differentiable = None
        return ctx

    _collect_edges = staticmethod(collect_edges)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        init_object(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse what programs wrote before 2018.

        Raises: FunctionUseError.
        """
        raise called_object(self)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; operations in here are not recorded."""
        raise forward_missing()

    setup_context = staticmethod(no_setup_context)

    backward = staticmethod(no_backward)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """One tangent per output of forward, from one per argument."""
        raise jvp_missing(ctx._forward_cls)

    vjp = staticmethod(no_vjp)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """The Function on a batch: ``(output, out_dims)``.

        ``info`` has ``batch_size`` and ``randomness``; ``in_dims`` says for each
        argument which dimension counts the examples, or None.
        See: torch "Extending torch.func with autograd.Function".
        """
        raise NotImplementedError("vmap is not implemented.")


def wrap_outputs(
    ctx: BackwardCFunction, inputs: tuple[object, ...], result: object
) -> tuple[list[object], list[bool]]:
    """The outputs, and which of them a gradient can reach.

    Only a tuple is several outputs. Values that are not Tensors pass through. A view
    that forward made, or that is handed out for an input, must not change in place.
    Raises: InplaceError if a dirty tensor cannot be, or is not among the outputs;
    CtxUseError for marks on what is no Tensor.
    """
    dirty, non_differentiable = ctx.dirty_tensors, ctx.non_differentiable
    if ctx._edges and not (dirty or non_differentiable or ctx._is_pure_view):
        # The usual thing: one new floating-point Tensor.
        is_new = (
            isinstance(result, Tensor)
            and not result._requires_grad
            and result._base is None
            and result.array.dtype.kind in "fc"
        )
        for value in inputs if is_new else ():
            if value is result:
                is_new = False
        if is_new:
            return [result], [True]
    values = result if isinstance(result, tuple) else (result,)
    return wrap_each(ctx, inputs, values, dirty or (), non_differentiable or ())


Function._wrap_outputs = staticmethod(wrap_outputs)


def wrap_each(
    ctx: BackwardCFunction,
    inputs: tuple[object, ...],
    values: tuple[object, ...],
    dirty: tuple[Tensor, ...],
    non_differentiable: tuple[Tensor, ...],
) -> tuple[list[object], list[bool]]:
    """``wrap_outputs`` where there may be several, or marks."""
    check_marked(type(ctx), "mark_dirty", dirty)
    check_marked(type(ctx), "mark_non_differentiable", non_differentiable)
    for tensor in dirty:
        tensor._bump_version()
    outputs = []
    differentiable = []
    for value in values:
        can = bool(ctx._edges) and can_have_gradient(value, non_differentiable)
        if isinstance(value, Tensor) and contains(dirty, value):
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


def can_have_gradient(value: object, non_differentiable: tuple[Tensor, ...]) -> bool:
    """Whether an output is a floating-point Tensor that forward did not mark."""
    return (
        isinstance(value, Tensor)
        and value.array.dtype.kind in "fc"
        and not (non_differentiable and contains(non_differentiable, value))
    )


def wrap_output(
    value: object, inputs: tuple[object, ...], dirty: tuple[Tensor, ...], can: bool
) -> object:
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
        value._grad_node = None
        value._requires_grad = False
    return value


def check_pure_view(
    ctx: BackwardCFunction, inputs: tuple[object, ...], outputs: list[object]
) -> None:
    """Refuse ``ctx._is_pure_view`` where there is more than one tensor to follow.

    A change in place of the output is recorded as one of any view; the learner's
    backward is not called for it.
    Raises: CtxUseError.
    """
    tensors = [value for value in inputs if isinstance(value, Tensor)]
    if len(tensors) != 1 or len(outputs) != 1:
        raise not_one_view(ctx, len(tensors), len(outputs))
    for output in outputs:
        if isinstance(output, Tensor) and output._base is not None:
            output._view_kind = None


def mark_views(outputs: list[object], dirty: tuple[Tensor, ...], several: bool) -> None:
    """Note on views that their history is a learner's, which nothing may rewrite."""
    for output in outputs:
        if isinstance(output, Tensor) and output._base is not None:
            if several:
                output._view_kind = ViewKind.SEVERAL_OUTPUTS
            elif not (dirty and contains(dirty, output)):
                output._view_kind = ViewKind.IN_CUSTOM_FUNCTION


def view_of(tensor: Tensor) -> Tensor:
    """Another tensor on the same memory, outside any graph."""
    view = Tensor(tensor.array)
    view._become_view_of(tensor)
    return view
