"""Strides of results over all pairs of layouts, beside torch's."""

import itertools
from typing import Any

import pytest

import minigrad
from tests.engine.test_memory_order import LAID_OUT

TWO_OPERANDS = {
    "mul": lambda torch, a, b: a * b,
    "compare": lambda torch, a, b: a < b,
    "pow": lambda torch, a, b: a**b,
    "maximum": lambda torch, a, b: torch.maximum(a, b),
    "where": lambda torch, a, b: torch.where(b > 1, a, b),
    "lerp": lambda torch, a, b: torch.lerp(a, b, 0.25),
    "cast first": lambda torch, a, b: a.float() * b,
    "whole number": lambda torch, a, b: a * b.long(),
}


@pytest.mark.parametrize("name", TWO_OPERANDS)
def test_results_of_two_operands_lie_as_in_torch(torch: Any, name: str) -> None:
    def strides(module: Any, first: str, second: str) -> Any:
        operands = LAID_OUT[first](module), LAID_OUT[second](module)
        return TWO_OPERANDS[name](module, *operands).stride()

    for pair in itertools.product(LAID_OUT, repeat=2):
        assert strides(minigrad, *pair) == strides(torch, *pair), pair
