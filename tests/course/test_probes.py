"""Observation: plain facts about an answer, and no trace left on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from minigrad.autograd import Function
from minigrad.course.facts import Case, Trial
from minigrad.course.probes import declare, observe

CASE = Case("two numbers", (np.array([1.0, 2.0]), np.array([3.0, 5.0])), np.ones(2))


class Right(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.note = "kept"
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


class Fails(Right):
    def backward(ctx, g):
        raise ValueError("no idea")


def parts(value: object) -> Iterator[object]:
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from parts(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from parts(item)
    else:
        yield value


def trial(answer: type[Function], name: str) -> Trial:
    (found,) = [t for t in observe(answer, CASE).trials if t.name == name]
    return found


@pytest.mark.parametrize("answer", [Right, Fails])
def test_facts_are_plain_data(answer: type[Function]) -> None:
    plain = (str, bool, int, np.ndarray, type(None))
    assert all(isinstance(part, plain) for part in parts(observe(answer, CASE)))


def test_pass_holds_raw_return_and_what_arrived() -> None:
    (seen,) = trial(Right, "plain").passes
    assert [r.kind for r in seen.returned] == ["Tensor", "Tensor"]
    assert [g.tolist() for g in seen.gradients] == [[3.0, 5.0], [1.0, 2.0]]


def test_frozen_input_gets_no_gradient() -> None:
    (seen,) = trial(Right, "only 1").passes
    assert seen.gradients[0] is None
    assert seen.gradients[1].tolist() == [1.0, 2.0]


def test_saved_tensors_are_seen_and_plain_attributes_are_not() -> None:
    seen = trial(Right, "plain")
    assert [a.tolist() for a in seen.saved] == [[1.0, 2.0], [3.0, 5.0]]
    assert (seen.save_calls, seen.attributes) == (1, ())


def test_crash_tells_learners_line_from_failed_call() -> None:
    (seen,) = trial(Fails, "plain").passes
    assert seen.crash.inside
    assert seen.crash.kinds[0] == "ValueError"
    assert seen.crash.line == 'raise ValueError("no idea")'


def test_declaration_names_what_is_not_static_and_the_order_of_names() -> None:
    declared = declare(Fails)
    assert declared.not_static == ("backward",)
    declared = declare(Right)
    assert declared.not_static == ()
    assert declared.saved_names == ("x", "y")
    assert declared.unpacked_names == ("a", "b")


def test_case_is_left_unchanged() -> None:
    observe(Right, CASE)
    assert [a.tolist() for a in CASE.inputs] == [[1.0, 2.0], [3.0, 5.0]]
    assert CASE.upstream.tolist() == [1.0, 1.0]
