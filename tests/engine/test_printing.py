"""How tensors print; tests/parity compares many more with torch."""

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "tensor(1.)"),
        (0.5, "tensor(0.5000)"),
        (7, "tensor(7)"),
        ([1.0, -2.0], "tensor([ 1., -2.])"),
        ([0.5, 10.0], "tensor([ 0.5000, 10.0000])"),
        ([1e-6, 1.0], "tensor([1.0000e-06, 1.0000e+00])"),
        ([[1, 2], [3, 4]], "tensor([[1, 2],\n        [3, 4]])"),
        ([True, False], "tensor([ True, False])"),
        ([float("nan"), 1.0], "tensor([nan, 1.])"),
        ([], "tensor([])"),
        ([[]], "tensor([], size=(1, 0))"),
    ],
)
def test_values_are_aligned(torch: Any, value: Any, text: str) -> None:
    assert repr(torch.tensor(value)) == text


def test_unusual_dtype_is_shown(torch: Any) -> None:
    text = repr(torch.tensor([1.0], dtype=torch.float64))
    assert text == f"tensor([1.], dtype={torch.__name__}.float64)"


def test_long_tensor_is_cut_in_the_middle(torch: Any) -> None:
    assert repr(torch.arange(2000)) == (
        "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"
    )
