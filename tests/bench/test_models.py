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
        losses = [dict(run())["forward"] for _ in range(15)]
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
    inner = models.step_of

    def step_of(torch: Any, *rest: Any) -> Any:
        run = inner(minigrad, *rest)
        by = factor if torch is not minigrad else 1.0

        def phases() -> Any:
            for name, loss in run():
                yield name, loss and loss * by

        return phases

    monkeypatch.setattr(models, "step_of", step_of)
    model = models.models()[0]
    (row,) = models.model_rows(model, "torch", steps=2)
    assert (row.ratio is not None) is fair
    assert (row.note == "different losses") is not fair
    if fair:
        lost, verdict, *profiled = row.note.splitlines()
        assert bool(profiled) is verdict.startswith("behind by")
        assert lost.startswith("loss after 2 steps: minigrad 2.")
        assert verdict.startswith(("ahead by", "behind by"))
    (alone,) = models.model_rows(model, None, steps=2)
    assert alone.ratio is None
    assert alone.note.startswith("loss after 2 steps: minigrad 2.")
