"""An answer that is a class of dual numbers: what programs that use it return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PROGRAMS = (
    "x + x",
    "x.exp()",
    "(x + x).exp()",
    "x * x.exp()",
    "x * (x * x).exp() + x",
    "(x + x) * x",
)


@dataclass(frozen=True)
class Dual:
    """What a program returned; ``kind`` is said of what has no value and slope."""

    program: str
    value: float = 0.0
    slope: float = 0.0
    kind: str = ""


def run_programs(answer: Any, value: float, slope: float) -> tuple[Dual, ...]:
    """Each program on the dual number with this value and slope, while there is one."""
    runs: list[Dual] = []
    for program in PROGRAMS:
        runs.append(run(answer, program, value, slope))
        if runs[-1].kind:
            break
    return tuple(runs)


def run(answer: Any, program: str, value: float, slope: float) -> Dual:
    """One program."""
    result = eval(program, {"x": answer(value, slope)})
    try:
        return Dual(program, float(result.value), float(result.slope))
    except (AttributeError, TypeError):
        return Dual(program, kind=type(result).__name__)
