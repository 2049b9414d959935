"""11.2: dual numbers of the learner's own, tried on three programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.course.check import Faults, Finding
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.duals import Dual, run_programs
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

CLOSE = 1e-9

Rule = Callable[[float, float, float, float], float]

WRONG: dict[str, tuple[Rule, Rule]] = {
    "cross.first": (lambda a, da, b, db: da * b, lambda y, dx, x, _: y * dx),
    "cross.second": (lambda a, da, b, db: a * db, lambda y, dx, x, _: y * dx),
    "cross.both": (lambda a, da, b, db: da * db, lambda y, dx, x, _: y * dx),
    "turned": (lambda a, da, b, db: a * da + b * db, lambda y, dx, x, _: y * dx),
    "exp.alone": (lambda a, da, b, db: da * b + a * db, lambda y, dx, x, _: y),
    "exp.of_slope": (
        lambda a, da, b, db: da * b + a * db,
        lambda y, dx, x, _: math.exp(dx),
    ),
    "exp.input": (lambda a, da, b, db: da * b + a * db, lambda y, dx, x, _: x * dx),
}
"""Slopes of a product and of exp, as they are known to go wrong."""


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The first program whose value or slope is not right."""
    if not isinstance(answer, type):
        yield say("no_class", answer=answer)
    x, slope = random.uniform(1.2, 1.6), random.uniform(2, 3)
    for run in seen(run_programs, (answer,), x, slope):
        yield fault_in(run, x, slope)


def fault_in(run: Dual, x: float, slope: float) -> Finding | None:
    """What is wrong with what one program returned."""
    shown = {"program": run.program, "x": round(x, 4), "t": round(slope, 4)}
    if run.kind:
        return say("no_dual", kind=run.kind, **shown)
    value, right = Known.run(run.program, x, slope)
    if abs(run.value - value) > CLOSE * abs(value):
        return say("value", got=run.value, right=value, **shown)
    if abs(run.slope - right) <= CLOSE * abs(right):
        return None
    name = "slope"
    for wrong, rules in WRONG.items():
        known = Known.run(run.program, x, slope, *rules)[1]
        if abs(run.slope - known) <= CLOSE * abs(known):
            name = f"slope.{wrong}"
    return say(name, got=run.slope, right=right, **shown)


class Known:
    """A dual number with the right rules, or with given ones."""

    def __init__(self, value: float, slope: float, *rules: Rule) -> None:
        self.value, self.slope, self.rules = value, slope, rules

    @classmethod
    def run(
        cls, program: str, x: float, slope: float, *rules: Rule
    ) -> tuple[float, float]:
        """Value and slope of a program."""
        result = eval(program, {"x": cls(x, slope, *(rules or RIGHT))})
        return result.value, result.slope

    def __add__(self, other: Known) -> Known:
        return Known(self.value + other.value, self.slope + other.slope, *self.rules)

    def __mul__(self, other: Known) -> Known:
        slope = self.rules[0](self.value, self.slope, other.value, other.slope)
        return Known(self.value * other.value, slope, *self.rules)

    def exp(self) -> Known:
        """e to the power of this."""
        value = math.exp(self.value)
        slope = self.rules[1](value, self.slope, self.value, 0.0)
        return Known(value, slope, *self.rules)


RIGHT: tuple[Rule, Rule] = (
    lambda a, da, b, db: da * b + a * db,
    lambda y, dx, x, _: y * dx,
)
