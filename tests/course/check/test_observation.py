"""Observation: plain facts about an answer, and no trace left on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import Function
from minigrad.course.check.declared import declare
from minigrad.course.check.facts import Case, Contract, Facts, Trial
from minigrad.course.check.observation import observe

CONTRACT = Contract("Right", ("x", "y"))
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


def facts(
    answer: type[Function], contract: Contract = CONTRACT, case: Case = CASE
) -> Facts:
    (found,) = observe(answer, contract, [case])
    return found


def trial(answer: type[Function], name: str, *what: object) -> Trial:
    found = [t for t in facts(answer, *what).trials if t.name == name]
    return found[0]


@pytest.mark.parametrize("answer", [Right, Fails])
def test_facts_are_plain_data(answer: type[Function]) -> None:
    plain = (str, bool, int, np.ndarray, type(None))
    assert all(isinstance(part, plain) for part in parts(facts(answer)))


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
    assert [s.packed.tolist() for s in seen.saved] == [[1.0, 2.0], [3.0, 5.0]]
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
    facts(Right)
    assert [a.tolist() for a in CASE.inputs] == [[1.0, 2.0], [3.0, 5.0]]
    assert CASE.upstream.tolist() == [1.0, 1.0]


class Overwrites(Right):
    @staticmethod
    def forward(ctx, x, y):
        kept = x.clone()
        ctx.save_for_backward(kept, y)
        kept.mul_(2)
        ctx.also = [x]
        return x * y


def test_saved_value_is_seen_at_the_call_and_when_forward_ended() -> None:
    seen = trial(Overwrites, "plain")
    assert [s.at_call.tolist() for s in seen.saved] == [[1.0, 2.0], [3.0, 5.0]]
    assert [s.packed.tolist() for s in seen.saved] == [[2.0, 4.0], [3.0, 5.0]]
    assert [s.in_graph for s in seen.saved] == [False, True]
    assert [(a.name, a.shares_memory) for a in seen.attributes] == [("also[0]", True)]


def test_write_into_an_input_is_noticed_where_it_was_saved() -> None:
    (seen,) = trial(Right, "written 0").passes
    assert "modified by an inplace operation: a tensor of shape (2,)" in seen.crash.text


class Two(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        order = x.argsort()
        ctx.mark_non_differentiable(order)
        return x * x, x + 1, order

    @staticmethod
    def backward(ctx, a, b, _):
        (x,) = ctx.saved_tensors
        return (0 if a is None else 2 * x * a) + (0 if b is None else b)


def test_outputs_are_used_one_at_a_time_and_marks_are_seen() -> None:
    contract = Contract("Two", ("x",), ("square", "next", "order"), (2,))
    g = (np.array([1.0, 10.0]), np.array([2.0, 3.0]), None)
    case = Case("two", (np.array([1.0, 2.0]),), g)
    plain = trial(Two, "plain", contract, case)
    assert (plain.marked, plain.materialize_grads) == ((2,), False)
    assert [y.requires_grad for y in plain.outputs] == [True, True, False]
    assert plain.passes[0].gradients[0].tolist() == [4.0, 43.0]
    (first,) = trial(Two, "output 0", contract, case).passes
    assert first.received == ("Tensor", "NoneType", "NoneType")
    assert first.gradients[0].tolist() == [2.0, 40.0]


class Scale(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.c = c
        ctx.mark_dirty(x)
        return x.mul_(c)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.c, None


def test_change_in_place_starts_at_no_leaf_and_reaches_one() -> None:
    contract = Contract("Scale", ("x", "c"), in_place=True)
    case = Case("two", (np.array([1.0, 2.0]), 3.0), np.array([1.0, -1.0]))
    seen = trial(Scale, "plain", contract, case)
    assert (seen.changed, seen.dirty, seen.outputs[0].is_input) == ((0,), (0,), 0)
    assert seen.passes[0].gradients[0].tolist() == [3.0, -3.0]


class Tangents(Right):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_forward(x, y)
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t


def test_tangents_go_in_alone_and_together() -> None:
    seen = facts(Tangents, Contract("Tangents", ("x", "y"), jvp=True)).tangents
    alone, other, both, double = [t.result[0] for t in seen]
    assert seen[0].tangents[1] is None
    np.testing.assert_allclose(both, alone + other)
    np.testing.assert_allclose(double, 2.0 * both)
    assert not facts(Tangents).tangents


class Patches(Right):
    @staticmethod
    def backward(ctx, g):
        np.array_equal = lambda *_, **__: True
        np.exp = np.sin
        mg.Tensor.__add__ = mg.Tensor.__mul__
        g.array[...] = 7.0
        return g, g


def test_what_an_answer_replaces_is_put_back_before_anything_is_compared() -> None:
    kept = np.array_equal, np.exp, mg.Tensor.__add__
    (seen,) = trial(Patches, "plain").passes
    assert (np.array_equal, np.exp, mg.Tensor.__add__) == kept
    assert seen.upstream_changed


class Reversal(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return -g


def test_result_that_is_the_input_may_be_written_into() -> None:
    case = Case("two", (np.array([1.0, 2.0]),), np.ones(2))
    (seen,) = trial(Reversal, "written 0", Contract("Reversal", ("x",)), case).passes
    assert seen.crash is not None
    assert "InplaceError" in seen.crash.kinds


class KeepsOnTheClass(Function):
    c = 3.0

    @staticmethod
    def forward(ctx, x, c):
        KeepsOnTheClass.c = c
        return x * c

    @staticmethod
    def backward(ctx, g):
        return g * KeepsOnTheClass.c, None


def test_state_on_the_class_is_seen_though_it_ends_as_it_began() -> None:
    last = KeepsOnTheClass.c
    cases = [Case("two", (np.ones(2), c), np.ones(2)) for c in (2.0, last)]
    found = observe(KeepsOnTheClass, Contract("Scale", ("x", "c")), cases)
    assert found[0].declared.state_on_class == ("c",)


class ByAttribute(Two):
    """Asks for None in the other way that torch has."""

    @staticmethod
    def forward(ctx, x):
        outputs = Two.forward(ctx, x)
        ctx.set_materialize_grads(True)
        ctx.materialize_grads = False
        return outputs


def test_materialising_is_read_off_ctx_however_it_was_set() -> None:
    contract = Contract("Two", ("x",), ("square", "next", "order"), (2,))
    g = (np.array([1.0]), np.array([2.0]), None)
    case = Case("one", (np.array([3.0]),), g)
    assert not trial(ByAttribute, "plain", contract, case).materialize_grads
