"""The rows of the kernels: both sides compute the same, or there is no ratio."""

from typing import Any

import numpy as np

import minigrad
from minigrad.bench import kernels, layers, products

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
        assert kernels.same(compiled, plain, case.random), case.name
        flat = [
            np.reshape(one, np.shape(other))
            for one, other in zip(used, plain, strict=True)
        ]
        assert kernels.same(flat, plain, case.random), case.name


def test_products_compute_the_same_with_and_without_numba_and_graph() -> None:
    forward, backward, attention = [layers.our_kernels(case)() for case in PRODUCTS]
    for case, found in zip(PRODUCTS, (forward, backward, attention), strict=True):
        assert kernels.same(found, layers.in_numpy(case)(), False), case.name
    for case, found in zip(
        PRODUCTS, ((*forward, backward[0]),) * 2 + (attention[:2],), strict=True
    ):
        assert kernels.same(layers.our_program(case)(), found, False), case.name


def test_sides_that_differ_get_no_ratio(monkeypatch: Any) -> None:
    monkeypatch.setattr(kernels, "cases", lambda: [layers.gelu_case(4)])

    def off(case: layers.Case) -> Any:
        return lambda: [np.asarray(one) * 1.01 for one in case.on_arrays(True)()]

    rows = list(kernels.compared("x", layers.our_kernels, off, None, 0.0))
    assert [row.measured for row in rows] == ["different results"]
    fair = kernels.compared("x", layers.our_kernels, layers.in_numpy, (99.0, 0.0), 0.0)
    row, mean = fair
    assert row.goal == "99.00 met"
    assert mean.goal == "0.00 missed"


def test_results_of_other_shapes_or_shares_differ() -> None:
    one, two = np.ones(4), np.array([1.0, 0.0, 0.0, 0.0])
    assert kernels.same([one], [one], random=False)
    assert not kernels.same([one], [np.ones((4, 1))], random=False)
    assert kernels.same([two], [two[::-1]], random=True)
    assert not kernels.same([one], [two], random=True)


def test_programs_take_torchs_names() -> None:
    for case in [*SMALL, *PRODUCTS]:
        values = case.program(minigrad)()
        assert all(np.isfinite(one).all() for one in values)
