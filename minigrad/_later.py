"""Names of a package whose module is imported when one of them is first used.

A package says ``def __getattr__(name): return later(__name__, name, _FROM)``. Python
asks it for each name that the package has not (PEP 562), so only the first time.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import Any


def later(package: str, name: str, homes: Mapping[str, str]) -> Any:
    """Import the home of ``name``, and give the package that name from now on.

    ``homes`` has the module of each name, written as in ``from .module import name``;
    the name ``nn`` at home in ``.nn`` is that module.
    Raises: AttributeError for a name that is not among them.
    """
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    home = homes[name]
    found: Any = importlib.import_module(home, package)
    if home != f".{name}":
        found = getattr(found, name)
    vars(sys.modules[package])[name] = found
    return found
