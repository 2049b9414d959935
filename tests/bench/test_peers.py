"""Other engines and training steps: no time is compared."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.bench import peers, training


def rows_of(tasks: Any) -> list[Any]:
    """All rows of all tasks."""
    return [row for task in tasks for row in task.rows()]


def test_who_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "imported", lambda name: None)
    rows = rows_of(peers.peer_tasks(0.0))
    assert [row.against for row in rows] == ["autograd", "mygrad", "jax"]
    assert {row.note for row in rows} == {"not installed"}
    assert peers.PEERS.keys() == peers.GOALS.keys()


@pytest.mark.parametrize(("factor", "fair"), [(1.0, True), (1.1, False)])
def test_peer_with_other_gradients_gets_no_ratio(
    monkeypatch: pytest.MonkeyPatch, factor: float, fair: bool
) -> None:
    def program(module: Any) -> Any:
        found = [one * factor for one in peers.with_minigrad(minigrad)()]
        return lambda: found

    monkeypatch.setattr(peers, "PEERS", {"mygrad": program})
    monkeypatch.setattr(peers, "imported", lambda name: minigrad)
    (row,) = rows_of(peers.peer_tasks(0.0))
    assert (row.ratio is not None) is fair
    assert fair or row.note == "different results"


def test_steps_by_hand_and_with_layers_have_the_same_losses() -> None:
    by_hand, ours = training.step_in_numpy(), training.step_of(minigrad)
    losses = [(by_hand(), ours()) for _ in range(5)]
    np.testing.assert_allclose(*np.transpose(losses), rtol=1e-4)
    assert losses[4][0] < losses[0][0]


def test_replayed_step_begins_where_the_others_do() -> None:
    replayed, ours = training.replayed_step(), training.step_of(minigrad)
    assert [replayed() for _ in range(5)] == [ours() for _ in range(5)]


def test_replayed_step_has_a_row_beside_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "made_by", lambda *side: training.step_in_numpy())
    eager, replayed = training.training_row("jax.jit", None, 0.0)
    assert replayed.name == f"{eager.name}, in nn.replay"
    assert replayed.ratio is not None
    assert replayed.limit == 1.0


def test_rows_of_training_name_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "imported", lambda name: None)
    rows = rows_of(training.training_tasks(None, 0.0))
    found = {row.against: row.note for row in rows}
    assert "installed" not in found.pop("plain NumPy")
    assert set(found.values()) == {"not installed"}
    assert set(found) == {"torch, default", "torch, fused", "jax.jit"}
    monkeypatch.setattr(training, "step_in_numpy", lambda: lambda: 1.0)
    (row,) = training.training_row("plain NumPy", None, 0.0)
    assert row.note == "different results"
