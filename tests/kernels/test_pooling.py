"""The kernels of pooling against their twins in plain NumPy."""

from typing import Any

import numpy as np
import pytest

from minigrad.kernels import pooling

WAYS = [
    # sizes, places, stride, before, dilation
    ((2, 2), (3, 2), (2, 2), (0, 0), (1, 1)),
    ((3, 2), (4, 5), (2, 1), (1, 1), (1, 1)),
    ((2, 3), (6, 4), (1, 1), (1, 1), (2, 1)),
    ((3, 2), (3, 3), (3, 2), (0, 0), (1, 1)),  # the last windows hang over
    ((2, 2), (3, 2), (1, 2), (0, 0), (3, 2)),  # inside, but apart
    ((2, 2), (7, 1), (1, 9), (2, 0), (4, 4)),  # some see nothing but padding
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [None, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("way", WAYS)
def test_kernel_finds_what_its_twin_finds(dtype: Any, bad: Any, way: Any) -> None:
    planes = np.random.default_rng(0).integers(-3, 3, (3, 7, 5)).astype(dtype)
    if bad is not None:
        planes.flat[::4] = bad
    got, wanted = pooling.max_pool(planes, *way), pooling.max_pool.twin(planes, *way)
    for one, other in zip(got, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_window_that_sees_only_padding_is_the_least() -> None:
    for find in (pooling.max_pool, pooling.max_pool.twin):
        values, indices = find(
            np.ones((1, 1, 1)), (2, 1), (1, 1), (1, 1), (1, 0), (2, 1)
        )
        assert values.tolist() == [[[-np.inf]]]
        assert indices.tolist() == [[[0]]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernel_adds_what_its_twin_adds(dtype: Any) -> None:
    random = np.random.default_rng(0)
    indices = random.integers(0, 6, (3, 9))
    values = random.integers(-3, 4, (3, 9)).astype(dtype)
    got, wanted = np.ones((3, 6), dtype), np.ones((3, 6), dtype)
    pooling.add_at(got, indices, values)
    pooling.add_at.twin(wanted, indices, values)
    np.testing.assert_array_equal(got, wanted)


def test_no_planes() -> None:
    values, indices = pooling.max_pool(np.ones((0, 4, 4)), *WAYS[0])
    assert values.shape == indices.shape == (0, 3, 2)
