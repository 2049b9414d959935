"""The short way of elementwise operations, where nothing special is going on.

It leads to the same place as ``Builtin.apply``, which every other call goes through: no
listener is told of the call, no function transform and no forward-mode level is open,
and the operands lie row after row in memory. A forward that was exchanged, as a check
of the course does to count its runs, is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.engine import interpreters, observe
from minigrad.engine.builtin import Builtin, create_builtin_ctx
from minigrad.engine.grad_mode import _this_thread
from minigrad.engine.node import Edge, edge_of
from minigrad.engine.tensor import Array, Tensor


def of_two(
    function: type[Builtin], otherwise: Callable[..., Any]
) -> Callable[[Any, Any], Any]:
    """The operation on two operands, of which the second may be a number.

    ``otherwise`` is called where the short way ends, as it does for an error.
    """
    own, ufunc = function.forward, function.ufunc
    edge_of_number = function._edge_of_number(1)

    def apply(input: Any, other: Any) -> Any:
        if interpreters.active:
            return otherwise(input, other)
        if observe.observer is not None and is_told(input, other):
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
        mode = _this_thread.mode
        if needed and mode.grad_enabled and not mode.inference_enabled:
            edge = edge_of(other) if isinstance(other, Tensor) else edge_of_number
            record(function, (input, other), (edge_of(input), edge), output)
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
        if observe.observer is not None and is_told(input):
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
        mode = _this_thread.mode
        if input._requires_grad and mode.grad_enabled and not mode.inference_enabled:
            record(function, (input,), (edge_of(input),), output)
        return output

    return apply


def is_told(*operands: Any) -> bool:
    """Whether the listener is told of an operation on these operands."""
    listener = observe.observer
    if listener is None:
        return False
    if listener.hears_unrecorded:
        return True
    mode = _this_thread.mode
    if not mode.grad_enabled or mode.inference_enabled:
        return False
    return any([isinstance(x, Tensor) and x._requires_grad for x in operands])


def record(
    function: type[Builtin],
    inputs: tuple[Any, ...],
    edges: tuple[Edge, ...],
    output: Tensor,
) -> None:
    """Make the node of an operation that has run, and hang it on its output.

    It takes the phases of ``Builtin.apply`` together that nobody watches here.
    """
    node = create_builtin_ctx(function, inputs, edges)
    if node._wire(output):
        function.setup_context(node, inputs, output)


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
