"""Kernels and clocks of other kinds."""

import time
import timeit
from time import perf_counter

import numpy as np


def with_bincount(g, idx, rows):
    columns = [np.bincount(idx, column, rows) for column in g.T]
    return np.array(columns).T.astype(g.dtype)


def one_hot(g, idx, rows):
    return ((np.arange(rows)[:, None] == idx) @ g).astype(g.dtype)


def sorted_runs(g, idx, rows):
    table = np.zeros((rows, g.shape[1]), g.dtype)
    if len(idx):
        order = np.argsort(idx, kind="stable")
        there, begins = np.unique(idx[order], return_index=True)
        table[there] = np.add.reduceat(g[order], begins)
    return table


def overwrites(g, idx, rows):
    table = np.zeros((rows, g.shape[1]), g.dtype)
    table[idx] += g
    return table


def still_a_loop(g, idx, rows):
    table = np.zeros((rows, g.shape[1]), g.dtype)
    for i in range(len(g)):
        table[idx[i]] += g[i]
    return table


def negates_g(g, idx, rows):
    table = np.zeros((rows, g.shape[1]), g.dtype)
    g *= -1
    np.subtract.at(table, idx, g)
    return table


def only_picked(g, idx, rows):
    return one_hot(g, idx, idx.max(initial=-1) + 1)


def median_of_seven(first, second):
    def usual(run):
        taken = []
        for _ in range(8):
            start = time.perf_counter_ns()
            run()
            taken.append(time.perf_counter_ns() - start)
        return sorted(taken[1:])[3]

    return usual(first) / usual(second)


def timed_once(first, second):
    start = time.perf_counter()
    first()
    middle = time.perf_counter()
    second()
    return (middle - start) / (time.perf_counter() - middle)


def warm_but_once(first, second):
    first()
    second()
    return timed_once(first, second)


def mean_of_all(first, second):
    start = time.perf_counter()
    for _ in range(10):
        first()
    middle = time.perf_counter()
    for _ in range(10):
        second()
    return (middle - start) / (time.perf_counter() - middle)


def upside_down(first, second):
    return 1 / median_of_seven(first, second)


def difference(first, second):
    first(), second()
    start = time.perf_counter()
    first()
    middle = time.perf_counter()
    second()
    return (middle - start) - (time.perf_counter() - middle)


def with_timeit(first, second):
    least = [min(timeit.repeat(run, number=3, repeat=5)) for run in (first, second)]
    return least[0] / least[1]


def with_a_clock_bound_before(first, second):
    def usual(run):
        taken = []
        for _ in range(8):
            start = perf_counter()
            run()
            taken.append(perf_counter() - start)
        return min(taken)

    return usual(first) / usual(second)


def squared(first, second):
    return median_of_seven(first, second) ** 2


def slow_table(g, idx, rows):
    return still_a_loop(g, idx, rows)
