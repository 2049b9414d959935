"""Functions from arrays to arrays, compiled when they are first called.

A module of it is loaded when it is first used: ``kernels.softmax``.
"""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError:
        says = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(says) from None
