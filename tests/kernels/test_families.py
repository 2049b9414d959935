"""The kernels of layers, losses and optimizers against their twins in plain NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad.kernels import (
    _math,
    activations,
    elementwise,
    fused,
    lookup,
    losses,
    normalization,
    randomness,
    softmax,
    steps,
)

Inputs = Callable[[Any, int, int], tuple[Any, ...]]

ROWS_AND_LENGTHS = [(1, 1), (3, 7), (2, 8), (5, 33), (64, 10), (0, 4), (3, 1025)]
"""Odd sizes, those of the wide registers, and none."""


def normal(dtype: Any, *shape: int, seed: int = 0) -> Any:
    """Normal numbers of either sign."""
    return np.random.default_rng(seed).normal(0, 2, shape).astype(dtype)


def of_rows(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    return (normal(dtype, n, d),)


def of_softmax(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    return normal(dtype, n, d), softmax.softmax_in_numpy(normal(dtype, n, d, seed=1))


def of_logs(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    rows = normal(dtype, n, d, seed=1)
    return normal(dtype, n, d), softmax.log_softmax_in_numpy(rows)


def of_layer_norm(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    return normal(dtype, n, d), normal(dtype, d), normal(dtype, d, seed=1), 1e-5


def of_layer_norm_backward(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    x, weight, bias, eps = of_layer_norm(dtype, n, d)
    _, mean, rstd = normalization.layer_norm_in_numpy(x, weight, bias, eps)
    return normal(dtype, n, d, seed=2), x, weight, mean, rstd


def of_channels(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    # With one row per channel the variance is 0, and nothing is left to compare.
    return normal(dtype, n + 1, d, 3), normal(dtype, d), normal(dtype, d, seed=1), 1e-5


def of_columns(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    return normal(dtype, n + 2, d, 1), normal(dtype, d), normal(dtype, d, seed=1), 1e-5


def backward_of(forward: Inputs) -> Inputs:
    """What the backward of a batch norm gets."""

    def inputs(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
        x, weight, bias, eps = forward(dtype, n, d)
        _, mean, var = normalization.batch_norm_in_numpy(x, weight, bias, eps)
        rstd = (1 / np.sqrt(var + dtype(eps))).astype(dtype)
        return normal(dtype, *x.shape, seed=2), x, weight, mean, rstd

    return inputs


def of_two(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    return normal(dtype, n, d), normal(dtype, n, d, seed=1)


def of_three(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    return tuple([normal(dtype, n * d, seed=i) for i in range(3)])


def of_dropout(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    return normal(dtype, n * d), 2**32 - 5, 77, 2**30, 4 / 3


def of_lookup(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    indices = np.random.default_rng(0).integers(0, 5, n)
    return normal(dtype, 5, d), indices, normal(dtype, n, d, seed=1)


def of_adam(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    memory, gradient, mean = (normal(dtype, n, d, seed=i) for i in range(3))
    options = 0.1, 0.9, 0.999, 1e-8, 0.03
    return memory, gradient, mean, normal(dtype, n, d, seed=3) ** 2, *options


def of_classes(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    classes = np.random.default_rng(0).integers(0, d, n)
    return normal(dtype, n, d), classes, normal(dtype, d, seed=1), 2


def without_weights(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    rows, classes, _, ignored = of_classes(dtype, n, d)
    return rows, classes, np.empty(0, dtype), ignored


def of_one_gradient(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    _, classes, no_weight, ignored = without_weights(dtype, n, d)
    return normal(dtype, 1), classes, no_weight, ignored, d


def of_gradients(dtype: Any, n: int, d: int) -> tuple[Any, ...]:
    _, classes, weight, ignored = of_classes(dtype, n, d)
    return normal(dtype, n), classes, weight, ignored, d


CASES: list[tuple[str, Any, Inputs, float]] = [
    ("softmax", softmax.softmax_of_rows, of_rows, 8),
    ("log_softmax", softmax.log_softmax_of_rows, of_rows, 8),
    ("softmax backward", softmax.softmax_backward_of_rows, of_softmax, 16),
    ("log_softmax backward", softmax.log_softmax_backward_of_rows, of_logs, 32),
    ("nll", losses.nll, of_classes, 4),
    ("nll without weights", losses.nll, without_weights, 4),
    ("nll backward", losses.nll_backward, of_gradients, 0),
    ("nll backward of a mean", losses.nll_backward, of_one_gradient, 0),
    ("layer_norm", normalization.layer_norm, of_layer_norm, 64),
    (
        "layer_norm backward",
        normalization.layer_norm_backward,
        of_layer_norm_backward,
        64,
    ),
    ("batch_norm", normalization.batch_norm, of_channels, 64),
    ("batch_norm of columns", normalization.batch_norm, of_columns, 64),
    (
        "batch_norm backward",
        normalization.batch_norm_backward,
        backward_of(of_channels),
        64,
    ),
    (
        "batch_norm backward of columns",
        normalization.batch_norm_backward,
        backward_of(of_columns),
        64,
    ),
    ("gelu", activations.gelu, of_rows, 4),
    ("gelu backward", activations.gelu_backward, of_two, 8),
    ("relu", elementwise.relu, of_rows, 0),
    ("where positive", elementwise.where_positive, of_two, 0),
    ("gated sum", fused.gated_sum, of_three, 4),
    ("gated sum backward", fused.gated_sum_backward, of_three, 8),
    ("dropout", randomness.drop, of_dropout, 0),
    ("embedding backward", lookup.add_rows, of_lookup, 0),
    ("adam", steps.adam, of_adam, 64),
]
"""Name, kernel, its inputs, and by how many roundings of the greatest it may err."""

NAMED = [pytest.param(*case[1:], id=case[0]) for case in CASES]


def results(function: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """What a kernel returns, and what is in its inputs afterwards."""
    own = [one.copy() if isinstance(one, np.ndarray) else one for one in inputs]
    output = function(*own)
    outputs = output if isinstance(output, tuple) else (output,)
    return [one for one in (*outputs, *own) if isinstance(one, np.ndarray)]


def agree(kernel: Any, inputs: tuple[Any, ...], roundings: float) -> None:
    """All results of the twin's shapes and dtypes, and nearly of its values."""
    pairs = zip(results(kernel, inputs), results(kernel.twin, inputs), strict=True)
    for got, wanted in pairs:
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        finite = np.isfinite(wanted)
        np.testing.assert_array_equal(np.isfinite(got), finite)
        np.testing.assert_array_equal(got[~finite], wanted[~finite])
        if finite.any() and wanted.dtype.kind == "f":
            most = max(1.0, float(np.abs(wanted[finite]).max()))
            limit = roundings * np.finfo(wanted.dtype).eps * most
            assert np.abs(got[finite] - wanted[finite]).max() <= limit


@pytest.mark.parametrize(("kernel", "inputs", "roundings"), NAMED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernel_agrees_with_its_twin(
    kernel: Any, inputs: Inputs, roundings: float, dtype: Any
) -> None:
    for n, d in ROWS_AND_LENGTHS:
        agree(kernel, inputs(dtype, n, d), roundings)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize(("kernel", "inputs", "roundings"), NAMED)
def test_kernel_agrees_where_an_element_is_hard(
    kernel: Any, inputs: Inputs, roundings: float, bad: float
) -> None:
    for place in (0, 5, 18):
        given = inputs(np.float64, 3, 9)
        given[0].flat[place % given[0].size] = bad
        agree(kernel, given, roundings)


HARD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0, -2.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relu_of_many_hard_elements_agrees_with_its_twin(dtype: Any) -> None:
    output = np.repeat(np.array(HARD, dtype), 7 * 25)
    grad = np.tile(np.array(HARD, dtype), 7 * 25)
    agree(elementwise.relu, (output,), 0)
    agree(elementwise.where_positive, (grad, output), 0)


@pytest.mark.parametrize("kernel", [softmax.softmax_of_rows, activations.gelu])
def test_layouts_and_read_only_inputs_agree(kernel: Any) -> None:
    x = normal(np.float64, 8, 6)
    frozen = x.copy()
    frozen.flags.writeable = False
    for array in (x.T, x[::2, ::3], np.asfortranarray(x), frozen):
        np.testing.assert_allclose(kernel(array), kernel.twin(array), 1e-13, 1e-15)


def test_kernel_that_writes_leaves_other_layouts_to_its_twin() -> None:
    inputs = of_adam(np.float64, 4, 6)
    turned = [one.T if isinstance(one, np.ndarray) else one for one in inputs]
    wanted = [one.copy() if isinstance(one, np.ndarray) else one for one in turned]
    steps.adam(*turned)
    steps.adam.twin(*wanted)
    np.testing.assert_array_equal(turned[0], wanted[0])


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_lines_along_any_dimension(dim: int) -> None:
    x = normal(np.float64, 3, 4, 5)
    got = softmax.along(softmax.softmax_of_rows, dim, x)
    wanted = np.exp(x) / np.exp(x).sum(dim, keepdims=True)
    np.testing.assert_allclose(got, wanted, rtol=1e-13)
    assert got.flags.c_contiguous


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponential_is_within_two_roundings(dtype: Any) -> None:
    lowest = -87 if dtype == np.float32 else -708
    x = np.linspace(lowest, 0, 2001).astype(dtype)
    got = np.array([_math.exp(one) for one in x])
    np.testing.assert_array_max_ulp(got, np.exp(x.astype(np.float64)).astype(dtype), 2)
    with np.errstate(invalid="ignore"):
        assert np.isnan(_math.exp(dtype(np.nan)))
        assert _math.exp(dtype(-np.inf)) == 0.0


@pytest.mark.parametrize("twin", [False, True])
def test_gelu_in_float32_is_near_that_in_float64(twin: bool) -> None:
    x = np.concatenate([np.linspace(-9, 9, 3001), [-1e30, 1e30, -0.0]])
    exact = activations.gelu(x), activations.gelu_backward(np.ones_like(x), x)
    narrow = x.astype(np.float32)
    gelu, slope = activations.gelu, activations.gelu_backward
    if twin:
        gelu, slope = gelu.twin, slope.twin
    got = gelu(narrow), slope(np.ones_like(narrow), narrow)
    away = [np.abs(a - b) for a, b in zip(got, exact, strict=True)]
    # Where the result is large, relative to it.
    assert (away[0] / np.maximum(1, np.abs(x))).max() < 3e-7
    assert away[1].max() < 4e-7
    assert got[0][-3] == got[1][-3] == 0  # far left, exactly


@pytest.mark.parametrize("wrong", [-1, 3])
def test_class_that_does_not_exist_is_named(wrong: int) -> None:
    classes = np.array([0, wrong, 7])
    inputs = normal(np.float64, 3, 3), classes, np.ones(3), 7
    for function in (losses.nll, losses.nll_in_numpy):
        each, totals, found = function(*inputs)
        assert found.tolist() == [wrong]
        assert totals.tolist() == [each[0], 1.0]
        assert each[1:].tolist() == [0.0, 0.0]


def test_dropout_drops_what_its_seed_says() -> None:
    ones = np.ones(10_000)
    seeds = [3, 4, 3 + 2**32]
    masks = [randomness.dropout(ones, 0.25, seed) > 0 for seed in seeds]
    for mask in masks:
        assert mask.mean() == pytest.approx(0.75, abs=0.02)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        # Two independent masks agree in 0.75**2 + 0.25**2 of the places.
        assert np.mean(masks[one] == masks[other]) == pytest.approx(0.625, abs=0.03)
    neighbours = np.mean(masks[0][1:] == masks[0][:-1])
    assert neighbours == pytest.approx(0.625, abs=0.03)


def test_agreement_sees_a_wrong_kernel() -> None:
    def wrong(rows: Any) -> Any:
        return softmax.softmax_in_numpy(rows) * (1 + 1e-13)

    wrong.twin = softmax.softmax_in_numpy
    with pytest.raises(AssertionError):
        agree(wrong, of_rows(np.float64, 3, 4), 8)
