"""The fast path of built-in operations: ``Function.apply`` without what they don't use.

The same six phases without those that have no effect here. One flag chooses between
the two: while an observer wants all calls of built-in operations (the mode's
``observed`` is ``EVERYTHING``), each of them goes through ``Function.apply``. Two of
the three forms are the first one written out, for elementwise operations on one and on
two operands that lie row after row in memory; there ctx is made when forward has run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from minigrad.engine import interpreters
from minigrad.engine.core import node as node_
from minigrad.engine.core.function import Function
from minigrad.engine.core.node import (
    NOT_A_TENSOR,
    Edge,
    collect_edges,
    new_accumulate_node,
)
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.grad_mode import _Mode, _this_thread
from minigrad.engine.observe import EVERYTHING, RECORDED, notify
from minigrad.engine.operands import check_operand

if TYPE_CHECKING:
    from minigrad.engine.builtin import Builtin

with_all_phases: Final[Callable[..., Any]] = vars(Function)["apply"].__func__


def of_any_number(cls: Any, *inputs: Any) -> Any:
    """Run forward on the arrays; record it if a gradient may be asked for later."""
    if interpreters.active and (top := interpreters.top()) is not None:
        return top.apply(cls, inputs)

    mode = _this_thread.mode
    observed = mode.observed >= RECORDED
    if mode.observed >= EVERYTHING:
        return with_all_phases(cls, *inputs)

    # collect inputs
    arrays = []
    needed = reordered = False
    in_rows = cls.in_rows
    for value in inputs:
        if isinstance(value, Tensor):
            array = value.array
            arrays.append(array)
            if value._requires_grad:
                needed = True
            if (array.ndim > 1 or in_rows) and not array.flags.c_contiguous:
                reordered = True
        else:
            if isinstance(value, np.ndarray) or not arrays:
                check_operand(cls, value, len(arrays))
            arrays.append(value)
    needed = needed and mode.grad_enabled and not mode.inference_enabled

    # create ctx
    ctx = None
    if needed and cls.has_rule:
        _, edges = collect_edges(inputs)
        if cls.without_edges or NOT_A_TENSOR in edges:
            edges = cls._own_edges(inputs, edges)
        ctx = cls._create_ctx(inputs, (), edges)
        if observed:
            notify("ctx_created", ctx, cls, inputs)

    # run forward
    result = cls.forward(*arrays)
    if reordered:
        result = cls._in_memory_order(result, arrays)

    # wrap outputs
    if type(result) is tuple or cls.returns_view:
        output = cls._wrap(inputs, result)
    else:
        output = Tensor(result)

    # link outputs, take what was saved
    if ctx is None:
        return output
    if type(output) is tuple:
        ctx._link_outputs(inputs, *cls._wrap_outputs(ctx, inputs, output))
    elif metadata := node_.metadata_of_output(output.array):
        ctx._output_metadata = metadata
        output._grad_node = ctx
        output._requires_grad = True
    if ctx._output_metadata:
        cls.setup_context(ctx, inputs, output)
    if observed:
        notify("edges_wired", ctx, output if type(output) is tuple else (output,))
    return output


def of_two(
    function: type[Builtin], otherwise: Callable[..., Any]
) -> Callable[[Any, Any], Any]:
    """The operation on two operands, of which the second may be a number.

    ``otherwise`` is called where this form does not apply, and for errors.
    """
    own, ufunc = function.forward, function.ufunc

    def apply(input: Any, other: Any) -> Any:
        if interpreters.active:
            return otherwise(input, other)
        mode = _this_thread.mode
        if mode.observed >= EVERYTHING:
            return otherwise(input, other)
        if not isinstance(input, Tensor):
            return otherwise(input, other)
        a, needed = input.array, input._requires_grad
        if a.ndim > 1 and not a.flags.c_contiguous:
            return otherwise(input, other)
        b: Any
        compute: Any = function.forward
        dtype = a.dtype
        if isinstance(other, Tensor):
            b = other.array
            if b.ndim > 1 and not b.flags.c_contiguous:
                return otherwise(input, other)
            if b.dtype is dtype and dtype.kind == "f" and compute is own:
                compute = ufunc or own
            needed = needed or other._requires_grad
        elif type(other) is not float and type(other) is not int:
            return otherwise(input, other)
        elif ufunc is not None and dtype.kind == "f" and compute is own:
            b, compute = constant(other, dtype), ufunc
        else:
            b = other

        try:
            output = Tensor(compute(a, b))
        except ValueError:
            return otherwise(input, other)
        if needed and mode.grad_enabled and not mode.inference_enabled:
            record(function, mode, (input, other), output)
        return output

    return apply


def of_one(
    function: type[Builtin], otherwise: Callable[..., Any]
) -> Callable[[Any], Any]:
    """The operation on one operand."""
    own, ufunc = function.forward, function.ufunc

    def apply(input: Any) -> Any:
        if interpreters.active:
            return otherwise(input)
        mode = _this_thread.mode
        if mode.observed >= EVERYTHING:
            return otherwise(input)
        if not isinstance(input, Tensor):
            return otherwise(input)
        array = input.array
        if array.ndim > 1 and not array.flags.c_contiguous:
            return otherwise(input)

        compute: Any = function.forward
        if ufunc is not None and array.dtype.kind == "f" and compute is own:
            compute = ufunc
        output = Tensor(compute(array))
        if input._requires_grad and mode.grad_enabled and not mode.inference_enabled:
            record(function, mode, (input,), output)
        return output

    return apply


def record(
    function: type[Builtin], mode: _Mode, inputs: tuple[Any, ...], output: Tensor
) -> None:
    """Create ctx, link outputs and take what was saved; the operation has run."""
    array = output.array
    shape, dtype = node_.latest[0]
    metadata: Any = node_.latest
    if array.dtype is not dtype or array.shape != shape:
        metadata = node_.metadata_of_output(array)
        if metadata is None:
            return
    edges: list[Edge] = []
    for value in inputs:
        if not isinstance(value, Tensor):
            edges.append(None if function.numbers_have_edges else NOT_A_TENSOR)
        elif value._base is not None:
            edges.append(value._edge_of_view())
        elif value._grad_node is not None:
            maker = value._grad_node
            edges.append((maker, value.output_nr) if value.output_nr else maker)
        elif value._requires_grad:
            reference = value._accumulate_node
            leaf = None if reference is None else reference()
            edges.append(leaf or new_accumulate_node(value))
        else:
            edges.append(None)

    choose = function._choose_node
    node = (function._backward_cls if choose is None else choose(inputs))()
    node._edges = tuple(edges)
    node._number = mode.next_sequence_nr()
    node._output_metadata = metadata
    node._saved = ()
    node._attached = None
    observed = mode.observed >= RECORDED
    if observed:
        notify("ctx_created", node, function, inputs)
    output._grad_node = node
    output._requires_grad = True
    function.setup_context(node, inputs, output)
    if observed:
        notify("edges_wired", node, (output,))


def constant(number: float, dtype: np.dtype[Any]) -> Array:
    """The number as an array of dimension 0: NumPy takes twice as long for a number.

    A program mostly uses the number that it used last: it is kept.
    """
    global latest
    kept, array = latest
    if number is not kept or array.dtype is not dtype:
        array = np.asarray(number, dtype)
        latest = number, array
    return array


latest: tuple[float, Array] = (0.0, np.asarray(0.0))
"""The number that ``constant`` was asked for last, and the array it gave."""
