"""Why a program takes as long as it does: how many functions it calls, and which."""

from __future__ import annotations

import cProfile
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import minigrad
from minigrad.bench.harness import Program

PACKAGE = Path(minigrad.__file__).parent


def with_unit(seconds: float) -> str:
    """A time with its unit.

    >>> with_unit(1.26e-5), with_unit(0.0234), with_unit(2.5)
    ('12.6 us', '23.4 ms', '2.50 s')
    """
    for scale, unit in ((1e6, "us"), (1e3, "ms"), (1.0, "s")):
        if abs(seconds) * scale < 999.5 or unit == "s":
            break
    value = seconds * scale
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def python_calls(program: Program) -> int:
    """How many functions written in Python a run calls, its own among them.

    >>> python_calls(lambda: sorted([2, 1], key=lambda number: -number))
    3
    """
    return counted(program).total()


def called_most(program: Program) -> str:
    """The functions written in Python that a run calls most often.

    >>> called_most(lambda: sorted([2, 1], key=abs))
    '<lambda> 1'
    """
    most = counted(program).most_common(8)
    return ", ".join([f"{code.co_qualname} {calls}" for code, calls in most])


def counted(program: Program) -> Counter[CodeType]:
    """How often a run calls each function written in Python."""
    calls: Counter[CodeType] = Counter()

    def count(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            calls[frame.f_code] += 1

    sys.setprofile(count)
    try:
        program()
    finally:
        sys.setprofile(None)
    return calls


def profiled(program: Program, runs: int = 20) -> str:
    """Where a program spends its time, by Python's profiler: layers, then functions.

    The profiler slows down what calls much, so the shares are rough.
    """
    program()
    profile = cProfile.Profile(time.process_time)
    profile.enable()
    for _ in range(runs):
        program()
    profile.disable()
    layers: dict[str, float] = defaultdict(float)
    functions: dict[str, float] = defaultdict(float)
    for entry in profile.getstats():
        layers[layer_of(entry.code)] += entry.inlinetime
        if not isinstance(entry.code, str):
            functions[entry.code.co_qualname] += entry.inlinetime
    total = sum(layers.values())
    parts = []
    for own in (layers, functions):
        most = sorted(own, key=own.__getitem__, reverse=True)[:4]
        parts.append(", ".join([f"{name} {own[name] / total:.0%}" for name in most]))
    return "; ".join(parts)


def layer_of(code: CodeType | str) -> str:
    """The layer of minigrad that a function belongs to; a string is a function in C.

    >>> layer_of(minigrad.nn.Linear.forward.__code__), layer_of("<built-in ...>")
    ('nn', 'functions in C')
    """
    if isinstance(code, str):
        return "functions in C"
    path = Path(code.co_filename)
    own = path.is_relative_to(PACKAGE)
    return path.relative_to(PACKAGE).parts[0] if own else "other libraries"
