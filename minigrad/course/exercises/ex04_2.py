"""04.2: ``Linear``, which computes only the gradients that are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

import minigrad
from minigrad.course.check import Finding
from minigrad.course.exercises.gym import linear
from minigrad.ops import OPS

CONTRACT = linear.CONTRACT

reference = linear.reference
gradients = linear.gradients
cases = linear.cases
wrong_gradients = linear.wrong_gradients

PRODUCTS = ("matmul", "mm", "bmm", "mv", "dot", "addmm", "einsum")
NAMES = ("x", "W", "b")


def look_also(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Count the matrix products of backward, for each single input that needs one."""
    for place, name in enumerate(NAMES):
        inputs = [
            minigrad.tensor(random.normal(size=shape), requires_grad=i == place)
            for i, shape in enumerate([(2, 3), (4, 3), (4,)])
        ]
        output = answer.apply(*inputs)
        with counted_products() as count:
            output.sum().backward()
        needed = 0 if name == "b" else 1
        if count[0] > needed:
            return [
                Finding(
                    ("A07",),
                    f"only {name} requires grad, and backward makes {count[0]} matrix "
                    f"product{'s' if count[0] > 1 else ''}; {needed} would do",
                    f"{answer.__name__}.backward",
                    looks_like="A gradient is computed, and then not handed out.",
                )
            ]
    return []


@contextmanager
def counted_products() -> Iterator[list[int]]:
    """How many matrix products run meanwhile, in the first element."""
    count = [0]

    def counted(forward: Any) -> Any:
        def count_and_run(*args: Any) -> Any:
            count[0] += 1
            return forward(*args)

        return staticmethod(count_and_run)

    rows = [OPS[name] for name in PRODUCTS if name in OPS]
    functions = dict.fromkeys([row.function for row in rows if row.function])
    with ExitStack() as patches:
        for function in functions:
            replaced = counted(function.forward)
            patches.enter_context(mock.patch.object(function, "forward", replaced))
        yield count
