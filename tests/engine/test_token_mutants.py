"""A few single-token mutants of the engine every day, and the tool that makes them."""

import os
import subprocess
import sys
from pathlib import Path

from tests.engine.token_mutants import all_mutants, mutated, of_the_day
from tests.engine.token_survivors import EXPLAINED, REASONS

ROOT = Path(__file__).resolve().parent.parent.parent


def test_mutants_of_the_day_are_noticed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.token_mutants", "--today", "5"],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "killed by the short programs" in done.stdout


def test_mutants_differ_from_the_engine_and_have_one_name_each() -> None:
    mutants = all_mutants()
    assert len(mutants) > 1000
    assert all(mutant.old != mutant.new for mutant in mutants)
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert {"Function.apply", "GraphTask.run"} <= {m.function for m in mutants}
    assert len(of_the_day(5)) == 5


def test_mutants_are_code_or_left_out() -> None:
    codes = [mutated(mutant) for mutant in all_mutants("GraphTask.run")]
    assert sum(code is not None for code in codes) > 30


def test_every_explained_survivor_is_still_a_mutant_and_stands_once() -> None:
    mutants = {mutant.name: mutant for mutant in all_mutants()}
    assert not [name for name in REASONS if name not in mutants]
    assert all(mutated(mutants[name]) for name in REASONS)
    assert len(REASONS) == sum(map(len, EXPLAINED.values()))
