"""17.3: eight of torch's messages: programs that raise them, and what repairs them.

A choice changes its program as ``repairs`` in the text file says. Which one repairs it
is found out by running: no error, and the result that is right.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import minigrad
from minigrad.course.exercises.messages import text_of
from minigrad.course.exercises.recorded import result_of

ASKED: list[dict[str, Any]] = text_of(__name__)["questions"]
ERRORS = (AttributeError, RuntimeError, TypeError)


def repaired(question: dict[str, Any], place: int) -> str:
    """The program of a question as the choice at this place changes it."""
    program: str = question["program"]
    changes = question["repairs"][place]
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        if old not in program:
            raise ValueError(f"no {old!r} in the program")
        program = program.replace(old, new)
    return program


def works(torch: Any, question: dict[str, Any], place: int) -> bool:
    """Whether a program with a repair gives what is right."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a .grad that is no leaf's
            value = result_of(torch, repaired(question, place))
    except ERRORS:
        return False
    right = question["right"]
    if isinstance(right, str):
        return str(value).endswith(right)
    if value is None:
        return False
    return np.allclose(value.detach().reshape(-1).tolist(), right, atol=1e-4)


def repairs(torch: Any) -> list[str]:
    """For each program, the letters of the repairs that work."""
    return ["".join(["abc"[n] for n in range(3) if works(torch, q, n)]) for q in ASKED]


def truth() -> dict[str, str]:
    """Which choice repairs each program, as a run says."""
    rows = zip("abcdefgh", ASKED, repairs(minigrad), strict=True)
    return {name: q["choices"]["abc".index(found)] for name, q, found in rows}
