"""A vmap rule of the learner's, held against a loop over the samples.

A case is one call under vmap. ``known`` are results of mistakes, with the names of
their messages; the first cases have as many samples as numbers in each, so that a
mistake is a wrong number, not an error, and can be told by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Crash, Faults, Finding, lost_digits
from minigrad.course.check.probes import batches, seen, tried
from minigrad.course.check.probes.batches import Mapped
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

Dims = tuple[int | None, ...]


@dataclass(frozen=True)
class Case:
    """Which dimensions are mapped, of what, and what mistakes would make of it."""

    in_dims: Dims
    given: tuple[Any, ...]
    known: Iterable[tuple[str, Array]] = ()


def look_at(
    answer: Any,
    name: str,
    one: Callable[..., Any],
    cases: Sequence[Case],
    random: np.random.Generator,
) -> Faults:
    """The first case that differs from a loop of ``one``; then, whether it loops."""
    fine: list[Dims] = []
    for case in cases:
        right, leaves = by_loop(one, case)
        g = random.uniform(0.5, 1.5, right.shape)
        run = tried(batches.mapped, (answer,), case.in_dims, case.given, g)
        if isinstance(run, Crash):
            yield say.of_crash("crashed", run, **facts_of(name, case))
            return
        yield fault_in(run, name, case, numbers(right), fine)
        fine.append(case.in_dims)
        wanted = minigrad.autograd.grad(right, leaves, minigrad.tensor(g))
        yield wrong_gradient(run, name, case, [numbers(one) for one in wanted])
        nodes = run.nodes
    yield grows(answer, name, cases[-1], nodes, g)


def by_loop(one: Callable[..., Any], case: Case) -> tuple[Any, list[Any]]:
    """The function on one sample after the other, and the leaves of its graph."""
    inputs = [batches.leaf_of(given) for given in case.given]
    pairs = list(zip(inputs, case.in_dims, strict=True))
    count = next(x.shape[dim] for x, dim in pairs if dim is not None)
    rows = []
    for place in range(count):
        sample = [x if dim is None else x.select(dim, place) for x, dim in pairs]
        rows.append(one(*sample))
    return minigrad.stack(rows), [x for x in inputs if isinstance(x, minigrad.Tensor)]


def numbers(tensor: Any) -> Array:
    """What a tensor holds."""
    return np.asarray(tensor.detach().numpy())


def fault_in(
    run: Mapped, name: str, case: Case, right: Array, fine: Sequence[Dims]
) -> Finding | None:
    """What is wrong with a result; None if it is that of the loop.

    ``fine``: for which dimensions there was nothing wrong.
    """
    shown = facts_of(name, case)
    if run.result is None:
        return say("no_tensor", kind=run.kind, **shown)
    shown |= {"got": run.result.shape, "wanted": right.shape}
    if same(run.result, right):
        return lost_digits("the result", f"{name}.vmap", run.result, right)
    kind = "result" if run.result.shape == right.shape else "shape"
    if kind == "result":
        row = next(r for r in range(len(right)) if not same(run.result[r], right[r]))
        shown |= {"row": row, "got": run.result[row], "wanted": right[row]}
    made = [made for made, wrong in case.known if same(run.result, wrong)]
    if made:
        return say(f"result.{made[0]}", **shown)
    if is_turned(run.result, right):
        return say(f"{kind}.turned", **shown)
    others = dict.fromkeys([str(dims) for dims in fine])
    if kind == "result" and others and str(case.in_dims) not in others:
        return say("result.rest", others=" and ".join(others), **shown)
    return say(kind, **shown)


def is_turned(got: Array, right: Array) -> bool:
    """Whether it would be right, if another axis were said to count the samples."""
    axes = range(got.ndim)
    said = [np.moveaxis(got, 0, axis) for axis in axes]
    return any([same(np.moveaxis(a, axis, 0), right) for a in said for axis in axes])


def facts_of(name: str, case: Case) -> dict[str, Any]:
    """What each message says of a case."""
    shapes = [str(x.shape) for x in case.given if isinstance(x, np.ndarray)]
    rest = [
        f", argument {place} = {x}"
        for place, x in enumerate(case.given)
        if not isinstance(x, np.ndarray)
    ]
    told = " and ".join(shapes) + "".join(rest)
    return {"name": name, "in_dims": case.in_dims, "shapes": told}


def same(one: Array, other: Array) -> bool:
    """Whether shape and numbers agree."""
    return one.shape == other.shape and bool(np.allclose(one, other))


def wrong_gradient(
    run: Mapped, name: str, case: Case, wanted: Sequence[Array]
) -> Finding | None:
    """The first gradient that isn't that of the loop."""
    for place, right in enumerate(wanted):
        got = run.gradients[place] if run.gradients else None
        if got is None or not same(got, right):
            kind = "gradient" if got is not None else "gradient.none"
            return say(kind, place=place, **facts_of(name, case))
        what = f"the gradient of argument {place}"
        if lost := lost_digits(what, f"{name}.vmap", got, right):
            return lost
    return None


def grows(answer: Any, name: str, case: Case, nodes: int, g: Array) -> Finding | None:
    """Whether the graph is larger for twice as many samples: then there is a loop."""
    twice = [
        x if dim is None else np.concatenate([x, x], dim)
        for x, dim in zip(case.given, case.in_dims, strict=True)
    ]
    more = seen(batches.mapped, (answer,), case.in_dims, twice, np.concatenate([g, g]))
    if more.nodes == nodes:
        return None
    return say("loop", name=name, few=nodes, many=more.nodes)
