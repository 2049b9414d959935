"""Broadcasting, numbers, 0-d and empty tensors, operators and forms in place."""

import operator
from typing import Any

import hypothesis.extra.numpy as npst
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad
from minigrad import errors
from minigrad.engine.core.validate import sums_to
from minigrad.engine.structural import sum_to
from minigrad.ops import OPS
from tests.ops.laws import arguments, close, leaves, variables

BINARY = ["add", "sub", "mul", "div", "pow"]
UNARY = [
    "neg",
    "exp",
    "log",
    "sqrt",
    "abs",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "softplus",
    "relu",
    "clone",
]
two_shapes = npst.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3)


def values(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape)


def summed_by_hand(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """One element at a time, with Python's own sums."""
    total = np.zeros(shape)
    for index in np.ndindex(array.shape):
        kept = index[array.ndim - len(shape) :]
        place = tuple(0 if n == 1 else i for i, n in zip(kept, shape, strict=True))
        total[place] += array[index]
    return total


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=25)
@given(shapes=two_shapes)
def test_broadcast_operands_get_gradients_of_their_own_shape(
    name: str, shapes: Any
) -> None:
    row = OPS[name]
    arrays = [values(shape, seed) for seed, shape in enumerate(shapes.input_shapes)]
    a, b = leaves(arrays)
    output = row.call(a, b)
    close(output.array, row.reference(*arrays), 1e-12)
    upstream = values(output.shape, 7)
    got = minigrad.autograd.grad(output, (a, b), minigrad.tensor(upstream))

    stretched = [np.broadcast_to(array, output.shape).copy() for array in arrays]
    full = leaves(stretched)
    wanted = minigrad.autograd.grad(row.call(*full), full, minigrad.tensor(upstream))
    for gradient, whole, array in zip(got, wanted, arrays, strict=True):
        close(gradient.array, summed_by_hand(whole.array, array.shape), 1e-12)


@given(shapes=two_shapes)
def test_sum_to_undoes_what_broadcasting_copied(shapes: Any) -> None:
    small, result = shapes.input_shapes[0], shapes.result_shape
    array = values(result, 1)
    assert sums_to(result, small)
    close(sum_to(array, small), summed_by_hand(array, small), 1e-12)


@given(shapes=st.tuples(npst.array_shapes(max_side=3), npst.array_shapes(max_side=3)))
def test_sums_to_agrees_with_numpy_on_what_broadcasts(shapes: Any) -> None:
    shape, wanted = shapes
    try:
        fits = np.broadcast_shapes(shape, wanted) == shape
    except ValueError:
        fits = False
    assert sums_to(shape, wanted) == fits


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1,), (2, 1, 3)])
def test_elementwise_keeps_every_shape(name: str, shape: tuple[int, ...]) -> None:
    (x,) = leaves([values(shape, 0)])
    y = OPS[name].call(x)
    assert y.shape == shape
    y.backward(minigrad.ones_like(y))
    assert x.grad.shape == shape


@pytest.mark.parametrize("name", BINARY)
def test_empty_operand_gives_an_empty_result(name: str) -> None:
    a, b = leaves([values((0, 3), 0), values((3,), 1)])
    y = OPS[name].call(a, b)
    y.sum().backward()
    assert (y.shape, a.grad.shape) == ((0, 3), (0, 3))
    assert b.grad.tolist() == [0.0, 0.0, 0.0]


def test_sum_of_nothing_is_zero_and_its_mean_is_nan() -> None:
    nothing = minigrad.zeros(0)
    assert nothing.sum().item() == 0.0
    assert np.isnan(nothing.mean().item())


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("number", [3, 0.5, True])
def test_number_on_either_side_is_like_a_tensor(name: str, number: Any) -> None:
    row = OPS[name]
    operation = getattr(operator, row.operator or "")
    if name == "sub" and number is True:
        return  # refused, as in torch
    for swap in (False, True):
        (x,) = leaves([values((3,), 0)])
        (same,) = leaves([values((3,), 0)])
        other = minigrad.tensor(float(number), dtype=minigrad.float64)
        y = operation(number, x) if swap else operation(x, number)
        z = row.call(other, same) if swap else row.call(same, other)
        y.sum().backward()
        z.sum().backward()
        close(y.array, z.array, 1e-12)
        close(x.grad.array, same.grad.array, 1e-12)


@pytest.mark.parametrize("name", [n for n, row in OPS.items() if row.operator])
def test_operator_is_the_method_and_the_function(name: str) -> None:
    row = OPS[name]
    operation = getattr(operator, f"__{row.operator}__")
    sample = row.samples[1]
    tensors = arguments(sample, [minigrad.tensor(x) for x in variables(sample)])
    results = [
        operation(*tensors),
        getattr(tensors[0], name)(*tensors[1:]),
        getattr(minigrad, name)(*tensors),
    ]
    assert results[0].tolist() == results[1].tolist() == results[2].tolist()


def forms_in_place() -> list[Any]:
    return [
        pytest.param(name, number, id=f"{name}-{number}")
        for name, row in OPS.items()
        if row.in_place and row.differentiable
        for number, sample in enumerate(row.samples)
        if np.shape(row.reference(*sample)) == np.shape(sample[0])
    ]


@pytest.mark.parametrize(("name", "number"), forms_in_place())
def test_form_in_place_is_the_same_object_value_and_gradient(
    name: str, number: int
) -> None:
    row = OPS[name]
    sample = row.samples[number]
    first, *rest = variables(sample)
    _, *others = arguments(sample, [None, *[minigrad.tensor(x) for x in rest]])
    a, b = leaves([first, first])
    changed = a * 1
    result = getattr(changed, f"{name}_")(*others)
    wanted = row.call(b * 1, *others)
    assert result is changed
    assert changed._version == 1
    close(changed.array, wanted.array, 1e-12)
    changed.backward(minigrad.full(changed.shape, 2.0, dtype=np.float64))
    wanted.backward(minigrad.full(changed.shape, 2.0, dtype=np.float64))
    close(a.grad.array, b.grad.array, 1e-12)


@pytest.mark.parametrize("name", BINARY)
def test_augmented_assignment_changes_the_very_tensor(name: str) -> None:
    row = OPS[name]
    x = same = minigrad.tensor([1.0, 4.0])
    x = getattr(operator, f"i{row.operator}")(x, 2.0)
    assert x is same
    assert x._version == 1
    assert x.tolist() == row.reference(np.array([1.0, 4.0]), 2.0).tolist()


def test_array_as_operand_is_refused() -> None:
    for use in (
        lambda: minigrad.tensor([1.0]) * np.array([2.0]),
        lambda: np.array([2.0]) * minigrad.tensor([1.0]),
        lambda: minigrad.exp(np.array([2.0])),
    ):
        with pytest.raises(errors.ArgumentTypeError, match="must be Tensor, not numpy"):
            use()


def test_shapes_that_do_not_fit_name_both() -> None:
    with pytest.raises(errors.ShapeError, match=r"\(2, 3\) and \(2, 3\)"):
        minigrad.ones(2, 3) @ minigrad.ones(2, 3)
    with pytest.raises(errors.ShapeError, match="invalid for input of size 6"):
        minigrad.ones(2, 3).reshape(4, 2)
    with pytest.raises(errors.ShapeError, match=r"The expanded size of the tensor .4."):
        minigrad.ones(2, 3).expand(2, 4)


def test_property_t_reverses_the_dimensions() -> None:
    x = minigrad.ones(2, 3, 4, requires_grad=True)
    assert x.T.shape == (4, 3, 2)
    assert x.T.grad_fn.name() == "PermuteBackward0"
    with pytest.raises(errors.ShapeError, match="<= 2 dimensions, but self is 3D"):
        x.t()
    with pytest.raises(errors.ShapeError, match="do not name each of the 3 dim"):
        x.permute(0, 1, 1)


@pytest.mark.parametrize("use", [lambda x: x.sum(2), lambda x: x.transpose(0, 2)])
def test_dimension_that_is_not_there_names_the_range(use: Any) -> None:
    says = r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2"
    with pytest.raises(errors.DimensionError, match=says):
        use(minigrad.ones(2, 3))


@pytest.mark.parametrize("other", ["text", None, [1.0]])
def test_operand_that_is_no_number_is_refused(other: Any) -> None:
    with pytest.raises(errors.ArgumentTypeError, match=r"Tensor.* a number"):
        minigrad.ones(2) + other


def test_tensor_differs_from_none_and_from_text() -> None:
    x = minigrad.ones(2)
    assert (x == None) is False  # noqa: E711
    assert (x != "text") is True
    assert (x == 1).tolist() == [True, True]


def test_operands_that_do_not_broadcast_are_refused() -> None:
    says = (
        r"The size of tensor a \(3\) must match the size of tensor b \(2\) at "
        "non-singleton dimension 1"
    )
    a, b = minigrad.ones(4, 3), minigrad.ones(2)
    for use in (lambda: a + b, lambda: a.mul_(b), lambda: a < b):
        with pytest.raises(errors.ShapeError, match=says):
            use()


def test_stacks_of_matrices_that_do_not_broadcast_are_refused() -> None:
    says = r"tensor a \(2\) must match the size of tensor b \(3\) at non-singleton dim"
    with pytest.raises(errors.ShapeError, match=says):
        minigrad.ones(2, 4, 5) @ minigrad.ones(3, 5, 4)


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda x: x.clamp(0.1, 0.3), 0.3),
        (lambda x: x.clone().clamp_(0.1, 0.3), 0.3),
        (lambda x: x.addcmul(x, x, value=0.1), 1.2 + 0.1 * (1.2 * 1.2)),
        (lambda x: x.addcdiv(x, x, value=0.1), 1.3),
    ],
)
def test_single_number_keeps_its_precision_on_the_way(call: Any, wanted: float) -> None:
    result = call(minigrad.tensor(1.2, dtype=minigrad.float64))
    assert (result.dtype, result.item()) == (minigrad.float64, wanted)
