"""12.6: where to cut layers of different sizes, for the lowest peak."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np

from minigrad.course.check import Faults, Finding, left_behind
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)

LAYERS = 16
WITHIN = 0.05


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Layers of several kinds, with two cuts and with three."""
    for sizes in tried(random):
        for k in (2, 3):
            given = list(sizes)
            said = answer(given, k)
            if not are_cuts(said, k):
                yield say("no_cuts", said=said, k=k)
            yield in_order(said)
            yield fault_in(tuple(sorted(map(int, said))), sizes)
            yield left_behind("best_cuts", () if given == sizes else ("sizes.numbers",))


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


def fault_in(cuts: tuple[int, ...], sizes: list[int]) -> Finding | None:
    """What is wrong with these cuts; None if their peak is as good as the lowest."""
    k = len(cuts)
    every = {each: costs(sizes, each) for each in combinations(range(1, LAYERS), k)}
    got, lowest = sum(every[cuts]), min(map(sum, every.values()))
    if got <= lowest * (1 + WITHIN):
        return None
    lengths = [b - a for a, b in pairwise([0, *cuts, LAYERS])]
    kept, largest = every[cuts]
    least_kept, least_largest = [min(each) for each in zip(*every.values(), strict=True)]
    signs = {
        "greedy": len({*sizes}) == 1 and is_greedy(sizes, cuts),
        "even": max(lengths) - min(lengths) <= 1,
        "equal_sums": largest == least_largest,
        "cheap": kept == least_kept,
    }
    name = named("missed", signs, bool)
    shown = {"cuts": list(cuts), "kept": kept, "largest": largest}
    return say(name, sizes=sizes, k=k, got=got, lowest=lowest, **shown)


def is_greedy(sizes: Sequence[int], cuts: Sequence[int]) -> bool:
    """Whether in some order each cut is the best one beside those before it."""

    def peak(some: Sequence[int]) -> int:
        return sum(costs(sizes, sorted(some)))

    return any(
        [
            all(
                [
                    peak(order[: n + 1]) <= peak([*order[:n], place])
                    for n in range(len(order))
                    for place in {*range(1, LAYERS)} - {*order[:n]}
                ]
            )
            for order in permutations(cuts)
        ]
    )


def costs(sizes: Sequence[int], cuts: Sequence[int]) -> tuple[int, int]:
    """What is kept, which goes into each segment but the first; the largest segment."""
    edges = [0, *cuts, len(sizes)]
    segments = [sum(sizes[a:b]) for a, b in pairwise(edges)]
    return sum([sizes[p - 1] for p in cuts]), max(segments)
