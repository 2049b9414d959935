"""What a Function computes with: the operations it runs, and the zeros it makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

import minigrad
from minigrad.course.check.engines import MINIGRAD
from minigrad.course.check.facts import Array
from minigrad.ops import OPS

MAKERS = (
    (minigrad, ("zeros", "zeros_like", "full", "full_like")),
    (minigrad.Tensor, ("new_zeros", "new_full", "zero_")),
    (np, ("zeros", "zeros_like", "full", "full_like")),
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
    ran, made = list[str](), list[str]()

    def noting(name: str, make: Any, said: list[str]) -> Any:
        def note_and_make(*args: Any, **options: Any) -> Any:
            said.append(name)
            return make(*args, **options)

        return note_and_make

    rows = [(OPS[name].function, name) for name in names if name in OPS]
    functions = {function: name for function, name in rows if function}
    with ExitStack() as patches:
        for function, name in functions.items():
            instead = staticmethod(noting(name, function.forward, ran))
            patches.enter_context(mock.patch.object(function, "forward", instead))
        for owner, makers in MAKERS:
            for name in makers:
                instead = noting(name, getattr(owner, name), made)
                patches.enter_context(mock.patch.object(owner, name, instead))
        yield ran, made
