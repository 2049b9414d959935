"""Answers to 11.5, and what other rows use."""

import time
import timeit

choices = ["forward", "reverse", "forward"]


def by_nanoseconds(run):
    times = []
    for _ in range(9):
        start = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - start)
    return sorted(times)[4] / 1e9


def by_timeit(run):
    return min(timeit.repeat(run, number=1, repeat=8)[2:])


def once(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def once_warm(run):
    run()
    return once(run)
