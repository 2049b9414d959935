"""The same chain in HIPS autograd, MyGrad and jax, as far as they are installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.bench.harness import interleaved
from minigrad.bench.rows import Row, ratio_row

Program = Callable[[], Any]

SIZE, LENGTH = 100, 400
GOALS = {"autograd": 1 / 4, "mygrad": 1 / 4, "jax": 1 / 40}
"""For our time over theirs: they are to take so many times as long."""


def imported(name: str) -> Any:
    """The module; None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def numbers() -> list[Any]:
    """x, weight and bias."""
    random = np.random.default_rng(0)
    return [random.uniform(0.5, 1.0, SIZE).astype(np.float32) for _ in range(3)]


def chained(three: Any, tanh: Any) -> Any:
    """mul, add, add, tanh, again and again."""
    x, weight, bias = three
    y = x
    for _ in range(LENGTH // 4):
        y = tanh(y * weight + bias + x)
    return y.sum()


def with_minigrad(module: Any) -> Program:
    """The gradient of x, weight and bias, as all of them compute it."""
    leaves = [module.tensor(one, requires_grad=True) for one in numbers()]

    def run() -> Any:
        for leaf in leaves:
            leaf.grad = None
        chained(leaves, module.tanh).backward()
        return [leaf.grad.numpy() for leaf in leaves]

    return run


def with_autograd(module: Any) -> Program:
    """A tape of closures."""
    wrapped = importlib.import_module(f"{module.__name__}.numpy")
    gradient = module.grad(lambda three: chained(three, wrapped.tanh))
    three = tuple(numbers())
    return lambda: list(gradient(three))


def with_mygrad(module: Any) -> Program:
    """Tensors, as here."""
    leaves = [module.tensor(one) for one in numbers()]

    def run() -> Any:
        chained(leaves, module.tanh).backward()
        return [leaf.grad for leaf in leaves]

    return run


def with_jax(module: Any) -> Program:
    """Without compiling: each operation by itself, as in all the others."""
    numpy = module.numpy
    three = [numpy.asarray(one) for one in numbers()]
    gradient = module.grad(lambda *three: chained(three, numpy.tanh), (0, 1, 2))
    return lambda: [np.asarray(one) for one in gradient(*three)]


PEERS: dict[str, Callable[[Any], Program]] = {
    "autograd": with_autograd,
    "mygrad": with_mygrad,
    "jax": with_jax,
}


def peer_rows(seconds: float) -> Iterator[Row]:
    """One for each; who is not installed is named."""
    ours = with_minigrad(minigrad)
    for name, make in PEERS.items():
        shown = f"built-in chain, size 100: {name}, an op"
        module = imported(name)
        if module is None:
            yield Row(shown, "-", "-", "not installed", f"{GOALS[name]:.3g}")
            continue
        theirs = make(module)
        pairs = zip(ours(), theirs(), strict=True)
        if not all([np.allclose(*pair, rtol=1e-3, atol=1e-5) for pair in pairs]):
            yield Row(shown, "-", "-", "different results", "-")
            continue
        found = interleaved({"ours": ours, "theirs": theirs}, LENGTH, seconds)
        yield ratio_row(shown, found["ours"], found["theirs"], GOALS[name])
