"""Making tensors: dtypes, shapes, requires_grad, random numbers."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from tests.engine.support import raises, same_memory


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1, "int64"),
        (1.0, "float32"),
        (True, "bool"),
        ([1, 2.5], "float32"),
        ([[1], [2]], "int64"),
        (np.float64(2.0), "float64"),
        (np.ones(2, np.int32), "int32"),
        ([], "float32"),
    ],
)
def test_dtype_follows_the_data(torch: Any, data: Any, dtype: str) -> None:
    assert torch.tensor(data).dtype == getattr(torch, dtype)


def test_tensor_copies_its_data(torch: Any) -> None:
    array = np.ones(2)
    x = torch.tensor(array)
    array[0] = 5.0
    assert x.tolist() == [1.0, 1.0]


def test_from_numpy_and_numpy_share_memory(torch: Any) -> None:
    array = np.ones(2)
    x = torch.from_numpy(array)
    array[0] = 5.0
    x.add_(1)
    assert x.tolist() == array.tolist() == [6.0, 2.0]
    assert same_memory(x, torch.as_tensor(x))


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_size_is_given_as_numbers_or_as_one_tuple(torch: Any, name: str) -> None:
    make = getattr(torch, name)
    assert tuple(make(2, 3).shape) == tuple(make((2, 3)).shape) == (2, 3)
    assert tuple(make(()).shape) == ()
    assert make(2, requires_grad=True).requires_grad
    assert make(2, dtype=torch.int64).tolist() == [int(name == "ones")] * 2


def test_full_takes_the_dtype_of_its_value(torch: Any) -> None:
    assert torch.full((2,), 7).dtype == torch.int64
    assert torch.full((2,), 7.0).dtype == torch.float32
    assert torch.full((2,), 7, dtype=torch.float64).tolist() == [7.0, 7.0]


def test_arange_counts_like_range(torch: Any) -> None:
    assert torch.arange(3).tolist() == [0, 1, 2]
    assert torch.arange(1, 4).tolist() == [1, 2, 3]
    assert torch.arange(0, 1, 0.25).tolist() == [0.0, 0.25, 0.5, 0.75]
    assert torch.arange(3.0).dtype == torch.float32


def test_likes_keep_shape_and_dtype(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    for like, value in ((torch.zeros_like(x), 0.0), (torch.ones_like(x), 1.0)):
        assert like.tolist() == [[value, value]]
        assert like.dtype == torch.float64
        assert not like.requires_grad


def test_default_dtype_can_be_chosen(torch: Any) -> None:
    torch.set_default_dtype(torch.float64)
    assert torch.tensor(1.0).dtype == torch.zeros(1).dtype == torch.float64
    assert torch.get_default_dtype() == torch.float64


def test_same_seed_gives_the_same_numbers(torch: Any) -> None:
    numbers = []
    for _ in range(2):
        torch.manual_seed(7)
        numbers.append((torch.rand(3).tolist(), torch.randn(2, 2).tolist()))
    assert numbers[0] == numbers[1]
    assert all(0.0 <= value < 1.0 for value in numbers[0][0])


def test_ragged_lists_are_refused() -> None:
    with raises(minigrad, errors.ArgumentValueError, "not all have the same length"):
        minigrad.tensor([[1, 2], [3]])


def test_text_is_refused() -> None:
    with raises(minigrad, errors.ArgumentTypeError, "cannot make numbers of str"):
        minigrad.tensor("one")


def test_tensor_of_tensors_takes_their_numbers(torch: Any) -> None:
    assert torch.tensor([torch.tensor(1.0), 2.0]).tolist() == [1.0, 2.0]
