"""The ten questions: each mistake says no to one, and what no run tells is asked."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad
from minigrad import Tensor, course
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from minigrad.course.check.ten_questions import Answer, place_of, questions
from minigrad.mistakes import TABLE

X = minigrad.tensor([0.5, -1.0])


class LogCosh(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.cosh().log()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad_output * x.tanh()


class Intermediate(LogCosh):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x.tanh())
        return x.cosh().log()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (slope,) = ctx.saved_tensors
        return grad_output * slope


class Refused(Intermediate):
    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        return Intermediate.backward(ctx, grad_output)


class OnTheCpu(LogCosh):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return LogCosh.forward(ctx, x) * minigrad.tensor([1.0])


class ByANumber(LogCosh):
    """A single number goes to any device."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return LogCosh.forward(ctx, x) * minigrad.tensor(1.0)


class InNumpy(LogCosh):
    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad_output * minigrad.tensor(x.numpy()).tanh()


class OnAnyDevice(LogCosh):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return LogCosh.forward(ctx, x) + minigrad.zeros(2, device=x.device)


class Shared(LogCosh):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        Shared.x = x  # type: ignore[attr-defined]
        return x.cosh().log()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        return grad_output * Shared.x.tanh()  # type: ignore[attr-defined]


class Stops(LogCosh):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        raise KeyError("no such thing")


@pytest.mark.parametrize(
    ("function", "refusals"),
    [
        (LogCosh, []),
        (Intermediate, [8]),
        (Refused, []),
        (OnTheCpu, [9]),
        (ByANumber, []),
        (InNumpy, [9]),
        (OnAnyDevice, []),
        (Shared, [5]),
        (Stops, [1]),
    ],
)
def test_question_that_a_function_fails_says_no(
    function: type[Function], refusals: list[int]
) -> None:
    answers = course.self_review(function, X).answers
    assert [n for n, each in enumerate(answers, 1) if each.says == "no"] == refusals
    asked = [each.says for each in answers if each.asked.yourself]
    assert asked == (["no", "you say"] if refusals == [1] else ["you say", "you say"])


def test_what_an_error_kept_from_running_says_neither_yes_nor_no() -> None:
    says = [each.says for each in course.self_review(Stops, X).answers]
    assert says == ["no", *["not run"] * 8, "you say"]


def test_every_mistake_of_a_function_belongs_to_one_question() -> None:
    assert len(questions()) == 10
    in_code = [id for id in TABLE if not id.startswith("U")]
    places = {place_of(id) for id in in_code}
    assert places == set(range(10))
    named = [name for each in questions() for name in each.mistakes]
    assert len(named) == len({*named})
    families = {name for name in named if len(name) == 1}
    assert [n for n in named if n not in TABLE and n not in families] == []
    for id in in_code:
        assert id in named or id[0] in families, id


def test_review_shows_itself_with_the_lesson_that_explains_a_no() -> None:
    review = course.self_review(Intermediate, X)
    assert " 8. Is the second derivative right, or refused" in repr(review)
    assert "(lesson 10)" in repr(review)
    assert review._repr_html_().count("<li>") == 10
    assert isinstance(review.answers[0], Answer)
