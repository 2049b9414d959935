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

WHOLE = [name for name in LAID_OUT if name not in ("stretched", "one element")]

PICKED = {
    "first": lambda torch, x: x[[0, 1, 0]],
    "middle": lambda torch, x: x[:, [0, 1]],
    "last": lambda torch, x: x[..., [1, 2]],
    "two together": lambda torch, x: x[:, [0, 1], [2, 3]],
    "two apart": lambda torch, x: x[[0, 1], :, [2, 3]],
    "matrix": lambda torch, x: x[:, torch.tensor([[0, 1, 2], [2, 1, 0]])],
    "matrix turned": lambda torch, x: x[:, torch.tensor([[0, 1, 2], [2, 1, 0]]).t()],
    "mask": lambda torch, x: x[x > 0.2],
    "mask of rows": lambda torch, x: x[:, torch.tensor([True, False, True])],
    "mask of two": lambda torch, x: x[x[..., 0] >= 0],
    "index_put": lambda torch, x: x.index_put((torch.tensor([1]),), x[:1]),
}


@pytest.mark.parametrize("name", TWO_OPERANDS)
def test_results_of_two_operands_lie_as_in_torch(torch: Any, name: str) -> None:
    def strides(module: Any, first: str, second: str) -> Any:
        operands = LAID_OUT[first](module), LAID_OUT[second](module)
        return TWO_OPERANDS[name](module, *operands).stride()

    for pair in itertools.product(LAID_OUT, repeat=2):
        assert strides(minigrad, *pair) == strides(torch, *pair), pair


@pytest.mark.parametrize("name", PICKED)
def test_picked_elements_lie_as_in_torch(torch: Any, name: str) -> None:
    for layout in WHOLE:
        x, theirs = LAID_OUT[layout](minigrad), LAID_OUT[layout](torch)
        picked, expected = PICKED[name](minigrad, x), PICKED[name](torch, theirs)
        assert picked.stride() == expected.stride(), layout
        assert picked.tolist() == expected.tolist(), layout
