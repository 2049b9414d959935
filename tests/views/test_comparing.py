"""Two recordings side by side: what belongs together, and the first difference."""

from __future__ import annotations

import copy

import pytest

import minigrad
from minigrad import Tensor, errors
from minigrad.autograd import Function
from minigrad.views import Recording, compare, record
from tests.views import stories
from tests.views.folding import state_at


class Saved(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


class Again(Saved):
    forward = Saved.forward
    backward = Saved.backward


class Attribute(Saved):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.x * grad


def recorded(function: type[Function], start: float = 3.0) -> Recording:
    with record(function.__name__) as trace:
        x = minigrad.tensor([start, 1.0], requires_grad=True)
        y: Tensor = function.apply(x)
        y.sum().backward()
    return trace


def says(recording: Recording, position: int) -> str:
    return str(state_at(recording.data, position)["say"])


def test_saved_and_attribute_first_differ_where_saving_is_told() -> None:
    one, other = recorded(Saved), recorded(Attribute)
    comparison = compare(one, other)
    assert comparison.difference is not None
    left, right = comparison.difference
    assert "saved: x." in says(one, left)
    assert "ctx.x" in says(other, right)
    assert says(one, left) in comparison.sentence
    assert says(other, right) in comparison.sentence


def test_name_of_a_function_is_no_difference() -> None:
    comparison = compare(recorded(Saved), recorded(Again))
    assert comparison.difference is None
    assert comparison.sentence.startswith("The two recordings are the same: ")


def test_other_numbers_are_a_difference() -> None:
    assert compare(recorded(Saved), recorded(Saved, 4.0)).difference is not None


def test_value_that_no_sentence_says_is_a_difference() -> None:
    data = stories.mul_constant()
    other = copy.deepcopy(data)
    place = next(i for i, e in enumerate(data["events"], 1) if e["k"] == "ctx.save")
    value = other["events"][place - 1]["ctx"]["set"]["saved.0"]["v"]
    other["values"][value]["rows"][0][2] = 99
    assert compare(Recording(data), Recording(other)).difference == (place, place)


def test_story_that_goes_on_differs_where_the_other_ends() -> None:
    data = stories.fan_in()
    short = copy.deepcopy(data)
    del short["events"][-1]
    comparison = compare(Recording(data), Recording(short))
    assert comparison.difference == (len(data["events"]), 0)
    assert comparison.sentence.endswith("Right: nothing more.")


def test_steps_of_one_kind_belong_together_past_a_difference() -> None:
    one, other = recorded(Saved), recorded(Attribute)
    pairs = compare(one, other).pairs
    ends = [len(r.data["events"]) for r in (one, other)]
    kinds = [
        [side.data["events"][at - 1]["k"] for at in places]
        for side, places in zip((one, other), zip(*pairs, strict=True), strict=True)
    ]
    assert kinds[0] == kinds[1]
    assert pairs == sorted(pairs)
    assert pairs[-1] == tuple(ends)


def test_comparison_shows_in_a_notebook_and_in_a_terminal() -> None:
    comparison = compare(recorded(Saved), recorded(Attribute))
    bundle = comparison._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == comparison.sentence
    assert "iframe" in bundle["text/html"]


def test_comparison_of_something_else_is_refused() -> None:
    with pytest.raises(errors.ArgumentTypeError, match="dict is not a recording"):
        compare({}, recorded(Saved))
