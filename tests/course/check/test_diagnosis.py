"""diagnose: mistakes in anybody's Function, found with nothing but its own forward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import errors
from minigrad.autograd import Function
from minigrad.views import heat

X = mg.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])


class Right(Function):
    """exp(x) * y, as it should be."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x.exp() * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * x.exp(), g * x.exp()


def returns(*rules: Any) -> type[Function]:
    """Right, with other gradients."""

    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        return tuple(rule(g, x, y) for rule in rules)

    return type("Mine", (Right,), {"backward": staticmethod(backward)})


def for_x(g: Any, x: Any, y: Any) -> Any:
    return g * y * x.exp()


def for_y(g: Any, x: Any, y: Any) -> Any:
    return g * x.exp()


def test_right_function_has_no_findings() -> None:
    found = mg.diagnose(Right, X, X + 2.0)
    assert found.findings == found.remarks == found.notes == ()
    assert "nothing wrong was found" in found.message
    assert "all 6 elements agree" in found.message


@pytest.mark.parametrize(
    ("mistake", "rules"),
    [
        ("C03", (lambda g, x, y: g, for_y)),
        ("C01", (for_x, lambda g, x, y: x.exp())),
        ("C02", (lambda g, x, y: g * for_x(g, x, y), for_y)),
        ("L01", (lambda g, x, y: -for_x(g, x, y), for_y)),
        ("A05", (lambda g, x, y: None, for_y)),
    ],
)
def test_mistake_is_named_without_a_reference(mistake: str, rules: Any) -> None:
    found = mg.diagnose(returns(*rules), X, X + 2.0)
    assert found.mistakes[:1] == (mistake,)


class OnAttribute(Right):
    @staticmethod
    def forward(ctx, x, y):
        ctx.kept = x
        ctx.save_for_backward(x, y)
        return x.exp() * y


def test_state_of_ctx_is_looked_at_as_well() -> None:
    assert "S06" in mg.diagnose(OnAttribute, X, X + 2.0).mistakes


class Hinge(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(x)
        ctx.c = c
        return x.clamp(min=0) * c

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.c * (x > 0), None


def test_kink_is_said_and_looked_past() -> None:
    found = mg.diagnose(Hinge, mg.tensor([1.0, 0.0, -2.0]), 2.5)
    assert found.findings == ()
    assert found.notes == (
        "for your inputs, forward has a kink at input 1[1]; looked beside it",
    )


class Dropped(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mask = mg.rand(x.shape) < 0.5
        return x * x * ctx.mask

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.mask


def test_random_forward_draws_the_same_numbers_again() -> None:
    found = mg.diagnose(Dropped, X)
    assert found.gradients[0][0] == "x"
    assert found.findings
    assert "C07" in found.mistakes or "it should be" in found.message


def test_report_shows_the_error_by_element() -> None:
    found = mg.diagnose(returns(lambda g, x, y: g, for_y), X, X + 2.0)
    page = found._repr_html_()
    assert page.count("<figure") == 2
    assert "≠" in page
    (name, yours, right), _ = found.gradients
    assert name == "x"
    assert heat.errors_of(yours, right).max() > 0.1


def test_picture_of_a_large_gradient_says_that_it_is_cut() -> None:
    right = np.ones((20, 30))
    assert "first 8 rows and 10 columns" in heat.picture("x", right, right)
    assert heat.sentence(np.full((2,), np.nan), np.ones(2)).startswith("2 of 2")


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: mg.diagnose(3, X), errors.ArgumentTypeError, "a int"),
        (lambda: mg.diagnose(Right, 1.0), errors.ArgumentValueError, "floats"),
        (
            lambda: mg.diagnose(Right, mg.ones(40, 40), mg.ones(40, 40)),
            errors.ArgumentValueError,
            "3200 elements; at most 1000",
        ),
    ],
)
def test_what_cannot_be_diagnosed_is_refused_with_words(
    call: Any, error: Any, said: str
) -> None:
    with pytest.raises(error, match=said):
        call()
