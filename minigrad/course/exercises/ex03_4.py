"""03.4: the peak of a chain, said beforehand and then measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import minigrad
from minigrad.course import handed
from minigrad.course.findings import Finding
from minigrad.course.lifetimes import peak_bytes

ANSWER = "peak"
LENGTHS = (80, 100, 120)
WITHIN = 0.05
AGREE = 0.01
MOST_PEAKS = 10


class Damped(minigrad.autograd.Function):
    """x times e to the power -x; both factors are saved."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        decay = (-x).exp()
        ctx.save_for_backward(x, decay)
        return x * decay

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, decay = ctx.saved_tensors
        return grad_output * decay * (1 - x)


def chain(n: int, size: int) -> Any:
    """A function that runs n of them forward and back."""
    x = minigrad.ones(size, dtype=minigrad.float64, requires_grad=True)

    def run() -> None:
        y = x
        for _ in range(n):
            y = Damped.apply(y)
        y.sum().backward()

    return run


def quiet_peak(run: Callable[[], None]) -> int:
    """The peak, measured until two measurements agree, and the least of all.

    What other threads of this process allocate meanwhile is counted too: a kernel has
    some, and so has a judge that grades others at the same time. It can only add.
    """
    peaks = [peak_bytes(run), peak_bytes(run)]
    while max(sorted(peaks)[:2]) > (1 + AGREE) * min(peaks) and len(peaks) < MOST_PEAKS:
        # Whoever disturbs may be gone after a while.
        time.sleep(0.01 * len(peaks))
        peaks.append(peak_bytes(run))
    return min(peaks)


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Hold the formula against three chains."""
    unusable = handed.no_function(answer, ANSWER)
    if unusable:
        return [unusable]
    size = int(random.integers(4000, 6000))
    for n in LENGTHS:
        said = answer(n, size)
        if isinstance(said, bool) or not isinstance(said, (int, float, np.number)):
            what = f"peak({n}, {size}) is {said!r:.60}, not a number"
            return [Finding((), what, "peak", hint="Return a number of bytes.")]
        measured = quiet_peak(chain(n, size))
        if abs(said - measured) > WITHIN * measured:
            finding = missed(n, size, float(said), measured)
            if answer(n, 2 * size) == said:
                finding = replace(
                    finding,
                    looks_like="the answer is the same for twice as many numbers",
                    hint="Where does `size` come into your formula?",
                )
            return [finding]
    return []


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
