"""Wrong answers that the exercises and the judge were not built for."""

from __future__ import annotations

from minigrad.course import catalogue
from tests.course.answers import kit


def test_answers_that_nobody_had_in_mind_are_refused_and_mostly_named() -> None:
    found = [
        outcome
        for name in catalogue.gym_names()
        for outcome in kit.outcomes(name, kit.answers_to(name, "strangers"), range(1))
    ]
    assert len(found) > 300
    assert [o.answer.label for o in found if o.accepted] == []
    assert sum(o.present for o in found) >= 0.95 * len(found)
    misnamed = [o.answer.label for o in found if o.mistakes and not o.present]
    assert len(misnamed) <= 0.01 * len(found), misnamed
