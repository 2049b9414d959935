"""What torch 2.13 did, for a machine without it: ``in_torch.json``, by exercise.

A test runs the same again wherever torch is installed.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import numpy as np


@cache
def in_torch(exercise: str) -> Any:
    """What was recorded for an exercise."""
    file = resources.files(__package__) / "in_torch.json"
    return json.loads(file.read_text("utf8"))[exercise]


def result_of(torch: Any, program: str) -> Any:
    """What a program calls ``result``, run in an engine."""
    names = {"torch": torch, "np": np}
    exec(program, names)
    return names["result"]


def words_of(torch: Any, value: Any) -> str:
    """A result as text that both engines write in the same way.

    Of an exception, which of Python's it is: the words are each engine's own.
    """
    if isinstance(value, Exception):
        kinds = [k for k in type(value).__mro__ if k.__module__ == "builtins"]
        return kinds[0].__name__
    if isinstance(value, torch.Tensor):
        return str([round(n, 9) for n in value.detach().reshape(-1).tolist()])
    return str(value)
