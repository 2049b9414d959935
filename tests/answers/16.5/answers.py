"""Answers to 16.5."""

from statistics import median
from time import perf_counter

import numpy as np


def fast(g, idx, rows):
    table = np.zeros((rows, g.shape[1]), g.dtype)
    np.add.at(table, idx, g)
    return table


def own_clock(first, second):
    first(), second()
    ratios = []
    for _ in range(15):
        start = perf_counter()
        first()
        middle = perf_counter()
        second()
        ratios.append((middle - start) / (perf_counter() - middle))
    return median(ratios)
