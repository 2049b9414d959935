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


def test_ranges_and_matrices(torch: Any) -> None:
    assert torch.linspace(0, 1, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert torch.eye(2, 3).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert torch.arange(start=1, end=7, step=2).tolist() == [1, 3, 5]
    assert torch.arange(3, 0, -1).tolist() == [3, 2, 1]
    assert torch.empty(2, 0).shape == (2, 0)
    assert torch.full_like(torch.ones(2), 3).tolist() == [3.0, 3.0]
    assert torch.empty_like(torch.ones(2), dtype=torch.int8).dtype == torch.int8


def test_new_tensors_have_the_dtype_of_the_old(torch: Any) -> None:
    x = torch.ones(2, dtype=torch.float64)
    made = [x.new_zeros(2), x.new_ones((2, 3)), x.new_full((2,), 7), x.new_empty(1)]
    assert [one.dtype for one in made] == [torch.float64] * 4
    assert x.new_tensor([1, 2]).dtype == torch.float64
    assert x.new_zeros((1,), requires_grad=True).requires_grad


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda t: t.zeros(-1), "must be non-negative"),
        (lambda t: t.arange(0, 1, 0), "step must be nonzero"),
        (lambda t: t.arange(1, 0), "upper bound and lower bound inconsistent"),
        (lambda t: t.linspace(0, 1, -1), "number of steps must be non-negative"),
        (lambda t: t.randint(3, 3, (2,)), "to be less than 'to', but got from=3"),
    ],
)
def test_ranges_that_cannot_be(torch: Any, use: Any, says: str) -> None:
    with raises(torch, errors.RangeError, says):
        use(torch)


def test_sizes_are_whole_numbers(torch: Any) -> None:
    for size in ((2.0,), (2, "a")):
        with raises(torch, errors.ArgumentTypeError, "argument 'size'"):
            torch.zeros(*size) if len(size) == 1 else torch.zeros(size)


def test_random_numbers_of_every_kind(torch: Any) -> None:
    whole = torch.randint(3, (50,))
    assert whole.dtype == torch.int64
    assert set(whole.tolist()) == {0, 1, 2}
    assert torch.randint(5, 6, (2,)).tolist() == [5, 5]
    assert sorted(torch.randperm(4).tolist()) == [0, 1, 2, 3]
    like = torch.ones(2, 3, dtype=torch.float64)
    for made in (torch.rand_like(like), torch.randn_like(like)):
        assert (made.shape, made.dtype) == (like.shape, like.dtype)
    assert torch.normal(0.0, 1.0, (2, 3)).shape == (2, 3)
    assert torch.normal(torch.ones(2), 0.0).tolist() == [1.0, 1.0]
    assert torch.bernoulli(torch.tensor([0.0, 1.0])).tolist() == [0.0, 1.0]


def test_generator_has_a_sequence_of_its_own(torch: Any) -> None:
    def numbers() -> Any:
        return torch.rand(3, generator=torch.Generator().manual_seed(5)).tolist()

    assert numbers() == numbers()
    torch.manual_seed(7)
    assert torch.initial_seed() == 7
    state = torch.get_rng_state()
    first = torch.rand(3).tolist()
    torch.set_rng_state(state)
    assert torch.rand(3).tolist() == first


def test_complex_numbers_are_refused_a_gradient_that_would_be_wrong() -> None:
    numbers = np.array([1 + 2j, 3j])
    assert minigrad.tensor(numbers).tolist() == [1 + 2j, 3j]
    with pytest.raises(errors.RequiresGradError, match="no gradients of complex128"):
        minigrad.tensor(numbers, requires_grad=True)
    with pytest.raises(errors.RequiresGradError, match="two tensors"):
        minigrad.tensor(numbers).requires_grad_()


def test_size_may_be_given_by_its_name(torch: Any) -> None:
    for make in (torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn):
        assert make(size=(2, 1)).shape == (2, 1)
        with raises(torch, errors.ArgumentTypeError, "()"):
            make()
    with raises(torch, errors.ArgumentTypeError, "multiple values for argument 'size'"):
        torch.zeros(2, size=(2,))


def test_shapes_may_be_given_by_their_names(torch: Any) -> None:
    x = torch.arange(6.0)
    assert torch.reshape(x, shape=(2, 3)).shape == x.reshape(shape=[2, 3]).shape
    assert x.expand(size=(2, 6)).shape == (2, 6)
    assert x.view(size=(3, 2)).permute(dims=(1, 0)).shape == (2, 3)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("LongTensor", "int64"),
        ("BoolTensor", "bool"),
        ("FloatTensor", "float32"),
        ("DoubleTensor", "float64"),
    ],
)
def test_old_constructors_take_values_or_lengths(
    torch: Any, name: str, dtype: str
) -> None:
    make, dtype = getattr(torch, name), getattr(torch, dtype)
    made = make([1, 0])
    assert (made.tolist(), made.dtype) == ([1, 0], dtype)
    assert tuple(make(2, 3).shape) == (2, 3)
    assert tuple(make(torch.Size([2, 3])).shape) == (2, 3)
    assert make().tolist() == []
    assert isinstance(made, make)
    assert not isinstance(3, make)
    assert not isinstance(torch.tensor([1], dtype=torch.int8), make)


def test_new_tensor_has_the_dtype_of_the_one_it_is_asked_of(torch: Any) -> None:
    x = torch.tensor([1.5], dtype=torch.float64, requires_grad=True)
    made = x.new([1, 2])
    assert (made.tolist(), made.dtype) == ([1.0, 2.0], torch.float64)
    assert not made.requires_grad
    assert tuple(x.new(2, 3).shape) == (2, 3)
    assert x.new().tolist() == []
    alias = x.new(x.detach())
    assert same_memory(alias, x)


def test_old_constructors_refuse_a_number_and_another_dtype(torch: Any) -> None:
    x = torch.tensor([1.5])
    for make in (torch.FloatTensor, x.new):
        says = "data must be a sequence (got float)"
        with raises(torch, errors.ArgumentTypeError, says):
            make(3.5)
        with raises(torch, errors.ArgumentTypeError, "expected "):
            make(torch.tensor([1]))
