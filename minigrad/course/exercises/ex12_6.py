"""12.6: where to cut layers of different sizes, for the lowest peak."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np

from minigrad.course.check import Faults, Finding, left_behind
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)

Rule = Callable[[Sequence[int], Sequence[int]], bool]

LAYERS = 16
WITHIN = 0.05


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Layers of several kinds, with two cuts and with three."""
    calls: list[tuple[list[int], tuple[int, ...]]] = []
    for sizes in tried(random):
        for k in (2, 3):
            given = list(sizes)
            said = answer(given, k)
            said = said.tolist() if isinstance(said, np.ndarray) else said
            if not are_cuts(said, k):
                yield say("no_cuts", said=said, k=k)
            yield in_order(said)
            yield left_behind("best_cuts", () if given == sizes else ("sizes.numbers",))
            calls.append((sizes, tuple(sorted(map(int, said)))))
    name = named("missed", RULES, lambda rule: all([rule(*call) for call in calls]))
    for sizes, cuts in calls:
        yield fault_in(cuts, sizes, name)


def tried(random: np.random.Generator) -> Iterator[list[int]]:
    """The sizes of the layers."""
    yield [10] * LAYERS
    yield random.integers(1, 100, LAYERS).tolist()
    yield sorted(random.integers(1, 100, LAYERS).tolist(), reverse=True)
    yield sorted((random.integers(1, 10, LAYERS) ** 2).tolist())
    hourglass = random.integers(40, 100, LAYERS)
    hourglass[5:11] //= 20
    yield (hourglass + 1).tolist()
    last = random.integers(40, 100, LAYERS)
    last[-3:] = 900, 1, 1000  # the best cut is the last one
    yield last.tolist()


def are_cuts(said: Any, k: int) -> bool:
    """Whether this is a choice of k places."""
    if not isinstance(said, Sequence) or len(said) != k or len(set(said)) != k:
        return False
    return all(isinstance(p, int | np.integer) and 0 < p < LAYERS for p in said)


def in_order(said: Any) -> Finding | None:
    """The places are asked for as the layers come."""
    return None if list(said) == sorted(said) else say("no_order", said=said)


def fault_in(cuts: tuple[int, ...], sizes: list[int], name: str) -> Finding | None:
    """What is wrong with these cuts; None if their peak is as good as the lowest."""
    k = len(cuts)
    got, lowest = peak(sizes, cuts), min([peak(sizes, each) for each in choices(k)])
    if got <= lowest * (1 + WITHIN):
        return None
    kept, largest = costs(sizes, cuts)
    shown = {"cuts": list(cuts), "kept": kept, "largest": largest}
    return say(name, sizes=sizes, k=k, got=got, lowest=lowest, **shown)


def choices(k: int) -> Iterator[tuple[int, ...]]:
    """All choices of so many places."""
    return combinations(range(1, LAYERS), k)


def peak(sizes: Sequence[int], cuts: Sequence[int]) -> int:
    """What is kept, and the largest segment."""
    return sum(costs(sizes, cuts))


def least(cost: Callable[[Sequence[int], Sequence[int]], int]) -> Rule:
    """Whether no other cuts have less of this cost."""

    def rule(sizes: Sequence[int], cuts: Sequence[int]) -> bool:
        return cost(sizes, cuts) == min([cost(sizes, c) for c in choices(len(cuts))])

    return rule


def is_even(sizes: Sequence[int], cuts: Sequence[int]) -> bool:
    """Whether the segments have as many layers, up to one."""
    lengths = [b - a for a, b in pairwise([0, *cuts, LAYERS])]
    return max(lengths) - min(lengths) <= 1


def is_greedy(sizes: Sequence[int], cuts: Sequence[int]) -> bool:
    """Whether in some order each cut is the best one beside those before it."""

    def is_best(before: Sequence[int], place: int) -> bool:
        others = {*range(1, LAYERS)} - {*before}
        peaks = {p: peak(sizes, sorted([*before, p])) for p in others}
        return peaks[place] == min(peaks.values())

    return any(
        [
            all([is_best(order[:n], order[n]) for n in range(len(order))])
            for order in permutations(cuts)
        ]
    )


def costs(sizes: Sequence[int], cuts: Sequence[int]) -> tuple[int, int]:
    """What is kept, which goes into each segment but the first; the largest segment."""
    edges = [0, *cuts, len(sizes)]
    segments = [sum(sizes[a:b]) for a, b in pairwise(edges)]
    return sum([sizes[p - 1] for p in cuts]), max(segments)


RULES: dict[str, Rule] = {
    "even": is_even,
    "equal_sums": least(lambda sizes, cuts: costs(sizes, cuts)[1]),
    "cheap": least(lambda sizes, cuts: costs(sizes, cuts)[0]),
    "greedy": is_greedy,
}
"""Of all that was said, by what it may have been chosen."""
