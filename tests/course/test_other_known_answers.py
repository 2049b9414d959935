"""The known answers to the other exercises of the gym, for another process."""

from __future__ import annotations

import pytest

from minigrad.course import catalogue
from tests.course.answers import kit


@pytest.mark.parametrize("name", catalogue.gym_names()[1::2])
def test_answers_are_judged_and_named_here_as_well(name: str) -> None:
    kit.check_known_answers(name, range(3))
