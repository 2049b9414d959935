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


UPSTREAM = {
    "rows": lambda torch, y: torch.ones(y.shape, dtype=y.dtype),
    "expanded": lambda torch, y: torch.ones((), dtype=y.dtype).expand(y.shape),
}

ONE_OPERAND = {
    "sum": lambda torch, x: x.sum(),
    "sum of rows": lambda torch, x: x.sum(1),
    "mean": lambda torch, x: x.mean(),
    "mean of rows": lambda torch, x: x.mean(1),
    "clone": lambda torch, x: x.clone(),
    "unsqueeze": lambda torch, x: x.unsqueeze(1),
    "squeeze": lambda torch, x: x[:, :1].squeeze(1),
    "transpose": lambda torch, x: x.transpose(0, 2),
    "view": lambda torch, x: x.reshape(6, 4),
    "add": lambda torch, x: x + 1,
    "mul": lambda torch, x: x * 2,
    "row of numbers": lambda torch, x: x * torch.arange(4),
    "exp": lambda torch, x: x.exp(),
    "amax": lambda torch, x: x.amax(1),
    "softmax": lambda torch, x: x.softmax(1),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", ONE_OPERAND)
def test_gradients_lie_as_in_torch(torch: Any, name: str, create_graph: bool) -> None:
    def strides(module: Any, layout: str, upstream: str) -> Any:
        x = LAID_OUT[layout](module).requires_grad_()
        y = ONE_OPERAND[name](module, x)
        given = UPSTREAM[upstream](module, y)
        grad = module.autograd.grad(y, x, given, create_graph=create_graph)
        return grad[0].stride()

    for pair in itertools.product(["rows", "reversed"], UPSTREAM):
        assert strides(minigrad, *pair) == strides(torch, *pair), pair


@pytest.mark.parametrize("create_graph", [False, True])
def test_one_gradient_is_one_tensor_as_in_torch(torch: Any, create_graph: bool) -> None:
    def identities(module: Any) -> list[bool]:
        a, b = [module.ones(2, requires_grad=True) for _ in range(2)]
        given = module.ones(2)

        def grads(output: Any) -> Any:
            return module.autograd.grad(
                output, [a, b], given, create_graph=create_graph, allow_unused=True
            )

        (p, q), (r, s), (t, _) = grads(a + b), grads(a - b), grads(a.clone())
        return [p is q, p is given, r is given, s is given, r is p, t is given]

    assert identities(minigrad) == identities(torch)
    assert identities(minigrad) == [True, True, True, False, True, True]


def test_expanded_gradient_cannot_be_written_to_as_in_torch(torch: Any) -> None:
    for module in (minigrad, torch):
        x = module.ones(2, 3, requires_grad=True)
        (grad,) = module.autograd.grad(x.sum(), x)
        with pytest.raises(RuntimeError, match="single memory location"):
            grad.add_(1)
        assert grad.clone().add_(1).tolist() == [[2.0] * 3] * 2
