"""Function.apply: the one door through which every recorded operation passes."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad import errors
from minigrad.engine import interpreters
from minigrad.engine.arguments import bind_arguments
from minigrad.engine.compat import (
    called_object,
    init_object,
)
from minigrad.engine.ctx import (
    BackwardCFunction,
    FunctionCtx,
    FunctionMeta,
    no_backward,
    no_setup_context,
    no_vjp,
)
from minigrad.engine.grad_mode import (
    _this_thread,
    unrecorded,
)
from minigrad.engine.hooks import _HookMixin
from minigrad.engine.node import (
    Edge,
    _FunctionBase,
    collect_edges,
)
from minigrad.engine.observe import tell
from minigrad.engine.outputs import wrap_outputs


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

    setup_context = staticmethod(no_setup_context)

    backward = staticmethod(no_backward)

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

    vjp = staticmethod(no_vjp)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """The Function on a batch: ``(output, out_dims)``.

        ``info`` has ``batch_size`` and ``randomness``; ``in_dims`` says for each
        argument which dimension counts the examples, or None.
        See: torch "Extending torch.func with autograd.Function".
        """
        raise NotImplementedError("vmap is not implemented.")
