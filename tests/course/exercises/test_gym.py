"""The gym: right answers pass, wrong ones are refused by name, near misses as well."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.course import examine, gym
from minigrad.course.check import gradient_checks, trials
from minigrad.course.check.exercise import Exercise
from minigrad.course.check.references import References
from minigrad.course.exercises import catalogue
from minigrad.mistakes import TABLE
from tests.answers import rows

GYM = catalogue.gym_names()


def model_of(name: str) -> Any:
    """The first right answer."""
    return rows.right(name)[0].made_anew()


@pytest.fixture
def numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether an answer is refused is asked here, by its numbers; not its name."""
    monkeypatch.setattr(trials, "THOROUGH", 0)
    monkeypatch.setattr(trials, "EVERYTHING", 0)
    monkeypatch.setattr(gradient_checks, "_named", lambda *_: ())


@pytest.fixture
def two_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused on the first cases is refused on all of them."""
    cases = Exercise.cases
    monkeypatch.setattr(Exercise, "cases", lambda self, random: cases(self, random)[:2])


def accepted(name: str, answers: Iterable[tuple[str, Any]]) -> list[str]:
    """The labels of those that are not refused; there has to be one to ask about."""
    tried = list(answers)
    assert tried
    return [label for label, answer in tried if examine(name, answer).state == "solved"]


EQUAL = {
    "gym.Power": ["return (mg.zeros_like(x), None), value 0"],
    "gym.LogSoftmax": ["x - x.amax(axis, keepdim=True), right"],
    "gym.Softmax": ["x - x.amax(axis, keepdim=True), right"],
    "gym.CrossEntropy": ["logits - logits.amax(1, keepdim=True), right"],
}
"""Terms that may be larger: zeros, and a shift that cancels."""


def larger_terms(model: rows.Answer) -> Iterator[tuple[str, Any]]:
    """The right answer with one term, factor or returned value larger by 0.1 %."""
    source = rows.definition(model.source, model.hands)
    for number, node in enumerate(ast.walk(ast.parse(source))):
        for place in places_in(node):
            tree = ast.parse(source)
            enlarge(list(ast.walk(tree))[number], place)
            names: dict[str, Any] = {}
            exec(model.source, names)
            exec(compile(ast.fix_missing_locations(tree), "", "exec"), names)
            yield f"{ast.unparse(node)}, {place}", names[model.hands]


def places_in(node: ast.AST) -> list[str]:
    """Where a number stands: an operand, or one of the values that are returned."""
    if isinstance(node, ast.Return):
        kept = [not isinstance(each, ast.Constant) for each in returned_by(node)]
        return [f"value {i}" for i, has_number in enumerate(kept) if has_number]
    sums = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.MatMult
    found = isinstance(node, ast.BinOp) and isinstance(node.op, sums)
    return ["left", "right"] if found else []


def returned_by(node: ast.Return) -> list[ast.expr]:
    assert node.value is not None
    return node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]


def enlarge(node: Any, place: str) -> None:
    if isinstance(node, ast.BinOp):
        setattr(node, place, times_1001(getattr(node, place)))
    elif isinstance(node.value, ast.Tuple):
        i = int(place.removeprefix("value "))
        node.value.elts[i] = times_1001(node.value.elts[i])
    else:
        node.value = times_1001(node.value)


def times_1001(term: ast.expr) -> ast.expr:
    return ast.BinOp(ast.Constant(1.001), ast.Mult(), term)


@pytest.mark.usefixtures("numbers_alone", "two_cases")
@pytest.mark.parametrize("name", GYM)
def test_every_term_that_is_off_by_a_thousandth_is_refused(name: str) -> None:
    assert examine(name, model_of(name)).state == "solved"
    assert accepted(name, larger_terms(rows.right(name)[0])) == EQUAL.get(name, [])


def with_gradients(
    model: Any, change: Callable[[Any, int, tuple[Any, ...]], Any]
) -> Any:
    """The answer with ``change(gradient, place, upstreams)`` in place of gradients."""

    def backward(ctx: Any, *gs: Any) -> Any:
        found = model.backward(ctx, *gs)
        listed = found if isinstance(found, tuple) else (found,)
        return tuple(v if v is None else change(v, i, gs) for i, v in enumerate(listed))

    backward.__dict__.update(vars(model.backward))
    return type(model.__name__, (model,), {"backward": staticmethod(backward)})


def larger_elements(name: str) -> Iterator[tuple[str, Any]]:
    """The right answer with the last element of one gradient larger by 0.1 %."""

    def last_is_larger(gradient: Any, place: int, at: int) -> Any:
        factors = np.ones(tuple(gradient.shape), np.float64)
        if place == at and factors.size:
            factors.flat[-1] = 1.001
        return gradient * mg.tensor(factors, dtype=gradient.dtype)

    (case, *_) = catalogue.load(name).cases(np.random.default_rng(0))
    for at in case.differentiable:
        change = partial(last_is_larger, at=at)
        yield str(at), with_gradients(model_of(name), lambda v, i, _, c=change: c(v, i))


@pytest.mark.usefixtures("numbers_alone", "two_cases")
@pytest.mark.parametrize("name", GYM)
def test_last_element_that_is_off_by_a_thousandth_is_refused(name: str) -> None:
    assert accepted(name, larger_elements(name)) == []


def wrong_for_three_axes(gradient: Any, _: int, upstreams: tuple[Any, ...]) -> Any:
    seen = [each for each in (gradient, *upstreams) if each is not None]
    return -gradient if max(each.ndim for each in seen) > 2 else gradient


OF_TWO_AXES = {"gym.Linear", "gym.CrossEntropy"}
"""Their contracts say how many axes an input has."""


@pytest.mark.usefixtures("numbers_alone")
@pytest.mark.parametrize("name", sorted({*GYM} - OF_TWO_AXES))
def test_answer_that_is_wrong_for_three_axes_only_is_refused(name: str) -> None:
    answer = with_gradients(model_of(name), wrong_for_three_axes)
    assert accepted(name, [("three axes", answer)]) == []


UNKNOWN: dict[str, Callable[[Any], Any]] = {
    "gym.Power": lambda v: v + 0.25,
    "gym.Softmax": lambda v: v.clamp(-0.01, 0.01),
    "gym.Linear": lambda v: v * v.abs(),
    "gym.LayerNorm": lambda v: v + v.cos(),
    "gym.BroadcastMul": lambda v: v.sin(),
    "gym.TwoOutputs": lambda v: v.round(),
    "gym.Embedding": lambda v: v * v - 0.5,
}
"""What no table knows, done to every gradient of the right answer."""


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_mistake_gets_evidence_and_no_name(name: str) -> None:
    change = UNKNOWN[name]
    verdict = examine(name, with_gradients(model_of(name), lambda v, *_: change(v)))
    assert (verdict.state, verdict.mistakes) == ("wrong", ())
    assert "it should be" in verdict.message
    (seen, *_) = verdict.evidence
    exercise = catalogue.load(name)
    case = exercise.cases(np.random.default_rng(0))[seen.number]
    place = exercise.contract.arguments.index(seen.of)
    right = References(exercise).gradients(case.inputs, case.upstreams)[place]
    assert seen.got != pytest.approx(seen.expected)
    assert seen.expected == pytest.approx(right[seen.index])
    assert seen.got == pytest.approx(change(mg.tensor(right))[seen.index].item())


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


@pytest.mark.parametrize("name", GYM)
def test_statement_says_what_the_check_asks_beside_the_numbers(name: str) -> None:
    exercise = catalogue.load(name)
    said = catalogue.flat(exercise.statement)
    only_the_first = "Only the first derivative is asked for." in said
    assert only_the_first == (exercise.contract.second_derivative == "any")
    assert only_the_first or "second derivative" in said
    model = rows.right(name)[0]
    saves = "save_for_backward" in rows.definition(model.source, model.hands)
    refuses = "refused" in said or "but no tensors" in said
    assert refuses or not saves
