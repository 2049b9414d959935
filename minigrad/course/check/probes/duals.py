"""An answer that is a class of dual numbers: what programs that use it return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PROGRAMS = (
    "x + y",
    "x.exp()",
    "y.exp()",
    "x * y",
    "x * x",
    "z * y",
    "x + x",
    "(x + x).exp()",
    "x * x.exp()",
    "x * (x * x).exp() + x",
    "(x + x) * x",
)
"""First each operation by itself."""

Given = dict[str, tuple[float, float]]
"""A value and a slope, by the name that programs have for it."""


@dataclass(frozen=True)
class Dual:
    """What a program returned; ``kind`` is said of what has no value and slope.

    ``changed`` is the name of a number that holds something else afterwards.
    """

    program: str
    value: float = 0.0
    slope: float = 0.0
    kind: str = ""
    changed: str = ""


def run_programs(answer: Any, given: Given) -> tuple[Dual, ...]:
    """Each program on dual numbers of these values and slopes, while it returns one."""
    runs: list[Dual] = []
    for program in PROGRAMS:
        runs.append(run(answer, program, given))
        if runs[-1].kind:
            break
    return tuple(runs)


def run(answer: Any, program: str, given: Given) -> Dual:
    """One program."""
    duals = {name: answer(*numbers) for name, numbers in given.items()}
    result = eval(program, dict(duals))
    try:
        now = {name: (dual.value, dual.slope) for name, dual in duals.items()}
        changed = [name for name in given if now[name] != given[name]]
        return Dual(
            program,
            float(result.value),
            float(result.slope),
            changed=(changed or [""])[0],
        )
    except (AttributeError, TypeError):
        return Dual(program, kind=type(result).__name__)
