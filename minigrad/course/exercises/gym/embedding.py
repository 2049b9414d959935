"""gym.Embedding: rows of a table, picked by their number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision

CONTRACT = Contract(name="Embedding", arguments=("weight", "idx"))


def reference(weight: Array, idx: Array) -> Array:
    """What forward returns."""
    return np.asarray(weight[idx])


def gradients(g: Array, weight: Array, idx: Array) -> Arrays:
    """The right gradients: a row that was picked twice gets both contributions."""
    return _added(g, weight, idx), None


def _added(g: Array, weight: Array, idx: Array) -> Array:
    table = np.zeros_like(weight)
    np.add.at(table, idx, g)
    return table


def cases(random: np.random.Generator) -> list[Case]:
    """Indices with and without repeats, with one to three axes."""

    def case(name: str, rows: int, width: int, idx: Array) -> Case:
        g = numbers(random, *idx.shape, width)
        return Case(name, (numbers(random, rows, width), idx), g)

    def repeated(rows: int, *shape: int) -> Array:
        """Indices among which one comes three times and another one never."""
        few = random.permutation(rows)[: max(rows - 1, 1)]
        idx = random.choice(few, shape)
        idx.flat[:: max(idx.size // 3, 1)] = few[0]
        return np.asarray(idx, np.int64)

    turned = numbers(random, 3, 4).T
    three = repeated(4, 3)
    return [
        case("two rows, none twice", 3, 2, random.permutation(3)[:2].astype(np.int64)),
        case("one row picked three times", 3, 2, np.array([1, 1, 1])),
        case("indices that repeat", 4, 3, repeated(4, 5)),
        case("a 2 x 3 matrix of indices", 5, 2, repeated(5, 2, 3)),
        case("a square matrix of indices", 3, 3, repeated(3, 3, 3)),
        Case(
            "a table that is transposed in memory",
            (turned, three),
            numbers(random, 3, 3),
        ),
        case("a block of indices with three axes", 4, 2, repeated(4, 2, 1, 3)),
        single_precision(case("float32 numbers", 3, 2, repeated(3, 4))),
    ]


def wrong_gradients(
    g: Array, weight: Array, idx: Array
) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    right = _added(g, weight, idx)
    flat, rows = idx.reshape(-1), g.reshape(-1, weight.shape[-1])
    for step in (1, -1):
        table = np.zeros_like(weight)
        for i, row in zip(flat[::step], rows[::step], strict=True):
            table[i] = row
        yield "R10", (table, None)
    within = np.zeros_like(weight)
    for i, row in zip(idx, g, strict=True):
        within[i] += row
    yield "R10", (within, None)
    across = np.zeros_like(weight)
    for i, row in zip(np.moveaxis(idx, -1, 0), np.moveaxis(g, -2, 0), strict=True):
        across[i] += row
    yield "R10", (across, None)
    counts = np.bincount(flat, minlength=len(weight))[:, None]
    yield "R04", (right / np.maximum(counts, 1), None)
    yield "R04", (right / flat.size, None)
    yield "R04", (right / len(idx), None)
    yield "R06", (right / len(weight), None)
    total = np.zeros_like(weight)
    total[flat] = rows.sum(0)
    yield "R11", (total, None)
    for only in (0, -1):
        table = np.zeros_like(weight)
        table[flat[only]] = rows[only]
        yield "R14", (table, None)
        yield "R14", (_added(g[only], weight, idx[only]), None)
    some, their = idx, g
    while some.ndim > 1:
        some, their = some[0], their[0]
    yield "R14", (_added(their, weight, some), None)
    yield "R11", (_added(np.broadcast_to(rows.sum(0), g.shape), weight, idx), None)
    yield (
        "R11",
        (_added(np.broadcast_to(g.sum(-1, keepdims=True), g.shape), weight, idx), None),
    )
    yield "R13", (np.zeros_like(weight) + rows.sum(0), None)
    yield "C03", (np.zeros_like(weight) + rows.sum(0), None)
    yield "C03", (g, None)
    picked = (flat[:, None] == np.arange(len(weight))).astype(weight.dtype)
    yield "L06", (picked @ rows if len(flat) == len(weight) else None, None)
    yield "C07", (right * weight, None)
    yield "L02", (right * counts, None)
