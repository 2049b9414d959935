"""What single exercises do, apart from what they say of answers."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.course import examine
from minigrad.course.check.probes import traversals
from minigrad.course.check.probes.work import noted
from minigrad.course.exercises import catalogue, ex01_2, ex06_2, graphs
from minigrad.course.exercises.ex06_1 import stretched
from minigrad.nn.data import split
from tests.answers import rows


def test_recording_asked_inside_no_grad_is_found() -> None:
    spec = ex01_2
    lines = [
        "    needs = [x.requires_grad for x in inputs]",
        "    ctx = cls.backward_class()",
        "    with no_grad():",
        "        recording = grad_mode.enabled and any(needs)",
        "        output = cls.forward(ctx, *inputs)",
        "    ctx.edges = [edge_of(x) for x in inputs] if recording else []",
        "    if recording:",
        "        output.grad_fn = ctx",
        "    return output",
    ]
    found = spec.run_lines(lines)
    assert found is not None
    assert "Whether to record was asked where recording was off" in found.story


def test_numbers_of_a_repair_are_drawn_anew() -> None:
    answer = rows.Answer("01.3", "wrong", 0, {"returns": "grad_output, None"})
    wrong = answer.made_anew()
    texts = {examine("01.3", wrong, seed=seed).findings[0].what for seed in range(8)}
    assert len(texts) > 2


def test_bounds_on_a_class_are_noticed_whatever_is_drawn() -> None:
    answer = rows.named("02.3", "OnAClass").made_anew()
    # With these the random numbers do not tell one call's bounds from the next one's.
    for seed in (18, 21, 30):
        assert examine("02.3", answer, seed=seed).mistakes == ("S05",)


@pytest.mark.parametrize("name", ["CollectsInForward", "CollectsInBackward"])
def test_collector_of_garbage_is_on_after_a_check(name: str) -> None:
    answer = rows.named("03.3", name).made_anew()
    assert examine("03.3", answer).state == "wrong"
    assert gc.isenabled()


def test_products_are_counted_however_they_are_written() -> None:
    a, b = mg.ones(2, 3), mg.ones(3, 2)
    with noted(("matmul", "mm", "einsum")) as (ran, zeros):
        _ = a @ b, a.mm(b), mg.einsum("ij,jk->ik", a, b), a * 2
    assert (len(ran), zeros) == (3, [])
    _ = a @ b
    assert len(ran) == 3


def test_zeros_are_noted_whoever_makes_them() -> None:
    with noted(()) as (ran, zeros):
        _ = mg.zeros(2), np.zeros_like([1.0]), mg.ones(2).new_full((2,), 0.0)
    assert ran == []
    assert {"zeros", "zeros_like", "new_full"} <= set(zeros)


def test_number_of_a_line_that_nobody_sees_is_not_told() -> None:
    (finding,) = examine("05.2", "o e m b k n g a j i d").findings
    assert finding.what.endswith("after 'while' statement")


def test_random_graphs_are_reached_from_their_first_node() -> None:
    random = np.random.default_rng(1)
    for size in (2, 9, 60):
        order, edges = graphs.drawn(random, size)
        counts = graphs.counts_of(edges)
        assert [name for name in order if not counts[name]] == order[:1]
        for name in order:
            below = [receiver for receiver, _ in edges[name]]
            assert all(order.index(name) < order.index(each) for each in below)


def test_limit_of_recursion_is_as_before_after_a_check() -> None:
    limit = sys.getrecursionlimit()
    answer = rows.named("05.3", "with_more_calls").made_anew()
    assert examine("05.3", answer).state == "wrong"
    assert sys.getrecursionlimit() == limit


def test_lines_are_those_that_do_something() -> None:
    def short(root: Any, g: Any) -> Any:
        """Not counted."""
        # not counted either
        return [
            root,
            g,
        ]

    assert traversals.lines_of(short) == 3
    assert traversals.lines_of(mg.no_grad()(short)) == 3


def test_shapes_in_the_questions_are_those_that_are_run() -> None:
    for question in catalogue.load("06.1").questions:
        first, second = catalogue.load("06.1").spec.PAIRS[question.id]
        assert question.text == f"{first} in a sum with {second}"
    assert stretched((1,), (1,)) == []
    assert stretched((2, 3), (2, 3)) == []


def test_thirty_pairs_are_tried_and_each_can_be_stretched() -> None:
    assert len(set(ex06_2.PAIRS)) == 30
    shapes = [shape for _, shape in ex06_2.PAIRS]
    assert () in shapes
    assert any(0 in large for large, _ in ex06_2.PAIRS)
    for large, shape in ex06_2.PAIRS:
        assert np.broadcast_shapes(large, shape) == large


def test_no_name_is_both_trained_on_and_held_out() -> None:
    parts = split("names", np.random.default_rng(0))
    # Of each name, one row has no letter before, and one is followed by none.
    firsts = [int((x[:, 2] == 0).sum()) for x, _ in parts]
    assert firsts == [int((y == 0).sum()) for _, y in parts] == [300, 5163 - 300]
    (x, y), (rest, _) = split("digits", np.random.default_rng(0))
    assert len(x) == len(y) == 1797 - len(rest) == 360
    assert len(np.unique(mg.cat([x, rest]).numpy(), axis=0)) == 1797
