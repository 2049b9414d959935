"""Function.apply: the one door through which every recorded operation passes."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad import errors
from minigrad.engine import interpreters
from minigrad.engine.arguments import bind_arguments
from minigrad.engine.compat import (
    called_object,
    init_object,
    mark_shared_storage,
    saved_variables,
)
from minigrad.engine.grad_mode import (
    _this_thread,
    leave_open_modes,
    modes,
    unrecorded,
)
from minigrad.engine.hooks import _HookMixin
from minigrad.engine.node import (
    Edge,
    OutputMetadata,
    _FunctionBase,
    collect_edges,
)
from minigrad.engine.observe import tell
from minigrad.engine.outputs import wrap_outputs
from minigrad.engine.returned import check_gradients, wrap_gradients
from minigrad.engine.saved import ReadOnce
from minigrad.engine.tensor import Tensor
from minigrad.engine.validate import check_kept, contains


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
        if modes.attended:
            tell("values_saved", self, tensors)

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

    mark_shared_storage = mark_shared_storage

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
    _is_learners = True

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

    def _wire_edges(
        self, inputs: tuple[Any, ...], outputs: list[Any], differentiable: list[bool]
    ) -> None:
        """Hang this node on every output that can carry a gradient."""
        dirty = self.dirty_tensors or ()
        metadata: list[OutputMetadata] = []
        for output_nr, output in enumerate(outputs):
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
            elif output._grad_fn is not None:
                output._set_history(self, output_nr)
            else:
                # As _set_history does, for a tensor that has no history to leave.
                output._grad_fn = self
                output.output_nr = output_nr
                output._requires_grad = True
        self._output_metadata = tuple(metadata)

    def _take_what_was_saved(self, inputs: tuple[Any, ...], result: Any) -> None:
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
        if self._forward_cls.setup_context is not Function.setup_context:
            kept = (to_save or ()) + (for_forward or ())
            if kept:
                check_kept(self, kept, marked or (), inputs, result)
        if to_save and self._edges:
            self._keep_saved(*to_save)
            if self._forward_cls.clear_saved_tensors_on_access:
                self._saved = ReadOnce(self._saved)
        if modes.attended:
            tell("saved_taken", self, to_save or ())

    def _run_backward(self, gradients: list[Any], create_graph: bool) -> Any:
        function = self._forward_cls
        rule = function.backward
        if rule is Function.backward or function.vjp is not Function.vjp:
            rule = rule_of(function)
        wrapped = wrap_gradients(self, gradients)
        attended = modes.attended
        if attended:
            tell("rule_called", self, wrapped)
        if function.boxed_grads_call:
            gradients.clear()
            returned = rule(self, wrapped)
        else:
            returned = rule(self, *wrapped)
        if self._attached is None:  # else the hooks that come after see them too
            leave_open_modes()
        if attended:
            tell("rule_returned", self, returned)
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
        init_object(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse what programs wrote before 2018.

        Raises: FunctionUseError.
        """
        raise called_object(self)

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
        inputs = args
        if kwargs or not takes_ctx:
            inputs = bind_arguments(cls, takes_ctx, args, kwargs)
        if interpreters.active and (top := interpreters.top()) is not None:
            return top.apply(cls, inputs)
        needs_input_grad, edges = collect_edges(inputs)

        # create ctx
        ctx = cls._create_ctx(needs_input_grad, edges)
        attended = _this_thread.mode.attended
        if attended:
            tell("ctx_created", ctx, ctx._forward_cls, inputs)

        # run forward
        if takes_ctx:
            result = unrecorded(cls.forward, ctx, *inputs)
        else:
            result = unrecorded(cls.forward, *inputs)
            unrecorded(cls.setup_context, ctx, inputs, result)
        if attended:
            tell("forward_returned", ctx, inputs, result)

        # wrap outputs
        outputs, differentiable = wrap_outputs(ctx, inputs, result)

        # wire edges
        if edges:
            ctx._wire_edges(inputs, outputs, differentiable)
        if attended:
            tell("edges_wired", ctx, tuple(outputs))

        # take what was saved
        ctx._take_what_was_saved(inputs, result)
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]

    @classmethod
    def _create_ctx(
        cls, needs_input_grad: tuple[bool, ...], edges: tuple[Edge, ...]
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


def rewrite_history(
    node: BackwardCFunction,
    output_nr: int,
    output: Tensor,
    inputs: tuple[Any, ...],
    dirty: tuple[Any, ...],
) -> None:
    """Hang ``node`` on an output that was there before, or that is a view."""
    for slot, value in enumerate(inputs):
        if value is output and contains(dirty, output):
            output._grad = None  # that was the gradient of the former value
            output._rebase_history(node, slot, output_nr)
            return
    output._set_history(node, output_nr)
    output._history_version = output._seen_version()


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
