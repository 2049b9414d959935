"""The guard of the capstone: what it refuses, and what is free."""

import builtins
from typing import Any

import pytest

import minigrad as mg
from minigrad import course
from minigrad.course.check.own_functions import OwnFunctionsError


class Double(mg.autograd.Function):
    """Its own work is built in, and nobody's business."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output * 2


def test_own_functions_shapes_and_what_is_not_recorded_are_free() -> None:
    w, data = mg.ones(2, 3, requires_grad=True), mg.ones(4)
    with course.only_my_functions():
        y = Double.apply(w.reshape(6)[1:].unsqueeze(0).T)
        data * 2 + data.sum()
        y.backward(mg.ones(5, 1))
        with mg.no_grad():
            w -= 0.1 * w.grad
    assert w.tolist() == [[1.0, *[pytest.approx(0.8)] * 2], [pytest.approx(0.8)] * 3]


@pytest.mark.parametrize(
    ("built_in", "node"),
    [
        (lambda x: x.sum(), "SumBackward0"),
        (lambda x: Double.apply(x) + 1, "AddBackward0"),
        (lambda x: mg.nn.Linear(2, 1)(x), "AddmmBackward0"),
        (lambda x: mg.nn.functional.relu(x), "ReluBackward0"),
    ],
)
def test_built_in_operation_is_refused_where_it_is_called(
    built_in: Any, node: str
) -> None:
    x = mg.ones(3, 2, requires_grad=True)
    with course.only_my_functions(), pytest.raises(OwnFunctionsError, match=node):
        built_in(x)
    built_in(x)  # outside of the block it isn't


def test_backward_that_lets_the_engine_differentiate_is_refused() -> None:
    class Cheats(Double):
        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            with mg.enable_grad():
                x = mg.ones(2, requires_grad=True)
                return mg.autograd.grad(x * 2, x, grad_output)[0]

    y = Cheats.apply(mg.ones(2, requires_grad=True))
    with course.only_my_functions(), pytest.raises(OwnFunctionsError, match="MulBackw"):
        y.backward(mg.ones(2))


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("import torch", "the import of torch"),
        ("import jax.numpy", "jax"),
        ("from minigrad.nn import functional", "minigrad.nn.functional"),
        ("from minigrad.func import vjp", "minigrad.func"),
    ],
)
def test_import_of_other_gradients_is_refused(line: str, named: str) -> None:
    with course.only_my_functions(), pytest.raises(OwnFunctionsError, match=named):
        exec(line, {"__name__": "__main__"})


def test_other_imports_are_free_and_all_is_as_before_afterwards() -> None:
    before = builtins.__import__
    guard = course.only_my_functions()
    assert "refuses every recorded operation" in repr(guard)
    assert "torch" in repr(guard)
    lines = "import math, minigrad.nn.data\nimport numpy\n1 / 0"
    with pytest.raises(ZeroDivisionError), guard:
        exec(lines, {"__name__": "__main__"})
    assert builtins.__import__ is before
    (mg.ones(2, requires_grad=True) * 2).sum()
