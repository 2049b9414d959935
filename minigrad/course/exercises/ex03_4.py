"""03.4: the peak of a chain, said beforehand and then measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from minigrad.course.check import Finding, submission
from minigrad.course.check.probes import chains, seen_alone

ANSWER = "peak"
LENGTHS = (80, 100, 120)
WITHIN = 0.05


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Hold the formula against three chains."""
    unusable = submission.no_function(answer, ANSWER)
    if unusable:
        return [unusable]
    size = int(random.integers(4000, 6000))
    all_said = [answer(n, size) for n in LENGTHS]
    for n, said in zip(LENGTHS, all_said, strict=True):
        if isinstance(said, bool) or not isinstance(said, (int, float, np.number)):
            what = f"peak({n}, {size}) is {said!r:.60}, not a number"
            return [Finding((), what, "peak", hint="Return a number of bytes.")]
    peaks = seen_alone(chains.peaks_of_chains, answer, LENGTHS, size)
    for n, said, measured in zip(LENGTHS, all_said, peaks, strict=True):
        if not is_near(said, measured):
            # What other threads of a kernel allocate meanwhile is measured, too.
            again = seen_alone(chains.peaks_of_chains, answer, (n, n, n), size)
            measured = min(measured, *again)
        if not is_near(said, measured):
            finding = missed(n, size, float(said), measured)
            if answer(n, 2 * size) == said:
                finding = replace(
                    finding,
                    looks_like="the answer is the same for twice as many numbers",
                    hint="Where does `size` come into your formula?",
                )
            return [finding]
    return []


def is_near(said: Any, measured: int) -> bool:
    """Whether it is as near as is asked for; what is no number is near to nothing."""
    return bool(abs(said - measured) <= WITHIN * measured)


def missed(n: int, size: int, said: float, measured: int) -> Finding:
    """A formula that is not within five percent, and what it looks like."""
    stories = {
        n * size * 8: (
            "outputs only are counted, or a number taken for four bytes",
            "Which arrays does each Damped save? How many bytes has a number?",
        ),
        3 * n * size * 8: (
            "the input of one and the output of the one before are counted as two",
            "Are what one gives back and what the next one saves two arrays, or one?",
        ),
        2 * n * size: (
            "numbers are counted, not bytes",
            "How many bytes has a float64 number?",
        ),
    }
    what = f"peak({n}, {size}) says {said:.3g} bytes; {measured:.3g} were measured"
    looks_like, hint = "", "List what is alive after forward, for n = 1, 2 and 3."
    for number, (story, question) in stories.items():
        if abs(said - number) <= WITHIN * number:
            looks_like, hint = story, question
    return Finding((), what, "peak", looks_like=looks_like, hint=hint)
