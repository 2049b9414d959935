"""14.3: softmax cross-entropy in two kernels; the numbers are the gym's."""

from __future__ import annotations

from collections.abc import Iterator

from minigrad.course.check import Array, Arrays
from minigrad.course.exercises.gym import cross_entropy


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
