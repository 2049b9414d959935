"""The kernels of attention against their twins in NumPy, in blocks of any size."""

from typing import Any

import numpy as np
import pytest

from minigrad.kernels import attention
from minigrad.kernels._jit import in_numpy

SHAPES = [(1, 1, 1), (3, 4, 7), (2, 9, 5), (1, 33, 70), (0, 4, 4), (2, 0, 3), (2, 3, 0)]


def normal(dtype: Any, *shape: int, seed: int = 0) -> Any:
    """Normal numbers of either sign."""
    return np.random.default_rng(seed).normal(0, 2, shape).astype(dtype)


def agree(kernel: Any, inputs: tuple[Any, ...], roundings: float) -> None:
    """The first input afterwards is what the twin makes of it."""
    own, other = inputs[0].copy(), inputs[0].copy()
    kernel(own, *inputs[1:])
    kernel.twin(other, *inputs[1:])
    limit = roundings * np.finfo(own.dtype).eps
    np.testing.assert_allclose(own, other, rtol=limit, atol=limit)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("options", [(0.5, False, 0), (0.5, True, 0), (-2.0, True, 3)])
def test_weights_agree_with_their_twin(dtype: Any, shape: Any, options: Any) -> None:
    agree(attention.weigh, (normal(dtype, *shape), *options), 32)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize("causal", [False, True])
def test_weights_agree_where_a_score_is_hard(bad: float, causal: bool) -> None:
    for place in (0, 5, 11):
        scores = normal(np.float64, 2, 3, 4)
        scores.flat[place] = bad
        agree(attention.weigh, (scores, 1.0, causal, 0), 32)
    whole = np.full((1, 2, 3), bad)
    agree(attention.weigh, (whole, 1.0, causal, 0), 32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_slopes_agree_with_their_twin(dtype: Any, shape: Any) -> None:
    weights = normal(dtype, *shape, seed=1)
    attention.weigh(weights, 1.0, False, 0)
    agree(attention.weigh_back, (normal(dtype, *shape), weights, 0.3), 64)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masks", [0, 1, 3])
@pytest.mark.parametrize(("rows", "block"), [(1, 1), (2, 20), (4, 30), (64, 1 << 16)])
def test_blocks_of_any_size_agree_with_numpy(
    monkeypatch: pytest.MonkeyPatch, causal: bool, masks: int, rows: int, block: int
) -> None:
    query, key, value = (normal(np.float64, 3, n, 2, seed=n) for n in (5, 7, 7))
    grad = normal(np.float64, 3, 5, 2)
    seen = np.random.default_rng(0).random((masks, 5, 7)) > 0.3 if masks else None
    options = query, key, value, seen, 0.7, causal
    with in_numpy():
        wanted = attention.attend(*options), *attention.attend_back(grad, *options)
    monkeypatch.setattr(attention, "ROWS", rows)
    monkeypatch.setattr(attention, "BLOCK", block)
    found = attention.attend(*options), *attention.attend_back(grad, *options)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def test_causal_blocks_leave_out_what_comes_later() -> None:
    pairs = [(last, seen) for _, _, last, seen in attention.blocks(1, 200, 150, True)]
    assert pairs == [(200, 150), (192, 150), (128, 128), (64, 64)]
    assert len(list(attention.blocks(1, 200, 150, False))) == 1
