"""The known answers to every second exercise of the gym."""

from __future__ import annotations

import pytest

from minigrad.course import catalogue
from tests.course.answers import kit


@pytest.mark.parametrize("name", catalogue.gym_names()[::2])
def test_answers_are_judged_and_named(name: str) -> None:
    kit.check_known_answers(name, range(3))
