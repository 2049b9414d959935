"""The models of the bench learn, and losses that differ get no ratio."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.bench import models


def test_models_learn() -> None:
    for model in models.models():
        minigrad.manual_seed(0)
        start = models.parameters_of(model.make(minigrad))
        run = models.step_of(minigrad, model, start)
        losses = [run() for _ in range(15)]
        assert losses[-1] < 0.985 * losses[0], model.name


def test_names_are_numbers_and_the_next_letter_is_asked_for() -> None:
    x, y = models.name_batches()[0]
    y = y.reshape(x.shape)
    np.testing.assert_array_equal(x[:, 1:], y[:, :-1])
    assert set(x[:, 0]) == {0}
    assert set(y[:, -1]) == {0}
    assert x.max() <= 26


@pytest.mark.parametrize(("factor", "fair"), [(1.0, True), (1.2, False)])
def test_losses_that_differ_get_no_ratio(
    monkeypatch: pytest.MonkeyPatch, factor: float, fair: bool
) -> None:
    inner, made = models.step_of, []

    def step_of(torch: Any, *rest: Any) -> Any:
        run = inner(minigrad, *rest)
        made.append(torch)
        by = factor if torch is not minigrad else 1.0
        return lambda: run() * by

    monkeypatch.setattr(models, "step_of", step_of)
    first = models.models()[:1]
    monkeypatch.setattr(models, "models", lambda: first)
    (row,) = models.model_rows("torch", 0.0, steps=2)
    assert (row.ratio is not None) is fair
    assert ("different losses" in row.measured) is not fair
    (alone,) = models.model_rows(None, 0.0, steps=2)
    assert alone.ratio is None
    assert alone.measured.startswith("loss 2.")
