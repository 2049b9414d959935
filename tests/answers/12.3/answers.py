"""Answers to 12.3."""

import tempfile
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import numpy as np

import minigrad as mg

hooks = mg.autograd.graph.saved_tensors_hooks
alive = []


@contextmanager
def with_a_folder_of_its_own(folder):
    numbers = count()
    with tempfile.TemporaryDirectory(dir=folder) as inner:

        def pack(tensor):
            path = Path(inner) / f"{next(numbers)}.npy"
            np.save(path, tensor.detach().numpy())
            return path

        with hooks(pack, lambda path: mg.tensor(np.load(path))):
            yield
