"""Built-in operations: the same six phases, on arrays."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.function import Function, FunctionCtx, _HookMixin
from minigrad.engine.grad_mode import is_grad_enabled, next_sequence_nr
from minigrad.engine.node import (
    NOT_A_TENSOR,
    Edge,
    _FunctionBase,
    edge_of,
    needs_gradient,
)
from minigrad.engine.tensor import Tensor


class BuiltinBackward(_FunctionBase, FunctionCtx, _HookMixin):
    """Base of the nodes of built-in operations."""

    _forward_cls: ClassVar[type[Builtin]]

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep ``tensors``; no learner's code runs in between, so at once."""
        self._keep_saved(tensors)

    @property
    def saved_values(self) -> tuple[Any, ...]:
        """What a rule computes with: arrays, or Tensors while backward is recorded."""
        tensors = self.saved_tensors
        if is_grad_enabled():
            return tensors
        return tuple([None if item is None else item.array for item in tensors])

    def _wire(self, output: Tensor) -> None:
        """Hang this node on the output."""
        self.output_metadata = ((output.shape, output.dtype),)
        output._set_history(self, 0)

    def _run_backward(self, gradients: list[Any], create_graph: bool) -> Any:
        (gradient,) = gradients
        if gradient is None:
            return (None,) * len(self.edges)
        return self._forward_cls.backward(self, gradient)

    def _check_returned(self, returned: Any, create_graph: bool) -> list[Any]:
        return list(returned) if isinstance(returned, tuple) else [returned]


class Builtin(Function):
    """A Function of one output whose forward sees arrays instead of Tensors.

    Its backward is duck-typed: it is given arrays, or Tensors if the backward itself
    is recorded, and uses only what both understand.
    """

    _ctx_base = BuiltinBackward

    returns_view: ClassVar[bool] = False
    """Whether the output may lie in the memory of the first input."""

    operands: ClassVar[int] = 1
    """How many arguments are operands: a number among them counts as a tensor."""

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Tensor:
        """Run forward on the arrays; record it if a gradient may be asked for later."""
        # collect inputs
        inputs = args if not kwargs else with_keywords(cls, args, kwargs)
        arrays = [
            value.array if isinstance(value, Tensor) else not_an_array(cls, value)
            for value in inputs
        ]
        edges = cls._input_edges(inputs) if is_grad_enabled() else None
        if edges is None and observe.observer is None:
            return cls._wrap(inputs, cls.forward(*arrays))

        # create ctx
        ctx = cls._create_builtin_ctx(inputs, edges)

        # run forward
        result = cls.forward(*arrays)

        # wrap outputs
        output = cls._wrap(inputs, result)

        # wire edges
        if edges is not None and output.dtype.kind in "fc":
            ctx._wire(output)
            cls.setup_context(ctx, inputs, output)
        if observe.observer is not None:
            observe.observer.edges_wired(ctx, (output,))
        return output

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Nothing to keep, unless the operation says otherwise."""

    @classmethod
    def of(cls, *values: Any) -> Any:
        """The operation on what a rule holds: an array from arrays, else a Tensor."""
        if any([isinstance(value, Tensor) for value in values]):
            return cls.apply(*values)
        return cls.forward(*values)

    @classmethod
    def _wrap(cls, inputs: tuple[Any, ...], result: Any) -> Tensor:
        """The Tensor around forward's array; a view knows whose memory it uses."""
        output = Tensor(result)
        if cls.returns_view and np.may_share_memory(output.array, inputs[0].array):
            output._become_view_of(inputs[0])
            if is_grad_enabled() and inputs[0]._requires_grad:
                inputs[0]._has_recorded_views = True
                root = inputs[0]._base
                if root is not None:
                    root._has_recorded_views = True
        return output

    @classmethod
    def _input_edges(cls, inputs: tuple[Any, ...]) -> tuple[Edge, ...] | None:
        """An edge for each input; None if no input requires grad."""
        edges: list[Edge] = []
        wanted = False
        for position, value in enumerate(inputs):
            if isinstance(value, Tensor):
                edges.append(edge_of(value))
                wanted = wanted or value._requires_grad
            else:
                edges.append(None if position < cls.operands else NOT_A_TENSOR)
        return tuple(edges) if wanted else None

    @classmethod
    def _create_builtin_ctx(
        cls, inputs: tuple[Any, ...], edges: tuple[Edge, ...] | None
    ) -> Any:
        """A new node that knows where its inputs came from."""
        ctx = cls._backward_cls()
        ctx.edges = edges or ()
        ctx.sequence_nr = next_sequence_nr()
        ctx.needs_input_grad = tuple([needs_gradient(edge) for edge in ctx.edges])
        ctx.output_metadata = ()
        ctx._saved = ()
        if observe.observer is not None:
            observe.observer.ctx_created(ctx, cls, inputs)
        return ctx


def not_an_array(function: type[Builtin], value: Any) -> Any:
    """An argument that is not a Tensor, as it is.

    Raises: ArgumentTypeError for an array, which would leave the graph unnoticed.
    """
    if isinstance(value, np.ndarray):
        raise errors.ArgumentTypeError(
            errors.message(
                function.__name__.lower(),
                "the argument must be Tensor, not numpy.ndarray "
                f"(of shape {value.shape})",
                "wrap it: minigrad.tensor(array)",
            )
        )
    return value


def with_keywords(
    function: type[Builtin], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Arguments, keywords and defaults in the order of forward's parameters."""
    bound = inspect.signature(function.forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args
