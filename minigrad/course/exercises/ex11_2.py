"""11.2: dual numbers of the learner's own, tried on three programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.course.check import Faults, Finding
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.duals import Dual, run_programs
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)

Rule = Callable[..., float]

MUL: dict[str, Rule] = {
    "right": lambda a, da, b, db: da * b + a * db,
    "cross.first": lambda a, da, b, db: da * b,
    "cross.second": lambda a, da, b, db: a * db,
    "cross.both": lambda a, da, b, db: da * db,
    "turned": lambda a, da, b, db: a * da + b * db,
}
EXP: dict[str, Rule] = {
    "right": lambda y, x, dx: y * dx,
    "exp.alone": lambda y, x, dx: y,
    "exp.of_slope": lambda y, x, dx: math.exp(dx),
    "exp.input": lambda y, x, dx: x * dx,
}
"""Slopes of a product and of exp, and how they are known to go wrong."""


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
    right = Known.run(run.program, x, slope, "right")
    if run.changed:
        return say("changed", **shown)
    if not math.isclose(run.value, right.value):
        return say("value", got=run.value, right=right.value, **shown)
    if math.isclose(run.slope, right.slope):
        return None
    names = [*EXP, *MUL][::-1]
    usual = {wrong: Known.run(run.program, x, slope, wrong).slope for wrong in names}
    name = named("slope", usual, lambda known: math.isclose(run.slope, known))
    return say(name, got=run.slope, right=right.slope, **shown)


class Known:
    """A dual number with the right rules, but for one with a name of its own."""

    def __init__(self, value: float, slope: float, rule: str) -> None:
        self.value, self.slope, self.rule = value, slope, rule

    @classmethod
    def run(cls, program: str, x: float, slope: float, rule: str) -> Known:
        """What a program comes to."""
        result: Known = eval(program, {"x": cls(x, slope, rule)})
        return result

    def __add__(self, other: Known) -> Known:
        return Known(self.value + other.value, self.slope + other.slope, self.rule)

    def __mul__(self, other: Known) -> Known:
        mul = MUL.get(self.rule, MUL["right"])
        slope = mul(self.value, self.slope, other.value, other.slope)
        return Known(self.value * other.value, slope, self.rule)

    def exp(self) -> Known:
        """e to the power of this."""
        value = math.exp(self.value)
        slope = EXP.get(self.rule, EXP["right"])(value, self.value, self.slope)
        return Known(value, slope, self.rule)
