"""Answers to 11.5, and what other rows use."""

import time
import timeit

choices = ["forward", "reverse", "forward"]


def by_timeit(run):
    return min(timeit.repeat(run, number=1, repeat=8)[2:])


def once(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def once_warm(run):
    run()
    return once(run)
