"""The laws of jvp, on every sample of every operation; each catches one that errs."""

from typing import Any

import numpy as np
import pytest

from minigrad.engine.builtin import Builtin
from minigrad.ops import Op
from tests.ops import forward_laws as laws
from tests.ops.laws import row_of, rows

ALL = [
    laws.jvp_is_the_transpose_of_backward,
    laws.jvp_is_the_numeric_slope,
    laws.second_derivatives_agree,
]

CASES = [
    pytest.param(law, row, sample, id=f"{name}-{law.__name__}")
    for name, row, sample in rows(differentiable=True)
    for law in ALL
]


@pytest.mark.parametrize(("law", "row", "sample"), CASES)
def test_forward_law_holds(law: Any, row: Op, sample: tuple[Any, ...]) -> None:
    law(row, sample)


class Square(Builtin):
    """input * input, right in every way: the positive control."""

    @staticmethod
    def forward(input: Any) -> Any:
        return input * input

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (input,) = ctx.saved_values
        return grad * input * 2

    jvp = backward


class ForgetsTwo(Square):
    """Half of the tangent."""

    @staticmethod
    def jvp(ctx: Any, tangent: Any) -> Any:
        (input,) = ctx.saved_values
        return tangent * input


class BothWrong(ForgetsTwo):
    """The same mistake forward and backward: still each other's transpose."""

    backward = ForgetsTwo.jvp


class CutsTheGraph(Square):
    """A right tangent that nothing can be differentiated through."""

    @staticmethod
    def jvp(ctx: Any, tangent: Any) -> Any:
        (input,) = ctx.saved_values
        return tangent * input.detach() * 2


BROKEN = [
    (laws.jvp_is_the_transpose_of_backward, ForgetsTwo),
    (laws.jvp_is_the_numeric_slope, BothWrong),
    (laws.second_derivatives_agree, CutsTheGraph),
]


@pytest.mark.parametrize(("law", "broken"), BROKEN)
def test_forward_law_catches_the_operation_that_breaks_it(
    law: Any, broken: Any
) -> None:
    sample = ([1.0, -2.0, 0.5],)
    law(row_of(Square, np.square, *sample), sample)
    with pytest.raises(AssertionError):
        law(row_of(broken, np.square, *sample), sample)
