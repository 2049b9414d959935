"""13.4: two programs of the clinic: a shape and a sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.course.check import Crash, Faults, Finding
from minigrad.course.check.probes import checkers, opinions, seen, tried
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages
from minigrad.course.exercises.rules import function_of

say = Messages(__name__)

RULES = [
    ({"of": "x, w", "forward": "(x * w.T).sum()", "backward": f"({slopes})"}, says)
    for slopes, says in (
        ("2 * g * w.T, g * x.T", False),
        ("g * w.T, 1.01 * g * x.T", False),
        ("g * w.T, g * x.T", True),
    )
]
"""Products, and what a test has to say of them."""


def look_at(answer: Sequence[Any], random: np.random.Generator) -> Faults:
    """The test first, which nobody was to touch; then each Function."""
    linear, gap, passes = answer
    for rule, right in RULES:
        given = function_of(rule), (2, 3), (3, 2)
        found = tried(opinions.opinion_on, (passes,), *given)
        if isinstance(found, Crash) or found.said is not right:
            yield say("test.strict" if right else "test")
    yield from look_at_linear(linear, random)
    yield from look_at_gap(gap, random)


def look_at_linear(linear: Any, random: np.random.Generator) -> Iterator[Finding]:
    """The wrong product, in the shape of W."""
    x, w, g = (numbers(random, *shape) for shape in ((4, 3), (2, 3), (4, 2)))
    _, of_w = seen(checkers.sloped, (linear,), (x, w), g).slopes
    if of_w.shape == w.shape and np.allclose(of_w.ravel(), (x.T @ g).ravel()):
        shapes = f"x {x.shape}, W {w.shape}, grad_output {g.shape}"
        yield say("reshaped", shapes=shapes)
    square = [numbers(random, 3, 3) for _ in range(3)]
    _, of_w = seen(checkers.sloped, (linear,), tuple(square[:2]), square[2]).slopes
    if np.allclose(of_w, square[0].T @ square[2]):
        yield say("square")


def look_at_gap(gap: Any, random: np.random.Generator) -> Iterator[Finding]:
    """The loss itself turned round, or half of the repair."""
    made, wanted = numbers(random, 2, 3), numbers(random, 2, 3)
    g, loss = np.asarray(-1.5), ((made - wanted) ** 2).mean()
    found = seen(checkers.sloped, (gap,), (made, wanted), g)
    if np.allclose(found.value, -loss):
        yield say("turned", got=found.value)
    right = g * 2 * (made - wanted) / made.size
    if all(map(np.allclose, found.slopes, (right, right))):
        yield say("target")
