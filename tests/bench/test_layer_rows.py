"""The layers of the bench: what they compute, and what counts in their mean."""

import statistics
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.bench import layers
from minigrad.bench.harness import agree
from minigrad.bench.layers import LAYERS, Layer
from minigrad.bench.rows import Peer, Timed


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_layer_computes_the_same_with_and_without_numba(layer: Layer) -> None:
    found = layers.program(layer, layer.small, minigrad)()
    plain = layers.without_numba(layer, layer.small, np)()
    same = layers.same_zeros if layer.name == "dropout" else agree
    assert same(found, plain)
    output, grads = found
    arrays = [value for value in layer.inputs(*layer.small) if hasattr(value, "dtype")]
    floats = [array.shape for array in arrays if array.dtype.kind == "f"]
    assert [grad.shape for grad in grads] == floats
    assert np.isfinite(output.detach().numpy()).all()


def test_program_is_forward_and_one_backward_of_the_function() -> None:
    relu = Layer("relu", layers.one, {}, (5,), (5,))
    output, (grad,) = layers.program(relu, (5,), minigrad)()
    x, upstream = layers.normal(5), layers.normal(5, seed=2)
    np.testing.assert_array_equal(output.detach().numpy(), np.maximum(x, 0))
    np.testing.assert_array_equal(grad.numpy(), np.where(x > 0, upstream, 0))


def test_random_results_agree_if_as_many_are_zero() -> None:
    full, half = minigrad.ones(4), minigrad.tensor([1.0, 0.0, 0.0, 1.0])
    turned = minigrad.tensor([0.0, 1.0, 1.0, 0.0])
    assert layers.same_zeros((half, [half]), (turned, [turned]))
    assert not layers.same_zeros((half, [half]), (turned, [full]))


def test_each_layer_is_small_and_large_beside_torch_and_large_beside_numpy() -> None:
    names = [task.name for task in layers.layer_tasks()]
    for layer in LAYERS:
        assert sum(name.startswith(f"layer: {layer.name} ") for name in names) == 2
    wanted = "softmax cross_entropy layer_norm gelu embedding dropout max_pool2d conv2d"
    assert [layer.name for layer in LAYERS if layer.in_mean] == wanted.split()
    assert names[-1] == "layer: geometric mean"


def test_mean_counts_ratios_to_torch_of_the_same_results() -> None:
    found: dict[str, float] = {}

    def side(result: float) -> Any:
        return lambda module: lambda: result

    for name, result in (("torch", 1.0), ("torch", 2.0), ("NumPy", 1.0)):
        # Its name says beside whom; NumPy's module is always there.
        peer = NumPyNamed(name, None, None, side(result))
        task = Timed("one", side(1.0), (peer,))
        list(layers.counted_rows(task, found, "one", quick=True))
    assert len(found) == 1
    ratios = {"layer: one": 0.5, "layer: two": 2.0}
    (row,) = layers.mean_row(ratios, "mean", quick=True)
    assert row.ratio == (statistics.geometric_mean([0.5, 2.0]), 0.5, 2.0)
    assert row.note == "of 2 layers; the slowest: two 2.00, one 0.50"
    (empty,) = layers.mean_row({}, "mean", quick=True)
    assert (empty.ratio, empty.verdict) == (None, "")


class NumPyNamed(Peer):
    """A peer of any name that is installed."""

    module = np
