"""Two recordings in one player: what belongs together, and what differs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import minigrad
from minigrad import Tensor, errors
from minigrad.autograd import Function
from minigrad.views.comparing import Comparison, compare
from minigrad.views.recording import Recording, record, step
from tests.tracing import happenings
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


class Thrice(Saved):
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x * grad


class Stops(Saved):
    @staticmethod
    def backward(ctx, grad):
        raise ValueError("no idea")


def recorded(function: type[Function], start: float = 3.0) -> Recording:
    with record(function.__name__) as trace:
        x = minigrad.tensor([start, 1.0], requires_grad=True)
        y: Tensor = function.apply(x)
        y.sum().backward()
    return trace


def of(program: Callable[[Tensor, Tensor], Tensor], *start: float) -> Recording:
    """A program of two leaves, a and b, summed up and sent back."""

    def the_program(a: Tensor, b: Tensor) -> None:
        program(a, b).sum().backward()

    leaves = [minigrad.tensor(x, requires_grad=True) for x in start or (2.0, 5.0)]
    return step(the_program, *leaves)


def differing(comparison: Comparison, at: int | None = None) -> dict[str, int]:
    """What differs after a step, by its address in the first, else in the second."""
    data, found = comparison._data(), {}
    for change in data["changes"]:
        if at is None or change["at"] <= at:
            found |= dict(map(tuple, change["set"]))
    places = [one[0] if one else f"{two[0]} of B" for one, two in data["things"]]
    return {places[n]: kind for n, kind in found.items() if kind}


def told(comparison: Comparison) -> list[str]:
    return [difference.sentence for difference in comparison.differences]


# Equal runs


def test_in_equal_runs_nothing_is_marked_and_the_sentence_says_so() -> None:
    comparison = compare(recorded(Saved), recorded(Again))
    assert comparison.difference is None
    assert comparison._data()["changes"] == []
    said = "Nothing differs: all values are the same in every step."
    assert comparison.sentence == said
    assert set(comparison._moves) == {"b"}


def test_other_names_of_variables_are_no_difference() -> None:
    def other(c: Tensor, d: Tensor) -> None:
        z = c * d
        z.sum().backward()

    two = [minigrad.tensor(x, requires_grad=True) for x in (2.0, 5.0)]
    assert compare(of(lambda a, b: a * b), step(other, *two)).difference is None


def test_what_differs_behind_six_digits_is_said_to_be_near() -> None:
    def one(x: float) -> Recording:
        leaf = minigrad.tensor(x, dtype=minigrad.float64, requires_grad=True)
        return step(lambda a: (a * 2).backward(), leaf)

    comparison = compare(one(1.0), one(1.0 + 1e-9))
    assert comparison.difference is None
    assert comparison.sentence.startswith("Nothing differs in the six digits")
    assert compare(one(1.0), one(1.00002)).difference is not None


@pytest.mark.parametrize("program", happenings.PROGRAMS)
def test_whatever_happens_twice_is_the_same(program: Any) -> None:
    twice = [Recording(happenings.recorded(program).data) for _ in range(2)]
    comparison = compare(twice[0], twice[1])
    assert comparison.difference is None, comparison.sentence
    assert set(comparison._moves) == {"b"}


def test_what_happens_in_any_two_programs_can_be_compared() -> None:
    traces = [
        Recording(happenings.recorded(program).data) for program in happenings.PROGRAMS
    ]
    for one, other in pairwise(traces):
        comparison = compare(one, other)
        assert comparison.difference is not None
        assert comparison.steps[-1] == (len(one), len(other))
        assert all(one.sentence for one in comparison.differences)


# One value


def test_one_value_is_marked_with_what_follows_from_it_and_nothing_else() -> None:
    comparison = compare(of(lambda a, b: a * b), of(lambda a, b: a * b, 3.0, 5.0))
    first = comparison.difference
    assert first is not None
    assert (first.what, first.first, first.second) == ("a", "2", "3")
    assert comparison.steps[first.step] == (0, 0)
    assert comparison.sentence == "The first difference. a is 2 in A, and 3 in B."
    graph = comparison._sides[0].data["graph"]
    by_name = {node["tensor"] or node["label"]: node for node in graph["nodes"]}
    product, total, a, b = [
        by_name[name]["id"] for name in ("MulBackward0", "SumBackward0", "a", "b")
    ]
    to_b = next(e["id"] for e in graph["edges"] if (e["from"], e["to"]) == (product, b))
    assert differing(comparison) == {
        f"value {a} 0": 1,
        f"value {product} 0": 1,
        f"value {total} 0": 1,
        f"edge {to_b}": 1,
        f"slope {to_b}": 1,
        f"waits {b}": 1,
        f"grad {b}": 1,
    }
    made = next(d.step for d in comparison.differences if d.what == "a * b")
    saved = f"entry {by_name['MulBackward0']['ctx']} saved.1"
    assert differing(comparison, made)[saved] == 1  # and no longer once it's released


def test_wrong_gradient_is_first_told_where_it_is_sent() -> None:
    comparison = compare(recorded(Saved), recorded(Thrice))
    assert told(comparison) == [
        "The gradient from Saved to x is [6, 2] in Saved, and [9, 3] in Thrice."
    ]
    assert any(what.startswith("grad ") for what in differing(comparison))
    first = comparison.differences[0]
    for side, at in zip(comparison._sides, comparison.steps[first.step], strict=True):
        assert side.data["events"][at - 1]["k"] == "grad"


def test_of_a_larger_array_the_first_element_that_differs_is_told() -> None:
    def one(middle: float) -> Recording:
        rows = [[1.0, 2.0, 3.0], [4.0, middle, 6.0]]
        leaf = minigrad.tensor(rows, requires_grad=True)
        return step(lambda w: w.sum().backward(), leaf)

    assert told(compare(one(5.0), one(9.0)))[:2] == [
        "leaf at [1, 1] is 5 in A, and 9 in B.",
        "sum is 21 in A, and 25 in B.",
    ]


def test_difference_behind_the_corner_that_is_shown_is_found() -> None:
    def one(last: float) -> Recording:
        leaf = minigrad.zeros(100)
        leaf[0], leaf[1], leaf[90] = -9.0, 9.0, last
        leaf.requires_grad = True
        return step(lambda w: (w * 1).sum().backward(), leaf)

    said = "leaf differs between A and B, in a part that isn't shown."
    assert told(compare(one(3.0), one(4.0)))[0] == said
    assert compare(one(3.0), one(3.0)).difference is None


def test_value_that_no_sentence_says_is_a_difference() -> None:
    data = stories.mul_constant()
    other = copy.deepcopy(data)
    place = next(i for i, e in enumerate(data["events"], 1) if e["k"] == "ctx.save")
    value = other["events"][place - 1]["ctx"]["set"]["saved.0"]["v"]
    other["values"]["new"] = copy.deepcopy(other["values"][value])
    other["values"]["new"]["rows"][0][2] = 99
    other["events"][place - 1]["ctx"]["set"]["saved.0"]["v"] = "new"
    comparison = compare(Recording(data), Recording(other))
    assert comparison.difference is not None
    assert comparison.steps[comparison.difference.step] == (place, place)


# Different programs


def test_saved_and_attribute_differ_in_what_ctx_keeps() -> None:
    one, other = recorded(Saved), recorded(Attribute)
    comparison = compare(one, other)
    assert told(comparison) == [
        "saved[0] of Saved is only in Saved: [3, 1].",
        "ctx.x of Attribute is only in Attribute: [3, 1].",
    ]
    assert comparison.difference is not None
    left, _ = comparison.steps[comparison.difference.step]
    assert "forward puts x into the box" in str(state_at(one.data, left)["say"])


def test_call_that_is_only_in_one_is_told_and_the_rest_is_matched() -> None:
    comparison = compare(of(lambda a, b: a * b + a), of(lambda a, b: (a * b).exp() + a))
    assert comparison.differences[0].sentence == "exp is only in B."
    alone = {
        what.split()[0] for what, kind in differing(comparison).items() if kind == 3
    }
    assert {"call", "value", "waits", "edge", "entry"} <= alone
    labels = [
        {node["id"]: node["label"] for node in side.data["graph"]["nodes"]}
        for side in comparison._sides
    ]
    matched = {
        (labels[0][thing[0][0].split()[1]], labels[1][thing[1][0].split()[1]])
        for thing in comparison._data()["things"]
        if thing[0] and thing[1] and thing[0][0].startswith("value")
    }
    assert matched == {(label, label) for label in ("AddBackward0", "SumBackward0")}


def test_programs_that_share_nothing_are_compared_too() -> None:
    comparison = compare(of(lambda a, b: a * b), of(lambda a, b: a.sin(), 1.0, 1.0))
    assert any("only in A" in said for said in told(comparison))
    assert any("only in B" in said for said in told(comparison))


def test_run_that_stops_is_told_where_it_stops() -> None:
    def squared(function: type[Function]) -> Recording:
        x = minigrad.tensor([3.0, 1.0], requires_grad=True)
        return step(lambda x: function.apply(x).sum().backward(), x)

    class Elsewhere(Stops):
        @staticmethod
        def forward(ctx, x):
            raise TypeError("too early")

    stops = squared(Stops)
    assert (
        told(compare(stops, squared(Saved)))[0] == "Here A stops: ValueError: no idea"
    )
    assert compare(stops, squared(Stops)).difference is None
    both = told(compare(stops, squared(Elsewhere)))
    assert "Here B stops: TypeError: too early" in both
    said = "Both stop, A with ValueError: no idea, B with TypeError: too early."
    assert both[-1] == said


def test_story_that_goes_on_waits_for_the_other_that_has_ended() -> None:
    data = stories.fan_in()
    short = copy.deepcopy(data)
    del short["events"][-1]
    comparison = compare(Recording(data), Recording(short))
    ends = len(data["events"]), len(short["events"])
    assert comparison.steps[-2:] == [(ends[1], ends[1]), ends]


def test_steps_that_belong_together_are_one_step_past_a_difference() -> None:
    one, other = recorded(Saved), recorded(Attribute)
    comparison = compare(one, other)
    events = one.data["events"], other.data["events"]
    assert comparison.steps[-1] == (len(events[0]), len(events[1]))
    kinds = [
        (events[0][at - 1]["k"], events[1][over - 1]["k"])
        for move, (at, over) in zip(
            comparison._moves, comparison.steps[1:], strict=True
        )
        if move == "b"
        and min(e[n - 1]["lvl"] for e, n in zip(events, (at, over), strict=True)) < 2
    ]
    assert len(kinds) > 10
    assert all(left == right for left, right in kinds)


def test_long_recordings_are_paired_in_their_order() -> None:
    def many(count: int) -> Recording:
        def program(a: Tensor) -> None:
            for _ in range(count):
                a = a * 1
            a.backward()

        return step(program, minigrad.tensor(1.0, requires_grad=True))

    assert compare(many(1100), many(1100)).difference is None


# What is made of it


def test_titles_are_those_of_the_recordings_or_given() -> None:
    one, other = recorded(Saved), recorded(Thrice)
    assert compare(one, other)._titles == ["Saved", "Thrice"]
    assert compare(one, one)._titles == ["A", "B"]
    named = compare(one, other, titles=("mine", "yours"))
    assert named.sentence.endswith("is [6, 2] in mine, and [9, 3] in yours.")


def test_question_of_a_recording_does_not_hold_up_the_other() -> None:
    asking = recorded(Saved).ask("And x.grad?", ["1", "2"], "2", before="ties the")
    traces = compare(asking, recorded(Saved))._data()["traces"]
    assert "ask" in {event["k"] for event in asking.data["events"]}
    assert "ask" not in {event["k"] for event in traces[0]["events"]}


def test_comparison_shows_in_a_notebook_and_in_a_terminal() -> None:
    comparison = compare(recorded(Saved), recorded(Attribute))
    bundle: dict[str, Any] = comparison._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == comparison.sentence
    assert "iframe" in bundle["text/html"]


def test_comparison_of_something_else_is_refused() -> None:
    with pytest.raises(errors.ArgumentTypeError, match="dict is not a recording"):
        compare({}, recorded(Saved))
