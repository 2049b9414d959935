"""14.5: a convolution in two kernels that unfold nothing; the numbers are the gym's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.course.check import Array, Arrays, Faults
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.kernels import peak_of_conv, peaks_of_conv
from minigrad.course.exercises.gym import conv1d
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

CHANNELS, PADDING, LENGTH, WIDTH = 16, 200, 400, 30
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
        yield "L22", (right_x * edge, conv1d.gradients(g, inside, w, padding)[1], None)
    last_x, last_w = last_products(g, x, w, padding)
    yield "R10", (last_x, right_w, None)
    yield "R10", (right_x, last_w, None)


def last_products(g: Array, x: Array, w: Array, padding: int) -> tuple[Array, Array]:
    """The gradients, if each product overwrites the one before."""
    for_x, for_w = np.zeros_like(x), np.zeros_like(w)
    for t, k, s in places(x, w, padding):
        for_x[..., s] = np.multiply.outer(g[:, -1, t], w[-1, :, k])
        for_w[..., k] = np.multiply.outer(g[-1, :, t], x[-1, :, s])
    return for_x, for_w


def places(x: Array, w: Array, padding: int) -> Iterator[tuple[int, int, int]]:
    """Each step of y and place of w, and the place of x that they meet."""
    length, width = x.shape[-1], w.shape[-1]
    for t in range(length + 2 * padding - width + 1):
        for k in range(width):
            if 0 <= t + k - padding < length:
                yield t, k, t + k - padding


def wrong_results(x: Array, w: Array, padding: int) -> Iterator[tuple[str, Array]]:
    """The same of what forward returns."""
    yield from conv1d.wrong_results(x, w, padding)
    for _, inside in without_an_edge(x):
        yield "L22", np.asarray(conv1d.reference(inside, w, padding))
    last = np.zeros_like(conv1d.reference(x, w, padding))
    for t, k, s in places(x, w, padding):
        last[..., t] = np.multiply.outer(x[:, -1, s], w[:, -1, k])
    yield "R10", last


def without_an_edge(x: Array) -> Iterator[tuple[Array, Array]]:
    """Ones but for the first number of each signal, or the last, or both; and x so."""
    for ends in ([0], [-1], [0, -1]):
        edge = np.ones(x.shape[-1], x.dtype)
        edge[ends] = 0
        yield edge, x * edge


def look_also(answer: Any, random: np.random.Generator) -> Faults:
    """The bytes that long signals take: with a wide kernel, and with many channels."""
    x, w = random.normal(size=(1, 2, LENGTH)), random.normal(size=(1, 2, WIDTH))
    got = int(seen(peak_of_conv, (answer,), x, w))
    said = {"answer": answer.__name__, "budget": BUDGET, "unfolded": x.nbytes * WIDTH}
    if got > BUDGET:
        yield say("bytes", got=got, **said)
    # With as much padding as there is signal, y is less than half of x.
    x, w = random.normal(size=(1, CHANNELS, PADDING)), np.ones((1, CHANNELS, 3))
    peaks = seen(peaks_of_conv, (answer,), x, w, PADDING).tolist()
    for method, peak, most in zip(("forward", "backward"), peaks, (1, 3), strict=True):
        if peak > most * x.nbytes:
            shown = {"method": method, "peak": peak, "x": x.nbytes}
            yield say("copy", padding=PADDING, most=most * x.nbytes, **shown, **said)
