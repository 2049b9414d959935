"""Answers to 15.6, and what other rows use."""

import statistics
import time

import minigrad as mg
from minigrad import bench


def by_mean_loss(loss, w, X, targets):
    def mean(w):
        return mg.vmap(loss, in_dims=(None, 0, 0))(w, X, targets).mean()

    return mg.func.grad(mean)(w)


def by_share(loss, w, X, targets):
    slope = mg.func.grad(loss)
    return mg.vmap(slope, in_dims=(None, 0, 0))(w, X, targets) / len(X)


def by_copies(loss, w, X, targets):
    return by_mean_loss(loss, w, X, targets).expand(len(X), len(w))


def by_sum(loss, w, X, targets):
    w = w.detach().requires_grad_()
    mg.vmap(loss, in_dims=(None, 0, 0))(w, X, targets).sum().backward()
    return w.grad


def by_a_loop(loss, w, X, targets):
    slope = mg.func.grad(loss)
    return mg.stack([slope(w, x, t) for x, t in zip(X, targets, strict=True)])


def by_copied_weights(loss, w, X, targets):
    copies = w.expand(len(X), len(w)).clone().requires_grad_()
    mg.vmap(loss)(copies, X, targets).sum().backward()
    return copies.grad


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def in_turns(slow, fast):
    slow(), fast()
    return statistics.median([seconds(slow) / seconds(fast) for _ in range(9)])


def one_after_the_other(slow, fast):
    times = []
    for run in (slow, fast):
        run()
        times.append(min([seconds(run) for _ in range(9)]))
    return times[0] / times[1]


def cold(slow, fast):
    return seconds(slow) / seconds(fast)


def mean_in_turns(slow, fast):
    slow(), fast()
    return statistics.mean([seconds(slow) / seconds(fast) for _ in range(9)])


def upside_down(slow, fast):
    return 1 / in_turns(slow, fast)


def difference(slow, fast):
    slow(), fast()
    return statistics.median([seconds(slow) - seconds(fast) for _ in range(9)])


def whole_ratio(slow, fast):
    return in_turns(slow, fast), "times"


def with_an_argument(slow, fast):
    return slow(1) / fast(1)


def from_memory(slow, fast):
    return 6.0
