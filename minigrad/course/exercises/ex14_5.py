"""14.5: a convolution in two kernels, which unfold nothing; the numbers are the gym's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.course.check import Array, Arrays, Finding
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.convolutions import peak_of_conv
from minigrad.course.exercises.gym import conv1d
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

LENGTH, WIDTH = 400, 30
BUDGET = 60_000
"""Bytes: a dozen times what x, w and y take, and a fourth of x unfolded."""


def wrong_gradients(
    g: Array, x: Array, w: Array, padding: int
) -> Iterator[tuple[str, Arrays]]:
    """Those of the gym; and an edge that takes no part."""
    yield from conv1d.wrong_gradients(g, x, w, padding)
    right_x, right_w, _ = conv1d.gradients(g, x, w, padding)
    assert right_x is not None
    for edge, inside in without_an_edge(x):
        _, of_w, _ = conv1d.gradients(g, inside, w, padding)
        of_x = right_x * edge
        yield "L22", (of_x, of_w, None)
        yield "L22", (of_x, right_w, None)
        yield "L22", (right_x, of_w, None)


def wrong_results(x: Array, w: Array, padding: int) -> Iterator[tuple[str, Array]]:
    """The same of what forward returns."""
    yield from conv1d.wrong_results(x, w, padding)
    for _, inside in without_an_edge(x):
        yield "L22", np.asarray(conv1d.reference(inside, w, padding))


def without_an_edge(x: Array) -> Iterator[tuple[Array, Array]]:
    """Ones but for the first number of each signal, or the last, or both; and x so."""
    for ends in ([0], [-1], [0, -1]):
        edge = np.ones(x.shape[-1], x.dtype)
        edge[ends] = 0
        yield edge, x * edge


def look_also(answer: Any, random: np.random.Generator) -> list[Finding]:
    """The bytes that a long signal takes, and a wide kernel."""
    x, w = random.normal(size=(1, 2, LENGTH)), random.normal(size=(1, 2, WIDTH))
    got = int(seen(peak_of_conv, (answer,), x, w))
    if got <= BUDGET:
        return []
    said = {"got": got, "budget": BUDGET, "unfolded": x.nbytes * WIDTH}
    return [say("bytes", answer=answer.__name__, **said)]
