"""The gym: right answers pass, wrong ones are refused by name, near misses as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import Function
from minigrad.course import catalogue, examine, gym
from minigrad.mistakes import TABLE
from tests.course.answers import kit

GYM = catalogue.gym_names()


def model_of(name: str) -> Any:
    """The first right answer."""
    return next(a.function for a in kit.answers_to(name) if a.mistake == kit.RIGHT)


def near_misses(name: str) -> Iterator[tuple[str, Any]]:
    """The right answer with one gradient, or one element of it, larger by 0.1 %."""
    model = model_of(name)
    arguments = catalogue.load(name).contract.arguments
    (case, *_) = catalogue.load(name).cases(np.random.default_rng(0))
    for place in case.differentiable:
        for whole in (True, False):
            yield f"{arguments[place]}, {whole}", off_by_a_little(model, place, whole)


def off_by_a_little(model: Any, place: int, whole: bool) -> Any:
    def backward(ctx: Any, *gs: Any) -> Any:
        found = model.backward(ctx, *gs)
        values = list(found) if isinstance(found, tuple) else [found]
        if values[place] is not None and values[place].numel():
            values[place] = larger(values[place], whole)
        return tuple(values)

    backward.__dict__.update(vars(model.backward))
    return type(model.__name__, (model,), {"backward": staticmethod(backward)})


def larger(gradient: Any, whole: bool) -> Any:
    if whole:
        return gradient * 1.001
    factors = np.ones(tuple(gradient.shape), np.float64)
    factors.flat[-1] = 1.001
    return gradient * mg.tensor(factors, dtype=gradient.dtype)


@pytest.mark.parametrize("name", GYM)
def test_gradient_off_by_a_thousandth_is_refused(name: str) -> None:
    assert examine(name, model_of(name)).state == "solved"
    missed = list(near_misses(name))
    assert missed
    accepted = [
        label for label, answer in missed if examine(name, answer).state != "wrong"
    ]
    assert accepted == []


class Nonsense(Function):
    """Wrong in a way that no table knows."""

    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ((x * 1.7).sin() + 0.3), None


def test_unknown_mistake_gets_evidence_and_no_name() -> None:
    verdict = examine("gym.Power", Nonsense)
    assert (verdict.state, verdict.mistakes) == ("wrong", ())
    (seen, *_) = verdict.evidence
    assert seen.of == "x"
    assert seen.got != pytest.approx(seen.expected)
    assert "it should be" in verdict.message


def test_gym_lists_every_contract_with_what_was_reached() -> None:
    listed = gym()
    assert [one.exercise.id for one in listed] == GYM
    assert len(listed) == 27
    assert "gym.Softmax" in repr(listed)
    assert "of 27 exercises solved" in listed.summary


@pytest.mark.parametrize("name", GYM)
def test_exercise_is_whole(name: str) -> None:
    exercise = catalogue.load(name)
    assert exercise.id == name == f"gym.{exercise.answer}"
    assert len(exercise.hints) == 3
    assert exercise.half_step
    assert set(exercise.mistake_hints) <= set(TABLE)
    cases = exercise.cases(np.random.default_rng(1))
    assert len({case.name for case in cases}) == len(cases) >= 5
    assert len(cases[0].inputs) == len(exercise.arguments)
