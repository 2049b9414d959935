import itertools


def one_at_a_time(sizes, k):
    cuts = []
    for _ in range(k):
        others = [p for p in range(1, len(sizes)) if p not in cuts]
        cuts.append(min(others, key=lambda p: peak(sizes, sorted([*cuts, p]))))
    return sorted(cuts)


def peak(sizes, cuts):
    edges = [0, *cuts, len(sizes)]
    kept = sum(sizes[p - 1] for p in cuts)
    return kept + max(sum(sizes[a:b]) for a, b in itertools.pairwise(edges))
