"""The tests of tests/engine as plain calls: all of them take a few seconds.

pytest needs ten times as long, too much for each of the mutants of token_mutants.py.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import mmap
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

HERE = Path(__file__).resolve().parent

Program: TypeAlias = Callable[[], None]
Fixture: TypeAlias = Callable[[], Any]

FOLDERS = [HERE, HERE.parent / "tracing"]
LEFT_OUT = ["test_token_mutants", "test_mutants"]
"""The tests that look for mutants themselves."""

AT = mmap.mmap(-1, 4)
"""Which program a child process runs: memory that it shares with its parent."""


def short_programs() -> list[Program]:
    """The tests that need no fixtures but minigrad itself and those of their module."""
    import minigrad

    found: list[Program] = []
    for folder in FOLDERS:
        for path in sorted(folder.glob("test_*.py")):
            if path.stem in LEFT_OUT:
                continue
            module = importlib.import_module(f"tests.{folder.name}.{path.stem}")
            ready = {"torch": lambda: minigrad} | fixtures_of(module)
            always = [name for name in ready if is_autouse(vars(module).get(name))]
            for name, test in vars(module).items():
                if name.startswith("test_") and inspect.isfunction(test):
                    found += programs_of(test, ready, always)
    return found


def fixtures_of(module: ModuleType) -> dict[str, Fixture]:
    """The functions behind the fixtures of a module that ask for no other fixture."""
    found = {}
    for name, value in vars(module).items():
        if hasattr(value, "_fixture_function_marker"):
            function = inspect.unwrap(value)
            if not inspect.signature(function).parameters:
                found[name] = function
    return found


def is_autouse(fixture: Any) -> bool:
    """Whether a fixture of a module is there for all its tests."""
    return bool(fixture and fixture._fixture_function_marker.autouse)


def programs_of(
    test: Any, ready: dict[str, Fixture], always: list[str]
) -> list[Program]:
    """One program for each case of a test; none if it needs other fixtures."""
    wanted = set(inspect.signature(test).parameters)
    cases = cases_of(test)
    fixtures = wanted.difference(*cases)
    if not fixtures <= set(ready):
        return []
    given = {name: ready[name] for name in [*always, *fixtures]}
    return [functools.partial(run_test, test, case, given) for case in cases]


def cases_of(test: Any) -> list[dict[str, Any]]:
    """The values that ``parametrize`` gives a test, by name."""
    cases: list[dict[str, Any]] = [{}]
    for mark in getattr(test, "pytestmark", []):
        if mark.name == "parametrize":
            names, rows = mark.args[:2]
            names = names.split(",") if isinstance(names, str) else names
            names = [name.strip() for name in names]
            values = [values_of(row, len(names)) for row in rows]
            more = [dict(zip(names, value, strict=True)) for value in values]
            cases = [case | one for case in cases for one in more]
    return cases


def values_of(row: Any, count: int) -> Any:
    """The values of one case, which may stand in a ``pytest.param``."""
    if type(row).__name__ == "ParameterSet":
        return row.values
    return row if count > 1 else (row,)


def run_test(test: Any, case: dict[str, Any], fixtures: dict[str, Fixture]) -> None:
    """Run a test as pytest would, within its fixtures."""
    given = dict(case)
    wanted = inspect.signature(test).parameters
    with contextlib.ExitStack() as stack:
        for name, fixture in fixtures.items():
            if inspect.isgeneratorfunction(fixture):
                value = stack.enter_context(contextlib.contextmanager(fixture)())
            else:
                value = fixture()
            if name in wanted:
                given[name] = value
        test(**given)


def fails(program: Program) -> bool:
    """Whether a program raises, started from the state that every test starts from."""
    import minigrad
    from minigrad.engine import observe

    np.random.seed(0)
    minigrad.manual_seed(0)
    minigrad.set_grad_enabled(True)
    minigrad.set_default_dtype(minigrad.float32)
    minigrad.teaching(False)
    minigrad.autograd.set_detect_anomaly(False)
    observe.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            program()
        except BaseException:
            return True
    return False


def is_killed(programs: list[Program]) -> bool:
    """Whether one of the programs fails; notes the one that runs."""
    for number, program in enumerate(programs):
        AT.seek(0)
        AT.write(number.to_bytes(4, "big"))
        if fails(program):
            return True
    return False


def let_the_killer_go_first(programs: list[Program]) -> None:
    """The next mutant is likely to be noticed by what noticed this one."""
    killer = int.from_bytes(AT[:4], "big")
    programs.insert(0, programs.pop(killer))


def quick_and_green(programs: list[Program]) -> list[Program]:
    """Without the programs that need fixtures of their own, or long."""
    kept = []
    for program in programs:
        started = time.perf_counter()
        if not fails(program) and time.perf_counter() - started < 0.1:
            kept.append(program)
    return kept
