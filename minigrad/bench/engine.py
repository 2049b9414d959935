"""The rows of the engine: chains of nodes beside torch, HIPS autograd, MyGrad and jax.

A program takes minigrad or torch under torch's name, and returns what it computed: two
sides have to return the same.
"""

from __future__ import annotations

import gc
import importlib
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import minigrad
from minigrad.bench.harness import Program, interleaved
from minigrad.bench.reasons import profiled
from minigrad.bench.rows import (
    QUICKLY,
    SECONDS,
    Other,
    Peer,
    Row,
    Task,
    Timed,
    explained,
    ratio_row,
)
from minigrad.bench.unheard import heard_and_unheard

SIZE, LENGTH = 100, 400


def numbers(size: int) -> list[Any]:
    """Three vectors of float32."""
    random = np.random.default_rng(0)
    return [random.uniform(0.5, 1.0, size).astype(np.float32) for _ in range(3)]


def leaves(torch: Any, size: int) -> list[Any]:
    """The same as tensors that require grad."""
    return [torch.tensor(one, requires_grad=True) for one in numbers(size)]


def functions(torch: Any) -> dict[str, Any]:
    """Custom Functions: ``x * 1.001`` in both styles, ``x * weight``, ``x * x``."""

    class Combined(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 1.001

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (_x,) = ctx.saved_tensors  # read, as nearly every backward does
            return grad * 1.001

    class Separate(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 1.001

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (_x,) = ctx.saved_tensors
            return grad * 1.001

    class TwoSaved(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, weight: Any) -> Any:
            ctx.save_for_backward(x, weight)
            return x * weight

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, weight = ctx.saved_tensors
            return grad * weight, grad * x

    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2.0 * grad * x

    styles = {"combined": Combined, "separate": Separate}
    return {**styles, "two saved": TwoSaved, "square": Square}


def custom_chain(
    torch: Any, style: str = "combined", size: int = SIZE, length: int = LENGTH
) -> Program:
    """``length`` custom nodes in a row, forward and backward."""
    apply = functions(torch)[style].apply
    x = leaves(torch, size)[0]
    # Near 1, long chains of products stay finite.
    weight = torch.tensor(np.full(size, 1.001, np.float32), requires_grad=True)
    others = [weight] if style == "two saved" else []

    def run() -> Any:
        y = x
        for _ in range(length):
            y = apply(y, *others)
        for leaf in (x, *others):
            leaf.grad = None
        y.sum().backward()
        return y, x.grad, [one.grad for one in others]

    return run


def builtin_chain(
    torch: Any, size: int = SIZE, length: int = LENGTH, backward: bool = True
) -> Program:
    """mul, add, add, tanh: ``length`` operations in all."""
    x, weight, bias = leaves(torch, size)

    def run() -> Any:
        y = x
        for _ in range(length // 4):
            y = (y * weight + bias + x).tanh()
        if not backward:
            return y
        x.grad = weight.grad = bias.grad = None
        y.sum().backward()
        return x.grad, weight.grad, bias.grad

    return run


def chained(three: Any, tanh: Any) -> Any:
    """The built-in chain as a function, for libraries without methods of torch's."""
    x, weight, bias = three
    y = x
    for _ in range(LENGTH // 4):
        y = tanh(y * weight + bias + x)
    return y.sum()


def chain_of_autograd(autograd: Any) -> Program:
    """HIPS autograd: a tape of closures."""
    tanh = importlib.import_module("autograd.numpy").tanh
    gradient = autograd.grad(lambda three: chained(three, tanh))
    three = tuple(numbers(SIZE))
    return lambda: list(gradient(three))


def chain_of_mygrad(mygrad: Any) -> Program:
    """Tensors that forget their gradients by themselves."""
    three = [mygrad.tensor(one) for one in numbers(SIZE)]

    def run() -> Any:
        chained(three, mygrad.tanh).backward()
        return [one.grad for one in three]

    return run


def chain_of_jax(jax: Any) -> Program:
    """Without compiling: each operation by itself, as in all the others."""
    three = [jax.numpy.asarray(one) for one in numbers(SIZE)]
    gradient = jax.grad(lambda *three: chained(three, jax.numpy.tanh), (0, 1, 2))
    return lambda: [np.asarray(one) for one in gradient(*three)]


def double_backward(torch: Any, length: int = 50, custom: bool = False) -> Program:
    """The gradient of a gradient, of built-in or custom nodes."""
    square = functions(torch)["square"].apply
    # Squares of 1 stay 1: those of other numbers would soon be 0 or infinite.
    x = torch.tensor(np.ones(SIZE, np.float32), requires_grad=True)

    def run() -> Any:
        y = x
        for _ in range(length):
            y = square(y) if custom else y * y
        (first,) = torch.autograd.grad(y.sum(), [x], create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), [x])
        return first, second

    return run


def memory_row(name: str, quick: bool, length: int = 20_000) -> Iterator[Row]:
    """The bytes that Python counts for a product, with its output of size 1."""
    x = leaves(minigrad, 1)[0]
    _ = x * x  # loads the modules of a product, which are not the node's
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    y = x
    for _ in range(length):
        y = y * x
    after, _ = tracemalloc.get_traced_memory()
    row = Row(name, round((after - before) / length), goal=520, unit="B")
    row = explained(row, lambda: most_memory(length))
    tracemalloc.stop()
    yield row


def most_memory(length: int) -> str:
    """The lines that have taken most of the memory that is traced, for each node."""
    lines = tracemalloc.take_snapshot().statistics("lineno")
    most = [(one.size / length, one.traceback[0]) for one in lines[:5]]
    return ", ".join(
        [f"{Path(at.filename).name}:{at.lineno} {size:.0f} B" for size, at in most]
    )


def listening_row(name: str, quick: bool) -> Iterator[Row]:
    """What the engine pays for its observers while there is none."""
    programs = heard_and_unheard(custom_chain(minigrad, size=1))
    sides = dict(zip(("heard", "unheard"), programs, strict=True))
    found = interleaved(sides, LENGTH, 3 * (QUICKLY if quick else SECONDS))
    row = ratio_row(name, found["heard"], found["unheard"], "no seams")
    row = replace(row, goal=1.02)
    yield explained(row, lambda: f"profiled: {profiled(programs[0])}")


def long_chain_rows(name: str, quick: bool, length: int = 1_000_000) -> Iterator[Row]:
    """No recursion anywhere, and nothing that is left for the collector."""
    torch = Peer("torch").module
    modules = {"minigrad": minigrad} | ({} if torch is None else {"torch": torch})
    sides = {one: builtin_chain(own, 1, length) for one, own in modules.items()}
    found = interleaved(sides, length, seconds=0, rounds=2)
    ours, gone = found["minigrad"], "torch: not installed"
    if torch is None:
        yield Row(name, ours.median, against="torch", note=gone)
    else:
        yield ratio_row(name, ours, found["torch"], "torch")
    gc.collect()
    sides["minigrad"]()
    left, name = gc.collect(), "engine: a million nodes: left for the collector"
    row = Row(name, left, goal=0, unit="objects")
    yield explained(row, lambda: kinds_left(sides["minigrad"]))


def kinds_left(program: Program) -> str:
    """What a run leaves for the collector, by kind.

    >>> kinds_left(lambda: (own := []).append(own))
    'list 1'
    """
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        program()
        gc.collect()
        kinds = Counter([type(one).__name__ for one in gc.garbage])
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    return ", ".join([f"{kind} {number}" for kind, number in kinds.most_common(5)])


def engine_tasks() -> list[Task]:
    """All rows of the engine, with their goals and, in second place, the stretch."""
    two_saved = partial(custom_chain, style="two saved")
    separate = partial(custom_chain, style="separate")
    forward = partial(builtin_chain, backward=False)
    twice = partial(double_backward, custom=True)
    tasks: list[Task] = []
    for name, make, units, arithmetic, goal, stretch in (
        ("custom combined, forward+backward", custom_chain, LENGTH, 2, 0.45, 0.40),
        ("custom, two saved, forward+backward", two_saved, LENGTH, 4, 0.60, 0.50),
        ("custom separate, forward+backward", separate, LENGTH, 2, 0.33, 0.28),
        ("built-in, forward", forward, LENGTH, 1, 1.0, 0.90),
        ("double backward, built-in", double_backward, 50, 10, 1.4, 1.1),
        ("double backward, custom", twice, 50, 10, 0.9, 0.7),
    ):
        peers: tuple[Peer, ...] = (Peer("torch", goal, stretch),)
        tasks.append(Timed(f"engine: {name}", make, peers, units, arithmetic))
    peers = (
        Peer("torch", 0.90, 0.75),
        Peer("autograd", 0.36, 0.28, chain_of_autograd),
        Peer("mygrad", 0.36, 0.28, chain_of_mygrad),
        Peer("jax", 1 / 40, None, chain_of_jax),
    )
    name = "engine: built-in, forward+backward"
    return [
        *tasks,
        Timed(name, builtin_chain, peers, LENGTH, 3),
        Other("engine: nobody listening, custom combined", listening_row),
        Other("engine: memory of a recorded node", memory_row),
        Other("engine: chain of a million nodes", long_chain_rows, is_long=True),
    ]
