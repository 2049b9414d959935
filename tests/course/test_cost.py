"""A check stays quick: counted in calls, which a busy machine does not change.

A million calls take about half a second on one core.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

from minigrad.course import examine
from tests.course.answers import kit

HEAVIEST = [
    ("gym.LayerNorm", "answers", "LayerNorm", 230_000),
    ("gym.LayerNorm", "strangers", "NoEps", 250_000),
    ("gym.BroadcastMul", "answers", "NoUpstream", 190_000),
    ("gym.TwoOutputs", "answers", "AddsTheUpstreams", 190_000),
    ("gym.Conv1d", "strangers", "FirstExample", 250_000),
    ("gym.Conv1d", "answers", "LoopsEverywhere", 560_000),
]
"""Answers whose checks took longest, with the calls they may take."""


@pytest.mark.parametrize(
    ("exercise", "folder", "name", "most"),
    [pytest.param(*row, id=f"{row[0]}-{row[2]}") for row in HEAVIEST],
)
def test_check_takes_few_calls(
    exercise: str, folder: str, name: str, most: int
) -> None:
    answers = kit.answers_to(exercise, folder)
    answer = next(a.function for a in answers if a.function.__name__ == name)
    examine(exercise, answer)
    assert calls_of_a_check(exercise, answer) <= most


def calls_of_a_check(exercise: str, answer: Any) -> int:
    """How many functions are called, those written in C included."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        examine(exercise, answer, seconds=kit.PATIENCE)
    finally:
        sys.setprofile(before)
    return count
