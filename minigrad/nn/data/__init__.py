"""Data to learn from that come with minigrad: no network is needed.

SOURCES.txt in this folder says where they are from, and under which licence.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib import resources
from typing import Literal

import numpy as np

from minigrad.engine.core.tensor import Array, Tensor
from minigrad.utils.data import DataLoader, Dataset, TensorDataset

__all__ = [
    "DataLoader",
    "Dataset",
    "TensorDataset",
    "digits",
    "letters",
    "names",
    "split",
]


def digits() -> tuple[Tensor, Tensor]:
    """1797 handwritten digits, with numbers from 0 to 1, and which digit each is.

    Shape: (1797, 1, 8, 8) and (1797,).

    >>> images, labels = minigrad.nn.data.digits()
    >>> images.shape, labels[:5]
    (minigrad.Size([1797, 1, 8, 8]), tensor([0, 1, 2, 3, 4]))
    """
    images, labels = stored_digits()
    pixels = images[:, None].astype(np.float32) / 16
    return Tensor(pixels), Tensor(labels.astype(np.int64))


def names() -> list[str]:
    """5163 first names in small letters, in the order of the alphabet.

    >>> minigrad.nn.data.names()[:3]
    ['aaron', 'abbey', 'abbie']
    """
    return stored_names().split()


def letters(names: Iterable[str]) -> tuple[Tensor, Tensor]:
    """Three letters of a name as numbers, and the one that follows: from all names.

    a is 1 and z is 26; 0 is before the first letter, and after the last one.
    Shape: (n, 3) and (n,).

    >>> x, y = minigrad.nn.data.letters(["ab"])
    >>> x.tolist(), y.tolist()
    ([[0, 0, 0], [0, 0, 1], [0, 1, 2]], [1, 2, 0])
    """
    rows = [[0, 0, 0, *[ord(letter) - 96 for letter in name], 0] for name in names]
    four = np.array([row[i : i + 4] for row in rows for i in range(len(row) - 3)])
    return Tensor(four[:, :3]), Tensor(four[:, 3])


def split(
    track: Literal["digits", "names"], random: np.random.Generator
) -> list[tuple[Tensor, Tensor]]:
    """Rows and labels to hold out, of 360 images or 300 names, and those of the rest.

    >>> (unseen, _), (x, y) = minigrad.nn.data.split("digits", np.random.default_rng(0))
    >>> tuple(unseen.shape), tuple(x.shape)
    ((360, 64), (1437, 64))
    """
    if track == "digits":
        images, labels = digits()
        pixels, order = images.reshape(-1, 64), random.permutation(len(labels))
        return [(pixels[rows], labels[rows]) for rows in np.split(order, [360])]
    return [letters(some) for some in np.split(random.permutation(names()), [300])]


@functools.cache
def stored_digits() -> tuple[Array, Array]:
    """The file, read once: a process without files goes on with what it has read."""
    with (resources.files(__name__) / "digits.npz").open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        return stored["images"], stored["labels"]


@functools.cache
def stored_names() -> str:
    """The same for names."""
    return (resources.files(__name__) / "names.txt").read_text(encoding="ascii")
