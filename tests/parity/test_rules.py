"""Every program of tests/engine once more, with torch in the place of minigrad.

So each fact that those tests state of minigrad is also true of torch, as installed.
"""

import importlib
import inspect
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).resolve().parent.parent / "engine"


def programs() -> dict[str, Any]:
    """The tests that take the fixture ``torch``, by name."""
    found: dict[str, Any] = {}
    for path in sorted(ENGINE.glob("test_*.py")):
        module = importlib.import_module(f"tests.engine.{path.stem}")
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
