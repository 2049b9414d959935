"""What every operation of the table has to obey, as functions that raise."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.engine.builtin import Builtin
from minigrad.engine.examples import Stack, Unbind, moved
from minigrad.func import vmap
from minigrad.ops import OPS, Op

STEP = 1e-5


def is_variable(value: Any) -> bool:
    """Lists and floats of a sample are tensors; all else is an argument as it is."""
    return isinstance(value, (list, float))


def variables(sample: tuple[Any, ...]) -> list[np.ndarray]:
    """The arrays of a sample, in float64; those in tuples too."""
    found = []
    for value in sample:
        if isinstance(value, tuple):
            found += variables(value)
        elif is_variable(value):
            found.append(np.array(value, np.float64))
    return found


def arguments(
    sample: tuple[Any, ...], values: list[Any], constant: Any = minigrad.tensor
) -> list[Any]:
    """The sample with ``values`` in the places of its arrays.

    Masks and indices stand in it as arrays of NumPy; ``constant`` makes tensors of
    them.
    """
    left = iter(values)

    def filled(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple([filled(item) for item in value])
        if isinstance(value, np.ndarray):
            return constant(value)
        return next(left) if is_variable(value) else value

    return [filled(value) for value in sample]


def referred(row: Op, sample: tuple[Any, ...], arrays: list[Any]) -> list[np.ndarray]:
    """What NumPy's function gives: one array for each output."""
    result = row.reference(*arguments(sample, arrays, lambda array: array))
    results = result if isinstance(result, (tuple, list)) else (result,)
    return [np.asarray(one) for one in results]


def called(row: Op, sample: tuple[Any, ...], inputs: list[Any]) -> list[Any]:
    """What the operation gives: one Tensor for each output."""
    result = row.call(*arguments(sample, inputs))
    return list(result) if isinstance(result, tuple) else [result]


def floating(outputs: list[Any]) -> list[Any]:
    """The outputs that have a slope: not the indices beside them."""
    return [one for one in outputs if one.dtype.kind == "f"]


def flat(arrays: list[Any]) -> np.ndarray:
    """All elements of several arrays in one."""
    return np.concatenate([np.ravel(array) for array in arrays])


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
    got = called(row, sample, [minigrad.tensor(array) for array in arrays])
    for one, wanted in zip(got, referred(row, sample, arrays), strict=True):
        assert one.dtype == wanted.dtype
        close(one.array.astype(np.float64), wanted.astype(np.float64), 1e-12)


def upstreams(outputs: list[Any]) -> list[np.ndarray]:
    """A random gradient of either sign for each output."""
    return [
        np.random.default_rng(1 + 10 * i).uniform(0.5, 2.0, one.shape)
        * np.random.default_rng(2 + 10 * i).choice([-1.0, 1.0], one.shape)
        for i, one in enumerate(outputs)
    ]


def backward_is_the_numeric_slope(row: Op, sample: tuple[Any, ...]) -> None:
    arrays = variables(sample)
    inputs = leaves(arrays)
    outputs = floating(called(row, sample, inputs))
    weights = upstreams(outputs)
    got = minigrad.autograd.grad(
        outputs, inputs, [minigrad.tensor(weight) for weight in weights]
    )

    def function(*values: np.ndarray) -> np.ndarray:
        return flat(floating(referred(row, sample, list(values))))

    wanted = numeric_slopes(function, arrays, flat(weights))
    for gradient, slope in zip(got, wanted, strict=True):
        close(gradient.array, slope)


def first_derivative(row: Op, sample: tuple[Any, ...], arrays: list[Any]) -> Any:
    """The gradients for the first inputs in ``arrays`` from the upstreams behind."""
    number = len(variables(sample))
    inputs = leaves(arrays[:number])
    outputs = floating(called(row, sample, inputs))
    weights = [minigrad.tensor(weight) for weight in arrays[number:]]
    return minigrad.autograd.grad(outputs, inputs, weights)


def second_derivative_is_the_slope_of_the_first(
    row: Op, sample: tuple[Any, ...]
) -> None:
    """Also with respect to the upstream gradients, which the first is linear in."""
    arrays = variables(sample)
    number = len(arrays)
    outputs = floating(called(row, sample, leaves(arrays)))
    for output in outputs:
        arrays.append(np.random.default_rng(3).uniform(0.5, 2.0, output.shape))
    variable = leaves(arrays)
    outputs = floating(called(row, sample, variable[:number]))
    firsts = minigrad.autograd.grad(
        outputs, variable[:number], variable[number:], create_graph=True
    )

    for which, first in enumerate(firsts):
        weight = np.random.default_rng(4).uniform(0.5, 2.0, first.shape)
        # A slope that is constant, as that of fill, is outside the graph.
        got = minigrad.autograd.grad(
            first + variable[0].sum() * 0,
            variable,
            minigrad.tensor(weight),
            retain_graph=True,
            materialize_grads=True,
        )

        def function(*values: np.ndarray, which: int = which) -> np.ndarray:
            return first_derivative(row, sample, list(values))[which].array

        wanted = numeric_slopes(function, arrays, weight)
        for gradient, slope in zip(got, wanted, strict=True):
            close(gradient.array, slope)


def inputs_and_upstream_stay_as_they_are(row: Op, sample: tuple[Any, ...]) -> None:
    inputs = leaves(variables(sample))
    outputs = floating(called(row, sample, inputs))
    weights = [minigrad.tensor(np.full(one.shape, 2.0)) for one in outputs]
    tensors = [*inputs, *outputs, *weights]
    before = [(tensor.array.copy(), tensor._version) for tensor in tensors]
    minigrad.autograd.backward(outputs, weights)
    for tensor, (values, version) in zip(tensors, before, strict=True):
        np.testing.assert_array_equal(tensor.array, values)
        assert tensor._version == version
    for one, array in zip(inputs, variables(sample), strict=True):
        np.testing.assert_array_equal(one.array, array)


def dtype_is_kept(row: Op, sample: tuple[Any, ...]) -> None:
    for dtype in (np.float32, np.float64):
        inputs = leaves(variables(sample), dtype)
        outputs = floating(called(row, sample, inputs))
        assert {output.dtype for output in outputs} == {np.dtype(dtype)}
        minigrad.autograd.backward(outputs, [minigrad.ones_like(o) for o in outputs])
        assert [one.grad.dtype for one in inputs] == [dtype] * len(inputs)


def vmap_is_a_loop(row: Op, sample: tuple[Any, ...]) -> None:
    """Whichever of the operands are batched, and whichever of their dimensions."""
    given = variables(sample)
    numbers = np.random.default_rng(5)
    for choice in range(1, 2 ** len(given)):
        batched = [bool(choice >> position & 1) for position in range(len(given))]
        in_dims = [int(numbers.integers(array.ndim + 1)) for array in given]
        arrays = [
            np.stack([array, array * 1.25, array * 0.75], dim) if mapped else array
            for array, mapped, dim in zip(given, batched, in_dims, strict=True)
        ]

        def call(*values: Any) -> Any:
            return as_tuple(row.call(*arguments(sample, list(values))))

        dims = [dim if on else None for dim, on in zip(in_dims, batched, strict=True)]
        mapped_inputs = leaves(arrays)
        got = vmap(call, tuple(dims))(*mapped_inputs)
        looped_inputs = leaves(arrays)
        wanted = looped(call, looped_inputs, dims)
        for one, other in zip(got, wanted, strict=True):
            assert one.dtype == other.dtype
            close(one.array.astype(np.float64), other.array.astype(np.float64), 1e-12)
        if row.differentiable:
            same_gradients(got, mapped_inputs, wanted, looped_inputs)


def as_tuple(output: Any) -> tuple[Any, ...]:
    """One output or several, as several."""
    return output if isinstance(output, tuple) else (output,)


def looped(call: Any, inputs: list[Any], dims: list[int | None]) -> list[Any]:
    """What vmap says it computes: the examples one by one, stacked."""
    results = []
    for index in range(3):
        chosen = [
            value if dim is None else taken(value, dim, index)
            for value, dim in zip(inputs, dims, strict=True)
        ]
        results.append(call(*chosen))
    return [Stack.apply(*same) for same in zip(*results, strict=True)]


def taken(tensor: Any, dim: int, index: int) -> Any:
    """One slice of a tensor."""
    return Unbind.apply(moved(tensor, dim, 0))[index]


def same_gradients(got: Any, inputs: Any, wanted: Any, others: Any) -> None:
    """The same slopes for both ways to compute; each is asked for all at once, too."""
    weights = [
        np.random.default_rng(6).uniform(0.5, 2.0, (2, *output.shape)) for output in got
    ]
    floating = [i for i, output in enumerate(got) if output.dtype.kind == "f"]
    upstreams = [minigrad.tensor(weights[i], dtype=got[i].dtype) for i in floating]
    slopes = minigrad.autograd.grad(
        [got[i] for i in floating],
        inputs,
        upstreams,
        is_grads_batched=True,
        materialize_grads=True,
    )
    for number in range(2):
        expected = minigrad.autograd.grad(
            [wanted[i] for i in floating],
            others,
            [taken(upstream, 0, number) for upstream in upstreams],
            retain_graph=True,
            materialize_grads=True,
        )
        for one, other in zip(slopes, expected, strict=True):
            close(taken(one, 0, number).array, other.array, 1e-9)


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
