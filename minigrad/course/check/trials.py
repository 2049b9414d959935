"""The trials of a case: what goes into each call, said once for whoever runs them.

The judge fills in from here what it does not let a stranger's process say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from minigrad.course.check.facts import Array, Arrays, Case, Contract, is_float

THOROUGH = 3
"""On so many cases the Function is tried in the ways that do not ask for numbers."""

EVERYTHING = 2
"""On so many of them in all of these ways, those with the most calls included."""

FIRST, SECOND = "first", "second"
"""Two calls that are alive at the same time."""

EXPANDED, SAME, WRITTEN = "expanded", "same", "written"

SHARED = "shared"
"""Two calls as above, which are given one and the same tensor."""


def _every_other(array: Array) -> Array:
    """The same numbers, with others between them in memory."""
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    return wide[..., 0]


LAYOUTS: Mapping[str, Callable[[Array], Array]] = {
    "transposed": lambda array: np.array(array, order="F"),
    "sliced": _every_other,
    "reversed": lambda array: array[::-1].copy()[::-1],
}
"""Ways for the numbers of an upstream gradient to lie in memory."""


@dataclass(frozen=True)
class Planned:
    """One trial: what goes in, what needs a gradient, what each pass begins with."""

    name: str
    inputs: tuple[Any, ...]
    needed: tuple[bool, ...]
    upstreams: tuple[Arrays, ...]


def plan(contract: Contract, cases: Sequence[Case], number: int) -> list[Planned]:
    """The trials of one case, in their order.

    Numbers are looked at in all cases; how the Function keeps its state and what it
    makes of special upstream gradients, which do not depend on them, in the first few.
    """
    case = cases[number]
    after = [*cases[number + 1 :], *cases[: number + 1]]
    other = next(each for each in after if each.is_corner == case.is_corner)
    trials = [*always(case)]
    if case.is_corner:
        trials = trials[:1]
    elif number < THOROUGH:
        trials += thorough(case)
    if number == THOROUGH - 1 and not case.is_corner:
        only = tuple([i == case.differentiable[-1] for i in range(len(case.inputs))])
        trials[-1] = replace(trials[-1], needed=only)
    if number < EVERYTHING:
        trials += [*beside(case, other), *written(contract, case)]
    if number == 0 and not contract.in_place:
        trials += shared(case, other)
    for layout in LAYOUTS:
        if number == first_to_lie(cases, 2 if layout == "transposed" else 1):
            trials.append(one(layout, case, case.upstreams))
    return trials


def first_to_lie(cases: Sequence[Case], axes: int) -> int | None:
    """The first case with an upstream gradient of two numbers along so many axes."""
    for number, case in enumerate(cases):
        shapes = [g.shape for g in case.upstreams if g is not None]
        if any(len([n for n in shape if n > 1]) >= axes for shape in shapes):
            return number
    return None


def one(name: str, case: Case, *upstreams: Arrays) -> Planned:
    """A call with the inputs of the case, and a pass for each of ``upstreams``."""
    return Planned(name, case.inputs, needed_in(case), upstreams)


def always(case: Case) -> Iterator[Planned]:
    """Numbers: the gradient as it is, doubled, and of one output at a time."""
    g = case.upstreams
    yield one("plain", case, g)
    yield one("double", case, times(2.0, g))
    places = [i for i, each in enumerate(g) if each is not None]
    for i in places if len(places) > 1 else ():
        alone = tuple(h if i == j else None for j, h in enumerate(g))
        yield one(f"output {i}", case, alone)


def thorough(case: Case) -> Iterator[Planned]:
    """Special upstream gradients, inputs that need none, one tensor in all places."""
    g, inputs = case.upstreams, case.inputs
    yield one("negative", case, times(-1.0, g))
    yield one("zero", case, times(0.0, g))
    yield one("again", case, g, g)
    ones = tuple([None if h is None else np.ones(h.shape) for h in g])
    yield one(EXPANDED, case, ones)
    places = case.differentiable
    for i in places if len(places) > 1 else ():
        only = tuple([i == j for j in range(len(inputs))])
        yield Planned(f"only {i}", inputs, only, (g,))
    if are_alike(case):
        yield Planned(SAME, (inputs[0],) * len(inputs), needed_in(case), (g,))
    rolled = tuple([np.roll(v, 1) if is_float(v) else v for v in inputs])
    yield from beside(case, Case(case.name, rolled, times(1.25, g)))


def beside(case: Case, other: Case) -> Iterator[Planned]:
    """Two calls before the first backward: does either see the other's values?"""
    yield one(FIRST, case, case.upstreams)
    yield one(SECOND, other, other.upstreams)


def shared(case: Case, other: Case) -> Iterator[Planned]:
    """Two calls with the same tensors, and other plain numbers."""
    pairs = zip(case.inputs, other.inputs, strict=True)
    inputs = tuple([o if type(v) is type(o) is float else v for v, o in pairs])
    yield one(f"{SHARED} 0", case, case.upstreams)
    yield Planned(f"{SHARED} 1", inputs, needed_in(case), (case.upstreams,))


def written(contract: Contract, case: Case) -> Iterator[Planned]:
    """An input is changed in place after forward: is it noticed?"""
    places = [i for i, v in enumerate(case.inputs) if isinstance(v, np.ndarray)]
    # What such a Function changes itself is not written into.
    for i in places[contract.in_place :]:
        yield one(f"{WRITTEN} {i}", case, case.upstreams)


def needed_in(case: Case) -> tuple[bool, ...]:
    """Which arguments require grad."""
    return tuple([i in case.differentiable for i in range(len(case.inputs))])


def are_alike(case: Case) -> bool:
    """Whether one tensor can take the place of all arguments."""
    arrays = [v for v in case.inputs if isinstance(v, np.ndarray)]
    alike = len({(a.shape, a.dtype) for a in arrays}) == 1
    every = len(arrays) == len(case.inputs) == len(case.differentiable)
    return len(arrays) > 1 and alike and every


def tangents(contract: Contract, case: Case) -> list[Arrays]:
    """Each tangent alone, then all of them together, then twice as large."""
    if not contract.jvp:
        return []
    full: Arrays = tuple(
        [
            direction(value, i) if need else None
            for i, (value, need) in enumerate(
                zip(case.inputs, needed_in(case), strict=True)
            )
        ]
    )
    alone: list[Arrays] = [
        tuple([t if i == j else None for j, t in enumerate(full)])
        for i in case.differentiable
    ]
    return [full] if case.is_corner else [*alone, full, times(2.0, full)]


def weights(shapes: Sequence[tuple[int, ...]]) -> tuple[Array, ...]:
    """What the gradients are weighted with before they are differentiated again."""
    return tuple(
        [
            np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape) * (i + 1)
            for i, shape in enumerate(shapes)
        ]
    )


def times(factor: float, arrays: Arrays) -> Arrays:
    """Every array times a number; None stays None."""
    return tuple([None if a is None else factor * a for a in arrays])


def direction(value: Array, place: int) -> Array:
    """A direction that is neither constant nor along one axis."""
    steps = np.arange(value.size, dtype=value.dtype).reshape(value.shape)
    towards: Array = np.cos(steps * (place + 1.7)) + np.asarray(0.3, value.dtype)
    return towards.astype(value.dtype)
