"""What a Function computes with: the operations it runs, and the zeros it makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.engines import MINIGRAD
from minigrad.course.check.facts import Array
from minigrad.course.check.heard import calls_of, operations
from minigrad.ops import OPS

_ZEROS = ("zeros", "zeros_like", "full", "full_like")
MAKERS = (
    *[(name, getattr(minigrad, name)) for name in _ZEROS],
    *[(name, getattr(np, name)) for name in _ZEROS],
    ("new_zeros", minigrad.Tensor.new_zeros),
    ("new_full", minigrad.Tensor.new_full),
    ("zero_", minigrad.Tensor.zero_),
)
"""What can make an array of zeros."""

MOST = 500


@dataclass(frozen=True)
class Work:
    """The operations that ran in forward and in backward, and what made zeros there."""

    forward: tuple[str, ...]
    backward: tuple[str, ...]
    zeros: tuple[str, ...]


def work_of(
    function: Any,
    numbers: tuple[Array, ...],
    needed: tuple[bool, ...],
    used: int,
    names: tuple[str, ...],
) -> Work:
    """Call the Function, then run backward from the sum of one output.

    Of the operations those with these ``names`` are noted; ``used`` says which output,
    -1 if there is one only.
    """
    inputs = [
        minigrad.tensor(array, requires_grad=need)
        for array, need in zip(numbers, needed, strict=True)
    ]
    with noted(names) as (before, _):
        result = MINIGRAD.apply(function, *inputs)
    y = result if used < 0 else result[used]
    ones = MINIGRAD.expanded_ones(y)
    with noted(names) as (after, zeros):
        y.backward(ones)
    return Work(*[tuple(each[:MOST]) for each in (before, after, zeros)])


@contextmanager
def noted(names: tuple[str, ...]) -> Iterator[tuple[list[str], list[str]]]:
    """The operations with these names that run meanwhile, and what makes zeros."""
    told = {OPS[name].function: name for name in names if name in OPS}
    ran, made = list[str](), list[str]()
    with (
        operations() as heard,
        calls_of(MAKERS, lambda name, *_: made.append(name)),
    ):
        yield ran, made
    ran += [told[function] for function, _ in heard if function in told]
