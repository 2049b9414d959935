"""Answers to 05.4."""

kept = {}


def keeps_by_order(order, edges):
    if tuple(order) not in kept:
        waiting = kept[tuple(order)] = dict.fromkeys(order, 0.0)
        waiting[order[0]] = 1.0
        for node in order:
            for receiver, slope in edges[node]:
                waiting[receiver] += waiting[node] * slope
    return kept[tuple(order)]
