"""max_pool2d, avg_pool2d and their layers; tests/parity runs all with torch."""

from typing import Any

import numpy as np
import pytest

from minigrad import errors
from tests.engine.support import raises

NAN, INF = float("nan"), float("inf")


def test_max_pool_by_hand(torch: Any) -> None:
    x = torch.tensor([[[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]]], requires_grad=True)
    pool = torch.nn.functional.max_pool2d
    y, places = pool(x, 2, stride=1, return_indices=True)
    assert (y.tolist(), places.tolist()) == ([[[5.0, 6.0]]], [[[1, 5]]])
    y.backward(torch.tensor([[[1.0, 10.0]]]))
    assert x.grad.tolist() == [[[0.0, 1.0, 0.0], [0.0, 0.0, 10.0]]]


def test_windows_that_overlap_add_up(torch: Any) -> None:
    x = torch.tensor([[[1.0, 5.0, 3.0]]], requires_grad=True)
    torch.nn.functional.max_pool2d(x, (1, 2), stride=1).sum().backward()
    assert x.grad.tolist() == [[[0.0, 2.0, 0.0]]]


@pytest.mark.parametrize(
    ("values", "greatest", "place"),
    [
        ([1.0, 1.0, 1.0], 1.0, 0),
        ([-INF, -INF, -INF], -INF, 0),
        ([-0.0, 0.0, 0.0], -0.0, 0),
        ([NAN, 5.0, NAN], NAN, 2),
        ([INF, NAN, INF], NAN, 1),
    ],
)
def test_equals_and_nan(
    torch: Any, values: list[float], greatest: float, place: int
) -> None:
    for dtype in (torch.float64, torch.float16):  # a kernel, and NumPy
        x = torch.tensor([[values]], dtype=dtype)
        y, places = torch.nn.functional.max_pool2d(x, (1, 3), return_indices=True)
        np.testing.assert_equal(y.item(), greatest)
        assert places.item() == place


def test_avg_pool_by_hand(torch: Any) -> None:
    x = torch.tensor([[[1.0, 5.0], [4.0, 2.0]]], requires_grad=True)
    pool = torch.nn.functional.avg_pool2d
    assert pool(x, 2).tolist() == [[[3.0]]]
    assert pool(x, 2, divisor_override=6).tolist() == [[[2.0]]]
    padded = pool(x, 2, stride=2, padding=1)
    assert padded.tolist() == [[[0.25, 1.25], [1.0, 0.5]]]
    uncounted = pool(x, 2, stride=2, padding=1, count_include_pad=False)
    assert uncounted.tolist() == [[[1.0, 5.0], [4.0, 2.0]]]
    pool(x, (1, 2)).backward(torch.tensor([[[2.0], [4.0]]]))
    assert x.grad.tolist() == [[[1.0, 1.0], [2.0, 2.0]]]


def test_ceil_mode_lets_windows_hang_over(torch: Any) -> None:
    F, x = torch.nn.functional, torch.ones(1, 3, 3)
    assert F.max_pool2d(x, 2).shape == (1, 1, 1)
    assert F.max_pool2d(x, 2, ceil_mode=True).shape == (1, 2, 2)
    assert F.avg_pool2d(x, 2, ceil_mode=True).tolist() == [[[1.0, 1.0]] * 2]
    around = F.avg_pool2d(x, 2, padding=1, ceil_mode=True)
    assert around.tolist() == [[[0.25, 0.5], [0.5, 1.0]]]


def test_pooling_takes_other_dtypes(torch: Any) -> None:
    F, x = torch.nn.functional, torch.arange(16).reshape(1, 4, 4)
    assert F.max_pool2d(x, 2).tolist() == [[[5, 7], [13, 15]]]
    assert F.avg_pool2d(x - 8, 2).tolist() == [[[-5, -3], [2, 4]]]
    assert F.avg_pool2d(x.half(), 2).dtype == torch.float16
    with raises(torch, errors.UnsupportedOptionError, "not implemented for 'Bool'"):
        F.max_pool2d(x > 0, 2)


def test_no_images_give_nothing(torch: Any) -> None:
    x = torch.ones(0, 3, 4, 4, requires_grad=True)
    for pool in (torch.nn.MaxPool2d(2), torch.nn.AvgPool2d(2)):
        y = pool(x)
        assert y.shape == (0, 3, 2, 2)
        y.sum().backward()


def test_flatten_leaves_the_batch(torch: Any) -> None:
    assert torch.nn.Flatten()(torch.ones(2, 3, 4)).shape == (2, 12)
    assert torch.nn.Flatten(0, 1)(torch.ones(2, 3, 4)).shape == (6, 4)


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
def test_pooling_refuses_in_torchs_words(torch: Any, name: str) -> None:
    pool, x = getattr(torch.nn.functional, name), torch.ones(2, 3, 5, 6)

    def refused(says: str, *args: Any, **options: Any) -> None:
        with raises(torch, errors.ShapeError, says):
            pool(x, *args, **options)

    refused(f"{name}: kernel_size must either be a single int, or a", (2, 2, 2))
    refused(f"{name}: stride must either be omitted, a single", 2, (2, 2, 2))
    refused(f"{name}: padding must either be a single int", 2, padding=(1, 1, 1))
    refused("stride should not be zero", 2, 0)
    refused("stride should not be zero", 0)
    refused("pad must be non-negative, but got pad: -1", 2, padding=-1)
    refused("of effective kernel size, but got pad=2, kernel_size=2", 2, padding=2)
    refused("Calculated output size: (3x0x0). Output size is too small", 7)
    with raises(torch, errors.ArgumentTypeError, "must be tuple of ints, not float"):
        pool(x, 2.5)


def test_pooling_refuses_other_inputs_in_torchs_words(torch: Any) -> None:
    F, x = torch.nn.functional, torch.ones(2, 3, 5, 6)
    says = "dilation should be greater than zero, but got dilationH: 0 dilationW: 0"
    with raises(torch, errors.ShapeError, says):
        F.max_pool2d(x, 2, dilation=0)
    with raises(torch, errors.ShapeError, "max_pool2d: dilation must be either a sin"):
        F.max_pool2d(x, 2, dilation=(1, 1, 1))
    with raises(torch, errors.ShapeError, "non-empty 3D or 4D (batch mode) tensor ex"):
        F.max_pool2d(x[0, 0], 2)
    with raises(torch, errors.ShapeError, "tensor with optional 0 dim batch size for"):
        F.max_pool2d(x[:, :0], 2)
    with raises(torch, errors.DimensionError, "in range of [-2, 1], but got -3"):
        F.avg_pool2d(x[0, 0], 2)
    with raises(torch, errors.ShapeError, "divisor must be not zero"):
        F.avg_pool2d(x, 2, divisor_override=0)
