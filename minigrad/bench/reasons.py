"""Why a step takes longer than torch's, or less long: from what was measured."""

from __future__ import annotations

import cProfile
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import CodeType

import minigrad
from minigrad.bench.harness import Measured, Phases
from minigrad.bench.rows import with_unit

PACKAGE = Path(minigrad.__file__).parent

Sides = Mapping[str, Measured]


def because(times: Mapping[str, Sides], ahead: bool) -> str:
    """Which phases make a step shorter or longer than torch's, the most telling first.

    Nothing but what was measured in this run.
    """
    agreeing: list[str] = []
    opposed: list[str] = []
    for phase, sides in sorted(times.items(), key=difference, reverse=True):
        ours, theirs = sides["minigrad"].median, sides["torch"].median
        shown = f"{phase} ({with_unit(ours)}, torch's {with_unit(theirs)})"
        (agreeing if (ours <= theirs) is ahead else opposed).append(shown)
    parts = [("because of", agreeing), ("in spite of", opposed)]
    return ", ".join([f"{word} {' and '.join(them)}" for word, them in parts if them])


def difference(phase: tuple[str, Sides]) -> float:
    """How far apart two sides are in a phase."""
    _, sides = phase
    return abs(sides["minigrad"].median - sides["torch"].median)


def most_of_a_step(phases: Phases, steps: int = 20) -> str:
    """Where our step spends its time, by Python's profiler: in layers, and functions.

    The profiler slows down what calls much, so the shares are rough.
    """
    dict(phases())
    profile = cProfile.Profile(time.thread_time)
    profile.enable()
    for _ in range(steps):
        dict(phases())
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
