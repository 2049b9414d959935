"""Datasets, batches, and the data in the package; tests/parity runs most with torch."""

import importlib
from importlib import resources
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from minigrad.nn.data import digits, names
from tests.engine.support import raises


def data_of(torch: Any) -> Any:
    """``utils.data`` of the module under test."""
    return importlib.import_module(f"{torch.__name__}.utils.data")


def five(torch: Any) -> Any:
    """Five examples, each with its number."""
    rows = torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0]])
    return data_of(torch).TensorDataset(rows, torch.tensor([0, 1, 2, 3, 4]))


def test_examples_by_number(torch: Any) -> None:
    dataset = five(torch)
    assert len(dataset) == 5
    row, number = dataset[1]
    assert (row.tolist(), number.item()) == ([2.0, 3.0], 1)
    with raises(torch, errors.ArgumentAssertionError, "Size mismatch between tensors"):
        data_of(torch).TensorDataset(torch.ones(3), torch.ones(2))


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ({"batch_size": 2}, [[0, 1], [2, 3], [4]]),
        ({"batch_size": 2, "drop_last": True}, [[0, 1], [2, 3]]),
        ({"batch_size": 9}, [[0, 1, 2, 3, 4]]),
        ({"batch_size": 9, "drop_last": True}, []),
        ({}, [[0], [1], [2], [3], [4]]),
        ({"batch_size": None}, [0, 1, 2, 3, 4]),
    ],
)
def test_batches_in_order(torch: Any, options: Any, numbers: Any) -> None:
    loader = data_of(torch).DataLoader(five(torch), **options)
    for _ in range(2):
        batches = list(loader)
        assert [batch[1].tolist() for batch in batches] == numbers
    assert len(loader) == len(batches)
    if batches:
        assert type(batches[0]) is list


def test_order_follows_the_seed(torch: Any) -> None:
    rows = data_of(torch).TensorDataset(torch.arange(50))

    def order(loader: Any) -> list[int]:
        return [number for (batch,) in loader for number in batch.tolist()]

    found = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        loader = data_of(torch).DataLoader(rows, 8, shuffle=True)
        found.append((order(loader), order(loader)))
    assert found[0] == found[1] != found[2]
    assert found[0][0] != found[0][1]
    assert sorted(found[0][0]) == list(range(50))
    own = [torch.Generator().manual_seed(7) for _ in range(2)]
    loaders = [
        data_of(torch).DataLoader(rows, 8, shuffle=True, generator=one) for one in own
    ]
    assert order(loaders[0]) == order(loaders[1])


def test_what_examples_are_made_of(torch: Any) -> None:
    class Own(data_of(torch).Dataset):
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> Any:
            pair = torch.full((2,), float(index)), index
            return {"t": pair, "f": 0.5, "s": "ab"[index], "b": index == 0}

    (batch,) = data_of(torch).DataLoader(Own(), 2)
    assert batch["t"][0].tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert batch["t"][1].dtype == torch.int64
    assert (batch["f"].dtype, batch["f"].tolist()) == (torch.float64, [0.5, 0.5])
    assert batch["s"] == ["a", "b"]
    assert batch["b"].dtype == torch.bool
    (arrays,) = data_of(torch).DataLoader([np.ones(3)] * 2, 2)
    assert (arrays.shape, arrays.dtype) == ((2, 3), torch.float64)
    (lengths,) = data_of(torch).DataLoader([[1], [2, 3]], 2, collate_fn=len)
    assert lengths == 2


def test_loader_refuses_in_torchs_words(torch: Any) -> None:
    load = data_of(torch).DataLoader
    for size in (0, -1, 1.5, True):
        says = (
            f"batch_size should be a positive integer value, but got batch_size={size}"
        )
        with raises(torch, errors.ArgumentValueError, says):
            load(five(torch), size)
    with raises(torch, errors.ArgumentValueError, "mutually exclusive with drop_last"):
        load(five(torch), None, drop_last=True)
    with raises(torch, errors.ArgumentValueError, "but got num_samples=0"):
        list(load([], shuffle=True))
    assert list(load([])) == []
    with raises(torch, errors.ForwardMissingError, "should implement __getitem__."):
        data_of(torch).Dataset()[0]
    with raises(
        torch, errors.ArgumentTypeError, "batch must contain tensors, numpy ar"
    ):
        list(load([object()]))
    with raises(torch, errors.OperandError, "each element in list of batch should be"):
        list(load([[1], [2, 3]], 2))


def test_loader_refuses_what_is_no_dataset() -> None:
    with pytest.raises(errors.ArgumentTypeError, match="generator is no dataset"):
        minigrad.utils.data.DataLoader(i for i in range(3))


@pytest.mark.parametrize(
    ("lengths", "parts"), [([3, 2], [3, 2]), ([0.5, 0.5], [3, 2]), ([0.2, 0.8], [1, 4])]
)
def test_random_parts(torch: Any, lengths: Any, parts: list[int]) -> None:
    split = data_of(torch).random_split
    generator = torch.Generator().manual_seed(0)
    found = split(five(torch), lengths, generator)
    assert [len(part) for part in found] == parts
    numbers = [int(part[i][1]) for part in found for i in range(len(part))]
    assert sorted(numbers) == [0, 1, 2, 3, 4]
    with raises(
        torch, errors.ArgumentValueError, "Sum of input lengths does not equal"
    ):
        split(five(torch), [3, 3])


def test_digits_are_what_they_are_called() -> None:
    images, labels = digits()
    assert (images.shape, images.dtype) == ((1797, 1, 8, 8), minigrad.float32)
    assert (float(images.min()), float(images.max())) == (0.0, 1.0)
    assert np.bincount(labels.numpy()).tolist() == [
        *[178, 182, 177, 183, 181],
        *[182, 181, 179, 174, 180],
    ]
    first = (images[0, 0, 0] * 16).tolist()
    assert first == [0.0, 0.0, 5.0, 13.0, 9.0, 1.0, 0.0, 0.0]


def test_nearest_mean_tells_most_digits_apart() -> None:
    images, labels = digits()
    x, y = images.flatten(1).numpy(), labels.numpy()
    means = np.stack([x[:1000][y[:1000] == digit].mean(0) for digit in range(10)])
    found = ((x[1000:, None] - means) ** 2).sum(2).argmin(1)
    assert np.mean(found == y[1000:]) > 0.8
    assert np.mean(found == np.roll(y[1000:], 1)) < 0.2


def test_names_are_words_of_small_letters() -> None:
    found = names()
    assert len(found) == len(set(found)) == 5163
    assert set("".join(found)) == set("abcdefghijklmnopqrstuvwxyz")
    assert {"mary", "james", "linda", "robert"} <= set(found)
    assert (min(map(len, found)), max(map(len, found))) == (2, 11)


def test_data_are_small_and_name_their_sources() -> None:
    folder = resources.files("minigrad.nn.data")
    sources = (folder / "SOURCES.txt").read_text(encoding="utf-8")
    for file in ("digits.npz", "names.txt"):
        assert len((folder / file).read_bytes()) < 200_000
        assert f"{file}: " in sources
