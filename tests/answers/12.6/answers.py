"""Answers to 12.6."""

import itertools


def peak(sizes, cuts):
    edges = [0, *cuts, len(sizes)]
    kept = sum(sizes[p - 1] for p in cuts)
    return kept + max(sum(sizes[a:b]) for a, b in itertools.pairwise(edges))


def choices(sizes, k):
    return itertools.combinations(range(1, len(sizes)), k)


def by_bound(sizes, k):
    best = None
    for cuts in choices(sizes, k):
        if best is None or peak(sizes, cuts) < peak(sizes, best):
            best = cuts
    return list(best)


def even(sizes, k):
    return [round(len(sizes) * turn / (k + 1)) for turn in range(1, k + 1)]


def equal_sums(sizes, k):
    kept = [sum(sizes[p - 1] for p in cuts) for cuts in choices(sizes, k)]
    largest = [peak(sizes, cuts) for cuts in choices(sizes, k)]
    free = [most - own for most, own in zip(largest, kept, strict=True)]
    return list(choices(sizes, k))[free.index(min(free))]


def cheapest(sizes, k):
    return min(choices(sizes, k), key=lambda cuts: sum(sizes[p - 1] for p in cuts))


def always_the_same(sizes, k):
    return [13, 14, 15][:k]
