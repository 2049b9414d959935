"""14.3: softmax cross-entropy in two kernels; the numbers are the gym's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.course.check import Array, Arrays, Faults
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.kernels import own_bytes
from minigrad.course.exercises.gym import cross_entropy
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

KERNELS = ("losses_of", "slopes_of")
CLASSES = 4000
"""An array for a row takes at least a byte for each."""


def wrong_gradients(
    g: Array, logits: Array, target: Array
) -> Iterator[tuple[str, Arrays]]:
    """Those of the gym; and the mean taken by a kernel, and again by the scale."""
    (right, _) = cross_entropy.gradients(g, logits, target)
    assert right is not None
    yield "R15", (right / len(target), None)
    yield from cross_entropy.wrong_gradients(g, logits, target)


def wrong_results(logits: Array, target: Array) -> Iterator[tuple[str, Array]]:
    """The same of what forward returns."""
    yield "R15", cross_entropy.reference(logits, target) / len(target)
    yield from cross_entropy.wrong_results(logits, target)


def look_also(answer: Any, random: np.random.Generator) -> Faults:
    """The bytes that each kernel takes beside what it is given."""
    logits, target = random.normal(size=(2, CLASSES)), np.zeros(2, int)
    logs, losses, slopes = np.zeros(2), np.zeros(2), np.zeros_like(logits)
    given = (logits, target, logs, losses), (logits, target, logs, 0.5, slopes)
    found = seen(own_bytes, (answer,), KERNELS, *given)
    for kernel, got in zip(KERNELS, found.tolist(), strict=True):
        if got < 0:
            yield say("missing", kernel=kernel)
        if got >= CLASSES:
            yield say("array", kernel=kernel, got=got, classes=CLASSES)
