"""gym.Conv1d: a kernel slides along a signal; several channels in, several out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision

CONTRACT = Contract(name="Conv1d", arguments=("x", "w", "padding"))


def reference(x: Array, w: Array, padding: int) -> Array:
    """What forward returns."""
    return _correlate(_padded(x, padding, padding), w)


def gradients(g: Array, x: Array, w: Array, padding: int) -> Arrays:
    """The right gradients."""
    inside = slice(padding, padding + x.shape[-1])
    for_w = _for_w(g, _padded(x, padding, padding), w)
    return _for_padded(g, w)[..., inside], for_w, None


def _padded(x: Array, left: int, right: int) -> Array:
    return np.pad(x, ((0, 0), (0, 0), (left, right)))


def _correlate(padded: Array, w: Array) -> Array:
    windows = sliding_window_view(padded, w.shape[-1], axis=-1)
    return np.asarray(np.einsum("bctk,ock->bot", windows, w))


def _for_padded(g: Array, w: Array) -> Array:
    """The gradient for the padded signal: each step hands it to the K it looked at."""
    batch, steps = g.shape[0], g.shape[-1]
    channels, kernel = w.shape[1:]
    signal = np.zeros((batch, channels, steps + kernel - 1), g.dtype)
    for k in range(kernel):
        signal[..., k : k + steps] += np.einsum("bot,oc->bct", g, w[..., k])
    return signal


def _for_w(g: Array, padded: Array, w: Array) -> Array:
    windows = sliding_window_view(padded, w.shape[-1], axis=-1)
    return np.asarray(np.einsum("bctk,bot->ock", windows, g))


def cases(random: np.random.Generator) -> list[Case]:
    """With and without padding; channels as many in as out, and not; a batch of 1."""

    def case(name: str, x: Array, outputs: int, kernel: int, padding: int) -> Case:
        w = numbers(random, outputs, x.shape[1], kernel)
        steps = x.shape[-1] + 2 * padding - kernel + 1
        g = numbers(random, x.shape[0], outputs, steps)
        return Case(f"{name}, padding {padding}", (x, w, padding), g)

    def signal(*shape: int) -> Array:
        return numbers(random, *shape)

    turned = np.swapaxes(signal(2, 4, 3), 1, 2)
    return [
        case("one channel, a kernel of 2", signal(1, 1, 4), 1, 2, 0),
        case("3 channels to 2, a batch of 3", signal(3, 3, 4), 2, 2, 1),
        case("a kernel of 1", signal(2, 3, 3), 2, 1, 0),
        case("2 channels to 3, a batch of 2", signal(2, 2, 4), 3, 3, 1),
        case("2 channels to 2, a batch of 2", signal(2, 2, 3), 2, 3, 2),
        case("a signal that is transposed in memory", turned, 2, 4, 0),
        single_precision(case("float32 numbers", signal(2, 2, 4), 3, 3, 1)),
    ]


def wrong_gradients(
    g: Array, x: Array, w: Array, padding: int
) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    for name, value in _wrong_for_x(g, x, w, padding):
        yield name, (value, None, None)
    for name, value in _wrong_for_w(g, x, w, padding):
        yield name, (None, value, None)


def _wrong_for_x(
    g: Array, x: Array, w: Array, padding: int
) -> Iterator[tuple[str, Array | None]]:
    length = x.shape[-1]
    inside = slice(padding, padding + length)
    padded = _for_padded(g, w)
    yield "L16", _for_padded(g, w[..., ::-1])[..., inside]
    yield "L16", padded[..., inside][..., ::-1]
    for start in (0, 2 * padding):
        yield "L17", padded[..., start : start + length]
    yield "L17", padded[..., padding:]
    yield "L17", padded[..., : padding + length]
    yield "L17", padded
    for assigned in _assigned(g, w, padded.shape):
        yield "R10", assigned[..., inside]
    yield "C01", _for_padded(np.ones_like(g), w)[..., inside]
    yield "R14", _for_padded(g[:, :1], w[:1])[..., inside]
    yield "R14", _for_padded(g[:, -1:], w[-1:])[..., inside]
    yield "R04", padded[..., inside] / w.shape[0]
    yield "R06", padded[..., inside] / w.shape[-1]
    turned = np.swapaxes(w, 0, 1)
    fits = w.shape[0] == w.shape[1]
    for kernel in (turned, turned[..., ::-1]):
        yield "L06", _for_padded(g, kernel)[..., inside] if fits else None


def _assigned(g: Array, w: Array, shape: tuple[int, ...]) -> Iterator[Array]:
    """What is left if each step, or each part of the kernel, overwrites the others."""
    steps, kernel = g.shape[-1], w.shape[-1]
    for backwards in (1, -1):
        by_steps, by_kernel = np.zeros(shape, g.dtype), np.zeros(shape, g.dtype)
        for t in range(steps)[::backwards]:
            by_steps[..., t : t + kernel] = np.einsum("bo,ock->bck", g[..., t], w)
        for k in range(kernel)[::backwards]:
            by_kernel[..., k : k + steps] = np.einsum("bot,oc->bct", g, w[..., k])
        yield by_steps
        yield by_kernel


def _wrong_for_w(
    g: Array, x: Array, w: Array, padding: int
) -> Iterator[tuple[str, Array | None]]:
    signal = _padded(x, padding, padding)
    right = _for_w(g, signal, w)
    yield "L16", right[..., ::-1]
    yield "L16", _for_w(g[..., ::-1], signal, w)
    for left in (0, 2 * padding):
        yield "L17", _for_w(g, _padded(x, left, 2 * padding - left), w)
    inside = slice(padding, g.shape[-1] - padding)
    short = x.shape[-1] >= w.shape[-1] and g[..., inside].size
    yield "L17", _for_w(g[..., inside], x, w) if short else None
    for only in (slice(0, 1), slice(-1, None)):
        yield "R14", _for_w(g[only], signal[only], w)
        yield "R14", _for_w(g[..., only], _windowed(signal, w, only), w)
    yield "R04", right / len(x)
    yield "R06", right / g.shape[-1]
    yield "R06", right / (len(x) * g.shape[-1])
    sums = g.sum((0, 2)), signal.sum((0, 2))
    yield "R12", np.multiply.outer(*sums)[..., None] * np.ones_like(w)
    yield "R12", _for_w(g.sum(0, keepdims=True), signal.sum(0, keepdims=True), w)
    yield "L06", np.swapaxes(right, 0, 1)
    yield "L06", np.swapaxes(right, 0, 1).reshape(right.shape)


def _windowed(signal: Array, w: Array, only: slice) -> Array:
    """The part of the signal that one step of the kernel sees."""
    kernel = w.shape[-1]
    return signal[..., :kernel] if only.start == 0 else signal[..., -kernel:]


def wrong_results(x: Array, w: Array, padding: int) -> Iterator[tuple[str, Array]]:
    """Wrong results of forward that have a name."""
    yield "L16", _correlate(_padded(x, padding, padding), w[..., ::-1])
    for left in (0, 2 * padding):
        yield "L17", _correlate(_padded(x, left, 2 * padding - left), w)
    for left, right in ((padding, 0), (0, padding)):
        yield "L17", _correlate(_padded(x, left, right), w)
    yield "R08", _correlate(x, w)
