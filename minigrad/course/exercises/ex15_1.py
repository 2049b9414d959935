"""15.1: which shapes go in and come out, for several in_dims and out_dims."""

from __future__ import annotations

from typing import Any

import minigrad
from minigrad import vmap


def double(x: Any) -> Any:
    """It changes no shape."""
    return x * 2


def dot(x: Any, w: Any) -> Any:
    """Two vectors, one number."""
    return (x * w).sum(0)


def truth() -> dict[str, str]:
    """Each is run."""
    X, A, B = minigrad.ones(2, 3, 4), minigrad.ones(5, 3), minigrad.ones(3, 4)
    sample: list[Any] = []

    def note(x: Any) -> Any:
        sample.append(x.shape)
        return x

    vmap(note, in_dims=1)(X)
    inner = vmap(dot, in_dims=(None, 1))
    shapes = {
        "a": sample[0],
        "b": vmap(double, in_dims=1)(X).shape,
        "c": vmap(double, in_dims=1, out_dims=1)(X).shape,
        "d": vmap(lambda x: x.sum(), in_dims=2)(X).shape,
        "e": vmap(dot, in_dims=(0, None))(A, B[:, 0]).shape,
        "f": vmap(inner, in_dims=(0, None))(A, B).shape,
    }
    return {name: str(tuple(shape)) for name, shape in shapes.items()}
