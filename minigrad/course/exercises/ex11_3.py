"""11.3: the rules of three Functions for forward mode, beside those for backward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract, Finding, Part
from minigrad.course.exercises.catalogue import load
from minigrad.course.exercises.gym.elementwise import tensors
from minigrad.course.exercises.gym.random_inputs import numbers

ANSWER = "Mul, Exp, Sum"


def total(x: Array) -> Array:
    """What Sum's forward returns."""
    return np.asarray(x.sum())


def spread(g: Array, x: Array) -> Arrays:
    """The right gradient of Sum."""
    return (np.broadcast_to(g, x.shape).astype(x.dtype),)


def cases_of_sum(random: np.random.Generator) -> list[Case]:
    """Tensors of every kind; the upstream gradient is one number."""
    return [
        Case(name, (x,), numbers(random).astype(x.dtype)) for name, x in tensors(random)
    ]


def no_wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """Backward is given, so no known mistake is expected of it."""
    return iter(())


MUL, EXP = load("gym.JvpMul").spec, load("gym.Exp").spec

PARTS = (
    Part(
        Contract(name="Mul", arguments=("x", "y"), jvp=True),
        MUL.reference,
        MUL.cases,
        MUL.gradients,
        MUL.wrong_gradients,
    ),
    Part(
        Contract(name="Exp", arguments=("x",), jvp=True),
        EXP.reference,
        EXP.cases,
        EXP.gradients,
        EXP.wrong_gradients,
    ),
    Part(
        Contract(name="Sum", arguments=("x",), jvp=True),
        total,
        cases_of_sum,
        spread,
        no_wrong_gradients,
    ),
)


def look_at_rest(functions: Sequence[Any], rest: Sequence[Any]) -> list[Finding]:
    """Nothing else is handed over."""
    return []
