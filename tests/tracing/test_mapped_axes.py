"""The axis that counts the examples of a vmap, in a recording and its picture."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad as mg
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.picture import place_after
from minigrad.views import picture


class Twice(mg.autograd.Function):
    """A rule that moves the examples, before its Function doubles them."""

    @staticmethod
    def forward(x: Any) -> Any:
        return 2 * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 2 * grad

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return Twice.apply(x.movedim(in_dims[0], 0).unsqueeze(1)), 0


def recorded(program: Any, *shape: int) -> Any:
    trace = Trace()
    x = mg.ones(*shape, requires_grad=True)
    with Recorder(trace):
        program(x)
    return trace.data


def marks(data: Any) -> list[tuple[str, list[int] | None]]:
    """Of each call its label, and where the examples are in what it returned."""
    calls = [event for event in data["events"] if event.get("outs")]
    return [(one["label"], one["outs"][0]["v"].get("ax")) for one in calls]


def test_axis_is_followed_into_a_rule_and_out_of_it() -> None:
    data = recorded(mg.vmap(Twice.apply, in_dims=1), 3, 2)
    (first, *_) = [event for event in data["events"] if event.get("ins")]
    assert first["ins"][0]["v"]["ax"] == [1]
    assert marks(data) == [("permute", [0]), ("unsqueeze", [0]), ("Twice", [0])]


@pytest.mark.parametrize(
    ("move", "axis"),
    [
        (lambda x: x.transpose(0, -1), 2),
        (lambda x: x.permute(2, 0, 1), 1),
        (lambda x: x.reshape(2, 12), 0),
        (lambda x: x.reshape(2, 3, 2, 2), 0),
        (lambda x: x.reshape(6, 4), None),
    ],
)
def test_axis_is_followed_through_what_moves_it(move: Any, axis: int | None) -> None:
    class Moves(Twice):
        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            move(x)
            return Twice.apply(x), 0

    data = recorded(mg.vmap(Moves.apply), 2, 3, 4)
    assert marks(data)[0][1] == (None if axis is None else [axis])


def test_two_vmaps_set_two_axes_apart() -> None:
    inner = mg.vmap(lambda x: x * 2, in_dims=1)
    data = recorded(mg.vmap(inner, in_dims=2), 2, 3, 4)
    (first, *_) = [event for event in data["events"] if event.get("ins")]
    assert first["ins"][0]["v"]["ax"] == [1, 2]
    assert marks(data)[-1] == ("mul", [0, 1])


def test_without_vmap_nothing_is_set_apart() -> None:
    data = recorded(lambda x: (x * 2).sum(0), 3, 2)
    assert [axis for _, axis in marks(data)] == [None, None]
    (drawn,) = picture.pictures_of(data)
    assert not any([line.get("mapped") for line in drawn["lines"]])


def test_lines_of_examples_are_double_there_and_back() -> None:
    weights = mg.tensor([1.0, 2.0, 3.0])
    data = recorded(mg.vmap(lambda x: x * weights, in_dims=1), 3, 2)
    (drawn,) = picture.pictures_of(data)
    found = {(line["k"], bool(line.get("mapped"))) for line in drawn["lines"]}
    # Two values go there in a batch and one comes to them, the weights, as it is.
    assert found == {("value", True), ("value", False), ("wire", True)}


@pytest.mark.parametrize(
    ("axis", "before", "after", "place"),
    [
        (0, [2, 3], [2, 1, 3], 0),
        (1, [2, 3], [2, 1, 3], 2),
        (1, [4, 2, 3], [2, 2, 2, 3], 2),
        (1, [2, 6], [2, 3, 2], None),
        (1, [2, 3], [6], None),
    ],
)
def test_axis_keeps_its_length_and_what_is_before_it(
    axis: int, before: list[int], after: list[int], place: int | None
) -> None:
    assert place_after(axis, before, after) == place
