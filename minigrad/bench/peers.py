"""The same chain in HIPS autograd, MyGrad and jax, as far as they are installed."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import minigrad
from minigrad.bench.floor import bounded, chain_on_arrays
from minigrad.bench.harness import Program
from minigrad.bench.programs import builtin_chain
from minigrad.bench.rows import Row, Task, compared, imported, missing

SIZE, LENGTH = 100, 400
GOALS = {"autograd": 1 / 4, "mygrad": 1 / 4, "jax": 1 / 40}
"""For our time over theirs: they are to take so many times as long."""


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


def peer_row(name: str, seconds: float) -> Iterator[Row]:
    """Beside one of them; who is not installed is named."""
    shown, goal = "built-in chain, size 100: forward+backward, an op", GOALS[name]
    module = imported(name)
    if module is None:
        yield missing(shown, name, goal)
        return
    ours, theirs = with_minigrad(minigrad), PEERS[name](module)
    # jax computes in threads of its own: this clock counts those of both sides.
    clock = time.process_time
    row = compared(shown, ours, theirs, goal, name, LENGTH, seconds, clock=clock)
    chain = SIZE, LENGTH, True
    same_ops = builtin_chain(minigrad, *chain)
    yield bounded(row, same_ops, chain_on_arrays(*chain), LENGTH, seconds / 3)


def peer_tasks(seconds: float) -> Iterator[Task]:
    """One for each."""
    for name in PEERS:
        yield Task(name, partial(peer_row, name, seconds))
