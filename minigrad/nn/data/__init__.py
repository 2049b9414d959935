"""Data to learn from that come with minigrad: no network is needed.

SOURCES.txt in this folder says where they are from, and under which licence.
"""

from __future__ import annotations

from importlib import resources

import numpy as np

from minigrad.engine.core.tensor import Tensor
from minigrad.utils.data import DataLoader, Dataset, TensorDataset

__all__ = ["DataLoader", "Dataset", "TensorDataset", "digits", "names"]


def digits() -> tuple[Tensor, Tensor]:
    """1797 handwritten digits, with numbers from 0 to 1, and which digit each is.

    Shape: (1797, 1, 8, 8) and (1797,).

    >>> images, labels = minigrad.nn.data.digits()
    >>> images.shape, labels[:5]
    (minigrad.Size([1797, 1, 8, 8]), tensor([0, 1, 2, 3, 4]))
    """
    with (resources.files(__name__) / "digits.npz").open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        images, labels = stored["images"], stored["labels"]
    pixels = images[:, None].astype(np.float32) / 16
    return Tensor(pixels), Tensor(labels.astype(np.int64))


def names() -> list[str]:
    """5163 first names in small letters, in the order of the alphabet.

    >>> minigrad.nn.data.names()[:3]
    ['aaron', 'abbey', 'abbie']
    """
    text = (resources.files(__name__) / "names.txt").read_text(encoding="ascii")
    return text.split()
