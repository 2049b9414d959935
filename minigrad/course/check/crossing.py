"""Cases where mistakes hide, made from what an exercise says of its arguments.

``[crossing]`` in its text file says by ``inputs`` what each argument is: the axes of a
tensor (``"... n"``; letters are lengths, and the same one is the same length), integers
below a length (``"B < C"``), an axis, or a plain number. From that come a few cases in
which sizes, shapes and parameters go to their ends. ``gaps`` says, for what is not
tried, why not; it is not made then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from minigrad.course.check import trials
from minigrad.course.check.facts import Array, Case, Contract, is_float

PARAMETERS = ("negative", "zero", "large")
"""What a plain number among the arguments may be."""

SHAPES = ("0 axes", "1 axis", "4 axes", "size 0")

DIMENSIONS = (
    *("large x", "tiny x", "near ties"),
    *PARAMETERS,
    *SHAPES,
    *("zero g", "huge g", "expanded g", *[f"{name} g" for name in trials.LAYOUTS]),
    *("one tensor, two calls", "unchanged", "needless work"),
)
"""What an exercise may be tried on, beside what is ordinary."""

NUMBERS = {
    "usual": 1.7531,
    "small": 0.4,
    "another": 3.0,
    "negative": -2.5,
    "zero": 0.0,
    "large": 1e5,
}

FLAG, AXIS, NUMBER = "yes or no", "axis of ", "any number"

COPIED = "part of "
"""Before the axes of a tensor some of which may be copied by broadcasting."""

LARGE, TINY, HUGE, NEAR = 1e3, 1e-6, 1e8, 1e-9


@dataclass(frozen=True)
class Crossing:
    """What the arguments of an exercise are, and what is not tried, with the reason.

    ``size`` is that of large numbers, if the usual one is too much for the formula.
    """

    inputs: Mapping[str, Any] = field(default_factory=dict)
    gaps: Mapping[str, str] = field(default_factory=dict)
    size: float = LARGE

    def but(self, gaps: Mapping[str, str] | None = None, **changed: Any) -> Crossing:
        """The same with what else is said, and with further gaps."""
        return replace(self, gaps={**self.gaps, **(gaps or {})}, **changed)

    def levels(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Each plain number with the values it is tried with, by what they are."""
        for name, said in self.inputs.items():
            if said == NUMBER:
                yield name, NUMBERS
            elif isinstance(said, Mapping):
                yield name, said

    def tensors(self) -> list[str]:
        """What is said of each tensor."""
        said = [s for s in self.inputs.values() if isinstance(s, str)]
        return [s for s in said if s not in (FLAG, NUMBER) and AXIS not in s]

    def asked(self, contract: Contract) -> set[str]:
        """The dimensions that there are for such arguments, and such a contract."""
        asked = {*DIMENSIONS}
        if not any(AXIS in said for said in self.inputs.values()):
            asked -= {*PARAMETERS} - {
                level for _, has in self.levels() for level in has
            }
        stretch = [said for said in self.tensors() if "..." in said]
        if self.inputs and not stretch:
            asked -= {*SHAPES} - {"size 0"}
        elif self.inputs and not any(map(_may_be_bare, stretch)):
            asked.remove("0 axes")
        return asked if contract.skips_unneeded else asked - {"needless work"}


NOTHING_SAID = Crossing()


@dataclass(frozen=True)
class Corner:
    """One case to be made, at as many ends as do not hide each other."""

    name: str
    axes: int
    parameter: str = "usual"
    upstream: float = 1.0
    is_corner: bool = True


CORNERS = (
    Corner("4 axes", 4, parameter="negative"),
    Corner("large x", 1),
    Corner("tiny x", 2, upstream=HUGE),
    Corner("near ties", 2),
    Corner("size 0", 2),
    Corner("0 axes", 0, parameter="zero"),
    Corner("large", 2, parameter="large", upstream=HUGE),
)


ORDINARY = (
    Corner("two axes", 2, is_corner=False),
    Corner("three axes", 3, parameter="small", is_corner=False),
    Corner("one axis", 1, parameter="another", is_corner=False),
)
"""What comes before the corners where an exercise has no cases of its own."""


def cases(
    crossing: Crossing,
    contract: Contract,
    result: Callable[..., Any],
    random: np.random.Generator,
    *,
    ordinary: bool = False,
) -> list[Case]:
    """The corner cases of an exercise; ``result`` is what forward returns.

    After ``ordinary`` ones, if it has none of its own.
    """
    free = crossing.asked(contract) - crossing.gaps.keys()
    made = [
        _Drawing(crossing, contract, random, corner).case(result)
        for corner in (ORDINARY if ordinary else ())
    ]
    for corner in CORNERS if crossing.inputs else ():
        if not {corner.name, corner.parameter} & free:
            continue
        name, parameter, axes = corner.name, corner.parameter, corner.axes
        if name not in free:
            name, axes = f"a {parameter} number", min(axes, 2) or 1
        if axes == 1 and "1 axis" in crossing.gaps:
            axes = 2
        if parameter not in free:
            parameter = "usual"
        chosen = replace(corner, name=name, axes=axes, parameter=parameter)
        made.append(_Drawing(crossing, contract, random, chosen).case(result))
    return made


class _Drawing:
    """The inputs of one corner case."""

    def __init__(
        self,
        crossing: Crossing,
        contract: Contract,
        random: np.random.Generator,
        corner: Corner,
    ) -> None:
        self.crossing, self.contract = crossing, contract
        self.random, self.corner = random, corner
        stretched = [_letters(said) for said in crossing.tensors() if "..." in said]
        count = corner.axes - max(map(len, stretched), default=corner.axes)
        self.rest = tuple(
            int(n) for n in random.permutation([2, 3, 2, 3])[: max(count, 0)]
        )
        if corner.axes == 1:
            self.rest = tuple([5 for _ in self.rest])
        letters = dict.fromkeys("".join(map(_letters, crossing.tensors())))
        lengths = [*[int(n) for n in random.permutation([2, 3, 4, 5])], 2]
        self.lengths = dict(zip(letters, lengths, strict=False))
        if corner.name == "size 0" and self.rest:
            self.rest = (0, *self.rest[1:])
        elif corner.name == "size 0":
            self.lengths[next(iter(letters))] = 0

    def case(self, result: Callable[..., Any]) -> Case:
        """The inputs, and a gradient for what comes of them."""
        inputs: dict[str, Any] = {}
        for name, said in self.crossing.inputs.items():
            inputs[name] = self._value(name, said, inputs)
        given = tuple(inputs.values())
        first = next(v for v in given if is_float(v))
        if self.corner.name == "tiny x" and not self.contract.random:
            for x in filter(is_float, given):
                _set_to_0(x, lambda: result(*given))
        named = zip(self.contract.arguments, given, strict=True)
        plain = [f"{n} = {v}" for n, v in named if not hasattr(v, "dtype")]
        name = ", ".join([self.corner.name, f"shape {first.shape}", *plain])
        upstream = self._upstream(result, given)
        return Case(name, given, upstream, self.corner.is_corner)

    def _value(self, name: str, said: Any, before: Mapping[str, Any]) -> Any:
        if said == FLAG:
            return bool(self.random.integers(2))
        level = self.corner.parameter
        if AXIS in said:
            axes = before[said.removeprefix(AXIS)].ndim
            ends = {"negative": -axes, "zero": 0, "large": axes - 1}
            return ends.get(level, -1)
        for known, has in self.crossing.levels():
            if known == name:
                return has.get(level, has["usual"])
        return self._tensor(said)

    def _tensor(self, said: str) -> Array:
        shape = (
            *(self.rest if "..." in said else ()),
            *[self.lengths[letter] for letter in _letters(said)],
        )
        if said.startswith(COPIED) and len(shape) > 1 and 0 not in shape:
            # Without its first axis, and with one element along its last.
            shape = (*shape[1:-1], 1)
        if "<" in said:
            below = self.lengths[said.partition("<")[2].strip()]
            return self.random.integers(0, below, shape)
        return self._numbers(shape)

    def _numbers(self, shape: tuple[int, ...]) -> Array:
        if self.corner.name == "near ties":
            return self._near_ties(shape)
        # No two are equal, so that nothing depends on ties.
        count = int(np.prod(shape))
        places = self.random.permutation(count) + self.random.uniform(0.2, 0.8, count)
        places = places.reshape(shape) / max(count, 1)
        signs = self.random.choice([-1.0, 1.0], shape)
        if self.corner.name == "large x":
            return np.asarray(signs * (1.0 + 1.5 * places) * self.crossing.size)
        found = (signs * (0.3 + 2.2 * places)).round(3)
        return np.asarray(found * TINY if self.corner.name == "tiny x" else found)

    def _near_ties(self, shape: tuple[int, ...]) -> Array:
        """No two numbers are equal; many are close to each other, and to a bound."""
        plain = [has["usual"] for _, has in self.crossing.levels()]
        bounds = [0.0, 0.5, 1.0, *[v for v in plain if isinstance(v, float)]]
        found = self.random.choice(bounds, shape)
        found[..., :2] = max(bounds)
        found[..., 2:4] = min(bounds)
        found = self.random.permuted(found, axis=-1)
        steps = self.random.permutation(np.arange(1, found.size + 1)).reshape(shape)
        return np.asarray(found + NEAR * steps * self.random.choice([-1.0, 1.0], shape))

    def _upstream(self, result: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        def like(y: Array) -> Array:
            signs = self.random.choice([-1.0, 1.0], y.shape)
            g = (signs * self.random.uniform(0.3, 2.5, y.shape)).round(2)
            return np.asarray(g * self.corner.upstream)

        if self.contract.random:
            return like(given[0])
        with np.errstate(all="ignore"):
            found = result(*given)
        if not isinstance(found, tuple):
            return like(np.asarray(found))
        marked = self.contract.non_differentiable
        return tuple([None if i in marked else like(y) for i, y in enumerate(found)])


def _set_to_0(x: Array, result: Callable[[], Any]) -> None:
    """Set one number to 0, unless the results have a kink or a jump or a pole there."""
    place = (0,) * x.ndim
    was, found = x[place], []
    with np.errstate(all="ignore"):
        for number in (-TINY, 0.0, TINY):
            x[place] = number
            ys = result()
            found.append(ys if isinstance(ys, tuple) else (ys,))
    for below, there, above in zip(*found, strict=True):
        steps = there - below, above - there
        is_smooth = np.allclose(*steps, rtol=1e-2, atol=TINY * 1e-2)
        if not is_smooth or np.max(np.abs(steps)) > 0.1:
            x[place] = was
            return
    x[place] = 0


def _letters(said: str) -> str:
    """The lengths among the axes of a tensor."""
    axes = said.partition("<")[0].removeprefix(COPIED)
    return axes.replace("...", "").replace(" ", "")


def _may_be_bare(said: str) -> bool:
    """Whether such a tensor may have no axis."""
    return "..." in said and not _letters(said)


def crossed(crossing: Crossing, contract: Contract, drawn: Sequence[Case]) -> set[str]:
    """The dimensions that these cases, and what is done on them, do cross."""
    found = {"unchanged"}
    for number, case in enumerate(drawn):
        found |= {
            *_shapes_in(crossing, case),
            *_numbers_in(case),
            *_levels_in(crossing, case),
        }
        for planned in trials.plan(contract, drawn, number):
            kind = planned.name.partition(" ")[0]
            shared = kind == trials.SHARED
            needless = kind == "only" and contract.skips_unneeded
            found.add("one tensor, two calls" if shared else f"{kind} g")
            found.add("needless work" if needless else "")
    return found & {*DIMENSIONS}


def _shapes_in(crossing: Crossing, case: Case) -> Iterator[str]:
    """How many axes there are where the exercise leaves that open."""
    for said, x in zip(crossing.inputs.values(), case.inputs, strict=False):
        if "..." in said:
            yield {0: "0 axes", 1: "1 axis"}.get(x.ndim, "")
            is_wide = max(x.ndim, *[g.ndim for g in case.upstreams if g is not None])
            yield "4 axes" if is_wide >= 4 else ""


def _numbers_in(case: Case) -> Iterator[str]:
    """What numbers say."""
    arrays = [v for v in case.inputs if isinstance(v, np.ndarray)]
    gs = [g for g in case.upstreams if g is not None]
    for x in arrays:
        sizes = np.sort(np.abs(x), None)
        if not x.size:
            yield "size 0"
        elif sizes[-1] >= 30:
            yield "large x"
        elif 0 < sizes[-1] <= 1e-5:
            yield "tiny x"
        steps = np.diff(np.sort(x, None))
        yield (
            "near ties"
            if np.any((steps > 0) & (steps < 1e-6)) and sizes[-1] > 0.1
            else ""
        )
    yield "huge g" if any(np.max(np.abs(g), initial=0.0) > 1e6 for g in gs) else ""


def _levels_in(crossing: Crossing, case: Case) -> Iterator[str]:
    """What the plain numbers are."""
    given = dict(zip(crossing.inputs, case.inputs, strict=bool(crossing.inputs)))
    ends = {name: has.get("large", np.inf) for name, has in crossing.levels()}
    for name, said in crossing.inputs.items():
        if isinstance(said, str) and AXIS in said:
            ends[name] = given[said.removeprefix(AXIS)].ndim - 1
    for name, end in ends.items():
        value = given[name]
        yield "negative" if value < 0 else "zero" if value == 0 else ""
        yield "large" if value >= end else ""
