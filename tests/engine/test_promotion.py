"""The dtype of a result; tests/parity compares all pairs with torch."""

from typing import Any

import pytest

import minigrad


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("float32", "float64", "float64"),
        ("int64", "float32", "float32"),
        ("int32", "int64", "int64"),
        ("bool", "int32", "int32"),
    ],
)
def test_later_kind_and_wider_dtype_decide(
    torch: Any, a: str, b: str, wanted: str
) -> None:
    x, y = (torch.ones(2, dtype=getattr(torch, kind)) for kind in (a, b))
    assert (x + y).dtype == (y + x).dtype == getattr(torch, wanted)


def test_single_number_does_not_widen_a_tensor(torch: Any) -> None:
    x = torch.ones(2, dtype=torch.float32)
    assert (x * torch.tensor(2.0, dtype=torch.float64)).dtype == torch.float32
    assert (x * 2.0).dtype == (2 * x).dtype == torch.float32


def test_number_of_a_later_kind_gives_the_default_dtype(torch: Any) -> None:
    whole = torch.ones(2, dtype=torch.int32)
    assert (whole * 2).dtype == torch.int32
    assert (whole * 0.5).dtype == torch.float32
    assert (whole / 2).dtype == torch.float32
    assert (torch.tensor([True]) + 1).dtype == torch.int64


def test_integers_give_floats_where_the_result_has_fractions(torch: Any) -> None:
    assert torch.tensor([0, 1]).exp().dtype == torch.float32
    assert torch.tensor([True]).sum().dtype == torch.int64


@pytest.mark.parametrize(
    ("operand", "says"),
    [
        (None, "(?s)'Tensor' and 'NoneType'\n  fix: give a Tensor or a number$"),
        ("one", "(?s)'Tensor' and 'str'\n  fix: give a Tensor or a number$"),
    ],
)
def test_operand_that_is_no_number_is_refused(operand: Any, says: str) -> None:
    with pytest.raises(minigrad.errors.ArgumentTypeError, match=says):
        minigrad.ones(2) + operand
