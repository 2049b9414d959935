"""The harness: turns, units and ratios; no time is compared with a limit."""

import ast
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import bench
from minigrad.bench import (
    DifferentResultsError,
    Measured,
    NotComparedError,
    Ratio,
    agree,
    compared,
    interleaved,
)


def test_programs_take_turns() -> None:
    order: list[str] = []
    programs = {name: lambda name=name: order.append(name) or 1.0 for name in "ab"}
    found = interleaved(programs, seconds=0.0, rounds=3)
    # Twice to warm up and to compare, once to see how long it takes, three rounds.
    assert order == ["a", "b"] * 6
    assert [len(measured.rounds) for measured in found.values()] == [3, 3]


def test_time_is_that_of_one_unit() -> None:
    def busy() -> None:
        end = time.process_time() + 0.002
        while time.process_time() < end:
            pass

    found = interleaved({"busy": busy}, units=10, seconds=0.01, rounds=3)
    assert 0.0002 <= found["busy"].median < 0.002


def test_ratio_is_taken_round_by_round_with_its_extremes() -> None:
    turns = object()
    mine = Measured((1.0, 20.0, 3.0), turns)
    assert mine.ratio_to(Measured((2.0, 40.0, 6.0), turns)) == (0.5, 0.5, 0.5)
    ratio = mine.ratio_to(Measured((2.0, 10.0, 3.0), turns))
    assert ratio == Ratio(median=1.0, min=0.5, max=2.0)
    assert str(ratio) == "1.00 (0.50-2.00)"


def test_what_did_not_take_turns_has_no_ratio() -> None:
    first, second = [interleaved({"a": lambda: 1.0}, seconds=0.0)["a"] for _ in "ab"]
    assert first.ratio_to(first).median == 1.0
    with pytest.raises(NotComparedError, match="nobody compared their results"):
        first.ratio_to(second)


def test_ratios_are_made_where_results_were_compared() -> None:
    """A mean of ratios is one, too; nobody else makes a ratio of his own."""
    makers = set()
    for path in Path(bench.__file__).parent.glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text("utf8"))):
            if isinstance(function, ast.FunctionDef):
                calls = [one for one in ast.walk(function) if isinstance(one, ast.Call)]
                if "Ratio" in [ast.unparse(call.func) for call in calls]:
                    makers.add((path.stem, function.name))
    assert makers == {("harness", "ratio_to"), ("layers", "mean_row")}


@pytest.mark.parametrize(
    ("theirs", "agrees"),
    [
        (np.ones(3), True),
        (np.ones(3) * 1.00001, True),
        (minigrad.ones(3, requires_grad=True), True),
        ([np.ones(3)], True),
        (np.ones(3) * 1.01, False),
        (np.ones((3, 1)), False),
        ([np.ones(3), 1.0], False),
        (np.full(3, np.nan), False),
    ],
)
def test_no_row_of_sides_that_differ_has_a_ratio(theirs: Any, agrees: bool) -> None:
    programs = {"ours": lambda: np.ones(3), "theirs": lambda: theirs}
    row = compared("x", *programs.values(), seconds=0.0)
    assert (row.ratio is not None) is agrees
    assert (row.note == "different results") is not agrees
    if not agrees:
        with pytest.raises(DifferentResultsError, match="ours and theirs: computed"):
            interleaved(programs, seconds=0.0)


def test_last_places_are_those_of_the_largest_element() -> None:
    assert agree(np.array([0.0, 100.0]), np.array([0.0005, 100.0]))
    assert not agree(np.array([0.0, 100.0]), np.array([0.005, 100.0]))
    assert not agree(np.array([0.0, 1.0]), np.array([0.0005, 1.0]))
    assert agree(np.array([0.0, np.inf]), np.array([0.0, np.inf]))
    assert not agree(np.array([0.0, np.inf]), np.array([0.0005, np.inf]))


def test_difference_in_the_second_run_is_seen() -> None:
    numbers = iter([1.0, 2.0])
    with pytest.raises(DifferentResultsError, match="different results"):
        interleaved({"a": lambda: 1.0, "b": lambda: next(numbers)})


@pytest.mark.parametrize("silent", ["both", "one"])
def test_sides_that_return_nothing_are_not_timed(silent: str) -> None:
    ours = (lambda: None) if silent == "both" else (lambda: 1.0)
    with pytest.raises(NotComparedError, match="nothing that could be compared"):
        interleaved({"ours": ours, "theirs": lambda: None})


def test_clock_that_seldom_ticks_does_not_make_it_run_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Windows' clock of a process ticks every 16 ms; in the judge's box, every 10."""
    exact, runs = time.process_time, [0]
    monkeypatch.setattr(time, "process_time", lambda: exact() // 0.016 * 0.016)

    def run() -> float:
        runs[0] += 1
        return float(sum(range(300)))

    begun = exact()
    found = interleaved({"one": run, "other": run}, seconds=0.3, rounds=3)
    assert exact() - begun < 2
    assert runs[0] > 100
    assert found["one"].median > 0
