"""What the jvp of every operation of the table has to obey, as functions that raise."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.autograd import forward_ad as fwAD
from minigrad.ops import Op
from tests.ops.laws import STEP, arguments, close, leaves, variables


def floating_outputs(result: Any) -> list[Any]:
    """The outputs that a derivative reaches."""
    outputs = result if isinstance(result, tuple) else (result,)
    return [output for output in outputs if output.dtype.kind == "f"]


def directions(arrays: list[np.ndarray]) -> Iterator[list[np.ndarray | None]]:
    """A direction in which each input moves alone, and one in which all move."""
    random = np.random.default_rng(5)
    together: list[np.ndarray | None] = [random.normal(size=a.shape) for a in arrays]
    yield together
    if len(arrays) > 1:
        for moving, direction in enumerate(together):
            yield [direction if i == moving else None for i in range(len(arrays))]


def made_dual(inputs: list[Any], direction: list[np.ndarray | None]) -> list[Any]:
    """The inputs, those that move with their tangents."""
    return [
        x if t is None else fwAD.make_dual(x, minigrad.tensor(t))
        for x, t in zip(inputs, direction, strict=True)
    ]


def tangents_of(outputs: list[Any]) -> list[Any]:
    """The tangent of each output, which must be there."""
    tangents = [fwAD.unpack_dual(output).tangent for output in outputs]
    assert all([tangent is not None for tangent in tangents])
    return tangents


def weights_of(outputs: list[Any]) -> list[Any]:
    """An incoming gradient for each output, none of them ones."""
    random = np.random.default_rng(6)
    shapes = [output.shape for output in outputs]
    return [minigrad.tensor(random.uniform(0.5, 2.0, shape)) for shape in shapes]


def inner(some: list[Any], others: list[Any]) -> float:
    """The sum of all products of elements."""
    pairs = zip(some, others, strict=True)
    return sum([float(np.sum(a * b)) for a, b in pairs if b is not None])


def jvp_is_the_transpose_of_backward(row: Op, sample: tuple[Any, ...]) -> None:
    arrays = variables(sample)
    for direction in directions(arrays):
        inputs = leaves(arrays)
        with fwAD.dual_level():
            duals = made_dual(inputs, direction)
            outputs = floating_outputs(row.call(*arguments(sample, duals)))
            weights = weights_of(outputs)
            pushed = [tangent.detach().array for tangent in tangents_of(outputs)]
        pulled = minigrad.autograd.grad(
            outputs, inputs, weights, materialize_grads=True
        )
        forward = inner(pushed, [weight.array for weight in weights])
        reverse = inner([gradient.array for gradient in pulled], direction)
        close(np.array(forward), np.array(reverse), 1e-9)


def jvp_is_the_numeric_slope(row: Op, sample: tuple[Any, ...]) -> None:
    arrays = variables(sample)
    for direction in directions(arrays):
        ends = []
        for step in (STEP, -STEP):
            moved = [
                a if t is None else a + step * t
                for a, t in zip(arrays, direction, strict=True)
            ]
            tensors = [minigrad.tensor(array) for array in moved]
            ends.append(floating_outputs(row.call(*arguments(sample, tensors))))
        with fwAD.dual_level():
            duals = made_dual([minigrad.tensor(a) for a in arrays], direction)
            outputs = floating_outputs(row.call(*arguments(sample, duals)))
            pushed = [tangent.array for tangent in tangents_of(outputs)]
        for tangent, after, before in zip(pushed, *ends, strict=True):
            close(tangent, (after.array - before.array) / (2 * STEP))


def second_derivatives_agree(row: Op, sample: tuple[Any, ...]) -> None:
    """Reverse over forward, forward over reverse and reverse over reverse."""
    arrays = variables(sample)
    direction = next(directions(arrays))
    inputs = leaves(arrays)
    outputs = floating_outputs(row.call(*arguments(sample, inputs)))
    weights = weights_of(outputs)
    firsts = minigrad.autograd.grad(
        outputs, inputs, weights, create_graph=True, materialize_grads=True
    )
    along = [minigrad.tensor(t) for t in direction if t is not None]
    twice = gradients_or_zeros(list(firsts), inputs, along)

    with fwAD.dual_level():
        duals = made_dual(inputs, direction)
        outputs = floating_outputs(row.call(*arguments(sample, duals)))
        firsts = minigrad.autograd.grad(
            outputs, duals, weights, retain_graph=True, materialize_grads=True
        )
        over_reverse = [fwAD.unpack_dual(first).tangent for first in firsts]
        over_forward = gradients_or_zeros(tangents_of(outputs), inputs, weights)
    for wanted, one, other in zip(twice, over_reverse, over_forward, strict=True):
        close(np.zeros(wanted.shape) if one is None else one.array, wanted)
        close(other, wanted)


def gradients_or_zeros(
    outputs: list[Any], inputs: list[Any], weights: list[Any]
) -> Any:
    """The gradients of the outputs that have a graph; zeros where none has."""
    pairs = zip(outputs, weights, strict=True)
    recorded = [(output, weight) for output, weight in pairs if output.requires_grad]
    if not recorded:
        return [np.zeros(x.shape) for x in inputs]
    found = minigrad.autograd.grad(
        [output for output, _ in recorded],
        inputs,
        [weight for _, weight in recorded],
        materialize_grads=True,
    )
    return [gradient.array for gradient in found]
