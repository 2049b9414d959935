"""03.4: the peak of a chain, said beforehand and then measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Faults
from minigrad.course.check.probes import chains, seen_alone
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

LENGTHS = (100, 3, 1)
"""A long chain first: on it, one array more or less doesn't hide what each adds."""
WITHIN = 0.05


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Hold the formula against three chains."""
    size = int(random.integers(12000, 15000))
    all_said = [answer(n, size) for n in LENGTHS]
    for n, said in zip(LENGTHS, all_said, strict=True):
        if isinstance(said, bool) or not isinstance(said, (int, float, np.number)):
            yield say("no_number", n=n, size=size, said=said)
    peaks = seen_alone(chains.peaks_of_chains, answer, LENGTHS, size)
    for n, said, measured in zip(LENGTHS, all_said, peaks, strict=True):
        if not is_near(said, measured):
            # What other threads of a kernel allocate meanwhile is measured, too.
            again = seen_alone(chains.peaks_of_chains, answer, (n, n, n), size)
            measured = min(measured, *again)
        if not is_near(said, measured):
            arrays, there = float(said) / (8 * size), measured / (8 * size)
            same = is_near(answer(n, 2 * size), said)
            name = "missed.no_size" if same else "missed"
            values = {"said": float(said), "measured": measured, "arrays": arrays}
            yield say(name, n=n, size=size, there=there, **values)


def is_near(said: Any, measured: float) -> bool:
    """Whether it is as near as is asked for; what is no number is near to nothing."""
    return bool(abs(said - measured) <= WITHIN * measured)
