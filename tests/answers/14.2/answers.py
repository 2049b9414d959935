"""Answers to 14.2."""

import statistics
import time
import timeit

from minigrad.bench import interleaved

now = time.perf_counter


def timed(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def by_the_bench(one, other):
    found = interleaved({"one": one, "other": other}, seconds=0.3)
    return found["one"].ratio_to(found["other"])


def several_calls_a_round(one, other):
    for run in (one, other, one, other):
        run()
    quotients = []
    for _ in range(9):
        start = time.process_time_ns()
        for _ in range(3):
            other()
        middle = time.process_time_ns()
        for _ in range(3):
            one()
        quotients.append((time.process_time_ns() - middle) / (middle - start))
    low, *_, high = statistics.quantiles(quotients, n=4)
    return [statistics.median(quotients), low, high]


def cold_and_single(one, other):
    ratio = timed(one) / timed(other)
    return ratio, ratio, ratio


def single(one, other):
    one(), other()
    ratio = timed(one) / timed(other)
    return ratio, ratio, ratio


def in_blocks(one, other):
    one(), other()
    ones = [timed(one) for _ in range(15)]
    others = [timed(other) for _ in range(15)]
    ratios = [a / b for a, b in zip(ones, others, strict=True)]
    return statistics.median(ratios), min(ratios), max(ratios)


def turns(one, other, rounds=15):
    return [timed(one) / timed(other) for _ in range(rounds)]


def cold(one, other):
    ratios = turns(one, other)
    return statistics.mean(ratios), min(ratios), max(ratios)


def cold_sums(one, other):
    pairs = [(timed(one), timed(other)) for _ in range(15)]
    whole = sum(a for a, _ in pairs) / sum(b for _, b in pairs)
    ratios = [a / b for a, b in pairs]
    return whole, min(ratios), max(ratios)


def cold_band(one, other):
    ratios = turns(one, other)
    return statistics.median(ratios), min(ratios), max(ratios)


def warm(one, other):
    one(), other()
    return turns(one, other)


def mean(one, other):
    ratios = warm(one, other)
    return statistics.mean(ratios), min(ratios), max(ratios)


def upside_down(one, other):
    ratios = warm(other, one)
    return statistics.median(ratios), min(ratios), max(ratios)


def lowest_first(one, other):
    ratios = sorted(warm(one, other))
    return ratios[0], ratios[7], ratios[-1]


def in_seconds(one, other):
    one(), other()
    times = [(timed(one), timed(other)) for _ in range(15)]
    return tuple([statistics.median([a for a, _ in times])] * 3)


def no_band(one, other):
    return [statistics.median(warm(one, other))] * 3


def one_number(one, other):
    return statistics.median(warm(one, other))


def two_words(one, other):
    warm(one, other)
    return "faster", "slower"


def one_alone(one, other):
    times = [timed(one) for _ in range(15)]
    return statistics.median(times), min(times), max(times)


def by_timeit(one, other):
    one(), other()
    ratios = []
    for _ in range(15):
        a, b = timeit.timeit(one, number=1), timeit.timeit(other, number=1)
        ratios.append(a / b)
    return statistics.median(ratios), min(ratios), max(ratios)


def too_large(one, other):
    ratios = [3 * each for each in warm(one, other)]
    return statistics.median(ratios), min(ratios), max(ratios)
