"""ctx: what forward notes on it, and the node of the graph that it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from minigrad.engine.compat import mark_shared_storage, saved_variables
from minigrad.engine.core.node import NOT_A_TENSOR, OutputMetadata, _FunctionBase
from minigrad.engine.core.saved import ReadOnce
from minigrad.engine.core.tensor import Gradient, Tensor
from minigrad.engine.core.validate import (
    check_kept,
    check_materialize,
    check_materialize_non_diff,
    contains,
    no_rule,
    not_a_tensor,
    not_savable_for_forward,
    not_wanted,
    two_rules,
    wrong_count,
)
from minigrad.engine.grad_mode import _this_thread, modes
from minigrad.engine.hooks import _HookMixin
from minigrad.engine.observe import notify

if TYPE_CHECKING:
    from minigrad.engine.core.function import Function


def no_setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
    """Fill ctx, for a forward that does not take it."""
    raise NotImplementedError("setup_context is not implemented.")


def no_backward(ctx: Any, *grad_outputs: Any) -> Any:
    """One gradient per argument of forward, from one per output."""
    raise NotImplementedError("backward is not implemented.")


def no_vjp(ctx: Any, *grad_outputs: Any) -> Any:
    """Another name for ``backward``."""
    raise NotImplementedError("vjp is not implemented.")


def wrap_gradients(
    node: BackwardCFunction, gradients: list[Gradient | None]
) -> list[Tensor | None]:
    """One Tensor for each output; zeros for one that got no gradient.

    An output that is not a Tensor gives None, and so does a missing gradient after
    ``ctx.set_materialize_grads(False)``.
    """
    wrapped: list[Tensor | None] = []
    for output_nr, gradient in enumerate(gradients):
        if gradient is None:
            gradient = missing_gradient(node, output_nr)
        elif not isinstance(gradient, Tensor):
            gradient = Tensor(gradient)
        wrapped.append(gradient)
    return wrapped


def missing_gradient(node: BackwardCFunction, output_nr: int) -> Tensor | None:
    """What backward sees for an output that got no gradient."""
    metadata = node._output_metadata[output_nr]
    if metadata is None or not node._materialize_grads:
        return None
    return Tensor(np.zeros(*metadata))


def gradients_by_edge(
    node: BackwardCFunction, returned: object, as_tensors: bool
) -> list[Gradient | None]:
    """One gradient per argument of forward, as the traversal carries it.

    Raises: GradientCountError; GradientKindError for a value in the place of an
    argument that is not a Tensor, or a value that is not a Tensor.
    """
    gradients = returned if isinstance(returned, tuple) else (returned,)
    if len(gradients) != len(node._edges):
        gradients = cut_surplus(node, gradients)

    checked: list[Gradient | None] = []
    edges = node._edges
    for position, gradient in enumerate(gradients):
        if isinstance(gradient, Tensor) and edges[position] is not NOT_A_TENSOR:
            checked.append(gradient if as_tensors else gradient.array)
        elif gradient is None:
            checked.append(None)
        elif edges[position] is NOT_A_TENSOR:
            raise not_wanted(node, position)
        else:
            raise not_a_tensor(node, position, gradient)
    return checked


def cut_surplus(
    node: BackwardCFunction, gradients: tuple[object, ...]
) -> tuple[object, ...]:
    """As many gradients as forward has arguments, if the rest is only None."""
    wanted = len(node._edges)
    surplus = gradients[wanted:]
    if len(gradients) > wanted and all([value is None for value in surplus]):
        return gradients[:wanted]
    raise wrong_count(node, wanted, len(gradients))


class FunctionCtx:
    """The methods of ctx that ``forward`` and ``setup_context`` may call.

    They only note what they are given; ``apply`` takes it once forward has returned.
    """

    to_save: tuple[Tensor | None, ...] | None
    saved_for_forward: tuple[Tensor | None, ...] | None
    dirty_tensors: tuple[Tensor, ...] | None
    non_differentiable: tuple[Tensor, ...] | None
    _materialize_grads: bool

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep ``tensors`` for ``backward``; a second call replaces the first.

        Saves: nothing is copied; a tensor changed in place after ``apply`` is an
        error when backward reads it.
        Raises: SavedTypeError at the end of ``apply`` for anything but a Tensor or
        None, if the call is recorded.
        See: torch ``FunctionCtx.save_for_backward``.
        """
        self.to_save = tensors
        if modes.observed:
            notify("values_saved", self, tensors)

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep ``tensors`` for ``jvp``; a second call replaces the first.

        jvp finds them in ``ctx.saved_tensors``; after ``apply`` they are gone.
        Raises: SavedForForwardError for anything but a Tensor or None, at once.
        See: torch ``FunctionCtx.save_for_forward``.
        """
        for position, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise not_savable_for_forward(position, tensor)
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs forward changed in place; each must also be returned."""
        self.dirty_tensors = args

    mark_shared_storage = mark_shared_storage

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs carry no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """With False, backward gets None instead of zeros for an unused output."""
        check_materialize(value)
        self._materialize_grads = value

    def _get_materialize_grads(self) -> bool:
        raise AttributeError("attribute 'materialize_grads' of ctx is not readable")

    materialize_grads = property(_get_materialize_grads, set_materialize_grads)


class BackwardCFunction(_FunctionBase, FunctionCtx, _HookMixin):
    """Base of every ``<Name>Backward``: a node whose rule a learner wrote.

    One instance is made by each ``apply``. It is the ctx of that call and, if the
    call is recorded, the ``grad_fn`` of its outputs.
    """

    # What the methods of ctx note, in slots: vars(ctx) is what the learner put there.
    __slots__ = (
        "__dict__",
        "_materialize_grads",
        "_zeros_for_non_diff",
        "dirty_tensors",
        "non_differentiable",
        "saved_for_forward",
        "to_save",
    )

    _forward_cls: ClassVar[type[Function]]
    _is_learners = True

    _takes_detached = True

    _is_pure_view = False

    @property
    def _materialize_non_diff_grads(self) -> bool:
        """With False, an output that has no gradient gives backward None, not zeros."""
        return getattr(self, "_zeros_for_non_diff", True)

    @_materialize_non_diff_grads.setter
    def _materialize_non_diff_grads(self, value: bool) -> None:
        check_materialize_non_diff(value)
        self._zeros_for_non_diff = value

    saved_variables = property(saved_variables)

    def apply(self, *gradients: Any) -> Any:
        """Call the Function's backward with this ctx, and nothing around it."""
        rule = rule_of(self._forward_cls)
        if self._forward_cls.boxed_grads_call:
            return rule(self, list(gradients))
        return rule(self, *gradients)

    def apply_jvp(self, *tangents: Any) -> Any:
        """Call the Function's jvp with this ctx, and nothing around it."""
        return self._forward_cls.jvp(self, *tangents)

    def _link_outputs(
        self,
        inputs: tuple[object, ...],
        outputs: list[object],
        differentiable: list[bool],
    ) -> None:
        """Hang this node on every output that can carry a gradient."""
        dirty = self.dirty_tensors or ()
        metadata: list[OutputMetadata] = []
        for output_nr, output in enumerate(outputs if self._edges else ()):
            if not isinstance(output, Tensor):
                metadata.append(None)
                continue
            if not differentiable[output_nr]:
                wants_zeros = self._materialize_non_diff_grads
                kept = (output.array.shape, output.array.dtype)
                metadata.append(kept if wants_zeros else None)
                continue
            metadata.append((output.array.shape, output.array.dtype))
            if dirty or output._base is not None:
                rewrite_history(self, output_nr, output, inputs, dirty)
            elif output._grad_node is not None:
                output._set_history(self, output_nr)
            else:
                # As _set_history does, for a tensor that has no history to leave.
                output._grad_node = self
                output.output_nr = output_nr
                output._requires_grad = True
        self._output_metadata = tuple(metadata)
        if modes.observed:
            notify("edges_wired", self, tuple(outputs))

    def _take_what_was_saved(self, inputs: tuple[object, ...], result: object) -> None:
        """Keep what backward needs, and forget what forward has noted on ctx.

        It comes last, because a saved output has its place in the graph by now.
        """
        to_save, marked = self.to_save, self.dirty_tensors
        self.to_save = None
        if marked or self.non_differentiable or self.saved_for_forward:
            for_forward, self.saved_for_forward = self.saved_for_forward, None
            self.dirty_tensors = self.non_differentiable = None
        else:
            for_forward = None
        if self._forward_cls.setup_context is not no_setup_context:
            kept = (to_save or ()) + (for_forward or ())
            if kept:
                check_kept(self, kept, marked or (), inputs, result)
        if to_save and self._edges:
            self._keep_saved(*to_save)
            if self._forward_cls.clear_saved_tensors_on_access:
                self._saved = ReadOnce(self._saved)
        if modes.observed:
            notify("saved_taken", self, to_save or ())

    def _run_backward(
        self, gradients: list[Gradient | None], create_graph: bool
    ) -> Any:
        function = self._forward_cls
        rule = function.backward
        if rule is no_backward or function.vjp is not no_vjp:
            rule = rule_of(function)
        wrapped = wrap_gradients(self, gradients)
        observed = modes.observed
        if observed:
            notify("rule_called", self, wrapped)
        if function.boxed_grads_call:
            if self._attached is None:  # else the hooks that come after see them too
                gradients.clear()
            returned = rule(self, wrapped)
        else:
            returned = rule(self, *wrapped)
        task = _this_thread.mode.task
        if task is not None and self._attached is None:
            task.leave_open_modes()  # else the hooks that come after see them too
        if observed:
            notify("rule_returned", self, returned)
        return returned

    _gradients_by_edge = gradients_by_edge


class FunctionMeta(type):
    """Makes ``<Name>Backward``, the class of the ctx, when a Function is defined."""

    _ctx_base: type[_FunctionBase]
    _backward_cls: type[Any]

    def __init__(
        cls, name: str, bases: tuple[type, ...], body: dict[str, object]
    ) -> None:
        super().__init__(name, bases, body)
        cls._backward_cls = type(
            f"{name}Backward",
            (cls._ctx_base,),
            {"_forward_cls": cls, "__module__": "minigrad.autograd.function"},
        )


def rewrite_history(
    node: BackwardCFunction,
    output_nr: int,
    output: Tensor,
    inputs: tuple[object, ...],
    dirty: tuple[Tensor, ...],
) -> None:
    """Hang ``node`` on an output that was there before, or that is a view."""
    for slot, value in enumerate(inputs):
        if value is output and contains(dirty, output):
            output._grad = None  # that was the gradient of the former value
            output._rebase_history(node, slot, output_nr)
            return
    output._set_history(node, output_nr)
    output._history_version = output._seen_version()


def rule_of(function: type[Function]) -> Callable[..., Any]:
    """The Function's backward; ``vjp`` is another name for it.

    Raises: BackwardMissingError if it has neither; BackwardAmbiguousError for both.
    """
    backward = function.backward
    has_backward = backward is not no_backward
    has_vjp = function.vjp is not no_vjp
    if has_backward and has_vjp:
        raise two_rules(function)
    if has_backward:
        return backward
    if has_vjp:
        return function.vjp
    raise no_rule(function)
