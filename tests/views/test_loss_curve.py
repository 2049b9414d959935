"""A training loop with its bar and curve: the numbers, the words, what is refused."""

from __future__ import annotations

import re
import types
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from minigrad.utils.data import DataLoader, TensorDataset
from minigrad.views import loss_curve
from minigrad.views.loss_curve import training


def test_batches_of_all_epochs_in_order_and_a_bar(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = training(DataLoader(TensorDataset(minigrad.arange(5)), batch_size=2), 3)
    seen = []
    for (numbers,) in run:
        seen.append(numbers.tolist())
        run.note(loss=minigrad.tensor(1.0 / len(seen)))
    assert seen == [[0, 1], [2, 3], [4]] * 3
    bar = capsys.readouterr().out
    assert "epoch 1 of 3" in bar
    assert re.search(r"epoch 3 of 3: 100%.*9/9 .*loss=0.111", bar)
    assert run.noted == {"loss": pytest.approx([1 / n for n in range(1, 10)])}
    list(run)
    assert run.noted == {}


def test_long_curve_has_means_and_a_number_that_is_none_is_named() -> None:
    run = training(range(1000))
    for batch in run:
        run.note(loss=batch, accuracy=float("inf") if batch == 700 else 0.0)
        if batch == 799:
            break
    curve = run.curve()
    assert len(curve.across) == loss_curve.POINTS
    assert curve.across[:2] == [16, 32]
    assert curve.across[-1] == 800
    assert curve.lines["loss"][0] == np.mean(range(16))
    assert curve.sentence == (
        "800 of 1000 batches: loss went from 7.5 to 792, accuracy went from 0 to 0 "
        "(inf for the first time in batch 701)."
    )
    assert "<svg" in curve.svg()


def test_loss_of_nothing_but_nan_is_drawn_and_said() -> None:
    run = training(range(3))
    for _ in run:
        run.note(loss=float("nan"))
    assert "(nan for the first time in batch 1)" in run.curve().sentence
    assert "<svg" in run.curve().svg()


def test_graph_of_a_noted_loss_is_not_kept() -> None:
    x = minigrad.tensor(2.0, requires_grad=True)
    run = training([1])
    for _ in run:
        run.note(loss=x * x)
    assert run.noted == {"loss": [4.0]}
    assert type(run.noted["loss"][0]) is float


class Handle:
    """What IPython's display gives back: it shows another thing in the same place."""

    def __init__(self, shown: list[Any]) -> None:
        self.shown = shown

    def update(self, picture: Any) -> None:
        """Show this instead."""
        self.shown.append(picture.sentence)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sentences of all pictures that a notebook was told to show."""
    pictures: list[str] = []

    def display(nothing: dict[str, str], raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        assert nothing == {"text/plain": ""}
        return Handle(pictures)

    notebook = types.SimpleNamespace(
        get_ipython=lambda: types.SimpleNamespace(kernel=1)
    )
    where = types.SimpleNamespace(display=display)
    monkeypatch.setitem(loss_curve.sys.modules, "IPython", notebook)
    monkeypatch.setitem(loss_curve.sys.modules, "IPython.display", where)
    return pictures


def test_notebook_sees_the_newest_curve_in_one_place(
    shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(range(1000))
    monkeypatch.setattr(loss_curve.time, "monotonic", lambda: 0.2 * next(now))
    run = training(range(40))
    for batch in run:
        run.note(loss=40 - batch)
    assert shown[0].startswith("1 of 40 batches")
    assert shown[-1] == "40 of 40 batches: loss went from 40 to 1."
    assert 4 < len(shown) < 20


def test_curve_is_drawn_when_the_loop_is_left_early(shown: list[str]) -> None:
    run = training(range(40))

    def left() -> None:
        for batch in run:
            run.note(loss=batch)
            if batch == 9:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        left()
    assert shown[-1].startswith("10 of 40 batches")


def test_what_cannot_be_done_is_refused() -> None:
    def wrong(match: str) -> Any:
        return pytest.raises(errors.ArgumentValueError, match=match)

    with wrong("epochs=0"):
        training([1], 0)
    with wrong("generator doesn't say how many"):
        training(batch for batch in (1, 2))
    run = training([1, 2])
    with wrong("nothing was noted"):
        run.curve()
    with wrong("1 notes for 0 batches"):
        run.note(loss=1.0)
    for _ in run:
        with wrong(r"loss has the shape \(2,\)"):
            run.note(loss=minigrad.ones(2))
        run.note(loss=1.0)
        with wrong("got accuracy, and before loss"):
            run.note(accuracy=1.0)
        with wrong("notes for"):
            run.note(loss=1.0)
