"""The names of nodes: torch's, with the number of the overload behind them."""

from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import leaf, raises


def name(tensor: Any) -> str:
    text: str = tensor.grad_fn.name()
    return text


@pytest.mark.rule("R04")
def test_number_of_the_overload_is_part_of_the_name(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    assert [name(x.sum()), name(x.sum(0))] == ["SumBackward0", "SumBackward1"]
    assert [name(x.mean()), name(x.mean(0))] == ["MeanBackward0", "MeanBackward1"]
    powers = [name(x**2), name(x**x), name(2**x)]
    assert powers == ["PowBackward0", "PowBackward1", "PowBackward2"]


def test_number_on_the_left_has_nodes_of_its_own(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    assert [name(1 + x), name(2 * x)] == ["AddBackward0", "MulBackward0"]
    assert [name(x - 1), name(1 - x)] == ["SubBackward0", "RsubBackward1"]
    assert name(2 / x) == "MulBackward0"
    assert (2 / x).grad_fn.next_functions[0][0].name() == "ReciprocalBackward0"


def test_number_has_an_edge_where_torch_makes_it_a_tensor(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    lengths = [len(y.grad_fn.next_functions) for y in (x + 1, x * 2, 1 - x, x**2, 2**x)]
    assert lengths == [2, 2, 1, 1, 1]


@pytest.mark.rule("F30")
def test_error_text_names_the_operation_and_keeps_its_number(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    for y, says in ((x.exp(), "output 0 of Exp,"), (x.sum(0), "output 0 of Sum1,")):
        z = y * y
        with torch.no_grad():
            y.add_(1)
        with raises(torch, errors.SavedModifiedError, says):
            z.sum().backward()
