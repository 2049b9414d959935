"""Answers to 12.3."""

import os
import shutil
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


class InAClass:
    def __init__(self, folder):
        self.folder = Path(folder) / "saved"
        self.folder.mkdir()
        self.hooks = hooks(self.pack, self.unpack)

    def pack(self, tensor):
        path = self.folder / f"{len(list(self.folder.iterdir()))}.npy"
        np.save(path, tensor.detach().numpy())
        return path

    def unpack(self, path):
        return mg.tensor(np.load(path))

    def __enter__(self):
        self.hooks.__enter__()

    def __exit__(self, *raised):
        self.hooks.__exit__(*raised)
        shutil.rmtree(self.folder)


class File:
    def __init__(self, path):
        self.path = path

    def __del__(self):
        os.remove(self.path)


def self_deleting(folder):
    numbers = count()

    def pack(tensor):
        path = os.path.join(folder, f"{next(numbers)}.npy")
        np.save(path, tensor.detach().numpy())
        return File(path)

    return hooks(pack, lambda file: mg.tensor(np.load(file.path)))


@contextmanager
def without_finally(folder):
    paths = []

    def pack(tensor):
        paths.append(os.path.join(folder, f"{len(paths)}.npy"))
        np.save(paths[-1], tensor.detach().numpy())
        return paths[-1]

    with hooks(pack, lambda path: mg.tensor(np.load(path))):
        yield
    for path in paths:
        os.remove(path)


@contextmanager
def outside_the_block(folder):
    def pack(tensor):
        raise AssertionError

    with hooks(pack, pack):
        pass
    yield


def no_manager(folder):
    return None
