"""What a Function leaves behind of a call, once nobody has its result any more."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

import minigrad
from minigrad.autograd.graph import get_gradient_edge
from minigrad.course.check.engines import MINIGRAD
from minigrad.course.check.facts import Array
from minigrad.course.check.lifetimes import watch
from minigrad.lint.forward import items_of


@dataclass(frozen=True)
class Left:
    """What is alive after ``del y``, without and with a backward before.

    ``collected`` says how often somebody asked for the collector meanwhile.
    """

    without: tuple[str, ...]
    after_backward: tuple[str, ...]
    collected: int


def left_behind(function: Any, numbers: Array) -> Left:
    """Call the Function twice, and let go of what it returned."""
    with collector_off() as collected:
        without, after = [alive_after(function, numbers, run) for run in (False, True)]
    return Left(without, after, collected.call_count)


def alive_after(function: Any, numbers: Array, backward: bool) -> tuple[str, ...]:
    """The names of what is still there after ``del y``."""
    y = MINIGRAD.apply(function, minigrad.tensor(numbers, requires_grad=True))
    watched = watch(result=y, node=y.grad_fn)
    if backward:
        y.backward(MINIGRAD.expanded_ones(y))
    del y
    return tuple([name for name, is_alive in watched.alive().items() if is_alive])


def gradient_of_a_sum(function: Any, numbers: Array, others: Array) -> Array:
    """Where the result has no name, and there is another call before backward."""
    x = minigrad.tensor(numbers, requires_grad=True)
    y = MINIGRAD.apply(function, x)
    ones, edge = MINIGRAD.expanded_ones(y), get_gradient_edge(y)
    del y
    other = MINIGRAD.apply(function, minigrad.tensor(others, requires_grad=True))
    (slope,) = minigrad.autograd.grad(edge, x, ones, materialize_grads=True)
    assert slope is not None  # zeros stand for a gradient that is missing
    del other
    found: Array = slope.numpy()
    return found


def kept_on_ctx(function: Any) -> tuple[tuple[str, str], ...]:
    """The attributes of ctx after a call that hold a tensor or array, and which."""
    with minigrad.teaching(False):
        x = minigrad.ones(2, requires_grad=True)
        ctx = MINIGRAD.apply(function, x).grad_fn
    kinds = (("tensor", minigrad.Tensor), ("array", np.ndarray))
    return tuple(
        [
            (name, noun)
            for noun, kind in kinds
            for name, kept in vars(ctx).items()
            if any([isinstance(value, kind) for value in items_of(kept)])
        ]
    )


@contextmanager
def collector_off() -> Iterator[Any]:
    """Nothing is collected meanwhile; says whether somebody asked for it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        with mock.patch.object(gc, "collect", return_value=0) as collected:
            yield collected
    finally:
        if was_on:
            gc.enable()
        gc.collect()
