"""Built-in operations of several outputs."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from minigrad.engine.builtin import Builtin
from tests.engine.support import raises


class SinCos(Builtin):
    """Two outputs that have a gradient, and one that has none between them."""

    seen: list[Any] = []  # noqa: RUF012  one list for the test that reads it

    @staticmethod
    def forward(input: Any) -> Any:
        return np.sin(input), np.sign(input).astype(np.int64), np.cos(input)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        sine, _, cosine = output
        ctx.save_for_backward(sine, cosine)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        SinCos.seen.append(grads)
        sine, cosine = ctx.saved_values
        to_sine, _, to_cosine = grads
        slopes = [
            *([] if to_sine is None else [to_sine * cosine]),
            *([] if to_cosine is None else [-to_cosine * sine]),
        ]
        return sum(slopes[1:], slopes[0])


def test_several_outputs_share_one_node() -> None:
    x = minigrad.tensor([0.0, 1.0], requires_grad=True)
    sine, sign, cosine = SinCos.apply(x)
    assert sine.grad_fn is cosine.grad_fn
    assert (sine.output_nr, cosine.output_nr) == (0, 2)
    assert (sign.tolist(), sign.grad_fn, sign.requires_grad) == ([0, 1], None, False)
    (cosine * 2 + sine).sum().backward()
    expected = np.cos([0.0, 1.0]) - 2 * np.sin([0.0, 1.0])
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-6)


def test_output_without_a_gradient_gives_none() -> None:
    SinCos.seen.clear()
    x = minigrad.tensor(2.0, requires_grad=True)
    SinCos.apply(x)[2].backward()
    assert [grad is None for grad in SinCos.seen[0]] == [True, True, False]


def test_several_outputs_can_be_differentiated_twice() -> None:
    x = minigrad.tensor(0.5, dtype=minigrad.float64, requires_grad=True)
    sine, _, cosine = SinCos.apply(x)
    (first,) = minigrad.autograd.grad(sine * cosine, x, create_graph=True)
    (second,) = minigrad.autograd.grad(first, x)
    np.testing.assert_allclose(second.item(), -2 * np.sin(1.0))


def test_unrecorded_outputs_are_plain_tensors() -> None:
    outputs = SinCos.apply(minigrad.tensor(0.5))
    assert type(outputs) is tuple
    assert [one.requires_grad for one in outputs] == [False] * 3


def test_one_output_and_a_tuple_of_one_are_told_apart() -> None:
    class Only(Builtin):
        @staticmethod
        def forward(input: Any) -> Any:
            return (input * 2,)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    x = minigrad.tensor(1.0, requires_grad=True)
    outputs = Only.apply(x)
    assert type(outputs) is tuple
    outputs[0].backward()
    assert x.grad.item() == 2.0


@pytest.mark.parametrize(
    "options", [{}, {"dim": 1}, {"dim": 0, "keepdim": True}, {"dim": (0, 1)}]
)
def test_variance_and_mean_are_those_of_the_two_functions(
    torch: Any, options: dict[str, Any]
) -> None:
    x = torch.tensor([[1.0, 2.0, 6.0], [3.0, 5.0, 4.0]], requires_grad=True)
    variance, mean = torch.var_mean(x, **options)
    assert variance.tolist() == x.var(**options).tolist()
    assert mean.tolist() == x.mean(**options).tolist()
    assert variance.grad_fn is mean.grad_fn
    assert variance.grad_fn.name() == "VarMeanBackward0"
    assert torch.var_mean(x, False)[0].tolist() == x.var(unbiased=False).tolist()


def test_variance_and_mean_take_keywords_and_refuse_whole_numbers(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0, 6.0]], requires_grad=True)
    variance, mean = torch.var_mean(x, dim=1, keepdim=True, correction=0)
    assert (tuple(variance.shape), mean.tolist()) == ((1, 1), [[3.0]])
    assert variance.item() == pytest.approx(14 / 3)
    (variance * 3 + mean).backward()
    assert x.grad.tolist() == [pytest.approx([-4 + 1 / 3, -2 + 1 / 3, 6 + 1 / 3])]
    with raises(torch, errors.OperandError, "var_mean only support floating point"):
        torch.var_mean(torch.tensor([1, 2]))
