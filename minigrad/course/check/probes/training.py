"""An answer that trains: what it noted, what it made, and what its gradients were."""

from __future__ import annotations

import contextlib
import gc
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.facts import Array, Crash
from minigrad.course.check.lifetimes import traced, traced_peak
from minigrad.course.check.own_functions import NodesOfOthers
from minigrad.course.check.probes.batches import nodes_below
from minigrad.course.check.side_effects import Lent
from minigrad.course.check.spy import crash_of
from minigrad.engine import observe

LOOKED_AT = 8
"""In so many batches it is seen whether inputs and labels belong together."""


@dataclass(frozen=True)
class Trained:
    """What one run of an answer did.

    ``noted``: the losses, and ``batch`` how many rows a batch has. ``begun``: how many
    steps the loop took from ``run``. ``kind`` is said of a result that cannot be
    called. ``logits`` are those of the held-out inputs, empty without a function.
    ``stale``: the first backward that found gradients from before the last step,
    counted from 1. ``pairs``: of ``looked_at`` inputs in the first batches, how many
    came with a label that they have in the data. ``leaked``: rows that were held out,
    and that a backward was about. ``others``: nodes that are built in.

    ``again``: of so many ``batches``, how many have the rows of the first. ``zeros``:
    of the ``matrices``, how many are all 0 when the first gradient arrives. ``moved``:
    how far the first step takes a parameter, in terms of its own size, at most.
    """

    noted: Array
    logits: Array
    batch: int = 0
    begun: int = 0
    kind: str = ""
    backwards: int = 0
    stale: int = 0
    pairs: int = 0
    looked_at: int = 0
    leaked: int = 0
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

    def __init__(self, x: Array, y: Array, held_out: Array) -> None:
        self.width = x.shape[1:]
        self.labels: dict[bytes, set[int]] = {}
        for row, label in zip(x, y.tolist(), strict=True):
            self.labels.setdefault(row.tobytes(), set()).add(label)
        self.unseen = {row.tobytes() for row in held_out} - self.labels.keys()
        self.held: dict[int, int] = {}
        self.others: list[str] = []
        self.values: dict[int, Array] = {}
        self.rows: Array | None = None
        self.first: Array | None = None
        self.counts: Counter[str] = Counter()
        self.moved = 0.0

    def found(self, node: str) -> None:
        if node not in self.others:
            self.others.append(node)

    def backward_started(self, task: Any) -> None:
        self.counts["backwards"] += 1

    def gradient_accumulated(
        self, leaf: Any, first: bool, gradient: Any, new: Any
    ) -> None:
        before, now = self.values.get(id(leaf)), leaf.array
        number = self.counts["backwards"]
        moved = before is not None and not np.array_equal(before, now)
        if moved and not first and not np.array_equal(new.array, gradient):
            self.counts.setdefault("stale", number)
        if before is None and number == 1 and now.ndim > 1:
            self.counts["matrices"] += 1
            self.counts["zeros"] += not now.any()
        if before is not None and number == 2 and before.any():
            self.moved = max(self.moved, float(size_of(now - before) / size_of(before)))
        self.values[id(leaf)] = now.copy()

    def rule_called(self, node: Any, gradients: list[Any]) -> None:
        self.counts["leaked"] += self.held.pop(id(node), 0)

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        self.held.pop(id(ctx), None)
        if self.counts["batches"] >= LOOKED_AT:
            return
        for value in inputs:
            if not isinstance(value, minigrad.Tensor) or value.requires_grad:
                continue
            array = value.array
            if array.shape[1:] == self.width and array.ndim > 1:
                self.rows = array
                self.held[id(ctx)] = sum(row.tobytes() in self.unseen for row in array)
            elif array.ndim == 1 and array.dtype.kind == "i":
                self._look_at(array)

    def _look_at(self, targets: Array) -> None:
        rows, self.rows = self.rows, None
        if rows is None or len(rows) != len(targets):
            return
        self.counts.setdefault("batch", len(targets))
        self.first = rows.copy() if self.first is None else self.first
        known = [self.labels.get(row.tobytes()) for row in rows]
        pairs = [(k, n) for k, n in zip(known, targets.tolist(), strict=True) if k]
        self.counts["batches"] += 1
        self.counts["again"] += np.array_equal(rows, self.first)
        self.counts["looked_at"] += len(pairs)
        self.counts["pairs"] += sum([label in labels for labels, label in pairs])


def size_of(array: Array) -> Any:
    """The square root of the mean of the squares."""
    return np.sqrt(np.mean(np.square(array, dtype=float)))


def trained(
    answer: Any, x: Array, y: Array, held_out: Array, steps: int, seed: int
) -> Trained:
    """Let the answer train on (x, y), and ask it about what it hasn't seen."""
    spy, run = Spy(x, y, held_out), Quiet(steps)
    said: dict[str, Any] = {"kind": "", "logits": np.zeros(0)}
    observe.add(spy)
    try:
        found = answer(minigrad.tensor(x), minigrad.tensor(y), run, seed)
        if callable(found):
            logits = found(minigrad.tensor(held_out)).detach().numpy()
            said["logits"] = logits.astype(np.float32)
        else:
            said["kind"] = type(found).__name__
    finally:
        observe.remove(spy)
    said |= {"moved": spy.moved, "others": tuple(spy.others), "begun": run.begun}
    said |= {name: int(count) for name, count in spy.counts.items()}
    return Trained(np.array(next(iter(run.noted.values()), [])), **said)


@dataclass(frozen=True)
class Weighed:
    """What a loss with gradients kept, and whether its graph can be used twice.

    ``kept``: bytes alive after forward; ``peak``: at most, forward and backward;
    ``plain``: what the answer's own ``loss_of`` keeps, 0 where there is none.
    ``kinds``: the dtypes of what is saved in the graph.
    ``losses`` are those of a few steps downhill, ``gradient`` is that of the first
    matrix: of one backward, of a ``second`` one through the same graph, and of a graph
    made ``before`` another one. ``changed``: what is different about the layers.
    """

    kept: int = 0
    peak: int = 0
    plain: int = 0
    kinds: tuple[str, ...] = ()
    losses: Array | None = None
    gradient: Array | None = None
    second: Array | None = None
    before: Array | None = None
    crash: Crash | None = None
    phase: str = "loss"
    changed: tuple[str, ...] = ()


def weighed(
    answer: Any, x: Array, y: Array, weights: tuple[Array, ...], steps: int, rate: float
) -> Weighed:
    """Weigh the loss, take a few steps, and use its graph twice."""
    said: dict[str, Any] = {}
    batch = minigrad.tensor(x), minigrad.tensor(y.astype(int))
    other = batch[0].flip(0) * 0.5, batch[1].flip(0)

    def leaves() -> list[Any]:
        return in_pairs([minigrad.tensor(w, requires_grad=True) for w in weights])

    try:
        layers = leaves()
        answer(*batch, layers).backward()  # what is looked up for good is not meant
        said["kept"] = kept_by(lambda: answer(*batch, layers))
        said["kinds"] = saved_kinds(answer(*batch, layers))
        plain = getattr(answer, "__globals__", {}).get("loss_of")
        if plain is not None:
            with contextlib.suppress(Exception):  # of another answer, not of this one
                said["plain"] = kept_by(lambda: plain(*batch, layers))
        layers = leaves()
        said["peak"] = traced_peak(lambda: answer(*batch, layers).backward())
        said["losses"], said["gradient"] = downhill(answer, batch, weights, steps, rate)
        matrix, bias = layers[0]
        lent = Lent(W=matrix, b=bias)
        answer(*batch, layers)
        said["changed"] = lent.changed()

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


def in_pairs(flat: list[Any]) -> list[Any]:
    """A matrix and a bias for each layer."""
    return list(zip(flat[::2], flat[1::2], strict=True))


def downhill(
    loss_of: Any, batch: Any, weights: tuple[Array, ...], steps: int, rate: float
) -> tuple[Array, Array | None]:
    """The losses of a few steps, and the first gradient of the first matrix."""
    flat = [minigrad.tensor(w, requires_grad=True) for w in weights]
    optimizer, losses, gradients = minigrad.optim.SGD(flat, rate), [], []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(*batch, in_pairs(flat))
        loss.backward()
        losses.append(loss.item())
        gradients.append(gradient_of(flat[0]))
        optimizer.step()
    return np.array(losses), gradients[0]


def saved_kinds(result: Any) -> tuple[str, ...]:
    """The dtypes of all tensors that own Functions have saved."""
    saved = [
        tensor
        for node in nodes_below(result)
        for tensor in getattr(node, "saved_tensors", ())
        if tensor is not None
    ]
    kinds = {str(tensor.dtype).partition(".")[2] for tensor in saved}
    return tuple(sorted(kinds))


def kept_by(function: Any) -> int:
    """How many bytes more than before are alive as long as its result is."""
    gc.collect()
    kept: list[Any] = []

    def keep() -> None:
        kept.append(function())
        gc.collect()

    left, _ = traced(keep)
    kept[0].backward()
    return left


@dataclass(frozen=True)
class Gradient:
    """What a kernel returned, what it did to its arguments, and how long it took.

    ``ratio``: how often it fits into the time of a plain loop, the least of some each.
    """

    value: Array | None = None
    kind: str = ""
    changed: tuple[str, ...] = ()
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
    lent = Lent(g=given[0], idx=given[1])
    value = answer(*given, rows)
    changed = lent.changed()
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
