"""torch.utils.data's names: examples one by one, and in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.creation import tensor
from minigrad.engine.randomness import Generator, randperm
from minigrad.ops.functions import stack

__all__ = ["DataLoader", "Dataset", "Subset", "TensorDataset", "random_split"]


class Dataset:
    """Examples by number; a class of your own has ``__getitem__`` and ``__len__``."""

    def __getitem__(self, index: Any) -> Any:
        raise errors.ForwardMissingError.at(
            type(self).__name__,
            "Subclasses of Dataset should implement __getitem__.",
            "return the example of that number",
        )


class TensorDataset(Dataset):
    """The rows of several tensors, each a tuple: an input and its target, say.

    Raises: ArgumentAssertionError for tensors of different lengths.
    See: torch ``utils.data.TensorDataset``.

    >>> from minigrad.utils.data import TensorDataset
    >>> TensorDataset(minigrad.tensor([5.0, 6.0]), minigrad.tensor([0, 1]))[1]
    (tensor(6.), tensor(1))
    """

    def __init__(self, *tensors: Tensor) -> None:
        lengths = [len(one) for one in tensors]
        if len(set(lengths)) > 1:
            raise errors.ArgumentAssertionError.at(
                "TensorDataset",
                f"Size mismatch between tensors: {lengths} rows",
                "give as many targets as inputs",
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([one[index] for one in self.tensors])

    def __len__(self) -> int:
        return len(self.tensors[0])


class Subset(Dataset):
    """Some examples of a dataset, by their numbers there."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset]:
    """The dataset in parts, at random: so many examples in each, or such shares.

    Raises: ArgumentValueError unless the lengths, or the shares, add up.
    See: torch ``utils.data.random_split``.

    >>> from minigrad.utils.data import random_split
    >>> [len(part) for part in random_split(range(10), [0.75, 0.25])]
    [8, 2]
    """
    number = len(dataset)
    whole = [int(length) for length in lengths]
    if abs(sum(lengths) - 1) < 1e-9 and number != 1:
        whole = [int(number * share) for share in lengths]
        for i in range(number - sum(whole)):
            whole[i % len(whole)] += 1
    if sum(whole) != number:
        raise errors.ArgumentValueError.at(
            "random_split",
            "Sum of input lengths does not equal the length of the input dataset! "
            f"{list(lengths)} of {number}",
            "give lengths that add up to it, or shares that add up to 1",
        )
    order = randperm(number, generator=generator).tolist()
    ends = np.cumsum(whole).tolist()
    pairs = zip(ends, whole, strict=True)
    return [Subset(dataset, order[end - length : end]) for end, length in pairs]


class DataLoader:
    """A dataset in batches, in order or, with ``shuffle``, in a new order each time.

    The order follows from ``minigrad.manual_seed``, or from a ``generator`` of its own.
    ``drop_last`` leaves out a last batch that is smaller. With ``batch_size=None`` the
    examples come one by one. ``collate_fn`` makes a batch of a list of examples.
    Raises: ArgumentValueError; ArgumentTypeError for what is no dataset.
    See: torch ``utils.data.DataLoader``; there are no other processes here.

    >>> from minigrad.utils.data import DataLoader
    >>> list(DataLoader([1.0, 2.0, 3.0], batch_size=2, drop_last=True))
    [tensor([1., 2.], dtype=minigrad.float64)]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool = False,
        *,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        generator: Generator | None = None,
    ) -> None:
        check_loader(dataset, batch_size, shuffle, drop_last)
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.collate_fn = collate_fn
        self.generator = generator

    def __len__(self) -> int:
        number = len(self.dataset)
        if self.batch_size is None:
            return number
        whole, rest = divmod(number, self.batch_size)
        return whole if self.drop_last or not rest else whole + 1

    def __iter__(self) -> Iterator[Any]:
        number = len(self.dataset)
        order = list(range(number))
        if self.shuffle:
            order = randperm(number, generator=self.generator).tolist()
        if self.batch_size is None:
            for index in order:
                yield converted(self.dataset[index])
            return
        for start in range(0, len(self) * self.batch_size, self.batch_size):
            yield self._batch(order[start : start + self.batch_size])

    def _batch(self, order: list[int]) -> Any:
        if self.collate_fn is not None:
            return self.collate_fn([self.dataset[index] for index in order])
        if type(self.dataset) is TensorDataset:  # all rows at once
            return list(self.dataset[tensor(order)])
        return collated([self.dataset[index] for index in order])


def check_loader(
    dataset: Any, batch_size: int | None, shuffle: bool, drop_last: bool
) -> None:
    """Refuse what makes no batches.

    Raises: ArgumentTypeError; ArgumentValueError.
    """
    if not (hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")):
        raise errors.ArgumentTypeError.at(
            "DataLoader",
            f"{type(dataset).__name__} is no dataset: it has to have __getitem__ "
            "and __len__",
            "write a class with both, or give a list",
        )
    what = ""
    is_number = isinstance(batch_size, int) and not isinstance(batch_size, bool)
    if batch_size is None and drop_last:
        what = (
            "batch_size=None option disables auto-batching and is mutually exclusive "
            "with drop_last"
        )
    elif batch_size is not None and not (is_number and batch_size > 0):
        what = (
            "batch_size should be a positive integer value, but got "
            f"batch_size={batch_size}"
        )
    elif shuffle and not len(dataset):
        what = "num_samples should be a positive integer value, but got num_samples=0"
    if what:
        raise errors.ArgumentValueError.at(
            "DataLoader", what, "give a batch size from 1 on"
        )


def converted(example: Any) -> Any:
    """A single example: arrays as tensors, tuples as lists."""
    if isinstance(example, np.ndarray):
        return Tensor(example)
    if isinstance(example, dict):
        return {key: converted(value) for key, value in example.items()}
    if isinstance(example, (tuple, list)):
        return [converted(value) for value in example]
    return example


def collated(examples: list[Any]) -> Any:
    """A batch of examples that are alike: tensors stacked, numbers as a tensor.

    Tuples and lists become a list of batches, dicts a dict; texts stay a list.
    Raises: ArgumentTypeError for anything else; OperandError for different lengths.
    """
    first = examples[0]
    if isinstance(first, Tensor):
        tensors: Any = examples
        return stack(tensors)
    if isinstance(first, np.ndarray):
        return Tensor(np.stack(examples))
    if isinstance(first, (float, np.floating)):
        return tensor(np.array(examples, np.float64))
    if isinstance(first, (int, np.integer, np.bool_)):
        return tensor(examples)
    if isinstance(first, (str, bytes)):
        return examples
    if isinstance(first, dict):
        return {key: collated([one[key] for one in examples]) for key in first}
    if isinstance(first, (tuple, list)):
        if len({len(one) for one in examples}) > 1:
            raise errors.OperandError.at(
                "DataLoader",
                "each element in list of batch should be of equal size",
                "give a collate_fn that knows what to do with them",
            )
        return [collated(list(same)) for same in zip(*examples, strict=True)]
    raise errors.ArgumentTypeError.at(
        "DataLoader",
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts "
        f"or lists; found {type(first)}",
        "give a collate_fn that knows what to do with them",
    )
