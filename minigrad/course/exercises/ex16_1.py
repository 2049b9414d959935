"""16.1: what the loss is before anything was learned."""

from __future__ import annotations

import numpy as np

import minigrad
from minigrad.nn.functional import cross_entropy


def truth() -> dict[str, str]:
    """Each is run, on a batch of 32."""
    random = np.random.default_rng(0)
    x = minigrad.tensor(random.random((32, 64)).astype(np.float32))
    y = minigrad.tensor(random.integers(0, 10, 32))
    drawn = random.normal(size=(64, 10)).astype(np.float32) / 8
    w = minigrad.tensor(drawn, requires_grad=True)
    first, alike = cross_entropy(x @ w, y), minigrad.zeros(32, 10)
    optimizer = minigrad.optim.Adam([w], lr=0.0)
    first.backward()
    optimizer.step()
    again = cross_entropy(x @ w, y)
    places = (y.numpy() + (np.arange(32) == 3)) % 10  # in one row the next class
    sure = minigrad.tensor(320 * np.eye(10, dtype=np.float32)[places])
    return {
        "a": f"{cross_entropy(alike, y).item():.3g}",
        "b": f"{cross_entropy(minigrad.zeros(32, 27), y).item():.3g}",
        "c": "the same" if again.item() == first.item() else "lower",
        "d": f"{cross_entropy(alike, y, reduction='sum').item():.3g}",
        "e": f"{cross_entropy(sure, y).item():.3g}",
        "f": "up" if cross_entropy(8 * (x @ w), y) > first else "it stays",
    }
