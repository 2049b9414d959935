"""gym.CrossEntropy: how little a batch of logits says of the right classes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case
from minigrad.course.exercises.gym import softmax_rows
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision


def reference(logits: Array, target: Array) -> Array:
    """What forward returns."""
    return np.asarray(-_of_targets(_log_softmax(logits), target).mean())


def gradients(g: Array, logits: Array, target: Array) -> Arrays:
    """The right gradients."""
    return g * _slope(logits, target), None


def _log_softmax(logits: Array, axis: int = -1) -> Array:
    shifted = logits - logits.max(axis, keepdims=True)
    return np.asarray(shifted - np.log(softmax_rows.total(np.exp(shifted), axis)))


def _of_targets(values: Array, target: Array) -> Array:
    return np.asarray(values[np.arange(len(target)), target])


def _one_hot(logits: Array, target: Array) -> Array:
    marks = np.zeros_like(logits)
    marks[np.arange(len(target)), target] = 1
    return marks


def _slope(logits: Array, target: Array) -> Array:
    away = softmax_rows.softmax(logits, -1) - _one_hot(logits, target)
    return np.asarray(away / len(target))


def cases(random: np.random.Generator) -> list[Case]:
    """Batches of several sizes, labels that repeat, and large logits."""
    batch, classes = (int(n) for n in random.permutation([3, 4, 5])[:2])

    def case(name: str, logits: Array, target: Array | None = None) -> Case:
        if target is None:
            target = random.integers(0, logits.shape[1], len(logits))
        return Case(name, (logits, target), numbers(random))

    def draw(*shape: int) -> Array:
        return numbers(random, *shape)

    large = draw(3, 3)
    large += np.array([[1000.0, 0.0, 0.0], [-1000.0] * 3, [0.0, 0.0, 999.0]])
    return [
        case("2 rows, 3 classes", draw(2, 3), random.permutation(3)[:2]),
        case("1 row, 4 classes", draw(1, 4)),
        case(f"{batch} rows, {classes} classes", draw(batch, classes)),
        case("4 rows of one label", draw(4, 3), np.full(4, 1)),
        case("3 rows, 3 classes, transposed in memory", draw(3, 3).T),
        case("logits near 1000 and -1000", large, np.array([1, 2, 2])),
        single_precision(case("float32, 2 rows, 4 classes", draw(2, 4))),
    ]


def wrong_gradients(
    g: Array, logits: Array, target: Array
) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    for name, value in _wrong(logits, target):
        yield name, (g * value, None)
    yield "C01", (_slope(logits, target), None)
    spread = -g * _one_hot(logits, target) / len(target)
    yield "L09", (spread - softmax_rows.softmax(logits, -1), None)


def _wrong(logits: Array, target: Array) -> Iterator[tuple[str, Array]]:
    """The wrong slopes, before they are multiplied by g."""
    batch, classes = logits.shape
    p, marks = softmax_rows.softmax(logits, -1), _one_hot(logits, target)
    yield "R05", p - marks
    yield "R06", (p - marks) / classes
    yield "R06", (p - marks) / logits.size
    outer = p.copy()
    outer[:, target] -= 1
    yield "R13", outer / batch
    yield "R13", outer
    counted = p - marks.sum(0)
    yield "R13", counted / batch
    guessed = _one_hot(logits, logits.argmax(-1))
    yield "L11", (p - guessed) / batch
    yield "L08", -marks / batch
    yield "L09", (p * softmax_rows.total(marks * p, -1) - marks) / batch
    yield "L08", p / batch
    yield "L08", marks * (p - 1) / batch
    yield "L01", (p + marks) / batch
    yield "L05", (logits - marks) / batch
    yield "L05", (_log_softmax(logits) - marks) / batch
    with np.errstate(all="ignore"):
        yield "L05", (np.exp(logits) - marks) / batch
        yield "L20", (softmax_rows.unstable(logits, -1) - marks) / batch
    yield "R02", (softmax_rows.softmax(logits, 0) - marks) / batch
    first = (p - marks) * (np.arange(batch) == 0)[:, None]
    yield "R14", first
    yield "R14", first / batch


def wrong_results(logits: Array, target: Array) -> Iterator[tuple[str, Array]]:
    """Wrong results of forward that have a name."""
    right = reference(logits, target)
    yield "R05", right * len(target)
    yield "R06", right * len(target) / logits.shape[1]
    yield "R06", right / logits.shape[1]
    yield "R13", np.asarray(-_log_softmax(logits)[:, target].mean())
    yield "L01", -right
    with np.errstate(all="ignore"):
        chosen = _of_targets(softmax_rows.unstable(logits, -1), target)
        yield "L20", np.asarray(-np.log(chosen).mean())
        logs = logits - np.log(softmax_rows.total(np.exp(logits), -1))
        yield "L20", np.asarray(-_of_targets(logs, target).mean())
        chosen = _of_targets(softmax_rows.softmax(logits, -1), target)
        yield "L20", np.asarray(-np.log(chosen).mean())
    yield "R02", np.asarray(-_of_targets(_log_softmax(logits, 0), target).mean())


def factors(logits: Array, target: Array) -> Iterator[tuple[str, float]]:
    """What a constant ratio of wrong to right could follow."""
    batch, classes = logits.shape
    yield "R05", batch
    yield "R06", batch / classes
    yield "R06", 1 / classes
    yield "R06", batch / len(np.unique(target))
