"""The elements of a result lie in memory in the order that torch has: its strides."""

from typing import Any

import pytest

LAID_OUT = {
    "rows": lambda torch: numbers(torch, 2, 3, 4),
    "last two swapped": lambda torch: numbers(torch, 2, 4, 3).transpose(1, 2),
    "first two swapped": lambda torch: numbers(torch, 3, 2, 4).transpose(0, 1),
    "reversed": lambda torch: numbers(torch, 4, 3, 2).permute(2, 1, 0),
    "turned": lambda torch: numbers(torch, 4, 2, 3).permute(1, 2, 0),
    "expanded": lambda torch: numbers(torch, 2, 1, 4).expand(2, 3, 4),
    "expanded twice": lambda torch: numbers(torch, 1, 3, 1).expand(2, 3, 4),
    "expanded, swapped": lambda torch: (
        numbers(torch, 1, 4, 3).expand(2, 4, 3).transpose(1, 2)
    ),
    "expanded, reversed": lambda torch: (
        numbers(torch, 4, 1, 2).expand(4, 3, 2).permute(2, 1, 0)
    ),
    "with gaps": lambda torch: numbers(torch, 4, 6, 2)[:, ::2].permute(2, 1, 0),
    "stretched": lambda torch: numbers(torch, 4, 3).t(),
    "one element": lambda torch: torch.tensor(2.0, dtype=torch.float64),
}

KEPT = {
    "last two swapped": (12, 1, 3),
    "first two swapped": (4, 8, 1),
    "reversed": (1, 2, 6),
    "turned": (3, 1, 6),
    "expanded": (12, 4, 1),
    "expanded, swapped": (12, 1, 3),
    "expanded, reversed": (1, 2, 6),
    "with gaps": (1, 2, 6),
}
"""The strides of what has one operand, as torch has them."""

ONE_OPERAND = {
    "sigmoid": lambda torch, x: x.sigmoid(),
    "exp": lambda torch, x: x.exp(),
    "erf": lambda torch, x: x.erf(),
    "add": lambda torch, x: 2 + x,
    "compare": lambda torch, x: x > 1,
    "cast": lambda torch, x: x.float(),
    "clone": lambda torch, x: x.clone(),
    "zeros_like": lambda torch, x: torch.zeros_like(x),
    "full_like": lambda torch, x: torch.full_like(x, 2.0),
    "rand_like": lambda torch, x: torch.rand_like(x),
    "flip": lambda torch, x: x.flip(0),
    "sort": lambda torch, x: x.sort(1)[0],
}

IN_ROWS = {
    "sum": lambda torch, x: x.sum(0, keepdim=True),
    "amax": lambda torch, x: x.amax(1, keepdim=True),
    "max": lambda torch, x: x.max(1, keepdim=True)[0],
    "var": lambda torch, x: x.var(1),
    "any": lambda torch, x: (x > 1).any(1),
    "argmax": lambda torch, x: x.argmax(1),
    "softmax": lambda torch, x: x.softmax(1),
    "cumsum": lambda torch, x: x.cumsum(1),
    "cumprod": lambda torch, x: x.cumprod(1),
    "cat": lambda torch, x: torch.cat([x, x], 1),
    "stack": lambda torch, x: torch.stack([x, x], 1),
    "tril": lambda torch, x: x.tril(),
    "roll": lambda torch, x: x.roll(1, 0),
    "masked_fill": lambda torch, x: x.masked_fill(x > 1, 0.0),
    "a power of a number": lambda torch, x: 2**x,
}

FIRST_DECIDES = [
    ("last two swapped", "rows", (12, 1, 3)),
    ("rows", "last two swapped", (12, 4, 1)),
    ("expanded twice", "reversed", (1, 2, 6)),
    ("stretched", "rows", (12, 1, 3)),
    ("expanded, swapped", "reversed", (1, 2, 6)),
    ("one element", "turned", (3, 1, 6)),
]


def numbers(torch: Any, *shape: int) -> Any:
    count = 1
    for length in shape:
        count *= length
    return (torch.arange(count).to(torch.float64) / 7).reshape(shape)


@pytest.mark.parametrize("layout", KEPT)
@pytest.mark.parametrize("name", ONE_OPERAND)
def test_result_lies_in_the_order_of_its_operand(
    torch: Any, name: str, layout: str
) -> None:
    x = LAID_OUT[layout](torch)
    assert ONE_OPERAND[name](torch, x).stride() == KEPT[layout]


@pytest.mark.parametrize("layout", KEPT)
@pytest.mark.parametrize("name", IN_ROWS)
def test_result_lies_in_rows_whatever_the_order_of_its_operand(
    torch: Any, name: str, layout: str
) -> None:
    x = LAID_OUT[layout](torch)
    assert IN_ROWS[name](torch, x).is_contiguous()


@pytest.mark.parametrize(("first", "second", "strides"), FIRST_DECIDES)
def test_first_operand_that_tells_the_dimensions_apart_decides(
    torch: Any, first: str, second: str, strides: tuple[int, ...]
) -> None:
    a, b = LAID_OUT[first](torch), LAID_OUT[second](torch)
    assert (a * b).stride() == strides
    assert ((a * b).clone() == (b * a).reshape(2, 3, 4)).all()


def test_cast_of_an_expanded_operand_comes_before_the_order(torch: Any) -> None:
    expanded = numbers(torch, 1, 3, 1).float().expand(2, 3, 4)
    reversed_order = LAID_OUT["reversed"](torch)
    assert (expanded * reversed_order.float()).stride() == (1, 2, 6)
    assert (expanded * reversed_order).stride() == (12, 4, 1)


def test_view_of_a_product_of_different_orders_is_refused(torch: Any) -> None:
    product = LAID_OUT["last two swapped"](torch) * LAID_OUT["rows"](torch)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        product.view(24)
