"""Elementwise operators go a short way; it leads to the same place as ``apply``."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.engine.tensor import Tensor
from minigrad.ops import OPS
from minigrad.ops._registry import quickest

MATRIX = minigrad.arange(6.0).reshape(2, 3) + 1
LEAF = (MATRIX * 2).requires_grad_()
INPUTS = {
    "two leaves": (LEAF, LEAF),
    "one leaf": (MATRIX, LEAF),
    "no leaf": (MATRIX, MATRIX),
    "a float": (LEAF, 1.5),
    "an int": (LEAF, 2),
    "columns": (LEAF.t(), LEAF.t()),
    "columns and rows": (LEAF.t(), minigrad.ones(3, 2)),
    "stretched": (LEAF, minigrad.ones(3)),
    "other dtype": (LEAF, minigrad.ones(3, dtype=minigrad.float64)),
    "number first": (1.5, LEAF),
}


def facts(output: Tensor) -> list[Any]:
    """What tells two results apart: values, layout, and place in the graph."""
    node = output.grad_fn
    found = [output.tolist(), output.dtype, output.stride(), output.requires_grad]
    if node is None:
        return found
    edges = [(edge and edge.name(), number) for edge, number in node.next_functions]
    saved = [one if one is None else one.tolist() for one in node.saved_tensors]
    return [*found, node.name(), edges, saved, node.needs_input_grad, node.metadata]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("kind", INPUTS)
def test_operator_of_two_gives_what_apply_gives(name: str, kind: str) -> None:
    function = OPS[name].function
    assert function is not None
    short_way = quickest(function, function.apply)
    assert short_way != function.apply
    assert facts(short_way(*INPUTS[kind])) == facts(function.apply(*INPUTS[kind]))
    assert facts(short_way(LEAF * 3, LEAF * 5)) != facts(function.apply(LEAF, LEAF))


@pytest.mark.parametrize("name", ["tanh", "exp", "relu", "neg", "isnan"])
@pytest.mark.parametrize("input", [LEAF, MATRIX, LEAF.t()])
def test_operator_of_one_gives_what_apply_gives(name: str, input: Tensor) -> None:
    function = OPS[name].function
    assert function is not None
    short_way = quickest(function, function.apply)
    assert short_way != function.apply
    assert facts(short_way(input)) == facts(function.apply(input))


def test_short_way_records_only_where_apply_does() -> None:
    with minigrad.no_grad():
        assert not (LEAF * LEAF).requires_grad
    with minigrad.inference_mode():
        assert (LEAF * LEAF).is_inference()
    assert (LEAF * LEAF).requires_grad


def test_output_that_its_node_keeps_is_watched_without_an_alias() -> None:
    y = LEAF.tanh()
    kept = y.grad_fn._raw_saved_result
    y.sum().backward(retain_graph=True)
    assert kept.data is kept.data
    assert kept.data is not y
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="expected version 0 instead"):
        y.sum().backward()


def test_relu_passes_nan_and_stops_what_is_not_finite() -> None:
    x = minigrad.tensor([np.nan, -1.0, 2.0, 0.0], requires_grad=True)
    x.relu().backward(minigrad.tensor([3.0, np.inf, np.inf, np.nan]))
    assert x.grad.tolist() == [3.0, 0.0, np.inf, 0.0]


def test_weight_of_a_linear_layer_gets_its_gradient_row_after_row() -> None:
    weight = minigrad.ones(2, 3).requires_grad_()
    rows = minigrad.arange(12.0).reshape(4, 3)
    y = minigrad.addmm(minigrad.zeros(2), rows, weight.t())
    (into_across,) = minigrad.autograd.grad(y.sum(), weight.t(), allow_unused=True)
    assert into_across is None
    seen: list[Any] = []
    y.grad_fn.register_hook(lambda inputs, _: seen.append(inputs[2].stride()))
    y.sum().backward()
    assert seen == [(1, 3)]
    assert weight.grad.tolist() == [[18.0, 22.0, 26.0]] * 2
