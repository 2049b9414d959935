"""Whole Jacobians: one vector-Jacobian product for each element, all in one vmap."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine import pytree
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.examples import Unbind, moved
from minigrad.func.forward import jvp_by
from minigrad.func.mapping import vmap
from minigrad.func.reverse import Argnums, check_argnums, vjp_by


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that computes the Jacobian of ``func``, by reverse mode.

    Shape: that of the output and then that of the input, for each pair of them.
    ``chunk_size`` bounds how many rows are computed at a time.
    See: torch ``func.jacrev``.

    >>> minigrad.func.jacrev(lambda x: x * x)(minigrad.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise errors.MappingError.at(
            "jacrev",
            "`chunk_size` should be greater than 0.",
            "say how many rows to compute at a time",
        )

    @functools.wraps(func)
    def jacobian(*args: Any) -> Any:
        output, back, *aux = vjp_by(func, args, argnums, has_aux)
        leaves, structure = pytree.flatten(output)
        rows = [
            rows_of(back, leaves, structure, number, chunk_size)
            for number in range(len(leaves))
        ]
        found = pytree.unflatten(rows, structure)
        return (found, aux[0]) if has_aux else found

    return jacobian


def rows_of(
    back: Callable[..., Any],
    outputs: list[Tensor],
    structure: pytree.Structure,
    number: int,
    chunk_size: int | None,
) -> Any:
    """The Jacobian of output ``number``, nested as the inputs are."""
    output = outputs[number]
    zeros = [zero_for(other) for other in outputs]

    def row(cotangent: Tensor) -> Any:
        given = [*zeros[:number], cotangent, *zeros[number + 1 :]]
        return back(pytree.unflatten(given, structure))

    basis = basis_for(output)
    if basis.shape[0] == 0:
        found = pytree.mapped(none_of, row(zeros[number]))
    else:
        found = vmap(row, chunk_size=chunk_size)(basis)
    return pytree.mapped(lambda rows: with_shape_of(output, rows), found)


def basis_for(tensor: Tensor) -> Tensor:
    """For each element of ``tensor``, a tensor with 1 there and 0 elsewhere."""
    number = tensor.numel()
    return Tensor(np.eye(number, dtype=tensor.dtype).reshape(number, *tensor.shape))


def zero_for(tensor: Tensor) -> Tensor:
    """Zeros in the shape and dtype of an output."""
    return Tensor(np.zeros(tensor.shape, tensor.dtype))


def none_of(slope: Tensor) -> Tensor:
    """No rows, for an output without elements."""
    return Tensor(np.zeros((0, *slope.shape), slope.dtype))


def with_shape_of(output: Tensor, rows: Tensor) -> Tensor:
    """The first dimension, which counts the elements of the output, in its shape."""
    return rows.reshape(*output.shape, *rows.shape[1:])


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The function that computes the Jacobian of ``func``, by forward mode.

    Shape: that of the output and then that of the input, for each pair of them.
    ``randomness`` is that of the vmap over the columns.
    See: torch ``func.jacfwd``.

    >>> minigrad.func.jacfwd(lambda x: x * x)(minigrad.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(func)
    def jacobian(*args: Any) -> Any:
        positions = check_argnums(args, argnums)
        several = tuple([args[position] for position in positions])
        inputs, structure = pytree.flatten(
            several[0] if isinstance(argnums, int) else several
        )
        columns: list[list[Tensor]] = []
        out_structure, aux = pytree.LEAF, None
        for number in range(len(inputs)):

            def along(direction: Tensor, number: int = number) -> Any:
                tangents: list[Any] = [zero_for(other) for other in inputs]
                tangents[number] = direction
                _, *slope_and_aux = jvp_by(
                    func,
                    args,
                    pytree.unflatten(tangents, structure),
                    argnums,
                    has_aux=has_aux,
                )
                return tuple(slope_and_aux)

            basis = basis_for(inputs[number])
            slope, *more = vmap(along, randomness=randomness)(basis)
            leaves, out_structure = pytree.flatten(slope)
            columns.append([in_last(leaf, inputs[number]) for leaf in leaves])
            aux = pytree.mapped(lambda leaf: Unbind.apply(leaf)[0], more)
        rows = [
            pytree.unflatten(list(row), structure) for row in zip(*columns, strict=True)
        ]
        found = pytree.unflatten(rows, out_structure)
        return (found, aux[0]) if has_aux and aux else found

    return jacobian


def in_last(columns: Tensor, input: Tensor) -> Tensor:
    """The first dimension, which counts the elements of the input, last and shaped."""
    rows = moved(columns, 0, columns.ndim - 1)
    return rows.reshape(*rows.shape[:-1], *input.shape)


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function that computes the second derivatives of ``func``.

    Forward mode over reverse mode. Shape: that of the output, then twice that of the
    input.
    See: torch ``func.hessian``.

    >>> minigrad.func.hessian(lambda x: (x**3).sum())(minigrad.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
