"""A Function of one tensor, on a dtype and an order in memory that it didn't choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import minigrad
from minigrad.course.check.engines import MINIGRAD, engine_of
from minigrad.course.check.facts import Array


@dataclass(frozen=True)
class Laid:
    """What one call gave, and in which dtypes; ``slope`` is what x got.

    ``shared``: names on the class under which it left a tensor.
    """

    value: Array
    slope: Array
    dtype: str
    slope_dtype: str
    shared: tuple[str, ...] = ()


def laid_out(
    answer: Any, x: Array, turned: bool, turns: bool, engine: Any = minigrad
) -> Laid:
    """Run it on these numbers, and send thirds back: 1/3, 2/3, 3/3, ...

    ``turned``: x is transposed in memory. ``turns``: the result is transposed before
    it's used, so the upstream gradient is as well.
    """
    leaf = engine.tensor(x)
    if turned:
        leaf = leaf.transpose(0, 1).contiguous().transpose(0, 1)
    leaf.requires_grad_()
    before = dict(vars(answer))
    y = (engine_of(answer) or MINIGRAD).apply(answer, leaf)
    shape = y.transpose(0, 1).shape if turns else y.shape
    g = engine.arange(1.0, y.numel() + 1, dtype=y.dtype).reshape(shape) / 3
    (slope,) = engine.autograd.grad(y, leaf, g.transpose(0, 1) if turns else g)
    kind, other = (str(each.dtype).partition(".")[2] for each in (y, slope))
    shared = [
        name
        for name, value in vars(answer).items()
        if isinstance(value, engine.Tensor) and before.get(name) is not value
    ]
    numbers = y.detach().numpy().copy(), slope.numpy().copy()
    return Laid(*numbers, kind, other, tuple(shared))
