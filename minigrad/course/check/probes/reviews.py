"""A Function that its writer has reviewed: what the runs say to the same questions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import minigrad
from minigrad.course.check.ten_questions import NO, SelfReview, self_review
from minigrad.errors import OnceDifferentiableError

Check = Callable[[], Any]
Words = tuple[str, ...]


@dataclass(frozen=True)
class Reviewed:
    """Ten answers with the mistakes behind each, and what three more checks said.

    Each of those says nothing where it passes. ``refused``: no second derivative was
    to be had, and once_differentiable said so.
    """

    says: tuple[str, ...]
    because: tuple[str, ...]
    mistakes: tuple[tuple[str, ...], ...]
    gradcheck: str = ""
    gradgradcheck: str = ""
    refused: bool = False
    lint: str = ""


def reviewed(answer: Any, example: Callable[[], Any]) -> Reviewed:
    """Review it, on inputs that ``example()`` gives."""
    given = example()
    inputs = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    leaves = [_leaf(value) for value in inputs]
    answer.apply(*inputs)
    review = self_review(answer, *inputs)
    if any([each.says == NO for each in review.answers]):
        return Reviewed(*_told(review))
    return Reviewed(
        *_told(review),
        _said(lambda: minigrad.autograd.gradcheck(answer.apply, leaves)),
        _said(lambda: minigrad.autograd.gradgradcheck(answer.apply, leaves)),
        _refuses(answer, leaves),
        _warned(answer, leaves),
    )


def _told(review: SelfReview) -> tuple[Words, Words, tuple[Words, ...]]:
    """The ten answers as plain data."""
    found = review.answers
    because = tuple([each.because for each in found])
    mistakes = tuple([each.mistakes for each in found])
    return tuple([each.says for each in found]), because, mistakes


def _refuses(answer: Any, leaves: list[Any]) -> bool:
    """Whether once_differentiable stops a second derivative, if it can.

    Its mark looks at what arrives, so what arrives requires grad here (lesson 10).
    """
    made = answer.apply(*leaves)
    y = made[0] if isinstance(made, tuple) else made
    wanted = [v for v in leaves if isinstance(v, minigrad.Tensor) and v.requires_grad]
    g = minigrad.ones_like(y).requires_grad_()
    found = minigrad.autograd.grad(y, wanted, g, create_graph=True, allow_unused=True)
    total = sum([each.sum() for each in found if each is not None])
    try:
        total.backward()
    except OnceDifferentiableError:
        return True
    except RuntimeError:
        return False  # the gradients are cut off, or need nothing
    return False


def _leaf(value: Any) -> Any:
    """An example input as gradcheck needs it: in float64, requiring grad."""
    if not isinstance(value, minigrad.Tensor) or not value.is_floating_point():
        return value
    return value.detach().double().requires_grad_()


def _said(check: Check) -> str:
    try:
        check()
    except Exception as error:
        return str(error).splitlines()[0]
    return ""


def _warned(answer: Any, leaves: list[Any]) -> str:
    """The first warning of teaching mode, for one call and its backward."""
    with warnings.catch_warnings(record=True) as caught, minigrad.teaching(True):
        warnings.simplefilter("always")
        made = answer.apply(*leaves)
        results = made if isinstance(made, tuple) else (made,)
        total = sum([y.sum() for y in results if y.requires_grad])
        _said(lambda: total.backward())
    mine = [w for w in caught if issubclass(w.category, minigrad.lint.TeachingWarning)]
    return str(mine[0].message).splitlines()[0] if mine else ""
