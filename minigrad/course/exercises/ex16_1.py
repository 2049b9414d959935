"""16.1: what the loss is before anything was learned."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.nn.functional import cross_entropy

DIGITS, LETTERS, BATCH = 10, 27, 32


def truth() -> dict[str, str]:
    """Each is run."""
    random = np.random.default_rng(0)
    x = minigrad.tensor(random.random((BATCH, 64)).astype(np.float32))
    y = minigrad.tensor(random.integers(0, DIGITS, BATCH))
    zeros, drawn = minigrad.zeros(64, DIGITS), random.normal(size=(64, DIGITS))
    w = minigrad.tensor(drawn.astype(np.float32) / 8, requires_grad=True)
    first = cross_entropy(x @ w, y)
    optimizer = minigrad.optim.Adam([w], lr=0.0)
    first.backward()
    optimizer.step()
    again = cross_entropy(x @ w, y)
    nothing = minigrad.zeros(BATCH, LETTERS)
    return {
        "a": shown(cross_entropy(x @ zeros, y)),
        "b": shown(cross_entropy(nothing, y)),
        "c": "the same" if again.item() == first.item() else "lower",
        "d": shown(cross_entropy(x @ zeros, y, reduction="sum")),
        "e": shown(cross_entropy(sure_of_one(y, 3), y)),
        "f": "up" if cross_entropy(8 * (x @ w), y) > first else "it stays",
    }


def shown(loss: Any) -> str:
    """A loss in three digits."""
    return f"{loss.item():.3g}"


def sure_of_one(y: Any, place: int) -> Any:
    """Logits that are sure of the label, and in one row of the next class."""
    logits = minigrad.zeros(len(y), DIGITS)
    for row, label in enumerate(y.tolist()):
        logits[row, (label + (row == place)) % DIGITS] = 320.0
    return logits
