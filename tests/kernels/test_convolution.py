"""The kernels of convolutions: every way to slide, in chunks of any size."""

from typing import Any

import numpy as np
import pytest

from minigrad.kernels import convolution
from minigrad.kernels._jit import in_numpy
from minigrad.kernels.convolution import Sliding

WAYS = [
    Sliding(),
    Sliding(before=(1, 2), after=(2, 1)),
    Sliding(stride=(2, 3), before=(1, 1), after=(1, 1)),
    Sliding(dilation=(2, 1), before=(0, 2), after=(0, 2)),
    Sliding(stride=(3, 2), dilation=(1, 2), groups=2),
    Sliding(stride=(1, 2), before=(4, 0), groups=3),
]


def normal(dtype: Any, *shape: int, seed: int = 0) -> Any:
    """Normal numbers."""
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def inputs(dtype: Any, sliding: Sliding) -> tuple[Any, Any, Any, Any]:
    """Images, kernels, a bias, and a gradient of the results."""
    images = normal(dtype, 3, 2 * sliding.groups, 7, 6)
    weight = normal(dtype, 2 * sliding.groups, 2, 3, 2, seed=1)
    down, across = sliding.places((7, 6), (3, 2))
    grad = normal(dtype, 3, len(weight), down, across, seed=2)
    return images, weight, normal(dtype, len(weight), seed=3), grad


def all_three(dtype: Any, sliding: Sliding) -> list[Any]:
    """The convolution, and what goes back to the images and to the kernels."""
    images, weight, bias, grad = inputs(dtype, sliding)
    return [
        convolution.convolve(images, weight, bias, sliding),
        convolution.convolve_images(grad, weight, (7, 6), sliding),
        convolution.convolve_weight(grad, images, (3, 2), sliding),
    ]


def weave_below(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weave images with fewer places across, forward and backward."""
    monkeypatch.setattr(convolution, "NARROW", width)
    monkeypatch.setattr(convolution, "NARROW_BACKWARD", width)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sliding", WAYS)
@pytest.mark.parametrize(
    ("chunk", "narrow"), [(1, 0), (100, 0), (300, 0), (300, 8), (1 << 17, 0)]
)
def test_kernels_agree_with_numpy_in_chunks_of_any_size(
    monkeypatch: pytest.MonkeyPatch,
    dtype: Any,
    sliding: Sliding,
    chunk: int,
    narrow: int,
) -> None:
    weave_below(0, monkeypatch)
    with in_numpy():
        wanted = all_three(dtype, sliding)
    monkeypatch.setattr(convolution, "CHUNK", chunk)
    weave_below(narrow, monkeypatch)
    for one, other in zip(all_three(dtype, sliding), wanted, strict=True):
        assert one.dtype == dtype
        # Sums of up to 126 products of numbers near 1.
        limit = 200 * np.finfo(dtype).eps
        np.testing.assert_allclose(one, other, rtol=limit, atol=limit)


@pytest.mark.parametrize("sliding", WAYS)
def test_backward_is_the_transpose_of_forward(sliding: Sliding) -> None:
    images, weight, bias, grad = inputs(np.float64, sliding)
    results = convolution.convolve(images, weight, bias * 0, sliding)
    forward = np.sum(results * grad)
    by_images = convolution.convolve_images(grad, weight, (7, 6), sliding) * images
    by_weight = convolution.convolve_weight(grad, images, (3, 2), sliding) * weight
    np.testing.assert_allclose([by_images.sum(), by_weight.sum()], forward, rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("narrow", [0, 8])
def test_what_is_not_finite_stays_where_it_is_seen(
    monkeypatch: pytest.MonkeyPatch, bad: float, jit: bool, narrow: int
) -> None:
    weave_below(narrow, monkeypatch)
    sliding = Sliding(before=(1, 1), after=(1, 1))
    images, weight = np.ones((2, 1, 4, 4)), np.ones((1, 1, 3, 3))
    images[0, 0, 0, 3] = bad  # in a corner, where places of the next row hang over
    seen = np.zeros((2, 1, 4, 4), bool)
    seen[0, 0, :2, 2:] = True
    grad = np.ones((2, 1, 4, 4))
    grad[0, 0, 2, 0] = bad
    into = np.zeros((2, 1, 4, 4), bool)
    into[0, 0, 1:, :2] = True
    with np.errstate(all="ignore"):
        if jit:
            results = convolution.convolve(images, weight, None, sliding)
            back = convolution.convolve_images(grad, weight, (4, 4), sliding)
        else:
            with in_numpy():
                results = convolution.convolve(images, weight, None, sliding)
                back = convolution.convolve_images(grad, weight, (4, 4), sliding)
    np.testing.assert_array_equal(~np.isfinite(results), seen)
    np.testing.assert_array_equal(~np.isfinite(back), into)


def test_slope_of_a_kernel_is_finite_where_its_element_sees_nothing_else() -> None:
    images, grad = np.ones((1, 1, 3, 3)), np.ones((1, 1, 2, 2))
    images[0, 0, 0, 0] = np.inf
    slope = convolution.convolve_weight(grad, images, (2, 2), Sliding())
    assert slope.tolist() == [[[[np.inf, 4.0], [4.0, 4.0]]]]


@pytest.mark.parametrize("turn", ["transposed", "every other", "read-only"])
def test_layouts_of_memory_do_not_matter(turn: str) -> None:
    images, weight, bias, _ = inputs(np.float64, WAYS[1])
    wanted = convolution.convolve(images, weight, bias, WAYS[1])
    if turn == "transposed":
        images = np.asfortranarray(images)
        weight = np.asfortranarray(weight)
    elif turn == "every other":
        images = np.repeat(images, 2, axis=3)[..., ::2]
    else:
        images.flags.writeable = weight.flags.writeable = False
    got = convolution.convolve(images, weight, bias, WAYS[1])
    np.testing.assert_allclose(got, wanted, rtol=1e-13)


def test_narrow_images_are_woven_into_one_and_come_apart_again() -> None:
    images = np.arange(24.0).reshape(2, 3, 2, 2)
    one = convolution.woven(images)
    assert one.shape == (1, 3, 2, 4)
    assert one[0, 0].tolist() == [[0, 12, 1, 13], [2, 14, 3, 15]]
    np.testing.assert_array_equal(convolution.unwoven(one, 2), images)
    sliding = Sliding(before=(1, 1), dilation=(2, 1))
    assert sliding.weaves(2, (2, 2), (1, 2), 8)
    assert not sliding.weaves(1, (2, 2), (1, 2), 8)
    assert not sliding._replace(stride=(1, 2)).weaves(2, (2, 2), (1, 2), 8)
    assert sliding.woven(3).before == (1, 3)
    assert sliding.woven(3).dilation == (2, 3)


def test_no_channels_leave_the_bias() -> None:
    images, weight = np.zeros((2, 0, 3, 3)), np.zeros((4, 0, 2, 2))
    results = convolution.convolve(images, weight, np.arange(4.0), Sliding())
    assert results.shape == (2, 4, 2, 2)
    assert results[1, 3].tolist() == [[3.0, 3.0], [3.0, 3.0]]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 5), (8, 2), (9, 5), (17, 33)])
def test_matrices_of_any_size_are_turned(shape: tuple[int, int]) -> None:
    matrix = normal(np.float64, *shape)
    np.testing.assert_array_equal(convolution.turned(matrix), matrix.T)
