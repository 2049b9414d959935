"""The command: what it measures, prints, saves and refuses."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from minigrad.bench import __main__ as command
from minigrad.bench.harness import Ratio
from minigrad.bench.rows import Other, Row

FAST = Row("fast", 1e-6, 2e-6, "torch", Ratio(0.5, 0.4, 0.6), goal=0.6)
SLOW = Row("slow", 3e-6, 2e-6, "jax", Ratio(1.5, 1.4, 1.6), goal=1.0)
COUNT = Row("a count", 512, unit="B", note="first\nsecond")
LONG = Row("a long one", 1.0)
TASKS = [
    *[
        Other(row.name, lambda name, quick, row=row: [row])
        for row in (FAST, SLOW, COUNT)
    ],
    Other(LONG.name, lambda name, quick: [LONG], is_long=True),
]


@pytest.fixture(autouse=True)
def few_rows_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in command.ONE_THREAD.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(command, "all_tasks", TASKS.copy)


def names(*arguments: str) -> list[str]:
    return [task.name for task in command.planned(arguments)[0]]


def test_part_of_a_name_chooses_rows_in_their_order() -> None:
    assert names() == ["fast", "slow", "a count", "a long one"]
    assert names("LON", "fast") == ["fast", "a long one"]


def test_quick_leaves_out_what_is_long_unless_it_is_named() -> None:
    assert names("--quick") == ["fast", "slow", "a count"]
    assert names("--quick", "long") == ["a long one"]


def test_real_rows_have_names_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    found = names()
    assert len(found) == len(set(found))
    families = {name.partition(":")[0] for name in found}
    assert families == {"engine", "start", "layer", "step"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["fats"],
            r"(?s)no row's name contains 'fats' \(did you mean fast.*\n  a long",
        ),
        (["--json", "no/folder/x.json"], "cannot write .*x.json: No such file"),
        (["--json", "."], "cannot write .: Is a directory"),
        (["--only", "engine"], "unrecognized arguments: --only"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_measured(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        command.main(arguments)
    assert stopped.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert re.search(said, output.err)
    assert list(tmp_path.iterdir()) == []


def test_command_saves_what_it_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.json"
    assert command.main(["--quick", "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert all(str(row) in printed for row in (FAST, SLOW, COUNT))
    assert "Goals: 1 met, 1 missed.\n  missed: slow (jax)\n" in printed
    fast, slow, count = json.loads(file.read_text("utf8"))["rows"]
    assert fast["ratio"] == {"median": 0.5, "min": 0.4, "max": 0.6}
    assert [fast["verdict"], slow["verdict"], count["ratio"]] == ["met", "missed", None]


def test_stopped_command_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str, quick: bool) -> Any:
        yield FAST
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "all_tasks", lambda: [Other("x", interrupted), *TASKS])
    file = tmp_path / "rows.json"
    assert command.main(["--json", str(file)]) == 130
    assert "Stopped; this is what was measured" in capsys.readouterr().out
    assert [row["name"] for row in json.loads(file.read_text())["rows"]] == ["fast"]


@pytest.mark.parametrize("bar", [True, False])
def test_rows_for_which_no_time_is_left_are_named(
    bar: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not bar:
        monkeypatch.setattr(command, "imported", lambda name: None)
    monkeypatch.setattr(command, "QUICK_LIMIT", -1.0)
    assert list(command.measured(TASKS[:2], quick=True)) == []
    assert "No time left for 2: fast; slow." in capsys.readouterr().out
    assert list(command.measured(TASKS[:2], quick=False)) == [FAST, SLOW]
    assert "No time left" not in capsys.readouterr().out


def test_missing_libraries_are_named() -> None:
    said = command.who_is_here({"torch": "2.13.0", "jax": None, "mygrad": None})
    assert said.startswith("Beside: torch 2.13.0, NumPy ")
    assert said.endswith(". Not installed: jax, mygrad.")
    assert "Not installed" not in command.who_is_here({"torch": "2.13.0"})


AGAIN = [sys.executable, "-m", "minigrad", "bench", "--quick"]


def test_command_starts_again_where_threads_are_not_settled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Replaced(BaseException):
        """This process would be another one now."""

    def execve(program: str, line: list[str], environ: dict[str, str]) -> None:
        assert line == [program, *AGAIN[1:]]
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
            assert line == AGAIN
            assert env == {**os.environ, **command.ONE_THREAD}
            self.answers: Any = iter([KeyboardInterrupt, 130])

        def __enter__(self) -> "Process":
            return self

        def __exit__(self, *error: object) -> None:
            """Nothing to close."""

        def wait(self) -> int:
            answer = next(self.answers)
            if answer is KeyboardInterrupt:
                raise KeyboardInterrupt
            return answer

    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(command.os, "name", "nt")
    code = command.in_one_thread(["--quick"])
    monkeypatch.undo()
    assert code == 130
