"""04.3: three backwards that the engine refuses, each with its message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Finding

ANSWER = "Scale, Shift, Mix"

SHIPPED = """\
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.k


class Shift(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        return x + by

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output.sum()


class Mix(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, t, y):
        ctx.t = t
        return x * (1 - t) + y * t

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * (1 - ctx.t), grad_output * ctx.t, None
"""
"""The classes as the notebook ships them: not tried. A test compares the two."""

Given = list[Any]
Slopes = Callable[[Any, Given], list[Any]]


def look_at(answer: Sequence[Any], random: np.random.Generator) -> list[Finding]:
    """Each class once; the first that is not right."""

    def numbers(*shape: int) -> Any:
        drawn = minigrad.tensor(random.uniform(0.3, 2.0, shape).round(2))
        return drawn.requires_grad_()

    t = float(random.choice([0.25, 0.4, 0.75]))
    calls: list[tuple[Given, Slopes]] = [
        ([numbers(3), 2.5], lambda g, _: [g * 2.5, None]),
        ([numbers(2, 3), numbers(3)], lambda g, _: [g, g.sum(0)]),
        ([numbers(3), t, numbers(3)], lambda g, _: [g * (1 - t), None, g * t]),
    ]
    for function, (given, right) in zip(answer, calls, strict=True):
        finding = look_at_one(function, given, right, numbers)
        if finding is not None:
            return [finding]
    return []


def remarks_on(answer: Sequence[Any]) -> list[Finding]:
    """The engine sums for whoever does not; that is its doing, not the rule's."""
    shift, shapes = answer[1], []

    def backward(ctx: Any, grad_output: Any) -> Any:
        returned = shift.backward(ctx, grad_output)
        shapes.append(tuple(returned[1].shape))
        return returned

    watched: Any = type(shift.__name__, (shift,), {"backward": staticmethod(backward)})
    with minigrad.teaching(False):
        x, by = minigrad.ones(2, 3), minigrad.ones(3, requires_grad=True)
        watched.apply(x, by).sum().backward()
    if shapes == [(3,)]:
        return []
    what = f"the gradient for by has shape {shapes[0]}; by has shape (3,)"
    return [Finding(("R01",), what, f"{shift.__name__}.backward")]


def look_at_one(function: Any, given: Given, right: Slopes, numbers: Any) -> Any:
    """What is wrong with one class; None if nothing is."""
    where = f"{function.__name__}.backward"
    output = function.apply(*given)
    upstream = numbers(*output.shape).detach()
    try:
        output.backward(upstream)
    except (TypeError, RuntimeError, NotImplementedError) as error:
        id, question = kind_of(str(error))
        text = f"{type(error).__name__}: {error}"
        return Finding((id,) if id else (), text, where, hint=question, crashed=True)
    for place, (value, wanted) in enumerate(
        zip(given, right(upstream, given), strict=True)
    ):
        if wanted is None:
            continue
        if value.grad is None:
            what = f"argument {place + 1} requires grad and got none"
            return Finding(("A05",), what, where)
        if not np.allclose(value.grad.numpy(), wanted.numpy()):
            what = f"the gradient for argument {place + 1} is {short(value.grad)}; it "
            what += f"should be {short(wanted)}"
            hint = "If this argument grows by 1, by how much does each element grow?"
            return Finding((), what, where, hint=hint)
    return None


def short(tensor: Any) -> str:
    """The numbers of a vector, or of rows, to four digits."""
    return str(
        np.array2string(
            tensor.numpy(), separator=", ", formatter={"float_kind": "{:.4g}".format}
        )
    )


def kind_of(message: str) -> tuple[str, str]:
    """The mistake behind a message of the engine, and a question about it."""
    kinds = {
        "incorrect number of gradients": (
            "A01",
            "How many arguments has forward after ctx, and how many values come back?",
        ),
        "invalid gradient at index": (
            "R11",
            "Which shape has the argument? Over which axis did it meet the rows?",
        ),
        "different than None": (
            "A02",
            "Which argument is a plain number? What does it get?",
        ),
    }
    for words, found in kinds.items():
        if words in message:
            return found
    return "", "Read the last line: what was expected, and what was found?"
