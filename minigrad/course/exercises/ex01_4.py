"""01.4: ``Mul``, the product of two tensors of one shape."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract

CONTRACT = Contract(name="Mul", arguments=("x", "y"))

# Lesson 01 has shown attributes of ctx as the way to keep something; what a tensor kept
# there costs is the subject of lesson 02, and second derivatives come later still. So
# these are said, and not refused.
REMARKS = frozenset({"A08", "A15", "D02", "S04", "S05", "S06", "S08", "T03"})


def reference(x: Array, y: Array) -> Array:
    """What forward returns."""
    return x * y


def cases(rng: np.random.Generator) -> list[Case]:
    """Fresh numbers in fresh shapes; small ones first, for messages that are short."""
    rows, columns = (int(n) for n in rng.permutation([2, 3, 4, 5])[:2])

    def draw(*shape: int) -> Array:
        size: Array = rng.uniform(0.3, 2.5, shape) * rng.choice([-1.0, 1.0], shape)
        return size.round(2)

    vector, square = (3,), (rows, rows)
    edges = np.array([0.0, -1.5, 0.0, 2.0]), np.array([1.25, 0.0, 0.0, -0.5])
    single = [draw(*vector).astype(np.float32) for _ in range(3)]
    return [
        Case("three numbers", (draw(*vector), draw(*vector)), draw(*vector)),
        Case("one number", (draw(), draw()), draw()),
        Case(
            f"a {rows} x {columns} matrix",
            (draw(rows, columns), draw(rows, columns)),
            draw(rows, columns),
        ),
        Case(
            "a square matrix, one of them transposed in memory",
            (draw(*square), draw(*square).T),
            draw(*square),
        ),
        Case("zeros among the numbers", edges, draw(4)),
        Case("a block with three axes", (draw(2, 1, 3), draw(2, 1, 3)), draw(2, 1, 3)),
        Case("no number at all, shape (0, 3)", (draw(0, 3), draw(0, 3)), draw(0, 3)),
        Case("float32 numbers", (single[0], single[1]), single[2]),
    ]


def wrong_gradients(g: Array, x: Array, y: Array) -> Iterator[tuple[str, Arrays]]:
    """What each wrong rule would return for x and for y."""
    yield "L04", (g * x, g * y)
    yield "L05", (g * x * y, g * x * y)
