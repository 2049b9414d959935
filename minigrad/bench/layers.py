"""The rows of layers: forward and backward of ``nn.functional``, as a user calls it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad.bench.harness import Program, Ratio, agree
from minigrad.bench.rows import Other, Peer, Row, Task, Timed, explained
from minigrad.kernels._jit import in_numpy

Size = tuple[int, ...]


def normal(*shape: int, seed: int = 0) -> Any:
    """Normal numbers in float32."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def whole(limit: int, number: int) -> Any:
    """Whole numbers from 0 up to ``limit``."""
    return np.random.default_rng(1).integers(0, limit, number)


def rows_and_classes(n: int, d: int) -> Any:
    """Scores, and the class of each row."""
    return normal(n, d), whole(d, n)


def scaled_rows(n: int, d: int) -> Any:
    """Rows, their shape, and for each column a weight and a bias."""
    return normal(n, d), (d,), normal(d), normal(d, seed=1)


def scaled_images(n: int, channels: int, *size: int) -> Any:
    """Images, no running statistics, and for each channel a weight and a bias."""
    two = normal(channels), normal(channels, seed=1)
    return normal(n, channels, *size), None, None, *two


def words_and_table(length: int, width: int, number: int) -> Any:
    """Numbers of rows, and the table that has them."""
    return whole(length, number), normal(length, width)


def images_and_filters(n: int, channels: int, length: int, out: int, size: int) -> Any:
    """Square images, filters, and a bias for each."""
    filters = normal(out, channels, size, size, seed=1) / np.float32(
        channels**0.5 * size
    )
    return normal(n, channels, length, length), filters, normal(out)


def one(*shape: int) -> Any:
    """One array."""
    return (normal(*shape),)


def three(*shape: int) -> Any:
    """Query, key and value."""
    return tuple([normal(*shape, seed=seed) for seed in range(3)])


class Layer(NamedTuple):
    """A function of ``nn.functional``; ``inputs`` makes its arguments for each size.

    Goals are those beside torch, of the small one and of the large one.
    """

    name: str
    inputs: Callable[..., Any]
    options: Mapping[str, Any]
    small: Size
    large: Size
    goals: tuple[float, float] = (1.0, 1.0)
    in_mean: bool = True


PAIR: Mapping[str, Any] = {"kernel_size": 2}
CAUSAL: Mapping[str, Any] = {"is_causal": True}

LAYERS = (
    Layer("softmax", one, {"dim": 1}, (64, 10), (512, 1000)),
    Layer("cross_entropy", rows_and_classes, {}, (64, 10), (512, 1000)),
    Layer("layer_norm", scaled_rows, {}, (64, 64), (1024, 512)),
    Layer("gelu", one, {}, (4096,), (1_000_000,)),
    Layer("embedding", words_and_table, {}, (100, 16, 256), (10_000, 64, 8192)),
    Layer("dropout", one, {"p": 0.25}, (4096,), (1_000_000,)),
    Layer("max_pool2d", one, PAIR, (64, 16, 8, 8), (32, 64, 32, 32)),
    Layer(
        "conv2d",
        images_and_filters,
        {"padding": 1},
        (64, 16, 14, 32, 3),
        (32, 32, 28, 64, 3),
        goals=(1.5, 1.5),
    ),
    Layer(
        "batch_norm",
        scaled_images,
        {"training": True},
        (64, 32),
        (32, 64, 16, 16),
        in_mean=False,
    ),
    Layer(
        "scaled_dot_product_attention",
        three,
        CAUSAL,
        (32, 1, 16, 64),
        (2, 4, 256, 64),
        goals=(1.0, 1.2),
        in_mean=False,
    ),
)


def program(layer: Layer, size: Size, torch: Any) -> Program:
    """Forward and backward: the output, and the gradient of each array of floats."""
    inputs = list(layer.inputs(*size))
    leaves = []
    for place, value in enumerate(inputs):
        if isinstance(value, np.ndarray):
            inputs[place] = torch.tensor(value, requires_grad=value.dtype.kind == "f")
            leaves += [inputs[place]] * inputs[place].requires_grad
    function = partial(getattr(torch.nn.functional, layer.name), **layer.options)
    shape = function(*inputs).shape
    upstream = torch.tensor(normal(*shape, seed=2)) if shape else None

    def run() -> Any:
        for leaf in leaves:
            leaf.grad = None
        output = function(*inputs)
        output.backward(upstream)
        return output, [leaf.grad for leaf in leaves]

    return run


def without_numba(layer: Layer, size: Size, numpy: Any) -> Program:
    """Ours, with NumPy in the place of compiled loops."""
    run = program(layer, size, minigrad)

    def plain() -> Any:
        with in_numpy():
            return run()

    return plain


def same_zeros(ours: Any, theirs: Any) -> bool:
    """Whether as many elements are 0 on both sides, to a twentieth of all.

    It is what random results, drawn from other numbers, have in common.
    """
    (y, (grad,)), (other_y, (other_grad,)) = ours, theirs
    pairs = (y, other_y), (grad, other_grad)
    return all([abs(zeros(one) - zeros(other)) <= 0.05 for one, other in pairs])


def zeros(tensor: Any) -> float:
    """The share of zeros."""
    return float(np.mean(tensor.detach().numpy() == 0))


def counted_rows(
    task: Timed, found: dict[str, float], name: str, quick: bool
) -> Iterator[Row]:
    """The rows of a task; its ratio to torch counts in the mean."""
    for row in task.rows(quick):
        if row.ratio is not None and row.against == "torch":
            found[row.name] = row.ratio.median
        yield row


def mean_row(found: dict[str, float], name: str, quick: bool) -> Iterator[Row]:
    """The geometric mean of the ratios that were found; the least and the most."""
    ratio, each = None, found.values()
    if found:
        ratio = Ratio(statistics.geometric_mean(each), min(each), max(each))
    note = f"of {len(found)} layers"
    row = Row(name, None, None, "torch", ratio, goal=0.7, stretch=0.5, note=note)
    slowest = sorted(found, key=found.__getitem__, reverse=True)[:5]
    said = [f"{one.removeprefix('layer: ')} {found[one]:.2f}" for one in slowest]
    yield explained(row, lambda: f"{note}; the slowest: {', '.join(said)}")


def layer_tasks() -> list[Task]:
    """Each layer small and large, and the mean of the ratios to torch."""
    tasks: list[Task] = []
    found: dict[str, float] = {}
    for layer in LAYERS:
        for size, goal in zip((layer.small, layer.large), layer.goals, strict=True):
            peers = [Peer("torch", goal)]
            if size is layer.large:
                plain = partial(without_numba, layer, size)
                peers.append(Peer("NumPy, no Numba", 0.9, None, plain))
            name = f"layer: {layer.name} {'x'.join(map(str, size))}"
            same = same_zeros if layer.name == "dropout" else agree
            make = partial(program, layer, size)
            task = Timed(name, make, tuple(peers), same=same)
            counted = Other(name, partial(counted_rows, task, found))
            tasks.append(counted if layer.in_mean else task)
    return [*tasks, Other("layer: geometric mean", partial(mean_row, found))]
