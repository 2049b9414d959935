"""The command: what it prints, saves and says when it is stopped."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from minigrad.bench import __main__ as command
from minigrad.bench import kernels, saving
from minigrad.bench.harness import Ratio
from minigrad.bench.rows import Growth, Row, Task

CURVE = Growth("words", [1, 10], {"minigrad": [1.0, 10.0]}, {"minigrad": 1.0})
ROWS = [
    Row("fast", "1 us", "2 us", "torch", Ratio(0.5, 0.4, 0.6, 0.45, 0.55), "0.60 met"),
    Row("slow", "3 us", "2 us", "jax", Ratio(1.5, 1.4, 1.6, 1.4, 1.6), "1.00 missed"),
    Row("alone", "1 us", note="first\nsecond"),
    Row("growing", "1 us", growth=CURVE),
]


@pytest.fixture(autouse=True)
def in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in command.ONE_THREAD.items():
        monkeypatch.setenv(name, value)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    tasks = [Task("all", ROWS.copy)]
    monkeypatch.setattr(command, "recording_tasks", lambda quick: tasks)
    return command.main(["--alone", "--only", "recording", *arguments])


def test_rows_as_json() -> None:
    found = json.loads(saving.as_json(ROWS, {"torch": "2", "jax": None}))
    assert found["others"] == {"torch": "2", "jax": None}
    fast, _, alone, growing = found["rows"]
    assert fast["ratio"] == {
        "median": 0.5,
        "min": 0.4,
        "max": 0.6,
        "low": 0.45,
        "high": 0.55,
    }
    assert alone["ratio"] is None
    assert growing["growth"]["sizes"] == [1, 10]


def test_line_has_median_least_most_and_goal() -> None:
    words = str(ROWS[0]).split()
    assert words[-5:] == ["0.50", "0.40", "0.60", "0.60", "met"]
    assert str(ROWS[2]).splitlines()[1:] == ["    first", "    second"]


def test_command_saves_what_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, picture = tmp_path / "rows.json", tmp_path / "rows.svg"
    assert run(monkeypatch, "--json", str(file), "--plot", str(picture)) == 0
    printed = capsys.readouterr().out
    assert [row["name"] for row in json.loads(file.read_text())["rows"]] == [
        row.name for row in ROWS
    ]
    assert all(str(row) in printed for row in ROWS)
    assert "Goals: 1 met, 1 missed.\n  missed: slow (jax)\n" in printed
    for path in (picture, tmp_path / "rows-growth.svg"):
        assert path.read_bytes().startswith(b"<?xml")
        assert f"written: {path}" in printed


def test_stopped_command_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> Any:
        yield ROWS[0]
        raise KeyboardInterrupt

    tasks = [Task("some", interrupted), Task("never", ROWS.copy)]
    monkeypatch.setattr(command, "planned", lambda options: tasks)
    file = tmp_path / "rows.json"
    assert command.main(["--json", str(file)]) == 130
    printed = capsys.readouterr().out
    assert "Stopped; this is what was measured until then." in printed
    assert [row["name"] for row in json.loads(file.read_text())["rows"]] == ["fast"]


@pytest.mark.parametrize("bar", [True, False])
def test_rows_for_which_no_time_is_left_are_named(
    bar: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not bar:
        monkeypatch.setattr(command, "imported", lambda name: None)
    tasks = [Task("some", ROWS[:1].copy), Task("more", ROWS.copy)]
    assert list(command.measured(tasks, time.monotonic() - 1)) == []
    assert "No time left for 2: some, more." in capsys.readouterr().out
    assert list(command.measured(tasks, float("inf"))) == [ROWS[0], *ROWS]
    assert "No time left" not in capsys.readouterr().out


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    said = command.who_is_here({"torch": "2.13.0", "jax": None, "mygrad": None})
    assert said == "Beside: torch 2.13.0, plain NumPy. Not installed: jax, mygrad."
    assert "Not installed" not in command.who_is_here({"torch": "2.13.0"})


AGAIN = ["-m", "minigrad", "bench", "--quick"]


def test_command_starts_again_where_threads_are_not_settled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Replaced(BaseException):
        """This process would be another one now."""

    def execve(program: str, line: list[str], environ: dict[str, str]) -> None:
        assert line == [program, *AGAIN]
        assert environ == {**os.environ, **command.ONE_THREAD}
        raise Replaced

    monkeypatch.setattr(os, "execve", execve)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    with pytest.raises(Replaced):
        command.main(["--quick"])


def test_windows_waits_for_what_was_started_also_after_ctrl_c(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Process:
        def __init__(self, line: list[str], env: dict[str, str]) -> None:
            assert line[1:] == AGAIN
            assert env == {**os.environ, **command.ONE_THREAD}
            self.interrupted = False

        def __enter__(self) -> "Process":
            return self

        def __exit__(self, *error: object) -> None:
            """Nothing to close."""

        def wait(self) -> int:
            if not self.interrupted:
                self.interrupted = True
                raise KeyboardInterrupt
            return 130

    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(command.os, "name", "nt")
    code = command.in_one_thread(["--quick"])
    monkeypatch.undo()
    assert code == 130


def test_plan_has_every_family_and_quick_measures_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "cases", list)
    names = {}
    for quick in (False, True):
        options = command.parsed(["--alone", *(["--quick"] if quick else [])])
        names[quick] = [task.name for task in command.planned(options)]
        assert options.seconds == (0.3 if quick else 3.0)
    assert set(names[True]) < set(names[False])
    for word in ("memory of a node", "MLP on digits", "growth with the", "recording"):
        assert any(word in name for name in names[True]), word
