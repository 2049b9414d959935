"""07.3: sine and square of x, without zeros for the one that nobody used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

import minigrad
from minigrad.course.check import Finding
from minigrad.course.exercises.gym import two_outputs
from minigrad.ops import OPS

CONTRACT = replace(two_outputs.CONTRACT, name="SineAndSquare", second_derivative="any")

reference = two_outputs.reference
gradients = two_outputs.gradients
cases = two_outputs.cases
wrong_gradients = two_outputs.wrong_gradients

ENOUGH = (1, 2)
"""So many products do for the sine alone, and for the square alone."""

MAKERS = (
    (minigrad, ("zeros", "zeros_like", "full", "full_like")),
    (minigrad.Tensor, ("new_zeros", "new_full", "zero_")),
    (np, ("zeros", "zeros_like", "full", "full_like")),
)


def look_also(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Use one output at a time, and look for work that its absence makes needless."""
    where = f"{answer.__name__}.backward"
    for used, name in enumerate(CONTRACT.outputs):
        x = minigrad.tensor(random.uniform(0.3, 2.0, 6), requires_grad=True)
        with runs_counted("cos") as too_early:
            output = answer.apply(x)[used].sum()
        with (
            zeros_counted() as zeros,
            runs_counted("cos") as cosines,
            runs_counted("mul") as products,
        ):
            output.backward()
        only = f"only the {name} is used"
        if too_early:
            where = f"{answer.__name__}.forward"
            what = "forward works out a cosine, whether the sine is used or not"
            looks_like = "A term is computed for an output that may send nothing."
            hint = "Who needs the cosine, and when is it known whether it is needed?"
        elif zeros:
            what = f"{only}, and backward makes zeros of its own: {zeros[0]}"
            looks_like = "The engine was asked for no zeros, and the rule makes them."
            hint = "With one term left, to what do you have to add it?"
        elif (used == 1 and cosines) or len(products) > ENOUGH[used]:
            done = "works out a cosine" if used else f"makes {len(products)} products"
            what = f"{only}, and backward {done}"
            looks_like = "A term is computed for an output that sent nothing."
            hint = (
                "Where does the question about None stand: before the work, or after?"
            )
        else:
            continue
        return [Finding((), what, where, looks_like=looks_like, hint=hint)]
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
