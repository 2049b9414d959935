"""07.3: sine and square of x, without zeros for the one that nobody used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

import minigrad
from minigrad.course.check import Finding
from minigrad.course.exercises.messages import Messages
from minigrad.ops import OPS

say = Messages(__name__)

OUTPUTS = ("sine", "square")
ENOUGH = (1, 2)
"""So many products do for the sine alone, and for the square alone."""

MAKERS = (
    (minigrad, ("zeros", "zeros_like", "full", "full_like")),
    (minigrad.Tensor, ("new_zeros", "new_full", "zero_")),
    (np, ("zeros", "zeros_like", "full", "full_like")),
)


def look_also(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Use one output at a time, and look for work that its absence makes needless."""
    for used, name in enumerate(OUTPUTS):
        x = minigrad.tensor(random.uniform(0.3, 2.0, 6), requires_grad=True)
        with runs_counted("cos") as too_early:
            output = answer.apply(x)[used].sum()
        with (
            zeros_counted() as zeros,
            runs_counted("cos") as cosines,
            runs_counted("mul") as products,
        ):
            output.backward()
        said = {"answer": answer.__name__, "used": name}
        if too_early:
            return [say("too_early", **said)]
        if zeros:
            return [say("zeros", maker=zeros[0], **said)]
        if (used == 1 and cosines) or len(products) > ENOUGH[used]:
            message = "needless.cosine" if used else "needless"
            return [say(message, count=len(products), **said)]
    return []


@contextmanager
def zeros_counted() -> Iterator[list[str]]:
    """Which functions were called meanwhile that can make an array of zeros."""
    called: list[str] = []

    def noting(name: str, make: Any) -> Any:
        def note_and_make(*args: Any, **options: Any) -> Any:
            called.append(name)
            return make(*args, **options)

        return note_and_make

    with ExitStack() as patches:
        for owner, names in MAKERS:
            for name in names:
                instead = noting(name, getattr(owner, name))
                patches.enter_context(mock.patch.object(owner, name, instead))
        yield called


@contextmanager
def runs_counted(name: str) -> Iterator[list[str]]:
    """A note for each run of an operation meanwhile."""
    called: list[str] = []
    function: Any = OPS[name].function
    forward = function.forward

    def note_and_run(*args: Any) -> Any:
        called.append(name)
        return forward(*args)

    with mock.patch.object(function, "forward", staticmethod(note_and_run)):
        yield called
