"""02.5: tanh from its input and from its output, and what each keeps alive."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import minigrad
from minigrad.course.check import Faults
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

COUNT = 1000


def look_at_rest(functions: Sequence[Any], rest: Sequence[Any]) -> Faults:
    """The two numbers of bytes, beside what the learner's own classes keep alive."""
    said = rest[0]
    numbers = list(said) if isinstance(said, (list, tuple)) else []
    if len(numbers) != 2 or not all([isinstance(n, (int, float)) for n in numbers]):
        yield say("no_numbers", said=said)
    kept = [bytes_kept(function) for function in functions]
    for function, number, truth in zip(functions, numbers, kept, strict=True):
        if number != truth:
            name = "bytes.too_many" if number > truth else "bytes"
            name = "bytes.counted" if number == COUNT else name
            name = "bytes.four" if number == 4 * COUNT else name
            yield say(name, function=function.__name__, number=number)


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
