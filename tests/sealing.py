"""A pytest plugin: every test, and every example in a docstring, starts from the same
global state and leaves none behind.

A plugin and not a conftest, because a conftest in tests/ does not reach minigrad/.
"""

import contextlib
import gc
import os
import random
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import minigrad
from minigrad.engine import inference, observe


def pytest_collection_finish() -> None:
    """Keep the thousands of tests themselves out of what a collection looks through."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def sealed_state() -> Iterator[None]:
    """Seed the generators; put back what a test changes for the whole process."""
    seed()
    here = contextlib.chdir(os.getcwd())
    with here, mock.patch.dict(os.environ), np.printoptions(), np.errstate():
        yield
    put_back()


def seed() -> None:
    """The same random numbers for all that comes."""
    random.seed(0)
    np.random.seed(0)
    minigrad.manual_seed(0)


def put_back() -> None:
    """Modes as they are at first, and nothing that listens."""
    minigrad.set_grad_enabled(True)
    minigrad.set_default_dtype(minigrad.float32)
    minigrad.set_printoptions(profile="default")
    minigrad.autograd.set_detect_anomaly(False)
    minigrad.teaching(False)
    observe.clear()
    inference.open_blocks = 0  # a block that a test entered, and never left, is counted


@pytest.fixture(autouse=True)
def names_of_examples(doctest_namespace: dict[str, Any]) -> None:
    """What the examples in docstrings may use without importing it."""
    doctest_namespace.update(minigrad=minigrad, np=np)
