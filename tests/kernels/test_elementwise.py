"""Each compiled kernel gives what its twin in plain NumPy gives."""

from typing import Any

import hypothesis.extra.numpy as npst
import numpy as np
import pytest
from hypothesis import given

from minigrad.kernels import elementwise

KERNELS = [
    elementwise.sigmoid,
    elementwise.softplus,
    elementwise.erf,
    elementwise.erfc,
]
ULPS = 4
"""How many representable numbers the two may lie apart."""

HARD = [0.0, -0.0, 1e-300, -1e-300, 0.5, -0.5, 20.0, -20.0, 37.5, -37.5, 88.8, -104.0]
HARD += [709.8, -745.2, 1e300, -1e300, np.inf, -np.inf, np.nan]


def agree(kernel: Any, array: np.ndarray) -> None:
    """Shape and dtype as the input's, values within ``ULPS`` of the twin's."""
    got, wanted = kernel(array), kernel.twin(array)
    assert got.shape == wanted.shape == array.shape
    assert got.dtype == wanted.dtype == array.dtype
    nan = np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(got), nan)
    if not nan.all():
        np.testing.assert_array_max_ulp(got[~nan], wanted[~nan], ULPS)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hard_values_agree_with_the_twin(kernel: Any, dtype: Any) -> None:
    with np.errstate(over="ignore", under="ignore"):
        values = np.array(HARD).astype(dtype)
    agree(kernel, values)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0), (7,), (5, 3, 2), (1025,)])
def test_every_size_agrees_with_the_twin(
    kernel: Any, dtype: Any, shape: tuple[int, ...]
) -> None:
    agree(kernel, np.random.default_rng(0).normal(0, 5, shape).astype(dtype))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "lay",
    [
        lambda a: a[::2, ::3],
        lambda a: a.T,
        lambda a: a[::-1, ::-1],
        lambda a: np.broadcast_to(a[0], (5, 9)),
        lambda a: np.asfortranarray(a),
    ],
)
def test_every_layout_agrees_with_the_twin(kernel: Any, lay: Any) -> None:
    agree(kernel, lay(np.random.default_rng(1).normal(0, 5, (7, 9))))


@pytest.mark.parametrize("kernel", KERNELS)
@given(array=npst.arrays(np.float64, npst.array_shapes(max_side=4, min_dims=0)))
def test_any_values_agree_with_the_twin(kernel: Any, array: np.ndarray) -> None:
    agree(kernel, array)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_leaves_its_input_alone(kernel: Any) -> None:
    array = np.array([1.0, -2.0])
    kernel(array)
    assert array.tolist() == [1.0, -2.0]
    array.flags.writeable = False
    kernel(array)


def test_limits_are_exact() -> None:
    ends = np.array([-np.inf, np.inf, -800.0, 800.0])
    assert elementwise.sigmoid(ends).tolist() == [0.0, 1.0, 0.0, 1.0]
    assert elementwise.softplus(ends).tolist() == [0.0, np.inf, 0.0, 800.0]


def test_agreement_sees_a_wrong_kernel() -> None:
    def wrong(array: Any) -> Any:
        return elementwise.sigmoid.twin(array) * (1 + 1e-14)

    wrong.twin = elementwise.sigmoid.twin
    with pytest.raises(AssertionError):
        agree(wrong, np.array([0.5, 1.0]))
