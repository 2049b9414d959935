"""The programs of the engine's rows, and the engine that nobody can listen to."""

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.bench import NotComparedError, engine, unheard
from minigrad.bench.rows import Timed
from minigrad.engine import observe


@pytest.mark.parametrize("style", ["combined", "separate"])
def test_custom_chain_says_its_result_and_its_gradient(style: str) -> None:
    y, grad, others = engine.custom_chain(minigrad, style, 2, 3)()
    np.testing.assert_allclose(grad.numpy(), 1.001**3, rtol=1e-6)
    np.testing.assert_allclose(
        y.detach().numpy(), engine.numbers(2)[0] * 1.001**3, rtol=1e-6
    )
    assert others == []


def test_chain_with_two_saved_tensors_has_both_gradients() -> None:
    _, grad, (of_weight,) = engine.custom_chain(minigrad, "two saved", 2, 3)()
    np.testing.assert_allclose(grad.numpy(), 1.001**3, rtol=1e-6)
    wanted = 3 * 1.001**2 * engine.numbers(2)[0]
    np.testing.assert_allclose(of_weight.numpy(), wanted, rtol=1e-5)


@pytest.mark.parametrize("custom", [False, True])
def test_double_backward_gives_both_derivatives_of_the_eighth_power(
    custom: bool,
) -> None:
    first, second = engine.double_backward(minigrad, 3, custom)()
    assert set(first.detach().numpy()) == {8.0}
    assert set(second.numpy()) == {56.0}


def test_chain_as_a_function_is_the_chain_of_operations() -> None:
    x, *others = engine.leaves(minigrad, engine.SIZE)
    engine.chained((x, *others), minigrad.tanh).backward()
    wanted = engine.builtin_chain(minigrad)()
    for one, grad in zip((x, *others), wanted, strict=True):
        np.testing.assert_array_equal(one.grad.numpy(), grad.numpy())


def test_goals_of_the_engine_are_beside_torch_and_three_others() -> None:
    tasks = [task for task in engine.engine_tasks() if isinstance(task, Timed)]
    goals = {
        (task.name.removeprefix("engine: "), peer.name): (peer.goal, peer.stretch)
        for task in tasks
        for peer in task.peers
    }
    assert goals["custom, two saved, forward+backward", "torch"] == (0.6, 0.5)
    assert goals["built-in, forward+backward", "mygrad"] == (0.36, 0.28)
    assert {peer for _, peer in goals} == {"torch", "autograd", "mygrad", "jax"}


def test_memory_of_a_node_is_counted() -> None:
    (row,) = engine.memory_row("memory", quick=True)
    assert row.ours is not None
    assert 100 < row.ours < 2000
    assert row.shown_goal.startswith("520 B ")
    assert (row.note == "") is (row.verdict == "met")


def test_memory_above_the_goal_names_the_lines_that_took_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chain = engine.leaves

    def holding(torch: Any, count: int) -> Any:
        return [Heavy(one) for one in chain(torch, count)]

    monkeypatch.setattr(engine, "leaves", holding)
    (row,) = engine.memory_row("memory", quick=True, length=50)
    assert row.verdict == "missed"
    assert row.note.startswith("test_engine_rows.py:")


class Heavy:
    """A factor whose products keep a lot of memory."""

    def __init__(self, one: Any) -> None:
        self.one: Any = one
        self.kept: Any = None

    def __mul__(self, other: Any) -> Any:
        product = Heavy(other)
        product.kept = self, bytes(5000)
        return product


def test_long_chain_leaves_nothing_to_collect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("minigrad.bench.rows.imported", lambda name: None)
    time, left = engine.long_chain_rows("a chain", quick=False, length=12)
    assert time.note == "torch: not installed"
    assert left.shown_goal == "0 objects met"


class Ears:
    """A listener that counts what it hears."""

    observes = observe.RECORDED
    heard = 0

    def __getattr__(self, name: str) -> Any:
        def hear(*args: Any) -> None:
            self.heard += 1

        return hear


@pytest.fixture
def all_functions() -> Iterator[None]:
    """Let the collector know again what the tests keep from it: unheard looks there."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("all_functions")
def test_engine_without_listening_points_tells_nobody() -> None:
    program = engine.custom_chain(minigrad, size=1, length=3)
    heard, silent = unheard.heard_and_unheard(program)
    ears = Ears()
    observe.add(ears)
    silent()
    assert ears.heard == 0
    heard()
    assert ears.heard > 3 * 4


@pytest.mark.usefixtures("all_functions")
def test_engine_that_asks_in_other_words_is_not_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unheard, "TELLS", frozenset({"nobody_asks"}))
    unheard.unheard_codes.cache_clear()
    try:
        with pytest.raises(NotComparedError, match="no function of the engine names"):
            unheard.heard_and_unheard(lambda: 1.0)
    finally:
        unheard.unheard_codes.cache_clear()
