"""Function.apply: the one door through which every recorded operation passes."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from minigrad import errors
from minigrad.engine import interpreters, lint, lint_backward, observe
from minigrad.engine.anomaly import remember
from minigrad.engine.arguments import bind_arguments
from minigrad.engine.grad_mode import (
    _this_thread,
    anomaly,
    is_grad_enabled,
    leave_open_modes,
    unrecorded,
)
from minigrad.engine.hooks import _HookMixin
from minigrad.engine.node import (
    NOT_A_TENSOR,
    Edge,
    OutputMetadata,
    _FunctionBase,
    edge_of,
)
from minigrad.engine.outputs import contains, wrap_outputs
from minigrad.engine.returned import check_gradients, wrap_gradients
from minigrad.engine.saved import ReadOnce
from minigrad.engine.tensor import Tensor


class FunctionCtx:
    """The methods of ctx that ``forward`` and ``setup_context`` may call.

    They only note what they are given; ``apply`` takes it once forward has returned.
    """

    to_save: tuple[Any, ...] | None
    saved_for_forward: tuple[Any, ...] | None
    dirty_tensors: tuple[Any, ...] | None
    non_differentiable: tuple[Any, ...] | None
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
        if lint.enabled:
            lint.note_saved(self, tensors)

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep ``tensors`` for ``jvp``; a second call replaces the first.

        jvp finds them in ``ctx.saved_tensors``; after ``apply`` they are gone.
        Raises: SavedForForwardError for anything but a Tensor or None, at once.
        See: torch ``FunctionCtx.save_for_forward``.
        """
        for position, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise errors.SavedForForwardError(
                    errors.message(
                        "ctx.save_for_forward",
                        "save_for_forward expects all arguments to be tensors; you "
                        "should save non-tensors as attributes on ctx. Argument "
                        f"{position} is of type {type(tensor).__name__}",
                        "give it Tensors one by one; put other values on ctx",
                        "11",
                    )
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs forward changed in place; each must also be returned."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Do nothing: which tensors share memory is known without it."""
        warnings.warn(
            errors.message(
                "ctx.mark_shared_storage",
                "`mark_shared_storage` is deprecated. Tensors with shared storages are "
                "automatically tracked",
                "leave the call out",
            ),
            FutureWarning,
            stacklevel=2,
        )

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs carry no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """With False, backward gets None instead of zeros for an unused output."""
        if not isinstance(value, bool):
            raise errors.ArgumentTypeError(
                errors.message(
                    "ctx.set_materialize_grads",
                    "set_materialize_grads expects True or False, but got "
                    f"{type(value).__name__}",
                    "write ctx.set_materialize_grads(False)",
                    "07",
                )
            )
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
    _answers_for_all = True

    _takes_detached = True

    _is_pure_view = False

    @property
    def _materialize_non_diff_grads(self) -> bool:
        """With False, an output that has no gradient gives backward None, not zeros."""
        return getattr(self, "_zeros_for_non_diff", True)

    @_materialize_non_diff_grads.setter
    def _materialize_non_diff_grads(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise errors.ArgumentTypeError(
                errors.message(
                    "ctx._materialize_non_diff_grads",
                    "set_materialize_non_diff_grads received an invalid combination of "
                    f"arguments - got {type(value).__name__}, but expected (bool)",
                    "set it to True or False",
                    "07",
                )
            )
        self._zeros_for_non_diff = value

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The old name of ``saved_tensors``."""
        warnings.warn(
            errors.message(
                self.name(),
                "'saved_variables' is deprecated; use 'saved_tensors'",
                "write ctx.saved_tensors",
            ),
            DeprecationWarning,
            stacklevel=2,
        )
        return self.saved_tensors

    def apply(self, *gradients: Any) -> Any:
        """Call the Function's backward with this ctx, and nothing around it."""
        rule = rule_of(self._forward_cls)
        if self._forward_cls.boxed_grads_call:
            return rule(self, list(gradients))
        return rule(self, *gradients)

    def _take_what_was_saved(
        self, inputs: tuple[Any, ...], result: Any
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
        """Take ``(to_save, dirty, non_differentiable)`` off ctx, which forgets them."""
        if observe.observer is not None:
            observe.observer.saved_taken(self, result)
        if lint.enabled:
            lint.look_at_call(self._forward_cls, self, inputs, result)
            lint_backward.after_forward(self)
        to_save = self.to_save or ()
        dirty = self.dirty_tensors or ()
        non_differentiable = self.non_differentiable or ()
        kept = to_save + (self.saved_for_forward or ())
        self.to_save = None
        self.dirty_tensors = self.non_differentiable = None

        if dirty or non_differentiable:
            check_marked(type(self), "mark_dirty", dirty)
            check_marked(type(self), "mark_non_differentiable", non_differentiable)
            for tensor in dirty:
                tensor._bump_version()
        if kept and self._forward_cls.setup_context is not Function.setup_context:
            check_kept(self, kept, dirty, inputs, result)
        return to_save, dirty, non_differentiable

    def apply_jvp(self, *tangents: Any) -> Any:
        """Call the Function's jvp with this ctx, and nothing around it."""
        return self._forward_cls.jvp(self, *tangents)

    def _wire_edges(
        self,
        inputs: tuple[Any, ...],
        outputs: list[Any],
        differentiable: list[bool],
        dirty: tuple[Any, ...],
    ) -> None:
        """Hang this node on every output that can carry a gradient."""
        if self._edges:
            metadata = []
            for output_nr, output in enumerate(outputs):
                can = differentiable[output_nr]
                wants_zeros = can or self._materialize_non_diff_grads
                metadata.append(metadata_of(output) if wants_zeros else None)
                if can:
                    if dirty or output._base is not None:
                        rewrite_history(self, output_nr, output, inputs, dirty)
                    else:
                        output._set_history(self, output_nr)
            self._output_metadata = tuple(metadata)

    def _save(self, to_save: tuple[Any, ...], outputs: list[Any]) -> None:
        """Keep what backward needs; last, because a saved output has its history."""
        self.saved_for_forward = None
        if to_save and self._edges:
            self._keep_saved(to_save)
            if self._forward_cls.clear_saved_tensors_on_access:
                self._saved = ReadOnce(self._saved)
        if observe.observer is not None:
            observe.observer.edges_wired(self, tuple(outputs))

    def _run_backward(self, gradients: list[Any], create_graph: bool) -> Any:
        rule = rule_of(self._forward_cls)
        wrapped = wrap_gradients(self, gradients)
        if lint.enabled:
            lint_backward.before_rule(self, wrapped)
        if self._forward_cls.boxed_grads_call:
            gradients.clear()
            returned = rule(self, wrapped)
        else:
            returned = rule(self, *wrapped)
        if self._attached is None:  # else the hooks that come after see them too
            leave_open_modes()
        if lint.enabled:
            lint_backward.after_rule(self, returned)
        return returned

    _check_returned = check_gradients


class FunctionMeta(type):
    """Makes ``<Name>Backward``, the class of the ctx, when a Function is defined."""

    _ctx_base: type[_FunctionBase]
    _backward_cls: type[Any]

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        super().__init__(name, bases, body)
        cls._backward_cls = type(
            f"{name}Backward",
            (cls._ctx_base,),
            {"_forward_cls": cls, "__module__": "minigrad.autograd.function"},
        )


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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            errors.message(
                type(self).__name__,
                f"{type(self)} should not be instantiated. Methods on autograd "
                "functions are all static",
                f"call {type(self).__name__}.apply on the class itself",
                "01",
            ),
            DeprecationWarning,
            stacklevel=2,
        )
        self._edges = ()
        self._saved = ()
        self._output_metadata = ()
        self._attached = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse what programs wrote before 2018.

        Raises: FunctionUseError.
        """
        raise errors.FunctionUseError(
            errors.message(
                type(self).__name__,
                "Legacy autograd function with non-static forward method is "
                "deprecated. Please use new-style autograd function with static "
                "forward method",
                f"call {type(self).__name__}.apply on the class itself",
                "01",
            )
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; operations in here are not recorded."""
        raise errors.ForwardMissingError(
            errors.message(
                "Function.apply",
                "You must implement the forward function for custom autograd.Function",
                "define `forward(ctx, ...)` as a static method of your class",
                "01",
            )
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Fill ctx, for a forward that does not take it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """One gradient per argument of forward, from one per output."""
        raise NotImplementedError("backward is not implemented.")

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """One tangent per output of forward, from one per argument."""
        raise errors.JvpMissingError(
            errors.message(
                f"{ctx._forward_cls.__name__}",
                "You must implement the jvp function for custom autograd.Function to "
                "use it with forward mode AD.",
                f"define `jvp(ctx, *tangents)` in {ctx._forward_cls.__name__} as a "
                "static method",
                "11",
            )
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name for ``backward``."""
        raise NotImplementedError("vjp is not implemented.")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """The Function on a batch: ``(output, out_dims)``.

        ``info`` has ``batch_size`` and ``randomness``; ``in_dims`` says for each
        argument which dimension counts the examples, or None.
        See: torch "Extending torch.func with autograd.Function".
        """
        raise NotImplementedError("vmap is not implemented.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward on ``args``; record it if a gradient may be asked for later.

        Every call makes one new ctx. Exceptions of forward pass through unchanged.
        """
        # collect inputs
        takes_ctx = cls.setup_context is Function.setup_context
        inputs = bind_arguments(cls, takes_ctx, args, kwargs)
        if interpreters.active and (top := interpreters.top()) is not None:
            return top.apply(cls, inputs)
        needs_input_grad, edges = look_back(inputs)
        recording = is_grad_enabled() and any(needs_input_grad)

        # create ctx
        ctx = cls._create_ctx(inputs, needs_input_grad, edges if recording else ())

        # run forward
        if takes_ctx:
            result = unrecorded(cls.forward, ctx, *inputs)
        else:
            result = unrecorded(cls.forward, *inputs)
            unrecorded(cls.setup_context, ctx, inputs, result)

        # take what was saved
        to_save, dirty, non_differentiable = ctx._take_what_was_saved(inputs, result)

        # wrap outputs
        outputs, differentiable = wrap_outputs(
            ctx, inputs, result, dirty, non_differentiable, recording
        )

        # wire edges
        ctx._wire_edges(inputs, outputs, differentiable, dirty)
        ctx._save(to_save, outputs)
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]

    @classmethod
    def _create_ctx(
        cls,
        inputs: tuple[Any, ...],
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
        if anomaly.enabled:
            remember(ctx)
        if lint.enabled:
            lint.before_call(ctx, inputs)
        if observe.observer is not None:
            observe.observer.ctx_created(ctx, cls, inputs)
        return ctx


def metadata_of(output: Any) -> OutputMetadata:
    """Shape and dtype of an output; None if it is not a Tensor."""
    if not isinstance(output, Tensor):
        return None
    array = output.array
    return array.shape, array.dtype


def rewrite_history(
    node: BackwardCFunction,
    output_nr: int,
    output: Tensor,
    inputs: tuple[Any, ...],
    dirty: tuple[Any, ...],
) -> None:
    """Hang ``node`` on an output that was there before, or that is a view."""
    # Imported here because the history of views is built on Functions.
    from minigrad.engine.views import rebase_history

    for slot, value in enumerate(inputs):
        if value is output and contains(dirty, output):
            output._grad = None  # that was the gradient of the former value
            rebase_history(output, node, slot, output_nr)
            return
    output._set_history(node, output_nr)
    output._history_version = output._seen_version()


def look_back(
    inputs: tuple[Any, ...],
) -> tuple[tuple[bool, ...], tuple[Edge, ...]]:
    """For each argument: does it require grad, and where would its gradient go?

    Tensors inside lists, tuples and dicts are not seen. Under no_grad nobody asks where
    a tensor came from: some views would refuse to answer.
    """
    enabled = _this_thread.mode.grad_enabled
    needs = []
    edges: list[Edge] = []
    for value in inputs:
        if not isinstance(value, Tensor):
            needs.append(False)
            edges.append(NOT_A_TENSOR)
        else:
            needs.append(value._requires_grad)
            edges.append(edge_of(value) if enabled else None)
    return tuple(needs), tuple(edges)


def rule_of(function: type[Function]) -> Any:
    """The Function's backward; ``vjp`` is another name for it.

    Raises: BackwardMissingError if it has neither; BackwardAmbiguousError for both.
    """
    backward = function.backward
    has_backward = backward is not Function.backward
    has_vjp = function.vjp is not Function.vjp
    if has_backward and has_vjp:
        raise errors.BackwardAmbiguousError(
            errors.message(
                function.__name__,
                "Implementing both 'backward' and 'vjp' for a custom Function is not "
                "allowed",
                "keep one of the two: they are names of the same rule",
            )
        )
    if has_backward:
        return backward
    if has_vjp:
        return function.vjp
    raise errors.BackwardMissingError(
        errors.message(
            function.__name__,
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD",
            f"define `backward(ctx, grad_output)` in {function.__name__} as a static "
            "method",
            "01",
        )
    )


def check_kept(
    ctx: BackwardCFunction,
    kept: tuple[Any, ...],
    dirty: tuple[Any, ...],
    inputs: tuple[Any, ...],
    result: Any,
) -> None:
    """Refuse to save an input that is also an output: is it before or after the node?

    Only in setup_context style; a forward that takes ctx means the input.
    """
    values = result if isinstance(result, tuple) else (result,)
    for value in values:
        if not isinstance(value, Tensor) or contains(dirty, value):
            continue
        is_detached = value._requires_grad and not ctx._edges
        if contains(inputs, value) and contains(kept, value) and not is_detached:
            raise errors.CtxUseError(
                errors.message(
                    f"{ctx._forward_cls.__name__}.setup_context",
                    "An input that has been returned as-is as output is being saved "
                    "for backward. This is not supported if you override setup_context",
                    "return a copy of it, x.clone(), or write a forward that takes ctx",
                    "09",
                )
            )


def check_marked(ctx_class: type, method: str, marked: tuple[Any, ...]) -> None:
    """Refuse anything but Tensors in ``ctx.mark_dirty`` and its sibling."""
    says = {
        "mark_dirty": "mark_dirty can only accept variables, but argument {} is of "
        "type {}",
        "mark_non_differentiable": "mark_non_differentiable only accepts variable "
        "arguments, but got argument {} of type {}",
    }[method]
    for position, value in enumerate(marked):
        if not isinstance(value, Tensor):
            raise errors.CtxUseError(
                errors.message(
                    f"{ctx_class.__name__.removesuffix('Backward')}.forward",
                    says.format(position, type(value).__name__),
                    f"give ctx.{method} Tensors only, one by one: ctx.{method}(a, b)",
                    "08" if method == "mark_dirty" else "07",
                )
            )
