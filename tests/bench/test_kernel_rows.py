"""The rows of the kernels: both sides compute the same, or there is no ratio."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.bench import kernels, layers, products
from minigrad.bench.harness import agree
from minigrad.bench.rows import Row

SMALL = [
    layers.softmax_case(3, 4),
    layers.cross_entropy_case(3, 4),
    layers.layer_norm_case(3, 4),
    layers.batch_norm_case(3, 4),
    layers.batch_norm_case(3, 2, 2, 2),
    layers.gelu_case(5),
    layers.dropout_case(1000),
    layers.embedding_case(4, 3, 5),
    layers.max_pool_case(2, 3, 4),
    layers.adam_case(5),
]
PRODUCTS = [
    products.convolution_case(2, 3, 4, 2, 3, False),
    products.convolution_case(2, 3, 4, 2, 3, True),
    products.attention_case(2, 2, 5, 3),
]


def test_kernels_numpy_and_the_graph_compute_the_same() -> None:
    for case in SMALL:
        compiled, plain = layers.our_kernels(case)(), layers.in_numpy(case)()
        used = layers.our_program(case)()
        same = kernels.same_zeros if case.random else agree
        assert same(compiled, plain), case.name
        flat = [
            np.reshape(one, np.shape(other))
            for one, other in zip(used, plain, strict=True)
        ]
        assert same(flat, plain), case.name


def test_products_compute_the_same_with_and_without_numba_and_graph() -> None:
    forward, backward, attention = [layers.our_kernels(case)() for case in PRODUCTS]
    for case, found in zip(PRODUCTS, (forward, backward, attention), strict=True):
        assert agree(found, layers.in_numpy(case)()), case.name
    for case, found in zip(
        PRODUCTS, ((*forward, backward[0]),) * 2 + (attention[:2],), strict=True
    ):
        assert agree(layers.our_program(case)(), found), case.name


def test_kernels_that_differ_get_no_ratio_and_no_place_in_the_mean() -> None:
    def off(case: layers.Case) -> Any:
        return lambda: [np.asarray(one) * 1.01 for one in case.on_arrays(True)()]

    def rows(theirs: Any) -> list[Row]:
        sides = layers.our_kernels, theirs
        case = [layers.gelu_case(4)]
        tasks = kernels.beside("kernel", "plain NumPy", sides, case, 0.0)
        return [row for task in tasks for row in task.rows()]

    assert [row.note for row in rows(off)] == ["different results"]
    fair, mean = rows(layers.in_numpy)
    assert fair.ratio is not None
    assert mean.ratio is not None
    assert mean.ratio.median == pytest.approx(fair.ratio.median)
    assert fair.limit == 0.9
    assert mean.limit == 0.3


def test_convolution_says_how_long_its_products_alone_take() -> None:
    sides = layers.our_kernels, layers.in_numpy
    tasks = kernels.beside("kernel", "torch", sides, PRODUCTS[1:], 0.0)
    notes = [row.note for task in tasks for row in task.rows()]
    assert notes[0].startswith("a bound: its matrix products alone")
    assert notes[1:] == [""]
    run = PRODUCTS[0].products()
    assert run().shape == (2, 2 * 4 * 4)  # two outputs at each place of both images


def test_random_results_agree_if_as_many_are_zero() -> None:
    one, two = np.ones(4), np.array([1.0, 0.0, 0.0, 0.0])
    assert kernels.same_zeros([two], [two[::-1]])
    assert not kernels.same_zeros([one], [two])
    assert not kernels.same_zeros([one], [np.ones((4, 1))])


def test_quick_leaves_out_the_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "cases", lambda: [layers.gelu_case(4)])

    class Torch:
        """Named, and not used before a task runs."""

    names = {
        quick: [task.name for task in kernels.kernel_tasks(Torch, 0.0, quick)]
        for quick in (False, True)
    }
    left_out = set(names[False]) - set(names[True])
    assert left_out
    assert all("in a graph" in name for name in left_out)


def test_programs_take_torchs_names() -> None:
    for case in [*SMALL, *PRODUCTS]:
        values = case.program(minigrad)()
        assert all(np.isfinite(one).all() for one in values)
