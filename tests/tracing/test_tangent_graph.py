"""What the picture leaves out in forward mode: the operations that make tangents."""

from __future__ import annotations

from typing import Any

import minigrad as mg
from minigrad.autograd import forward_ad
from minigrad.tracing import Recorder, Trace
from minigrad.views import picture


def recorded(program: Any) -> Any:
    trace = Trace()
    with Recorder(trace):
        program()
    return trace.data


def hidden(data: Any) -> list[str]:
    return [node["label"] for node in data["graph"]["nodes"] if node.get("tangent")]


def product() -> tuple[Any, Any]:
    x = mg.tensor(3.0, requires_grad=True)
    dual = forward_ad.make_dual(x, mg.tensor(1.0))
    return x, (dual * dual).exp()


def along_a_graph() -> None:
    with forward_ad.dual_level():
        product()


def back_through_the_tangent() -> None:
    with forward_ad.dual_level():
        _, y = product()
        slope = forward_ad.unpack_dual(y).tangent
        (slope * 2).backward()


def backward_alone() -> None:
    x = mg.tensor(3.0, requires_grad=True)
    (x * x).exp().backward()


def test_operations_that_make_tangents_are_no_parts_of_the_picture() -> None:
    data = recorded(along_a_graph)
    (drawn,) = picture.pictures_of(data)
    calls = [part["label"] for part in drawn["parts"] if part["k"] == "call"]
    assert calls == ["ViewBackward0", "MulBackward0", "ExpBackward0"]
    assert len(hidden(data)) >= 3


def test_picture_does_not_stop_at_them_but_at_each_tangent() -> None:
    data = recorded(along_a_graph)
    told = [event["k"] for event in data["events"] if event.get("why")]
    assert told == ["graph.node", "tangent"] * 3


def test_they_are_shown_where_something_is_made_of_the_tangent() -> None:
    assert hidden(recorded(back_through_the_tangent)) == []


def test_without_tangents_nothing_is_left_out() -> None:
    assert hidden(recorded(backward_alone)) == []
