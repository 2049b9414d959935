"""11.2: dual numbers of the learner's own, tried on three programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.course.check import Faults, Finding, told_apart
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.duals import Dual, Given, run_programs
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)

Rule = Callable[..., float]

MUL: dict[str, Rule] = {
    "right": lambda a, da, b, db: da * b + a * db,
    "cross.first": lambda a, da, b, db: da * b,
    "cross.second": lambda a, da, b, db: a * db,
    "cross.twice_first": lambda a, da, b, db: 2 * da * b,
    "cross.twice_second": lambda a, da, b, db: 2 * a * db,
    "cross.both": lambda a, da, b, db: da * db,
    "step": lambda a, da, b, db: da * b + a * db + da * db,
    "turned": lambda a, da, b, db: a * da + b * db,
    "square.first": lambda a, da, b, db: 2 * a * da,
    "square.second": lambda a, da, b, db: 2 * b * db,
}
EXP: dict[str, Rule] = {
    "right": lambda y, x, dx: y * dx,
    "exp.alone": lambda y, x, dx: y,
    "exp.of_slope": lambda y, x, dx: math.exp(dx),
    "exp.input": lambda y, x, dx: x * dx,
    "exp.power": lambda y, x, dx: x * math.exp(x - 1) * dx,
}
"""Slopes of a product and of exp, and how they are known to go wrong."""

ALONE = {"+": "slope.of.sum", ".": "slope.of.exp", "*": "slope.of.product"}
"""Which message is about one operation by itself, by its sign."""


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The first program whose value or slope is not right."""
    if not isinstance(answer, type):
        yield say("no_class", answer=answer)
    given = {
        "x": (random.uniform(1.2, 1.6), random.uniform(2, 3)),
        "y": (random.uniform(2, 3), random.uniform(-1, -0.5)),
        "z": (0.0, random.uniform(-2, -1)),
    }
    for run in seen(run_programs, (answer,), given):
        yield fault_in(run, given)


def fault_in(run: Dual, given: Given) -> Finding | None:
    """What is wrong with what one program returned."""
    letters = run.program.replace("exp", "")
    used = [(name, *numbers) for name, numbers in given.items() if name in letters]
    at = [f"{name} = {value:.4f} with slope {slope:.4f}" for name, value, slope in used]
    shown = {"program": run.program, "at": " and ".join(at), "changed": run.changed}
    if run.kind:
        return say("no_dual", kind=run.kind, **shown)
    right = Known.run(run.program, given, "right")
    if run.changed:
        return say("changed", **shown)
    if not math.isclose(run.value, right.value):
        got, wanted = told_apart(run.value, right.value, 5)
        return say("value", got=got, right=wanted, **shown)
    if math.isclose(run.slope, right.slope):
        return None
    # What comes later is only wrong where the rule was right before.
    names = {"x * y": MUL, "x.exp()": EXP}.get(run.program, {})
    usual = {wrong: Known.run(run.program, given, wrong).slope for wrong in names}
    name = named("slope", usual, lambda known: math.isclose(run.slope, known))
    signs = [sign for sign in run.program if sign in ALONE]
    if name == "slope" and len(signs) == 1:
        name = ALONE[signs[0]]
    got, wanted = told_apart(run.slope, right.slope, 5)
    return say(name, got=got, right=wanted, **shown)


class Known:
    """A dual number with the right rules, but for one with a name of its own."""

    def __init__(self, value: float, slope: float, rule: str) -> None:
        self.value, self.slope, self.rule = value, slope, rule

    @classmethod
    def run(cls, program: str, given: Given, rule: str) -> Known:
        """What a program comes to."""
        duals = {name: cls(*numbers, rule) for name, numbers in given.items()}
        result: Known = eval(program, dict(duals))
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
