"""What the engine tells a listener, and when."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.engine import observe
from minigrad.engine.core.backward import GraphTask
from tests.engine.support import leaf, rule


class Listener:
    """Notes the name of each call, and what it was about."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.observes = observe.EVERYTHING

    def __getattr__(self, name: str) -> Any:
        def hear(*values: Any) -> None:
            self.heard.append((name, values))

        return hear

    def names(self) -> list[str]:
        return [name for name, _ in self.heard]

    def last(self, name: str) -> Any:
        return [values for heard, values in self.heard if heard == name][-1]


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    observe.add(listener)
    yield listener
    observe.remove(listener)


def doubled() -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    return rule(minigrad, forward, lambda ctx, grad: grad * 2)


APPLY = [
    "ctx_created",
    "values_saved",
    "forward_returned",
    "edges_wired",
    "saved_taken",
]

OF_A_BUILTIN = ["ctx_created", "forward_returned", "edges_wired"]


def test_apply_tells_its_phases_in_order(listener: Listener) -> None:
    x = leaf(minigrad, 3.0)
    y = doubled().apply(x)
    own = [name for name, values in listener.heard if values[0] is y.grad_fn]
    assert own == APPLY
    ctx, function, inputs = next(v for n, v in listener.heard if n == "ctx_created")
    assert (ctx, function.__name__) == (y.grad_fn, "F")
    assert inputs[0] is x
    returned = [v[2] for n, v in listener.heard if n == "forward_returned"]
    wired = [v[1] for n, v in listener.heard if n == "edges_wired"]
    assert returned[-1] is wired[-1][0] is y
    assert listener.last("saved_taken") == (y.grad_fn, (x,))


def test_operation_inside_forward_is_told_too(listener: Listener) -> None:
    doubled().apply(leaf(minigrad, 3.0))
    created = [v[1].__name__ for n, v in listener.heard if n == "ctx_created"]
    assert created == ["F", "Mul"]


@pytest.mark.parametrize("observes", [observe.RECORDED, observe.EVERYTHING])
def test_operation_that_joins_no_graph_is_told_to_those_who_want_it(
    observes: int,
) -> None:
    x = leaf(minigrad, [[1.0, 2.0], [3.0, 4.0]])
    listener = Listener()
    listener.observes = observes
    observe.add(listener)
    with minigrad.no_grad():
        results = [x * 2, -x, x.T * x.T, x.sum()]
    told = listener.names()
    (x * 2).sum()
    observe.remove(listener)
    assert [one.tolist() for one in results] == [
        [[2, 4], [6, 8]],
        [[-1, -2], [-3, -4]],
        [[1, 9], [4, 16]],
        10,
    ]
    if observes == observe.EVERYTHING:
        assert told == OF_A_BUILTIN * 6
        recorded = OF_A_BUILTIN * 2
    else:
        assert told == []
        recorded = ["ctx_created", "edges_wired"] * 2
    assert listener.names()[len(told) :] == ["node_made", *recorded]


def test_backward_tells_its_phases_in_order(listener: Listener) -> None:
    x = leaf(minigrad, 3.0)
    y = doubled().apply(x)
    listener.heard.clear()
    y.backward()
    names = [n for n in listener.names() if n not in OF_A_BUILTIN]
    assert names == [
        "backward_started",
        "node_picked",
        "rule_called",
        "rule_returned",
        "node_returned",
        "gradient_sent",
        "node_released",
        "node_picked",
        "gradient_accumulated",
        "node_returned",
        "node_released",
        "backward_finished",
    ]
    of_a_node = ("rule_called", "rule_returned", "node_released")
    of_a_node = (*of_a_node, "gradient_accumulated")
    tasks = {v[0] for n, v in listener.heard if n in names and n not in of_a_node}
    assert [type(task) for task in tasks] == [GraphTask]
    sent = listener.last("gradient_sent")
    assert sent[1] is y.grad_fn
    assert (sent[2], sent[4], float(sent[5]), float(sent[6])) == (0, 0, 2.0, 2.0)
    tensor, first, gradient, new = listener.last("gradient_accumulated")
    assert tensor is x
    assert first is True
    assert float(gradient) == 2.0
    assert new is x.grad


def test_listener_changes_no_result() -> None:
    results = []
    for listening in (False, True):
        if listening:
            observe.add(Listener())
        x = leaf(minigrad, 3.0)
        y = doubled().apply(x) * x
        y.backward()
        results.append((y.item(), x.grad.item(), y.grad_fn.name()))
    assert results[0] == results[1]


def test_node_returns_one_array_or_none_for_each_argument(listener: Listener) -> None:
    for second in (7.0, minigrad.tensor(7.0)):
        unasked = None if isinstance(second, float) else second
        gradients = (minigrad.tensor(3.0), unasked)
        F = rule(minigrad, lambda ctx, x, k: x * k, lambda ctx, grad: gradients)  # noqa: B023
        F.apply(leaf(minigrad, 3.0), second).backward()
        (given,) = [
            values[2]
            for name, values in listener.heard
            if name == "node_returned" and values[1].name() == "FBackward"
        ]
        assert (float(given[0]), given[1]) == (3.0, None)
        listener.heard.clear()


def test_listener_hears_arrays_as_the_hooks_left_them(listener: Listener) -> None:
    y = doubled().apply(leaf(minigrad, 3.0))
    y.grad_fn.register_hook(lambda grads, received: (grads[0] * 10,))
    y.backward()
    (returned,) = [v[2] for n, v in listener.heard if n == "node_returned" and v[2]]
    for heard in (*returned, listener.last("gradient_sent")[5]):
        assert isinstance(heard, np.ndarray)
        assert float(heard) == 20.0


def test_leaf_does_not_take_over_what_was_told(listener: Listener) -> None:
    x = leaf(minigrad, 3.0, 4.0)
    slope = np.array([3.0, 4.0])
    rules = (lambda ctx, x: x.sum(), lambda ctx, grad: minigrad.tensor(slope))
    F = rule(minigrad, *rules)
    F.apply(x).backward()
    gradient = listener.last("gradient_sent")[5]
    F.apply(x).backward()
    assert gradient.tolist() == [3.0, 4.0]


def test_receiver_is_told_as_a_node_and_which_output_of_it(listener: Listener) -> None:
    F = rule(minigrad, lambda ctx, x: (x * 2, x * 3), lambda ctx, a, b: a * 2 + b * 3)
    _, second = F.apply(leaf(minigrad, 3.0))
    (second * 5).backward()
    sent = next(values for name, values in listener.heard if name == "gradient_sent")
    assert sent[3] is second.grad_fn
    assert sent[4] == 1
