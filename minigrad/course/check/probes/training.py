"""An answer that trains: what it noted, what it made, and what its gradients were."""

from __future__ import annotations

import contextlib
import gc
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.facts import Array, Crash
from minigrad.course.check.lifetimes import traced_peak
from minigrad.course.check.own_functions import NodesOfOthers
from minigrad.course.check.spy import crash_of
from minigrad.engine import observe

LOOKED_AT = 8
"""In so many batches it is seen whether inputs and labels belong together."""


@dataclass(frozen=True)
class Trained:
    """What one run of an answer did.

    ``noted``: the losses, and ``batch`` how many rows a batch has. ``begun``: how many
    steps the loop took from ``run``. ``kind`` is said of a result that cannot be
    called. ``logits`` are those of the held-out inputs.
    ``stale``: the first backward that found gradients from before the last step,
    counted from 1. ``pairs``: of ``looked_at`` inputs in the first batches, how many
    came with a label that they have in the data. ``others``: nodes that are built in.

    ``again``: of so many ``batches``, how many have the rows of the first. ``zeros``:
    of the ``matrices``, how many are all 0 when the first gradient arrives. ``moved``:
    how far the first step takes a parameter, in terms of its own size, at most.
    """

    noted: Array
    batch: int = 0
    begun: int = 0
    kind: str = ""
    logits: Array | None = None
    backwards: int = 0
    stale: int = 0
    pairs: int = 0
    looked_at: int = 0
    batches: int = 0
    again: int = 0
    matrices: int = 0
    zeros: int = 0
    moved: float = 0.0
    others: tuple[str, ...] = ()


class Quiet:
    """What ``training`` gives, without a bar."""

    def __init__(self, steps: int) -> None:
        self.steps, self.begun = steps, 0
        self.noted: dict[str, list[float]] = {}

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[int]:
        for step in range(self.steps):
            self.begun += 1
            yield step

    def note(self, **numbers: Any) -> None:
        """Keep the numbers of this step."""
        for name, value in numbers.items():
            is_tensor = isinstance(value, minigrad.Tensor)
            number = float(value.item() if is_tensor else value)
            self.noted.setdefault(name, []).append(number)


class Spy(NodesOfOthers):
    """Looks at the gradients of the leaves, at the batches, and at every node."""

    def __init__(self, x: Array, y: Array) -> None:
        self.width = x.shape[1:]
        self.labels: dict[bytes, set[int]] = {}
        for row, label in zip(x, y.tolist(), strict=True):
            self.labels.setdefault(row.tobytes(), set()).add(label)
        self.others: list[str] = []
        self.values: dict[int, Array] = {}
        self.rows: Array | None = None
        self.first: Array | None = None
        self.batch = self.backwards = self.stale = self.pairs = self.looked_at = 0
        self.batches = self.again = self.matrices = self.zeros = 0
        self.moved = 0.0

    def found(self, node: str) -> None:
        if node not in self.others:
            self.others.append(node)

    def backward_started(self, task: Any) -> None:
        self.backwards += 1

    def gradient_accumulated(
        self, leaf: Any, first: bool, gradient: Any, new: Any
    ) -> None:
        before, now = self.values.get(id(leaf)), leaf.array
        moved = before is not None and not np.array_equal(before, now)
        if moved and not first and not np.array_equal(new.array, gradient):
            self.stale = self.stale or self.backwards
        if before is None and self.backwards == 1:
            self.matrices += now.ndim > 1
            self.zeros += now.ndim > 1 and not now.any()
        if before is not None and self.backwards == 2 and before.any():
            self.moved = max(self.moved, float(size_of(now - before) / size_of(before)))
        self.values[id(leaf)] = now.copy()

    def forward_returned(self, ctx: Any, inputs: tuple[Any, ...], result: Any) -> None:
        if self.batches >= LOOKED_AT:
            return
        for value in inputs:
            if not isinstance(value, minigrad.Tensor) or value.requires_grad:
                continue
            array = value.array
            if array.shape[1:] == self.width and array.ndim > 1:
                self.rows = array
            elif array.ndim == 1 and array.dtype.kind == "i":
                self._look_at(array)

    def _look_at(self, targets: Array) -> None:
        rows, self.rows = self.rows, None
        if rows is None or len(rows) != len(targets):
            return
        self.batch = self.batch or len(targets)
        self.batches += 1
        self.first = rows.copy() if self.first is None else self.first
        self.again += np.array_equal(rows, self.first)
        for row, label in zip(rows, targets.tolist(), strict=True):
            known = self.labels.get(row.tobytes())
            self.looked_at += known is not None
            self.pairs += known is not None and label in known


def size_of(array: Array) -> Any:
    """The square root of the mean of the squares."""
    return np.sqrt(np.mean(np.square(array, dtype=float)))


def trained(
    answer: Any, x: Array, y: Array, held_out: Array, steps: int, seed: int
) -> Trained:
    """Let the answer train on (x, y), and ask it about what it hasn't seen."""
    inputs, unseen = [
        a if a.dtype.kind == "f" else a.astype(int) for a in (x, held_out)
    ]
    labels = y.astype(int)
    spy, run = Spy(inputs, labels), Quiet(steps)
    said: dict[str, Any] = {}
    observe.add(spy)
    try:
        data = minigrad.tensor(inputs), minigrad.tensor(labels)
        found = answer(*data, run, seed)
        if callable(found):
            logits = found(minigrad.tensor(unseen)).detach().numpy()
            said["logits"] = logits.astype(np.float32)
        else:
            said["kind"] = type(found).__name__
    finally:
        observe.remove(spy)
    noted = np.array(next(iter(run.noted.values()), []))
    names = ["batch", "backwards", "stale", "pairs", "looked_at"]
    names += ["batches", "again", "matrices", "zeros"]
    said |= {name: int(getattr(spy, name)) for name in names} | {"begun": run.begun}
    return Trained(noted, moved=spy.moved, others=tuple(spy.others), **said)


@dataclass(frozen=True)
class Weighed:
    """What a loss with gradients kept, and whether its graph can be used twice.

    ``kept``: bytes alive after forward; ``peak``: at most, forward and backward;
    ``plain``: what the answer's own ``loss_of`` keeps, 0 where there is none.
    ``losses`` are those of a few steps downhill, ``gradient`` is that of the first
    matrix: of one backward, of a ``second`` one through the same graph, and of a graph
    made ``before`` another one.
    """

    kept: int = 0
    peak: int = 0
    plain: int = 0
    losses: Array | None = None
    gradient: Array | None = None
    second: Array | None = None
    before: Array | None = None
    others: tuple[str, ...] = ()
    crash: Crash | None = None
    phase: str = "loss"


def weighed(
    answer: Any, x: Array, y: Array, weights: tuple[Array, ...], steps: int, rate: float
) -> Weighed:
    """Weigh the loss, take a few steps, and use its graph twice."""
    said: dict[str, Any] = {}
    batch = minigrad.tensor(x), minigrad.tensor(y.astype(int))
    other = batch[0].flip(0) * 0.5, batch[1].flip(0)

    def leaves() -> list[Any]:
        flat = [minigrad.tensor(w).requires_grad_() for w in weights]
        return list(zip(flat[::2], flat[1::2], strict=True))

    try:
        layers = leaves()
        answer(*batch, layers).backward()  # what is looked up for good is not meant
        kept: list[Any] = []
        said["kept"] = traced_left(lambda: kept.append(answer(*batch, layers)))
        kept[0].backward()
        kept.clear()
        plain = getattr(answer, "__globals__", {}).get("loss_of")
        if plain is not None:
            with contextlib.suppress(Exception):  # of another answer, not of this one
                said["plain"] = traced_left(lambda: kept.append(plain(*batch, layers)))
            kept.clear()
        layers = leaves()
        said["peak"] = traced_peak(lambda: answer(*batch, layers).backward())
        said["gradient"] = gradient_of(layers[0][0])

        losses = []
        for _ in range(steps):
            flat = [p for pair in layers for p in pair]
            for p in flat:
                p.grad = None
            loss = answer(*batch, layers)
            loss.backward()
            losses.append(loss.item())
            with minigrad.no_grad():
                for p in [p for p in flat if p.grad is not None]:
                    p -= rate * p.grad
        said["losses"] = np.array(losses)

        said["phase"] = "two graphs at a time"
        layers = leaves()
        first, _second = answer(*batch, layers), answer(*other, layers)
        first.backward()
        said["before"] = gradient_of(layers[0][0])
        said["phase"] = "backward a second time"
        layers = leaves()
        loss = answer(*batch, layers)
        loss.backward(retain_graph=True)
        for p in [p for pair in layers for p in pair]:
            p.grad = None
        loss.backward()
        said["second"] = gradient_of(layers[0][0])
    except Exception as error:
        said["crash"] = crash_of("lean_loss", error)
    return Weighed(**said)


def gradient_of(leaf: Any) -> Array | None:
    """A copy of the gradient that has arrived."""
    return None if leaf.grad is None else leaf.grad.numpy().copy()


def traced_left(function: Any) -> int:
    """How many bytes more than before are alive when it has returned."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        function()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return after - before


@dataclass(frozen=True)
class Gradient:
    """What a kernel returned, what it did to its arguments, and how long it took.

    ``ratio``: how often it fits into the time of a plain loop, the least of some each.
    """

    value: Array | None = None
    kind: str = ""
    changed: bool = False
    ratio: float = 0.0


def by_rows(g: Array, idx: Array, rows: int) -> Array:
    """The gradient of a table, one row at a time."""
    table = np.zeros((rows, g.shape[1]), g.dtype)
    for i, row in zip(idx.tolist(), g, strict=True):
        table[i] += row
    return table


def gathered(answer: Any, g: Array, idx: Array, rows: int, times: int) -> Gradient:
    """Call the kernel; with ``times``, race it against the loop, in turns."""
    given = g.copy(), idx.copy()
    value = answer(*given, rows)
    changed = not (np.array_equal(given[0], g) and np.array_equal(given[1], idx))
    if not isinstance(value, np.ndarray):
        return Gradient(None, type(value).__name__)
    least = [float("inf")] * 2
    for _ in range(times):
        for place, run in enumerate((by_rows, answer)):
            start = time.perf_counter()
            run(g, idx, rows)
            least[place] = min(least[place], time.perf_counter() - start)
    ratio = least[0] / least[1] if times else 0.0
    return Gradient(value.copy(), "", changed, ratio)
