"""A check stays quick: counted in calls, which a busy machine does not change.

A million calls take about half a second on one core.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

from minigrad.course import examine
from tests.answers import rows

HEAVIEST = [
    ("gym.LayerNorm", "LayerNorm", 290_000),
    ("gym.LayerNorm", "NoEps", 250_000),
    ("gym.BroadcastMul", "NoUpstream", 200_000),
    ("gym.TwoOutputs", "AddsTheUpstreams", 220_000),
    ("gym.Conv1d", "FirstExample", 250_000),
    ("gym.Conv1d", "LoopsEverywhere", 560_000),
]
"""Answers whose checks took longest, with the calls they may take."""


@pytest.mark.parametrize(
    ("exercise", "name", "most"),
    [pytest.param(*row, id=f"{row[0]}-{row[1]}") for row in HEAVIEST],
)
def test_check_takes_few_calls(exercise: str, name: str, most: int) -> None:
    answer = rows.named(exercise, name).made_anew()
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
        examine(exercise, answer, seconds=60.0)
    finally:
        sys.setprofile(before)
    return count
