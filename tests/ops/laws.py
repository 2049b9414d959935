"""What every operation of the table has to obey, as functions that raise."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.engine.builtin import Builtin
from minigrad.ops import OPS, Op

STEP = 1e-5


def is_variable(value: Any) -> bool:
    """Lists and floats of a sample are tensors; all else is an argument as it is."""
    return isinstance(value, (list, float))


def variables(sample: tuple[Any, ...]) -> list[np.ndarray]:
    """The arrays of a sample, in float64."""
    return [np.array(value, np.float64) for value in sample if is_variable(value)]


def arguments(sample: tuple[Any, ...], values: list[Any]) -> list[Any]:
    """The sample with ``values`` in the places of its arrays."""
    left = iter(values)
    return [next(left) if is_variable(value) else value for value in sample]


def leaves(arrays: list[np.ndarray], dtype: Any = np.float64) -> list[Any]:
    """A leaf for each array."""
    return [minigrad.tensor(a.astype(dtype), requires_grad=True) for a in arrays]


def numeric_slopes(
    function: Callable[..., np.ndarray], arrays: list[np.ndarray], weight: np.ndarray
) -> list[np.ndarray]:
    """d sum(weight * function(*arrays)) / d each element, by central differences."""
    slopes = []
    for position, array in enumerate(arrays):
        slope = np.zeros(array.shape)
        for index in np.ndindex(array.shape):
            ends = []
            for step in (STEP, -STEP):
                moved = [other.copy() for other in arrays]
                moved[position][index] += step
                ends.append(function(*moved))
            slope[index] = np.sum(weight * (ends[0] - ends[1])) / (2 * STEP)
        slopes.append(slope)
    return slopes


def close(got: Any, wanted: Any, tolerance: float = 1e-6) -> None:
    """Equal to about 1e-6, relative to the greatest element."""
    assert got.shape == wanted.shape
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * scale)


def forward_is_the_reference(row: Op, sample: tuple[Any, ...]) -> None:
    arrays = variables(sample)
    tensors = [minigrad.tensor(array) for array in arrays]
    got = row.call(*arguments(sample, tensors))
    wanted = np.asarray(row.reference(*arguments(sample, arrays)))
    assert got.dtype == wanted.dtype
    close(got.array.astype(np.float64), wanted.astype(np.float64), 1e-12)


def backward_is_the_numeric_slope(row: Op, sample: tuple[Any, ...]) -> None:
    arrays = variables(sample)
    inputs = leaves(arrays)
    output = row.call(*arguments(sample, inputs))
    upstream = np.random.default_rng(1).uniform(0.5, 2.0, output.shape)
    upstream *= np.random.default_rng(2).choice([-1.0, 1.0], output.shape)
    got = minigrad.autograd.grad(output, inputs, minigrad.tensor(upstream))

    def function(*values: np.ndarray) -> np.ndarray:
        return np.asarray(row.reference(*arguments(sample, list(values))), np.float64)

    wanted = numeric_slopes(function, arrays, upstream)
    for gradient, slope in zip(got, wanted, strict=True):
        close(gradient.array, slope)


def first_derivative(row: Op, sample: tuple[Any, ...], arrays: list[Any]) -> Any:
    """The gradients for the inputs ``arrays[:-1]`` from the upstream ``arrays[-1]``."""
    inputs = leaves(arrays[:-1])
    output = row.call(*arguments(sample, inputs))
    return minigrad.autograd.grad(output, inputs, minigrad.tensor(arrays[-1]))


def second_derivative_is_the_slope_of_the_first(
    row: Op, sample: tuple[Any, ...]
) -> None:
    """Also with respect to the upstream gradient, which the first is linear in."""
    arrays = variables(sample)
    output = row.call(*arguments(sample, leaves(arrays)))
    arrays.append(np.random.default_rng(3).uniform(0.5, 2.0, output.shape))
    *inputs, upstream = leaves(arrays)
    output = row.call(*arguments(sample, inputs))
    firsts = minigrad.autograd.grad(output, inputs, upstream, create_graph=True)

    for number, first in enumerate(firsts):
        weight = np.random.default_rng(4).uniform(0.5, 2.0, first.shape)
        got = minigrad.autograd.grad(
            first,
            [*inputs, upstream],
            minigrad.tensor(weight),
            retain_graph=True,
            materialize_grads=True,
        )

        def function(*values: np.ndarray, number: int = number) -> np.ndarray:
            return first_derivative(row, sample, list(values))[number].array

        wanted = numeric_slopes(function, arrays, weight)
        for gradient, slope in zip(got, wanted, strict=True):
            close(gradient.array, slope)


def inputs_and_upstream_stay_as_they_are(row: Op, sample: tuple[Any, ...]) -> None:
    inputs = leaves(variables(sample))
    output = row.call(*arguments(sample, inputs))
    upstream = minigrad.tensor(np.full(output.shape, 2.0))
    tensors = [*inputs, output, upstream]
    before = [(tensor.array.copy(), tensor._version) for tensor in tensors]
    output.backward(upstream)
    for tensor, (values, version) in zip(tensors, before, strict=True):
        np.testing.assert_array_equal(tensor.array, values)
        assert tensor._version == version
    for one, array in zip(inputs, variables(sample), strict=True):
        np.testing.assert_array_equal(one.array, array)


def dtype_is_kept(row: Op, sample: tuple[Any, ...]) -> None:
    for dtype in (np.float32, np.float64):
        inputs = leaves(variables(sample), dtype)
        output = row.call(*arguments(sample, inputs))
        assert output.dtype == dtype
        output.backward(minigrad.ones_like(output))
        assert [one.grad.dtype for one in inputs] == [dtype] * len(inputs)


def rows(differentiable: bool = False) -> Iterator[tuple[str, Op, tuple[Any, ...]]]:
    """Every sample of every operation, with a name."""
    for row in OPS.values():
        if row.differentiable or not differentiable:
            for number, sample in enumerate(row.samples):
                yield f"{row.name}-{number}", row, sample


def row_of(function: type[Builtin], reference: Any, *sample: Any) -> Op:
    """A row of a table, for an operation that is not registered."""
    return Op(
        name=function.__name__.lower(),
        function=function,
        reference=reference,
        samples=[sample],
        call=function.apply,
        operator=None,
        in_place=False,
        differentiable=True,
    )
