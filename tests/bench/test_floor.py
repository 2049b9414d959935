"""What a row that misses its goal says of the arithmetic and the calls around it."""

import re

import numpy as np
import pytest

import minigrad
from minigrad.bench.floor import (
    bounded,
    chain_on_arrays,
    custom_on_arrays,
    double_backward_on_arrays,
    python_calls,
)
from minigrad.bench.harness import DifferentResultsError, Ratio, agree
from minigrad.bench.programs import builtin_chain, custom_chain, double_backward
from minigrad.bench.rows import Row


def row_with(median: float) -> Row:
    return Row("a chain", ratio=Ratio(*[median] * 5), limit=0.5)


@pytest.mark.parametrize("backward", [True, False])
def test_chain_by_hand_computes_what_the_chain_of_operations_does(
    backward: bool,
) -> None:
    by_hand = chain_on_arrays(5, 12, backward)()
    assert agree(by_hand, builtin_chain(minigrad, 5, 12, backward)())
    assert not agree(by_hand, builtin_chain(minigrad, 5, 4, backward)())


@pytest.mark.parametrize("backward", [True, False])
@pytest.mark.parametrize("style", ["combined", "separate"])
def test_custom_chain_by_hand_computes_what_the_nodes_do(
    style: str, backward: bool
) -> None:
    by_hand = custom_on_arrays(5, 12, backward)()
    assert agree(by_hand, custom_chain(minigrad, style, 5, 12, backward)())
    assert not agree(by_hand, custom_chain(minigrad, style, 5, 40, backward)())


@pytest.mark.parametrize("custom", [True, False])
def test_double_backward_by_hand_computes_what_the_nodes_do(custom: bool) -> None:
    by_hand = double_backward_on_arrays(3)()
    assert agree(by_hand, double_backward(minigrad, 3, custom)())
    assert not agree(by_hand, double_backward(minigrad, 2, custom)())


def test_row_that_misses_its_goal_says_how_many_calls_it_has_room_for() -> None:
    chain = builtin_chain(minigrad, 5, 12, True)
    by_hand = chain_on_arrays(5, 12, True)
    note = bounded(row_with(0.6), chain, by_hand, 12, seconds=0.01).note
    assert re.fullmatch(
        r"by hand in NumPy: .*; around it \d+ Python functions run, .* each; "
        r"the goal has room for \d+",
        note,
    )
    assert bounded(row_with(0.5), chain, by_hand, 12, seconds=0.01).note == ""


def test_row_is_not_bounded_by_other_arithmetic() -> None:
    chain = builtin_chain(minigrad, 5, 12, False)
    with pytest.raises(DifferentResultsError):
        bounded(row_with(0.6), chain, lambda: np.zeros(5), 12, seconds=0.01)


def test_python_calls_counts_functions_written_in_python() -> None:
    def outer() -> int:
        return inner() + inner()

    def inner() -> int:
        return len([])

    assert python_calls(outer) == 3
    assert python_calls(lambda: None) == 1
