"""00.3: what ctx holds after a call, read off the call itself."""

from __future__ import annotations

import minigrad
from minigrad.course.exercises.rules import function_of

Stretch = function_of({"of": "x, w", "forward": "x * w", "backward": "(g * w, g * x)"})
"""The recording in the notebook shows its like."""


def truth() -> dict[str, str]:
    """The shape of the second saved tensor, and who holds it."""
    matrix = minigrad.ones(2, 3, requires_grad=True)
    weights = minigrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    node = Stretch.apply(matrix, weights).grad_fn
    saved = node.saved_tensors[1]
    on_class = any(value is saved for value in vars(Stretch).values())
    return {
        "a": str(tuple(saved.shape)),
        "b": "the class Stretch" if on_class else "the ctx of this call",
    }
