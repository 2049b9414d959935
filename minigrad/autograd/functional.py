"""torch.autograd.functional's names: whole derivatives of a function at a point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd._derivatives import (
    INDEPENDENT,
    INPUT,
    LINEAR,
    NO_HESSIAN,
    NO_JACOBIAN,
    NO_SECOND,
    NO_TRICK,
    OUTPUT,
    Tensors,
    across,
    as_tensors,
    basis_of,
    called,
    check_options,
    check_reached,
    check_recorded,
    filled,
    independent,
    prepared,
    pull,
    push,
    released,
    requires_grad,
    single_element,
    stacked,
    unwrapped,
    weights_of,
    zeros_for,
    zeros_like,
)
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import enable_grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def vjp(
    func: Callable[..., Any],
    inputs: Tensor | Tensors,
    v: Tensor | Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, and ``v`` times its Jacobian.

    Shape: ``v`` as the output, the result as the inputs.
    Raises: DerivativeError; GradientArgumentTypeError for what is no Tensor.
    See: torch ``autograd.functional.vjp``.

    >>> x, v = minigrad.tensor(3.0), minigrad.tensor(1.0)
    >>> minigrad.autograd.functional.vjp(lambda x: x * x, x, v)
    (tensor(9.), tensor(6.))
    """
    with enable_grad():
        one_input, points = prepared(inputs, "inputs", "vjp", create_graph)
        one_output, outputs = called(func, points, "vjp")
        check_reached(outputs, strict)
        weights = weights_of(v, "vjp", create_graph, outputs, one_output, OUTPUT)
    pulled = pull(outputs, points, weights, create_graph)
    result = filled(pulled, points, strict, create_graph, INDEPENDENT)
    return (
        unwrapped(released(outputs, create_graph), one_output),
        unwrapped(released(result, create_graph), one_input),
    )


def jvp(
    func: Callable[..., Any],
    inputs: Tensor | Tensors,
    v: Tensor | Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, and its Jacobian times ``v``.

    It needs no ``jvp`` of a Function: the vjp is linear in its own ``v``, and the
    gradient with respect to that is the answer. So backward has to be recorded once.

    Shape: ``v`` as the inputs, the result as the output.
    Raises: DerivativeError; GradientArgumentTypeError for what is no Tensor.
    See: torch ``autograd.functional.jvp``.

    >>> minigrad.autograd.functional.jvp(lambda x: x * x, minigrad.tensor(3.0))
    (tensor(9.), tensor(6.))
    """
    with enable_grad():
        one_input, points = prepared(inputs, "inputs", "jvp", create_graph)
        weights = weights_of(v, "jvp", create_graph, points, one_input, INPUT)
        one_output, outputs = called(func, points, "jvp")
        check_reached(outputs, strict)
        dummies = zeros_for(outputs)
        pulled = pull(outputs, points, dummies, True)
        check_recorded(pulled, strict, NO_SECOND)
    pushed = pull(pulled, dummies, weights, create_graph)
    result = filled(pushed, outputs, strict, create_graph, NO_TRICK)
    return (
        unwrapped(released(outputs, create_graph), one_output),
        unwrapped(released(result, create_graph), one_output),
    )


def vhp(
    func: Callable[..., Any],
    inputs: Tensor | Tensors,
    v: Tensor | Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, and ``v`` times its matrix of second derivatives.

    Shape: ``v`` and the result as the inputs; ``func`` returns one element.
    Raises: DerivativeError; GradientArgumentTypeError for what is no Tensor.
    See: torch ``autograd.functional.vhp``.
    """
    with enable_grad():
        one_input, points = prepared(inputs, "inputs", "vhp", create_graph)
        weights = weights_of(v, "vhp", create_graph, points, one_input, INPUT)
        outputs = single_element(func, points, "vhp", strict)
        first = pull(outputs, points, None, True)
        check_recorded(first, strict, LINEAR)
    pulled = pull(first, points, weights, create_graph)
    result = filled(pulled, points, strict, create_graph, NO_JACOBIAN)
    return (
        released(outputs, create_graph)[0],
        unwrapped(released(result, create_graph), one_input),
    )


def hvp(
    func: Callable[..., Any],
    inputs: Tensor | Tensors,
    v: Tensor | Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, and its matrix of second derivatives times ``v``.

    The same numbers as ``vhp``, which is quicker: that matrix is symmetric.

    Shape: ``v`` and the result as the inputs; ``func`` returns one element.
    Raises: DerivativeError; GradientArgumentTypeError for what is no Tensor.
    See: torch ``autograd.functional.hvp``.

    >>> x, v = minigrad.tensor([1.0, 2.0]), minigrad.tensor([1.0, 0.0])
    >>> minigrad.autograd.functional.hvp(lambda x: (x * x * x).sum(), x, v)
    (tensor(9.), tensor([6., 0.]))
    """
    with enable_grad():
        one_input, points = prepared(inputs, "inputs", "hvp", create_graph)
        weights = weights_of(v, "hvp", create_graph, points, one_input, INPUT)
        outputs = single_element(func, points, "hvp", strict)
        first = pull(outputs, points, None, True)
        check_recorded(first, strict, LINEAR)
        dummies = zeros_for(points)
        second = pull(first, points, dummies, True)
    pushed = pull(second, dummies, weights, create_graph)
    result = filled(pushed, points, strict, create_graph, NO_HESSIAN)
    return (
        released(outputs, create_graph)[0],
        unwrapped(released(result, create_graph), one_input),
    )


def jacobian(
    func: Callable[..., Any],
    inputs: Tensor | Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivative of every element of the output by every element of the inputs.

    Shape: the output's, then the input's; nested tuples [output][input] where there
    are several. An input that an output does not depend on gives zeros.
    Raises: DerivativeError with ``strict`` for such an input; OptionMissingError and
    ArgumentAssertionError for options that do not go together.
    See: torch ``autograd.functional.jacobian``.

    >>> minigrad.autograd.functional.jacobian(lambda x: x * x, minigrad.ones(2))
    tensor([[2., 0.],
            [0., 2.]])
    """
    check_options("jacobian", strategy, create_graph, strict, vectorize)
    if strategy == "forward-mode":
        return pushed_jacobian(func, inputs)
    with enable_grad():
        one_input, points = prepared(inputs, "inputs", "jacobian", create_graph)
        one_output, outputs = called(func, points, "jacobian")
        check_reached(outputs, strict)
        rows = [
            jacobians_at_once(output, points, create_graph)
            if vectorize and output.numel()
            else jacobians_of(output, o, points, create_graph, strict)
            for o, output in enumerate(outputs)
        ]
    by_output = [unwrapped(released(row, create_graph), one_input) for row in rows]
    return by_output[0] if one_output else tuple(by_output)


def hessian(
    func: Callable[..., Any],
    inputs: Tensor | Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The matrix of second derivatives: the Jacobian of the gradient.

    Shape: one input's, then the other's; nested tuples for several inputs. ``func``
    returns one element.
    Raises: DerivativeError; as ``jacobian``.
    See: torch ``autograd.functional.hessian``.

    >>> x = minigrad.ones(2)
    >>> minigrad.autograd.functional.hessian(lambda x: (x * x * x).sum(), x)
    tensor([[6., 0.],
            [0., 6.]])
    """
    check_options("hessian", outer_jacobian_strategy, create_graph, strict, vectorize)
    one_input, given = as_tensors(inputs, "inputs", "hessian")

    def one_element(*points: Tensor) -> Tensor:
        (output,) = single_element(func, points, "hessian", strict)
        return output.reshape(())

    def gradient(*points: Tensor) -> Tensors:
        if outer_jacobian_strategy == "forward-mode":
            # The duals of forward mode do not require grad by themselves.
            points = tuple([point.requires_grad_() for point in points])
        first = jacobian(one_element, points, create_graph=True)
        check_recorded(first, strict, LINEAR)
        return tuple(first)

    matrix = jacobian(
        gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy
    )
    return matrix[0][0] if one_input else matrix


def jacobians_at_once(output: Tensor, points: Tensors, create_graph: bool) -> Tensors:
    """The derivative of one output by each input, in one backward for all rows."""
    pulled = pull(
        (output,), points, (basis_of(output),), create_graph, True, batched=True
    )
    return tuple(
        [
            Tensor(np.zeros((*output.shape, *point.shape), point.dtype))
            if rows is None
            else rows.reshape((*output.shape, *point.shape))
            for point, rows in zip(points, pulled, strict=True)
        ]
    )


def jacobians_of(
    output: Tensor, number: int, points: Tensors, create_graph: bool, strict: bool
) -> Tensors:
    """The derivative of one output by each input, a row for each element of it."""
    rows: list[list[Tensor]] = [[] for _ in points]
    for e in basis_of(output).array:
        upstream = (Tensor(e),)
        pulled = pull((output,), points, upstream, create_graph, retain_graph=True)
        for i, (point, gradient) in enumerate(zip(points, pulled, strict=True)):
            if strict and gradient is None:
                raise independent(
                    f"Output {number} of the user-provided function is independent of "
                    f"input {i}. This is not allowed in strict mode."
                )
            if strict and create_graph and not requires_grad(gradient):
                raise independent(
                    "The jacobian of the user-provided function is independent of "
                    f"input {number}. This is not allowed in strict mode when "
                    "create_graph=True."
                )
            rows[i].append(zeros_like(point) if gradient is None else gradient)
    return tuple(
        [
            stacked(own, output.shape + point.shape, point.dtype)
            for own, point in zip(rows, points, strict=True)
        ]
    )


def pushed_jacobian(func: Callable[..., Any], inputs: Tensor | Tensors) -> Any:
    """The Jacobian in forward mode: one column for each element of an input."""
    one_input, points = as_tensors(inputs, "inputs", "jacobian")
    by_input = []
    for i, point in enumerate(points):
        columns: list[Tensors] = []
        for e in basis_of(point).array:
            tangents = [zeros_like(other) for other in points]
            tangents[i] = Tensor(e)
            one_output, outputs, pushed = push(func, points, tangents)
            columns.append(pushed)
        if not columns:
            one_output, outputs = called(func, points, "jacobian")
        by_input.append(
            [
                across([column[o] for column in columns], output, point)
                for o, output in enumerate(outputs)
            ]
        )
    by_output = [list(row) for row in zip(*by_input, strict=True)]
    if one_output:
        return by_output[0][0] if one_input else by_output[0]
    return tuple([row[0] for row in by_output]) if one_input else by_output
