"""The laws, on every sample of every operation; each catches an operation that errs."""

from typing import Any

import numpy as np
import pytest

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Tensor
from minigrad.ops import OPS, Op
from tests.ops import laws

FOR_ALL = [laws.forward_is_the_reference, laws.vmap_is_a_loop]
FOR_SLOPES = [
    laws.backward_is_the_numeric_slope,
    laws.second_derivative_is_the_slope_of_the_first,
    laws.inputs_and_upstream_stay_as_they_are,
    laws.dtype_is_kept,
]


def cases(for_all: list[Any], for_slopes: list[Any]) -> list[Any]:
    found = []
    for differentiable, chosen in ((False, for_all), (True, for_slopes)):
        for name, row, sample in laws.rows(differentiable):
            for law in chosen:
                if law is laws.dtype_is_kept and row.name == "to":
                    continue  # another dtype is what it is for
                found.append(
                    pytest.param(law, row, sample, id=f"{name}-{law.__name__}")
                )
    return found


@pytest.mark.parametrize(("law", "row", "sample"), cases(FOR_ALL, FOR_SLOPES))
def test_law_holds(law: Any, row: Op, sample: tuple[Any, ...]) -> None:
    law(row, sample)


def test_table_has_the_operations_of_the_first_lessons() -> None:
    expected = {"add", "mul", "matmul", "sum", "exp", "relu", "reshape", "clone"}
    assert expected <= set(OPS)


class Square(Builtin):
    """input * input, right in every way: the positive control."""

    one_by_one = True

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


class WrongForward(Square):
    """Off by a little."""

    @staticmethod
    def forward(input: Any) -> Any:
        return input * input + 1e-6


class WrongDtype(Square):
    """Always float64."""

    @staticmethod
    def forward(input: Any) -> Any:
        return (input * input).astype(np.float64)


class ForgetsUpstream(Square):
    """The slope alone; right if every incoming gradient is 1."""

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (input,) = ctx.saved_values
        return input * 2 + grad * 0


class CutsTheGraph(Square):
    """A right first derivative that is not recorded."""

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (input,) = ctx.saved_tensors
        slope = input.array * 2
        return grad * (Tensor(slope) if isinstance(grad, Tensor) else slope)


class ChangesItsInput(Square):
    """Right numbers, and the input is another afterwards."""

    @staticmethod
    def forward(input: Any) -> Any:
        result = input * input
        input += 1
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (input,) = ctx.saved_values
        return grad * (input - 1) * 2


class ChangesUpstream(Square):
    """Writes into the gradient it was given."""

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        grad *= 2
        (input,) = ctx.saved_values
        return grad * input


class NotElementwise(Square):
    """Says it is, and mixes the elements."""

    elementwise = True

    @staticmethod
    def forward(input: Any) -> Any:
        return input * input[::-1]


BROKEN = [
    (laws.vmap_is_a_loop, NotElementwise),
    (laws.forward_is_the_reference, WrongForward),
    (laws.backward_is_the_numeric_slope, ForgetsUpstream),
    (laws.second_derivative_is_the_slope_of_the_first, CutsTheGraph),
    (laws.inputs_and_upstream_stay_as_they_are, ChangesItsInput),
    (laws.inputs_and_upstream_stay_as_they_are, ChangesUpstream),
    (laws.dtype_is_kept, WrongDtype),
]


@pytest.mark.parametrize(("law", "broken"), BROKEN)
def test_law_catches_the_operation_that_breaks_it(law: Any, broken: Any) -> None:
    sample = ([1.0, -2.0, 0.5],)
    law(laws.row_of(Square, np.square, *sample), sample)
    with pytest.raises(AssertionError):
        law(laws.row_of(broken, np.square, *sample), sample)


def test_slope_of_ones_would_not_catch_a_forgotten_upstream() -> None:
    x = laws.leaves([np.array([1.0, -2.0])])[0]
    ForgetsUpstream.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, -4.0]
