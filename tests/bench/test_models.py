"""The models of the bench learn, and their steps are the same on all sides."""

import os
from importlib.util import find_spec

import numpy as np
import pytest

import minigrad
from minigrad.bench import models


@pytest.mark.parametrize("model", models.models(), ids=lambda model: model.name)
def test_models_learn(model: models.Model) -> None:
    step = models.step_of(model, minigrad)
    losses = [step() for _ in range(15)]
    assert losses[-1] < 0.985 * losses[0]


def test_names_are_numbers_and_the_next_letter_is_asked_for() -> None:
    x, y = models.name_batches()[0]
    y = y.reshape(x.shape)
    np.testing.assert_array_equal(x[:, 1:], y[:, :-1])
    assert set(x[:, 0]) == {0}
    assert set(y[:, -1]) == {0}
    assert x.max() <= 26


def test_steps_by_hand_and_with_layers_have_the_same_losses() -> None:
    by_hand, ours = models.step_in_numpy(), models.step_of(models.models()[0], minigrad)
    losses = [(by_hand(), ours()) for _ in range(5)]
    np.testing.assert_allclose(*np.transpose(losses), rtol=1e-4)
    assert losses[4][0] != losses[0][0]


def test_replayed_step_begins_where_the_others_do() -> None:
    perceptron = models.models()[0]
    replayed = models.step_of(perceptron, minigrad, replayed=True)
    ours = models.step_of(perceptron, minigrad)
    assert [replayed() for _ in range(5)] == [ours() for _ in range(5)]


def test_steps_before_the_first_have_been_made() -> None:
    perceptron = models.models()[0]
    late, ours = (
        models.step_of(perceptron, minigrad, 2),
        models.step_of(perceptron, minigrad),
    )
    assert [ours() for _ in range(3)][2] == late()


def test_losses_that_drift_apart_do_not_agree() -> None:
    assert models.stay_together(1.0, 1.01)
    assert not models.stay_together(1.0, 1.05)


def test_functions_of_a_step_are_counted() -> None:
    tasks = {task.name: task for task in models.model_tasks()}
    name = "step: MLP 64-128-64-10 on digits: Python functions"
    (row,) = tasks[name].rows(True)
    assert row.ours is not None
    # The kernels' twins in NumPy are functions in Python, and count.
    compiles = os.environ.get("MINIGRAD_JIT") != "0" and find_spec("numba")
    assert 50 < row.ours <= (300 if compiles else 340)
    assert bool(row.note) != bool(compiles)
    assert row.shown_goal.startswith("300 functions ")


def test_step_with_too_many_functions_names_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(models, "python_calls", lambda step: 301)
    (row,) = models.calls_row("step", quick=True)
    assert row.verdict == "missed"
    assert row.note.startswith("called most: Tensor.__init__ 16, ")
