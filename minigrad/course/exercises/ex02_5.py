"""02.5: tanh from its input and from its output, and what each keeps alive."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Arrays, Case, Contract, Finding, Part
from minigrad.course.exercises.gym.elementwise import tensors, with_upstreams

ANSWER = "TanhFromInput, TanhFromOutput, extra_bytes"
COUNT = 1000


def reference(x: Array) -> Array:
    """What forward returns."""
    return np.tanh(x)


def gradients(g: Array, x: Array) -> Arrays:
    """The right gradients."""
    return (g * (1 - np.tanh(x) ** 2),)


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers of every kind."""
    return with_upstreams(random, tensors(random))


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    y = np.tanh(x)
    yield "L05", (g * (1 - x * x),)
    yield "L05", (g * (1 - np.tanh(y) ** 2),)
    yield "L03", (g * (1 - y),)
    yield "L03", (g * (1 - y**3),)
    yield "L01", (g * (y * y - 1),)
    yield "L01", (g * (1 + y * y),)
    yield "C07", (-2 * g * y,)


PARTS = tuple(
    [
        Part(
            Contract(name=name, arguments=("x",), keeps=(kept,)),
            reference,
            cases,
            gradients,
            wrong_gradients,
        )
        for name, kept in (("TanhFromInput", "x"), ("TanhFromOutput", "result"))
    ]
)


def look_at_rest(functions: Sequence[Any], rest: Sequence[Any]) -> list[Finding]:
    """The two numbers of bytes, beside what the learner's own classes keep alive."""
    said = rest[0]
    numbers = list(said) if isinstance(said, (list, tuple)) else []
    if len(numbers) != 2 or not all([isinstance(n, (int, float)) for n in numbers]):
        what = f"extra_bytes is {said!r}, not a list of two numbers"
        hint = "Write two whole numbers of bytes, such as [16, 16]; from input first."
        return [Finding((), what, "extra_bytes", hint=hint)]
    kept = [bytes_kept(function) for function in functions]
    for function, number, truth in zip(functions, numbers, kept, strict=True):
        if number == truth:
            continue
        story, hint = "", "Who still holds the nameless a * b when the line is over?"
        if number == COUNT:
            story, hint = "numbers were counted, not bytes", "How many bytes has one?"
        elif number > truth:
            story = "something is counted that nobody keeps, or that is alive anyway"
        what = f"for {function.__name__} you say {number} bytes; that is not what stays"
        return [Finding((), what, "extra_bytes", looks_like=story, hint=hint)]
    return []


def bytes_kept(function: Any) -> int:
    """The bytes of ``a * b`` that are alive after the line that made it."""
    a, b = (
        minigrad.ones(COUNT, dtype=minigrad.float64, requires_grad=True)
        for _ in range(2)
    )
    product = a * b
    memory = weakref.ref(product.array)
    size = int(product.array.nbytes)
    y = function.apply(product)
    del product
    alive = memory() is not None
    del y
    return size if alive else 0
