"""Take one probe away, and a known mistake is no longer seen, or no longer named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from minigrad.course import catalogue, checking, examine
from minigrad.course.facts import Case, Facts, Trial
from tests.course.answers import kit

Weaken = Callable[[Facts], Facts]


def without(*names: str) -> Weaken:
    """Leave out the trials that are called so."""

    def weaken(facts: Facts) -> Facts:
        kept = [t for t in facts.trials if not t.name.startswith(names)]
        return replace(facts, trials=tuple(kept))

    return weaken


def blind(**fields: Any) -> Weaken:
    """Every trial says this instead of what was seen."""

    def weaken(facts: Facts) -> Facts:
        trials = [replace(trial, **fields) for trial in facts.trials]
        return replace(facts, trials=tuple(trials))

    return weaken


def passes(change: Callable[[Any], Any]) -> Weaken:
    """Change what was seen of every backward pass."""

    def of(trial: Trial) -> Trial:
        return replace(trial, passes=tuple(map(change, trial.passes)))

    def weaken(facts: Facts) -> Facts:
        return replace(facts, trials=tuple(map(of, facts.trials)))

    return weaken


def no_crash(facts: Facts) -> Facts:
    trials = [replace(trial, crash=None) for trial in facts.trials]
    return passes(lambda run: replace(run, crash=None))(
        replace(facts, trials=tuple(trials))
    )


def as_packed(facts: Facts) -> Facts:
    """Nobody looked at a saved tensor before forward had ended."""
    trials = [
        replace(t, saved=tuple(replace(s, at_call=s.packed) for s in t.saved))
        for t in facts.trials
    ]
    return replace(facts, trials=tuple(trials))


def unaware_of_backward(facts: Facts) -> Facts:
    """What backward changes is not seen, neither at once nor by a second pass."""
    unseen = blind(
        backward_changed_saved=False,
        backward_changed_input=False,
        backward_changed_output=False,
    )
    return without("again", "first", "second")(unseen(facts))


def upstream_of_ones(case: Case) -> Case:
    """The case with an upstream gradient of nothing but ones."""
    g = tuple(None if a is None else np.ones_like(a) for a in case.upstreams)
    return replace(case, upstream=g)


PROBES = [
    ("P1", "gym.MulConstant", "A09", no_crash),
    ("P5", "gym.BroadcastAdd", "R01", passes(lambda run: replace(run, returned=()))),
    (
        "P5",
        "gym.MulConstant",
        "A04",
        passes(lambda run: replace(run, returned_kind="")),
    ),
    ("P8", "gym.BroadcastMul", "A06", without("only", "without")),
    ("P8", "gym.TwoOutputs", "N07", without("output")),
    ("P9", "gym.MulConstant", "S10", without("again")),
    ("P10", "gym.MulConstant", "S04", without("first", "second")),
    ("P11", "gym.Exp", "M01", passes(lambda run: replace(run, upstream_changed=False))),
    ("P13", "gym.Square", "S03", as_packed),
    ("P14", "gym.Exp", "S07", blind(attributes=())),
    ("P15", "gym.Square", "M05", unaware_of_backward),
    ("P15", "gym.StraightThroughRound", "M02", blind(changed=())),
    ("P17", "gym.Square", "D03", lambda facts: replace(facts, second=None)),
    ("P17", "gym.JvpMul", "D04", lambda facts: replace(facts, tangents=())),
    ("P18", "gym.TwoOutputs", "N03", blind(materialize_grads=False)),
    ("P18", "gym.SortWithIndices", "N05", blind(marked=(1,))),
    (
        "P19",
        "gym.MulConstant",
        "A08",
        lambda facts: replace(facts, declared=replace(facts.declared, not_static=())),
    ),
]


def maker_of(exercise: str, mistake: str) -> Any:
    """The first known answer that makes this mistake."""
    answers = kit.answers_to(exercise, "second_set")
    return next(a.function for a in answers if a.mistake == mistake)


@pytest.mark.parametrize(
    ("exercise", "mistake", "weaken"),
    [pytest.param(*row[1:], id=f"{row[0]}-{row[2]}") for row in PROBES],
)
def test_mistake_is_not_named_without_the_probe_that_decides_it(
    exercise: str, mistake: str, weaken: Weaken, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = maker_of(exercise, mistake)
    assert mistake in examine(exercise, answer).mistakes

    def observe(*args: Any) -> list[Facts]:
        return [weaken(facts) for facts in whole(*args)]

    whole = checking.observe
    monkeypatch.setattr(checking, "observe", observe)
    assert mistake not in examine(exercise, answer).mistakes


def test_upstream_of_ones_alone_would_accept_what_ignores_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = maker_of("gym.Power", "C01")
    assert examine("gym.Power", answer).mistakes[:1] == ("C01",)
    cases = catalogue.Exercise.cases
    monkeypatch.setattr(
        catalogue.Exercise,
        "cases",
        lambda self, random: [upstream_of_ones(c) for c in cases(self, random)],
    )
    monkeypatch.setattr(
        checking,
        "observe",
        lambda *args, whole=checking.observe: [
            without("double", "negative", "zero", "first", "second")(facts)
            for facts in whole(*args)
        ],
    )
    verdict = examine("gym.Power", answer)
    assert verdict.state == "solved", verdict.message
