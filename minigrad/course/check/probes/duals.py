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
    """What a program returned; ``kind`` is said of what has no value and slope.

    ``changed``: the number that went in holds something else afterwards.
    """

    program: str
    value: float = 0.0
    slope: float = 0.0
    kind: str = ""
    changed: bool = False


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
    x = answer(value, slope)
    result = eval(program, {"x": x})
    try:
        changed = (x.value, x.slope) != (value, slope)
        return Dual(program, float(result.value), float(result.slope), "", changed)
    except (AttributeError, TypeError):
        return Dual(program, kind=type(result).__name__)
