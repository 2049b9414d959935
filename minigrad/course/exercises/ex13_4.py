"""13.4: two programs of the clinic: a shape and a sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.course.check import Faults, Finding
from minigrad.course.check.probes import checkers, opinions, seen
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages, named
from minigrad.course.exercises.rules import function_of

say = Messages(__name__)

DOUBLED = function_of(
    {"of": "x, w", "forward": "(x * w).sum()", "backward": "(2 * g * w, g * x)"}
)


def look_at(answer: Sequence[Any], random: np.random.Generator) -> Faults:
    """The test first, which nobody was to touch; then each Function."""
    linear, gap, passes = answer
    if seen(opinions.opinion_on, (passes,), DOUBLED, (2, 3), (2, 3)).said is not False:
        yield say("test")
    yield from look_at_linear(linear, random)
    yield from look_at_gap(gap, random)


def look_at_linear(linear: Any, random: np.random.Generator) -> Iterator[Finding]:
    """A batch whose sizes are all different, then one where they are all the same."""
    for batch, inputs, outputs in ((4, 3, 2), (3, 3, 3)):
        x, w = numbers(random, batch, inputs), numbers(random, outputs, inputs)
        g = numbers(random, batch, outputs)
        shapes = f"x {x.shape}, W {w.shape}, grad_output {g.shape}"
        found = seen(checkers.sloped, (linear,), (x, w), g)
        of_x, of_w = found.slopes
        if not np.allclose(found.value, x @ w.T):
            yield say("linear.value", shapes=shapes)
        if not np.allclose(of_x, g @ w):
            yield say("linear.x", shapes=shapes)
        if not np.allclose(of_w, g.T @ x):
            reshaped = np.allclose(of_w.ravel(), (x.T @ g).ravel())
            name = "linear.reshaped" if reshaped and outputs != inputs else "linear.w"
            yield say(name, shapes=shapes)


def look_at_gap(gap: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Prediction and target are both inputs; the upstream gradient is not 1."""
    made, wanted = numbers(random, 2, 3), numbers(random, 2, 3)
    g, loss = np.asarray(-1.5), ((made - wanted) ** 2).mean()
    found = seen(checkers.sloped, (gap,), (made, wanted), g)
    if not np.allclose(found.value, loss):
        turned = np.allclose(found.value, -loss)
        yield say("gap.value.turned" if turned else "gap.value", got=found.value)
    right = g * 2 * (made - wanted) / made.size
    of_made, of_wanted = found.slopes
    times = float((of_made / right).flat[0])
    usual = {
        "both": (-right, right),
        "target": (right, right),
        "made": (-right, -right),
    }
    if times:
        usual["factor"] = (abs(times) * right, -abs(times) * right)

    def fits(pair: tuple[Any, Any]) -> bool:
        return all(map(np.allclose, found.slopes, pair))

    if not (np.allclose(of_made, right) and np.allclose(of_wanted, -right)):
        name = named("gap", usual, fits)
        yield say(name, right=right, made=of_made, wanted=of_wanted, times=times)
