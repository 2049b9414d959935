"""Other engines, training steps, and what is saved: no time is compared."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.bench import __main__ as command
from minigrad.bench import peers, saving, training
from minigrad.bench.rows import Ratio, Row


def test_who_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "imported", lambda name: None)
    rows = list(peers.peer_rows(0.0))
    assert [row.name.split(": ")[1] for row in rows] == [
        *["autograd, an op", "mygrad, an op", "jax, an op"]
    ]
    assert {row.measured for row in rows} == {"not installed"}
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
    (row,) = peers.peer_rows(0.0)
    assert (row.ratio is not None) is fair
    assert fair or row.measured == "different results"


def test_steps_by_hand_and_with_layers_have_the_same_losses() -> None:
    by_hand, ours = training.step_in_numpy(), training.step_of(minigrad)
    losses = [(by_hand(), ours()) for _ in range(5)]
    np.testing.assert_allclose(*np.transpose(losses), rtol=1e-4)
    assert losses[4][0] < losses[0][0]


def test_rows_of_training_name_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "imported", lambda name: None)
    rows = list(training.training_rows(None, 0.0))
    assert [row.ratio is None for row in rows] == [False, True]
    assert rows[1].measured == "not installed"
    monkeypatch.setattr(training, "step_in_numpy", lambda: lambda: 1.0)
    row, _ = training.training_rows(None, 0.0)
    assert row.measured == "different results"


ROWS = [
    Row("fast", "1 us", "2 us", "0.50", "0.60 met", Ratio(0.4, 0.5, 0.6, 0.6)),
    Row("slow", "3 us", "2 us", "1.50", "1.00 missed", Ratio(1.4, 1.5, 1.6, 1.0)),
    Row("alone", "1 us", "-", "-", "-"),
]


def test_rows_as_json() -> None:
    found = json.loads(saving.as_json(ROWS, "torch 2"))
    assert found["against"] == "torch 2"
    fast, _, alone = found["rows"]
    assert fast["ratio"] == {"low": 0.4, "median": 0.5, "high": 0.6, "goal": 0.6}
    assert alone["ratio"] is None
    assert alone["name"] == "alone"


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_rows_as_a_picture(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"bench.{ending}"
    saving.save_picture(ROWS, path)
    start = path.read_bytes()[:100]
    assert (b"PNG" if ending == "png" else b"<?xml") in start


def test_command_saves_what_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "recording_rows", lambda: iter(ROWS))
    file, picture = tmp_path / "rows.json", tmp_path / "rows.svg"
    arguments = ["--alone", "--only", "recording", "--json", str(file)]
    assert command.main([*arguments, "--plot", str(picture)]) == 0
    printed = capsys.readouterr().out
    names = [row["name"] for row in json.loads(file.read_text())["rows"]]
    assert names == ["fast", "slow", "alone"]
    assert all(name in printed for name in names)
    assert picture.exists()
