"""What one test changes, the next does not see."""

import os
import random
import warnings
from unittest import mock

import numpy as np
import pytest

import minigrad
from minigrad.engine import observe


def state() -> list[object]:
    """All that tests/sealing.py keeps, in a form that can be compared."""
    return [
        random.random(),
        np.random.rand(),
        minigrad.rand(1).item(),
        minigrad.get_default_dtype(),
        minigrad.is_grad_enabled(),
        observe.has(object),
        os.getcwd(),
        os.environ.get("MINIGRAD_SEALED"),
        np.get_printoptions()["precision"],
        np.geterr()["over"],
    ]


FIRST: list[object] = []


@pytest.mark.parametrize("turn", [1, 2])
def test_second_test_sees_the_state_of_the_first(turn: int) -> None:
    now = state()
    FIRST.extend([] if FIRST else now)
    assert now == FIRST
    minigrad.set_default_dtype(minigrad.float64)
    minigrad.set_grad_enabled(False)
    observe.add(mock.Mock(observe.Observer, observes=observe.EVERYTHING))
    os.chdir("..")
    os.environ["MINIGRAD_SEALED"] = "no"
    np.set_printoptions(precision=2)
    np.seterr(over="ignore")


def test_warning_is_an_error() -> None:
    with pytest.raises(UserWarning, match="careful"):
        warnings.warn("careful", stacklevel=1)
