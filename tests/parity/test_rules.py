"""Every program of tests/engine, nn and optim once more, with torch for minigrad.

So each fact that those tests state of minigrad is also true of torch, as installed.
"""

import importlib
import inspect
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent


def programs() -> dict[str, Any]:
    """The tests that take the fixture ``torch``, by name."""
    found: dict[str, Any] = {}
    folders = ("engine", "nn", "optim")
    for path in sorted([p for f in folders for p in TESTS.glob(f"{f}/test_*.py")]):
        module = importlib.import_module(f"tests.{path.parent.name}.{path.stem}")
        for name, test in vars(module).items():
            if not name.startswith("test_") or not callable(test):
                continue
            if "torch" in inspect.signature(test).parameters:
                assert name not in found, f"two programs are called {name}"
                found[name] = test
    return found


globals().update(programs())


def test_there_are_programs() -> None:
    assert len(programs()) > 100
