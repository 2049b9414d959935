"""Built-in operations: Functions whose forward maps arrays to arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from minigrad.engine import fast_path, memory_order
from minigrad.engine.core.ctx import FunctionCtx
from minigrad.engine.core.function import Function
from minigrad.engine.core.node import (
    NOT_A_TENSOR,
    Edge,
    _FunctionBase,
    collect_edges,
)
from minigrad.engine.core.saved import take, unpack_values
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.grad_mode import (
    _this_thread,
    is_inference_mode_enabled,
    is_recording,
)
from minigrad.engine.hooks import _HookMixin
from minigrad.engine.inspection import run_alone, saved_handle, saved_value
from minigrad.engine.observe import RECORDED, notify
from minigrad.engine.operands import check_operand, no_forward_rule
from minigrad.engine.promotion import result_type_of
from minigrad.engine.tensor_memory import ViewKind


class BuiltinBackward(_FunctionBase, FunctionCtx, _HookMixin):
    """Base of the nodes of built-in operations."""

    _forward_cls: ClassVar[type[Builtin]]

    __call__ = run_alone

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for place, name in enumerate(cls._forward_cls.saved_names):
            setattr(cls, f"_saved_{name}", saved_value(place))
            setattr(cls, f"_raw_saved_{name}", saved_handle(place))

    numbers: Any = None
    """The operands that are Python numbers, of an operation that keeps them."""

    # No learner's code runs before apply would take them, so they are kept at once.
    save_for_backward = _FunctionBase._keep_saved

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:  # type: ignore[override]
        """For each input: whether a gradient goes there; few rules ask."""
        needs = []
        for edge in self._edges:
            needs.append(edge is not None and edge is not NOT_A_TENSOR)
        return tuple(needs)

    @property
    def saved_values(self) -> tuple[Any, ...]:
        """What a rule computes with: Tensors where gradients are, else arrays."""
        if _this_thread.mode.rules_see_tensors:
            return self.saved_tensors
        saved = self._saved
        if type(saved) is not tuple:
            saved = take(self, saved)
        values: list[Array | None] = []
        for item in saved:
            if item is None:
                values.append(None)
            elif type(item) is Tensor and item._version_counter is None:
                values.append(item.array)
            else:
                values.append(unpack_values(item, self))
        return tuple(values)

    def _link_outputs(
        self, inputs: tuple[Any, ...], outputs: list[Any], differentiable: list[bool]
    ) -> None:
        """Hang this node on each output that can carry a gradient."""
        if self._edges and True in differentiable:
            arrays = [output.array for output in outputs]  # their shapes are tuples
            self._output_metadata = tuple([(one.shape, one.dtype) for one in arrays])
            for output_nr, can in enumerate(differentiable):
                if can:
                    outputs[output_nr]._set_history(self, output_nr)

    def _take_what_was_saved(self, inputs: tuple[Any, ...], result: Any) -> None:
        """Let the operation save what its rule needs, the outputs having their place.

        What it saves is kept at once, so the edges are told of only now.
        """
        if self._output_metadata:
            self._forward_cls.setup_context(self, inputs, result)
        notify("edges_wired", self, result if type(result) is tuple else (result,))


class Builtin(Function):
    """A Function whose forward sees arrays instead of Tensors.

    Several outputs are a tuple; setup_context then gets the tuple, and backward one
    gradient for each, None where none arrived. backward is duck-typed: it is given
    arrays, or Tensors if the backward itself is recorded, and uses only what both
    understand.

    ``jvp(ctx, *tangents)`` is its counterpart for forward mode: it gets a Tensor or
    None for each argument of forward, finds in ``ctx.saved_values`` the Tensors that
    setup_context saved, and returns the tangent of each output (None for zero). An
    operation says ``linear = True`` instead where forward does the same to tangents,
    or ``jvp = backward`` where each element depends on its own input alone.
    """

    _ctx_base = BuiltinBackward

    returns_view: ClassVar[bool] = False
    """Whether every output is a view: it lies in the memory of the first input."""

    elementwise: ClassVar[bool] = False
    """Whether each element of the output comes from one element of each operand."""

    ufunc: ClassVar[Callable[..., Any] | None] = None
    """NumPy's function, or the kernel, that forward comes to for operands of one
    floating dtype."""

    in_rows: ClassVar[bool] = False
    """Whether the output lies row after row in memory, however the inputs lie."""

    may_overlap: ClassVar[bool] = False
    """Whether, in place, elements may share memory: all get the same value."""

    operands: ClassVar[int] = 1
    """How many arguments are operands, which may be Tensors or numbers."""

    numbers_have_edges: ClassVar[bool] = True
    """Whether torch turns a number among the operands into a tensor, with an edge."""

    linear: ClassVar[bool] = False
    """Whether forward is linear in its first argument, and no other carries a tangent:
    then the operation on the tangent is the tangent of its output."""

    tangent_names_operands: ClassVar[bool] = False
    """Whether the tangent is in the graph of all operands, as in torch: also of those
    that it does not change with, which then get a gradient of zeros."""

    tangent_names_from: ClassVar[int] = 0
    """The first of those operands; one that is only added comes before them."""

    dim_at: ClassVar[int | None] = None
    """Which argument names dimensions of the first: vmap counts them from behind the
    one of the examples. Without it, and if it is neither elementwise nor has a rule
    of its own, vmap needs ``one_by_one``."""

    one_by_one: ClassVar[bool] = False
    """Whether vmap calls it for each example in turn: nothing better is known."""

    without_edges: ClassVar[tuple[int, ...]] = ()
    """The arguments that are Tensors and never get a gradient: masks and indices."""

    has_rule: ClassVar[bool] = True
    """Whether it is recorded: one that answers with bools or indices has no rule."""

    _choose_node: ClassVar[Callable[[tuple[Any, ...]], type[Any]] | None] = None
    """From the inputs to the class of the node, where torch has several."""

    saved_names: ClassVar[tuple[str, ...]] = ()
    """torch's names of what setup_context saves: the node's ``_saved_<name>``."""

    _on_arrays = True

    apply = classmethod(fast_path.of_any_number)

    @classmethod
    def _collect_edges(
        cls, inputs: tuple[Any, ...]
    ) -> tuple[tuple[bool, ...], tuple[Edge, ...]]:
        """Where a gradient for each input goes: nowhere if the call isn't recorded.

        What each input needs is asked of the node, by the few rules that ask.
        Raises: ArgumentTypeError for an array.
        """
        needed = False
        for position, value in enumerate(inputs):
            if isinstance(value, Tensor):
                needed = needed or value._requires_grad
            else:
                check_operand(cls, value, position)
        recording = needed and cls.has_rule and is_recording()
        return (), cls._input_edges(inputs) if recording else ()

    @classmethod
    def _create_ctx(
        cls,
        inputs: tuple[Any, ...],
        needs_input_grad: tuple[bool, ...],
        edges: tuple[Edge, ...],
    ) -> Any:
        """A new node that knows where its inputs came from."""
        choose = cls._choose_node
        ctx = (cls._backward_cls if choose is None else choose(inputs))()
        ctx._edges = edges
        ctx._number = _this_thread.mode.next_sequence_nr()
        ctx._output_metadata = ()
        ctx._saved = ()
        ctx._attached = None
        return ctx

    @classmethod
    def _run_on_arrays(cls, inputs: tuple[Any, ...]) -> Any:
        """Tensors of the arrays that forward returns."""
        arrays = [one.array if isinstance(one, Tensor) else one for one in inputs]
        result = cls.forward(*arrays)
        for value in inputs:
            if isinstance(value, Tensor) and not value.array.flags.c_contiguous:
                result = cls._in_memory_order(result, arrays)
                break
        return cls._wrap(inputs, result)

    @staticmethod
    def _wrap_outputs(
        ctx: Any, inputs: tuple[Any, ...], result: Any
    ) -> tuple[list[Any], list[bool]]:
        """The outputs, and which of them a gradient can reach."""
        outputs = list(result) if type(result) is tuple else [result]
        differentiable = []
        for output in outputs:
            differentiable.append(output.array.dtype.kind in "fc")
        return outputs, differentiable

    @classmethod
    def _wrap(cls, inputs: tuple[Any, ...], result: Any, several: bool = False) -> Any:
        """A Tensor for each array that forward returned; views know their base."""
        if type(result) is tuple:
            if not cls.returns_view:
                return tuple(map(Tensor, result))
            return tuple([cls._wrap(inputs, array, True) for array in result])
        output = Tensor(result)
        if cls.returns_view:
            output._become_view_of(inputs[0], kind_of_view(several))
        return output

    @classmethod
    def _in_memory_order(cls, result: Any, arrays: list[Any]) -> Any:
        """What forward returned, with the elements in memory where torch has them."""
        if cls.in_rows:
            return memory_order.in_rows(result)
        if cls.elementwise:
            operands = [array for array in arrays if isinstance(array, np.ndarray)]
            dtype = result_type_of(operands)
            return memory_order.ordered_by(result, operands, dtype)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Nothing to keep, unless the operation says otherwise."""

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The tangent of each output; without a rule, forward mode ends here."""
        raise no_forward_rule(ctx.operation)

    @classmethod
    def of(cls, *values: Any) -> Any:
        """The operation on what a rule holds: an array from arrays, else a Tensor."""
        for value in values:
            if isinstance(value, Tensor):
                return cls.apply(*values)
        return cls.forward(*values)

    @classmethod
    def _input_edges(cls, inputs: tuple[Any, ...]) -> tuple[Edge, ...]:
        """Where a gradient for each input goes."""
        return cls._own_edges(inputs, collect_edges(inputs)[1])

    @classmethod
    def _own_edges(
        cls, inputs: tuple[Any, ...], collected: tuple[Edge, ...]
    ) -> tuple[Edge, ...]:
        """The edges as torch has them, where an operand is a number or never has one.

        They are the ``collected`` ones if neither is so.
        """
        without = cls.without_edges
        operands = cls.operands if cls.numbers_have_edges else 0
        fitted: list[Edge] = []
        for position, edge in enumerate(collected):
            if edge is NOT_A_TENSOR or position in without:
                edge = None if position < operands else NOT_A_TENSOR
            fitted.append(edge)
        return tuple(fitted)


def create_builtin_ctx(
    function: type[Builtin], inputs: tuple[Any, ...], edges: tuple[Edge, ...]
) -> Any:
    """The node of an operation that changes a tensor in place, outside of ``apply``."""
    ctx = function._create_ctx(inputs, (), edges)
    if _this_thread.mode.observed >= RECORDED:
        notify("ctx_created", ctx, function, inputs)
    return ctx


def kind_of_view(several: bool) -> ViewKind | None:
    """How a view that is made now has come about, if that matters."""
    if is_recording():
        return ViewKind.SEVERAL_OUTPUTS if several else None
    inference = is_inference_mode_enabled()
    return ViewKind.INFERENCE if inference else ViewKind.NO_GRAD
