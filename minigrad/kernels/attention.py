"""Attention in blocks: the weights of a few queries at a time stay in the cache.

With ``causal`` a block leaves out all the keys behind its last query. Backward computes
the weights again: there is no room to keep them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.kernels._jit import in_order, kernel
from minigrad.kernels._math import exp, greater
from minigrad.kernels._scratch import scratch

ROWS = 64
"""How many queries of a causal block there are: more would see too far ahead."""

BLOCK = 1 << 17
"""About how many weights there are in a block: half a megabyte in float32."""


def weigh_in_numpy(scores: Any, scale: float, causal: bool, first: int) -> None:
    """The same in plain NumPy."""
    rows, keys = scores.shape[1:]
    hidden = ~np.tri(rows, keys, first if causal else keys, dtype=bool)
    with np.errstate(all="ignore"):
        scores *= scores.dtype.type(scale)
        scores[:, hidden] = -np.inf
        most = scores.max(2, keepdims=True, initial=-np.inf)
        nothing = most == -np.inf
        np.exp(scores - np.where(nothing, 0, most), out=scores)
        total = scores.sum(2, keepdims=True)
        scores /= np.where(nothing, 1, total)
        scores[:, hidden] = 0


@kernel(weigh_in_numpy)
def weigh(scores: Any, scale: float, causal: bool, first: int) -> None:
    """In place, e**(score * scale) over their sum for each query: (n, queries, keys).

    The queries are those from ``first`` on; ``causal`` hides the keys behind each.
    Where all scores are -infinity the weights are 0.
    """
    factor = scores.dtype.type(scale)
    lowest, zero = scores.dtype.type(-np.inf), scores.dtype.type(0)
    one = scores.dtype.type(1)
    keys = scores.shape[2]
    # All loops go to the end, and ask which keys are seen: how often they run can be
    # foreseen then, and the numbers that they compare fit into wide registers.
    places = np.arange(keys).astype(np.int32)
    for n in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            row = scores[n, i]
            seen = np.int32(min(first + i + 1, keys) if causal else keys)
            most = lowest
            for j in range(keys):
                score = row[j] * factor if places[j] < seen else lowest
                most = greater(most, score)
            if most == lowest:
                most = zero
            total = zero
            for j in range(keys):
                weight = exp(row[j] * factor - most)
                row[j] = weight if places[j] < seen else zero
                total += row[j]
            if total == 0:
                total = one
            share = one / total
            for j in range(keys):
                row[j] = row[j] * share if places[j] < seen else zero


def weigh_back_in_numpy(slopes: Any, weights: Any, scale: float) -> None:
    """The same in plain NumPy."""
    with np.errstate(all="ignore"):
        slopes *= weights
        slopes -= weights * slopes.sum(2, keepdims=True)
        slopes *= slopes.dtype.type(scale)


@kernel(weigh_back_in_numpy)
def weigh_back(slopes: Any, weights: Any, scale: float) -> None:
    """In place, the gradients of the scores from those of their weights."""
    factor = slopes.dtype.type(scale)
    for n in range(slopes.shape[0]):
        for i in range(slopes.shape[1]):
            row, y = slopes[n, i], weights[n, i]
            total = slopes.dtype.type(0)
            for j in range(row.size):
                total += row[j] * y[j]
            for j in range(row.size):
                row[j] = (row[j] * y[j] - y[j] * total) * factor


def blocks(number: int, rows: int, keys: int, causal: bool) -> Iterator[Any]:
    """(heads, first query, last query, keys that they see) of each block.

    Of the same heads, the block that sees most keys comes first.
    """
    high = min(rows, ROWS) if causal else rows
    together = max(1, BLOCK // max(1, high * keys))
    for start in range(0, number, together):
        some = slice(start, min(start + together, number))
        for first in reversed(range(0, rows, max(1, high))):
            last = min(first + high, rows)
            yield some, first, last, min(last, keys) if causal else keys


def times_turned(name: str, left: Any, right: Any) -> Any:
    """``left`` times ``right`` with rows and columns exchanged, in scratch memory."""
    shape = *left.shape[:2], right.shape[1]
    product = scratch.array(name, left.dtype, *shape)
    return np.matmul(left, right.swapaxes(1, 2), out=product)


def add_turned(total: Any, left: Any, right: Any, is_first: bool) -> None:
    """To ``total``, ``left`` with rows and columns exchanged, times ``right``.

    What is first takes the place of the zeros that are there.
    """
    if is_first:
        np.matmul(left.swapaxes(1, 2), right, out=total)
        return
    product = scratch.array("product", total.dtype, *total.shape)
    total += np.matmul(left.swapaxes(1, 2), right, out=product)


def weights_of(
    query: Any, key: Any, mask: Any, scale: float, causal: bool, block: Any
) -> Any:
    """The weights of one block; a mask says which keys each query sees."""
    some, first, last, seen = block
    scores = times_turned("weights", query[some, first:last], key[some, :seen])
    if mask is not None:
        part = mask[some if len(mask) > 1 else slice(None), first:last, :seen]
        np.copyto(scores, -np.inf, where=~part)
    weigh(scores, float(scale), causal, first)
    return scores


def attend(
    query: Any, key: Any, value: Any, mask: Any, scale: float, causal: bool
) -> Any:
    """For each query the mean of the values, weighted by how its key fits.

    Shape: (number, queries, width), (number, keys, width), (number, keys, out) give
    (number, queries, out); ``mask`` is None, or (number or 1, queries, keys).
    """
    number, rows, _ = query.shape
    result = np.empty((number, rows, value.shape[2]), query.dtype)
    for block in blocks(number, rows, key.shape[1], causal):
        some, first, last, seen = block
        weights = weights_of(query, key, mask, scale, causal, block)
        np.matmul(weights, value[some, :seen], out=result[some, first:last])
    return result


def attend_back(
    grad: Any, query: Any, key: Any, value: Any, mask: Any, scale: float, causal: bool
) -> tuple[Any, Any, Any]:
    """The gradients of query, key and value."""
    grad = in_order(grad)
    into_query = np.empty(query.shape, grad.dtype)
    into_key, into_value = (np.zeros(x.shape, grad.dtype) for x in (key, value))
    for block in blocks(len(query), query.shape[1], key.shape[1], causal):
        some, first, last, seen = block
        given, keys = grad[some, first:last], key[some, :seen]
        weights = weights_of(query, key, mask, scale, causal, block)
        is_first = last == query.shape[1]
        add_turned(into_value[some, :seen], weights, given, is_first)
        slopes = times_turned("slopes", given, value[some, :seen])
        weigh_back(slopes, weights, float(scale))
        np.matmul(slopes, keys, out=into_query[some, first:last])
        add_turned(into_key[some, :seen], slopes, query[some, first:last], is_first)
    return into_query, into_key, into_value
