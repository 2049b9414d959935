"""gym.LayerNorm: each row is brought to mean 0 and variance 1, scaled and shifted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case
from minigrad.course.exercises.gym.random_inputs import (
    distinct,
    numbers,
    single_precision,
    sizes,
)
from minigrad.course.exercises.gym.softmax_rows import RAISES, fits

EPS_BESIDE = "eps is added to the root of the variance; it belongs below the root."


def reference(x: Array, w: Array, b: Array, eps: float) -> Array:
    """What forward returns."""
    normal, _ = _normal(x, eps)
    return normal * w + b


def gradients(g: Array, x: Array, w: Array, b: Array, eps: float) -> Arrays:
    """The right gradients."""
    normal, scale = _normal(x, eps)
    return _for_x(g * w, normal, scale), _rows(g * normal), _rows(g), None


def _normal(x: Array, eps: float, ddof: int = 0) -> tuple[Array, Array]:
    """The rows with mean 0 and variance 1, and the factor that made them so."""
    centred = x - x.mean(-1, keepdims=True)
    scale = 1 / np.sqrt(x.var(-1, keepdims=True, ddof=ddof) + eps)
    return centred * scale, scale


def _mean(a: Array) -> Array:
    return np.asarray(a.sum(-1, keepdims=True) / a.shape[-1])


def _for_x(h: Array, normal: Array, scale: Array) -> Array:
    """The gradient for x."""
    return np.asarray((h - _mean(h) - normal * _mean(h * normal)) * scale)


def _rows(a: Array) -> Array:
    """The sum over all rows."""
    return np.asarray(a.reshape(-1, a.shape[-1]).sum(0))


def cases(random: np.random.Generator) -> list[Case]:
    """Rows of several lengths, small and large eps, and a block with three axes."""
    rows, many, length = sizes(random, 3)
    length = max(length, 3)

    def case(name: str, x: Array, eps: float) -> Case:
        w, b = numbers(random, x.shape[-1]), numbers(random, x.shape[-1])
        return Case(f"{name}, eps = {eps}", (x, w, b, eps), numbers(random, *x.shape))

    def rows_of(*shape: int) -> Array:
        return distinct(random, *shape)

    block = f"a block with three axes, {many} x 2 x {length}"
    return [
        case("two rows of 3", rows_of(2, 3), 0.1),
        case("one row of 4", rows_of(1, 4), 0.001),
        case(f"a {rows} x {length + 1} matrix", rows_of(rows, length + 1), 1.5),
        case("a square matrix", rows_of(4, 4), 0.00001),
        case("a matrix that is transposed in memory", rows_of(5, 3).T, 0.25),
        case(block, rows_of(many, 2, length), 0.1),
        single_precision(case("float32 numbers", rows_of(2, 3), 0.1)),
    ]


def wrong_gradients(
    g: Array, x: Array, w: Array, b: Array, eps: float
) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    for name, value in _wrong_for_x(g, x, w, eps):
        yield name, (value, None, None, None)
    for name, value in _wrong_for_w(g, x, w, b, eps):
        yield name, (None, value, None, None)
    for name, value in _wrong_sums(g):
        yield name, (None, None, value, None)
    yield "C07", (None, None, _rows(g * w), None)


def _wrong_for_x(
    g: Array, x: Array, w: Array, eps: float
) -> Iterator[tuple[str, Array]]:
    normal, scale = _normal(x, eps)
    h, n = g * w, x.shape[-1]
    mean, along = _mean(h), normal * _mean(h * normal)

    def coupled(first: float, second: float) -> Array:
        """The right gradient with other factors before its coupling terms."""
        return np.asarray((h - first * mean - second * along) * scale)

    for first, second in ((1, 0), (0, 1), (0, 0)):
        yield "L08", coupled(first, second)
    yield "L07", h * scale * (1 - (1 + normal**2) / n)
    for first, second in ((-1, 1), (1, -1), (-1, -1)):
        yield "L01", coupled(first, second)
    for name, factor in (("R05", n), ("R06", n / len(x)), ("R06", n / (n - 1))):
        yield name, factor * coupled(1, 1)
    yield "S01", _for_x(h, normal / scale, scale)
    yield "R07", _without_keepdims(h, normal, scale)
    down, along_down = h.mean(0), (h * normal).mean(0)
    yield "R02", (h - down - normal * along_down) * scale
    yield "C07", _for_x(g, normal, scale)
    yield "C07", _for_x(h, normal, np.ones_like(scale))
    yield "C07", _for_x(h, normal, scale**2)
    for part in (2.0, 0.5):
        yield "L02", coupled(1, part)
    yield "L03", (h - mean - along / scale**2) * scale
    yield "R12", w * _for_x(g, normal, scale)
    counts = ("R05", 1), ("R06", n - 1), ("R06", x.shape[0]), ("R06", x.size)
    for name, count in counts:
        for first, second in ((n / count, n / count), (n / count, 1), (1, n / count)):
            yield name, coupled(first, second)
    yield "R06", (h - h.mean() - normal * (h * normal).mean()) * scale
    for other, factor in _other_normals(x, eps):
        yield "L14", _for_x(h, other, factor)
        yield "L14", _for_x(h, normal, factor)
        yield "L14", _for_x(h, other, scale)


def _without_keepdims(h: Array, normal: Array, scale: Array) -> Array:
    """The means of the rows meet the columns; RAISES where they do not fit."""
    first, second = h.mean(-1), (h * normal).mean(-1)
    if not fits(first, h.shape):
        return RAISES
    return np.asarray((h - first - normal * second) * scale)


def _other_normals(x: Array, eps: float) -> Iterator[tuple[Array, Array]]:
    """The normal rows by another variance or another eps than forward's."""
    centred = x - _mean(x)
    deviation = np.sqrt(x.var(-1, keepdims=True))
    for factor in (
        1 / deviation,
        1 / (deviation + eps),
        _normal(x, eps, ddof=1)[1],
        _normal(x, 0.0, ddof=1)[1],
        *(_normal(x, other)[1] for other in (1e-5, 1e-6, 1e-8, 1e-12)),
    ):
        yield centred * factor, factor


def _wrong_for_w(
    g: Array, x: Array, w: Array, b: Array, eps: float
) -> Iterator[tuple[str, Array]]:
    normal, _ = _normal(x, eps)
    yield from _wrong_sums(g * normal)
    yield "L05", _rows(g * x)
    yield "L05", _rows(g * (normal * w + b))
    yield "C07", _rows(g * (x - _mean(x)))
    yield "C07", _rows(g * normal * w)
    yield "C03", _rows(g)
    yield "L04", _rows(g * w)
    yield "S01", _rows(g * (x - _mean(x)))
    yield "R12", _rows(g) * _rows(normal)
    for other, _ in _other_normals(x, eps):
        yield "L14", _rows(g * other)


def _wrong_sums(terms: Array) -> Iterator[tuple[str, Array]]:
    """What comes of the rows if they are not summed as they should be."""
    rows = terms.reshape(-1, terms.shape[-1])
    yield "R04", rows.mean(0)
    yield "R14", rows[0]
    yield "R14", rows[-1]
    yield "R11", np.full_like(rows[0], terms.sum())
    yield "R02", terms.sum(-1)
    yield "R02", rows.sum(-1)


def wrong_results(
    x: Array, w: Array, b: Array, eps: float
) -> Iterator[tuple[str, Array]]:
    """Wrong results of forward that have a name."""
    yield "R06", _normal(x, eps, ddof=1)[0] * w + b
    centred, variance = x - _mean(x), x.var(-1, keepdims=True)
    yield EPS_BESIDE, centred / (np.sqrt(variance) + eps) * w + b
